"""OpinionPool: the product of enumerated distributions, subsets, files, explanations, misuse."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import data
from hedgerow import storage
from hedgerow.encoding import Encoder, Window
from hedgerow.errors import InputError, ModelFileError
from hedgerow.pooling.subsets import Subset, chosen_subset, drawn_subsets
from oracles import pools as oracle

X, Y = data()
NEW = [x[:4] for x in data(seed=1, n=8)[0]]
LABELS = ["A", "B", "C"]
TREES = {"n_rounds": 5, "learning_rate": 0.5, "window": 1, "random_state": 0}
SUBSETS = [["w"], ["v"], ["w", "v"]]

BASES = {
    "HMM": (hr.HMM(), (0,)),
    "HMM of order 2": (hr.HMM(order=2), (0,)),
    "linear": (hr.LinearCRF(window=1, max_iter=20), (-1, 0, 1)),
    "linear of order 0": (hr.LinearCRF(window=1, max_iter=20, order=0), (-1, 0, 1)),
    "edges": (hr.LinearCRF(edge_features=True, max_iter=20), (0,)),
    "trees": (hr.TreeCRF(transitions="trees", **TREES), (-1, 0, 1)),
    "table": (hr.TreeCRF(transitions="table", **TREES), (-1, 0, 1)),
    "MEMM": (hr.MEMM(window=1, n_rounds=5, random_state=0), (-1, 0, 1)),
    "MEMM of order 0": (hr.MEMM(window=1, n_rounds=5, random_state=0, order=0), (-1, 0, 1)),
    "future": (hr.FutureMEMM(window=1, n_rounds=5, max_future=1, random_state=0, early_stopping=None), (-1, 0, 1)),
    "SVM": (hr.StructuredSVM(window=1, epochs=3, random_state=0), (-1, 0, 1)),
    "perceptron": (hr.StructuredPerceptron(window=1, epochs=3, random_state=0), (-1, 0, 1)),
}


def only(X, names):
    """The sequences with these columns alone."""
    return [[{name: position[name] for name in names} for position in x] for x in X]


def enumerated(model, x):
    """The probability of every label sequence."""
    n = len(LABELS) ** len(x)
    return {tuple(labels.tolist()): math.exp(p) for p, labels in model.predict_nbest([x], n=n)[0]}


def alone(base, names, **more):
    return type(base)(**base.get_params(deep=False) | more).fit(only(X, names), Y)


def assert_same_distribution(found, known):
    assert set(found) == {labels for labels, p in known.items() if p > 0}
    for labels, p in found.items():
        assert p == pytest.approx(known[labels], rel=1e-3, abs=2e-6)


POOLED = {"sequence": oracle.geometric_mean, "position": oracle.pooled_by_position}


@pytest.mark.parametrize("pool", POOLED)
@pytest.mark.parametrize("name", BASES)
def test_a_pool_is_the_product_of_the_distributions_of_its_models(name, pool):
    base, _ = BASES[name]
    model = hr.OpinionPool(base=base, subsets=SUBSETS, pool=pool).fit(X, Y)
    members = [alone(base, names) for names in SUBSETS]
    for x in NEW:
        known = POOLED[pool](
            [enumerated(one, only([x], names)[0]) for one, names in zip(members, SUBSETS, strict=True)]
        )
        assert_same_distribution(enumerated(model, x), known)
        p = model.predict_proba([x])[0]
        for t, marginal in enumerate(oracle.marginals(known)):
            np.testing.assert_allclose(p[t], [marginal[(label,)] for label in LABELS], atol=1e-4)
        best = max(known.values())
        assert known[tuple(model.predict([x], decode="viterbi")[0].tolist())] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("name", [name for name, (_, offsets) in BASES.items() if offsets != (0,)])
def test_offsets_are_windows_of_the_models(name):
    base, _ = BASES[name]
    subsets = [["w", -1, 0], [0, 1], ["v"]]
    model = hr.OpinionPool(base=base, subsets=subsets).fit(X, Y)
    members = [(["w"], [-1, 0]), (["w", "v"], [0, 1]), (["v"], [-1, 0, 1])]
    fitted = [alone(base, names, window=window) for names, window in members]
    assert model.subsets_ == [[*names, *window] for names, window in members]
    for x in NEW[:3]:
        known = oracle.geometric_mean(
            [enumerated(one, only([x], names)[0]) for one, (names, _) in zip(fitted, members, strict=True)]
        )
        assert_same_distribution(enumerated(model, x), known)


NEIGHBOURS = [(None, "A"), (None, "B"), ("A", "B"), ("B", "A"), ("B", "C"), ("C", "A"), ("A", "A")]


def keeps_rules(labels):
    return all(pair in NEIGHBOURS for pair in zip((None, *labels[:-1]), labels, strict=True))


@pytest.mark.parametrize("pool", POOLED)
@pytest.mark.parametrize("name", ["HMM", "table", "linear of order 0"])
def test_constraints_that_are_asked_for_restrict_the_pool(name, pool):
    """Constraints of a prediction; models of the pool are conditioned on them as the pool is."""
    model = hr.OpinionPool(base=BASES[name][0], subsets=SUBSETS, pool=pool).fit(X, Y)
    members = [alone(BASES[name][0], names) for names in SUBSETS]
    for x in NEW[:4]:
        allowed = {labels for labels in product(LABELS, repeat=len(x)) if keeps_rules(labels)}
        each = [enumerated(one, only([x], names)[0]) for one, names in zip(members, SUBSETS, strict=True)]
        if pool == "position":
            each = [{**dict.fromkeys(one, 0.0), **oracle.restricted(one, allowed)} for one in each]
        known = oracle.restricted(POOLED[pool](each), allowed)
        best = max(known.values())
        found = tuple(model.predict([x], constraints=NEIGHBOURS, decode="viterbi")[0].tolist())
        assert known[found] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("pool", POOLED)
@pytest.mark.parametrize("name", ["table", "MEMM", "MEMM of order 0", "linear"])
def test_constraints_of_training_hold(name, pool):
    """The gold labels keep the rules; no path that breaks them has a probability."""
    own = [labels for labels in Y if keeps_rules(labels)]
    kept = [x for x, labels in zip(X, Y, strict=True) if keeps_rules(labels)]
    model = hr.OpinionPool(base=BASES[name][0], subsets=SUBSETS, pool=pool, constraints=NEIGHBOURS).fit(kept, own)
    for x in NEW:
        assert keeps_rules(model.predict_single(x).tolist())
        found = enumerated(model, x)
        assert all(map(keeps_rules, found))
        assert sum(found.values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("pool", POOLED)
def test_known_labels_are_kept(pool):
    model = hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS, pool=pool).fit(X, Y)
    for x in NEW:
        known = [None] * len(x)
        known[-1] = "C"
        assert model.predict([x], known=[known])[0][-1] == "C"


def test_one_model_that_reads_everything_is_the_base():
    base = hr.TreeCRF(**TREES)
    pool = hr.OpinionPool(base=base, subsets=[["w", "v"]]).fit(X, Y)
    for a, b in zip(pool.predict_proba(NEW), hr.TreeCRF(**TREES).fit(X, Y).predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_the_pool_replaces_that_of_the_base():
    second = hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS, order=2).fit(X, Y)
    same = hr.OpinionPool(base=hr.HMM(order=2), subsets=SUBSETS).fit(X, Y)
    for a, b in zip(second.predict_proba(NEW), same.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_training_log_has_a_record_for_each_model():
    base = hr.TreeCRF(n_rounds=20, early_stopping="loss", patience=2, random_state=0)
    model = hr.OpinionPool(base=base, subsets=SUBSETS).fit(X, Y, NEW, [y[:4] for y in data(seed=1, n=8)[1]])
    assert [record["unit"] for record in model.training_log_] == ["model"] * 3
    assert [record["subset"] for record in model.training_log_] == SUBSETS == model.subsets_
    assert all(1 <= record["model_steps"] <= 20 for record in model.training_log_)
    last = model.training_log_[-1]
    dev = [y[:4] for y in data(seed=1, n=8)[1]]
    assert last["dev_accuracy"] == pytest.approx(model.score(NEW, dev))
    assert -last["dev_loss"] == pytest.approx(model.log_likelihood(NEW, dev).mean())
    alone = hr.OpinionPool(base=base, subsets=SUBSETS[:1]).fit(X, Y, NEW, dev).training_log_[0]
    assert alone["dev_accuracy"] == model.training_log_[0]["dev_accuracy"]


def test_a_fit_that_is_stopped_has_the_models_so_far():
    model = hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS).fit(X, Y, callbacks=[lambda record: record["step"] == 2])
    assert len(model.model_.potential.models) == 2
    two = hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS[:2]).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(NEW)[0], two.predict_proba(NEW)[0])


def test_a_seed_decides_the_subsets_and_the_models():
    base = hr.TreeCRF(n_rounds=3, window=2, subsample=0.5)
    words = [[position["w"] for position in x] for x in X]
    first, again, other = (hr.OpinionPool(base=base, random_state=seed).fit(words, Y) for seed in (1, 1, 2))
    assert first.subsets_ == again.subsets_ != other.subsets_
    for a, b in zip(first.predict_proba(words), again.predict_proba(words), strict=True):
        np.testing.assert_array_equal(a, b)
    single = hr.OpinionPool(base=base, random_state=1, n_jobs=1).fit(words, Y)
    for a, b in zip(first.predict_proba(words), single.predict_proba(words), strict=True):
        np.testing.assert_array_equal(a, b)


def encoder(n_columns):
    rows = [[tuple("ab"[(i + t) % 2] for i in range(n_columns)) for t in range(2)]]
    return Encoder.fit(hr.Sequences(rows))


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_columns", [2, 3, 7])
def test_drawn_subsets_have_the_share_and_cover_all_columns(n_columns, share):
    n_models = math.ceil(1 / share)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        drawn = drawn_subsets(encoder(n_columns), None, n_models, share, rng)
        assert all(len(one.columns) == math.ceil(share * n_columns) and one.offsets is None for one in drawn)
        assert {name for one in drawn for name in one.columns} == {f"x{i}" for i in range(n_columns)}
        assert len(set(drawn)) == len(drawn) <= n_models


def test_drawn_subsets_of_one_column_are_of_its_offsets():
    drawn = drawn_subsets(encoder(1), Window.of(2), 4, 0.5, np.random.default_rng(0))
    assert {one.columns for one in drawn} == {("x0",)}
    assert all(one.offsets is not None and len(one.offsets) == 3 for one in drawn)
    assert {offset for one in drawn for offset in one.offsets or ()} == {-2, -1, 0, 1, 2}


def test_indicators_and_derived_columns_go_with_what_they_come_from():
    rows = [[("ab", 1.0), (None, None)], [("ba", 2.0), ("ab", 3.0)]]
    with_indicators = Encoder.fit(hr.Sequences(rows), "indicator")
    subset = chosen_subset(["x1"], with_indicators, None, 0)
    assert subset == Subset(tuple(c.name for c in with_indicators.columns if "x1" in c.name), None)
    assert len(subset.columns) == 2
    names = {
        name for one in drawn_subsets(with_indicators, None, 2, 0.5, np.random.default_rng(0)) for name in one.columns
    }
    assert names == {spec.name for spec in with_indicators.columns}
    texts = Encoder.fit(hr.Sequences(X), None, hr.templates.tags(["w"]))
    assert chosen_subset(["v"], texts, None, 0).columns == ("v",)
    derived = chosen_subset(["w"], texts, None, 0).columns
    assert derived == tuple(spec.name for spec in texts.columns if spec.name != "v")
    assert len(derived) > 1
    assert chosen_subset(["v", derived[0]], texts, None, 0).columns == tuple(
        spec.name for spec in texts.columns if spec.name in ("v", derived[0])
    )


@pytest.mark.parametrize("missing", ["weighting", "indicator"])
def test_missing_values_are_treated_as_by_the_base(missing):
    damaged = [[{**position, "v": None if t % 3 == 0 else position["v"]} for t, position in enumerate(x)] for x in X]
    base = hr.TreeCRF(missing=missing, **TREES)
    model = hr.OpinionPool(base=base, subsets=[["w"], ["v"]]).fit(damaged, Y)
    member = type(base)(**base.get_params(deep=False)).fit(only(damaged, ["v"]), Y)
    own = hr.OpinionPool(base=base, subsets=[["v"]]).fit(damaged, Y)
    np.testing.assert_allclose(own.predict_proba(X[:1])[0], member.predict_proba(only(X[:1], ["v"]))[0], atol=1e-6)
    assert model.score(damaged, Y) > 0.5


@pytest.mark.parametrize("pool", POOLED)
@pytest.mark.parametrize("name", BASES)
def test_files(name, pool, tmp_path):
    model = hr.OpinionPool(base=BASES[name][0], subsets=SUBSETS, pool=pool).fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert repr(loaded) == repr(model)
    assert loaded.subsets_ == model.subsets_
    for a, b in zip(loaded.predict_proba(NEW), model.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)


DAMAGES = {
    "another pool": lambda m: m.update(pool="vote"),
    "no models": lambda m: m.update(models=[]),
    "no list": lambda m: m.update(models={"columns": ["w"]}),
    "no model": lambda m: m["models"].append(3),
    "an unknown kind": lambda m: m["models"][0]["of"].update(kind="pool"),
    "no columns": lambda m: m["models"][0].update(columns=[]),
    "an unknown column": lambda m: m["models"][0].update(columns=["u"]),
    "columns out of order": lambda m: m["models"][0].update(columns=["v", "w"]),
    "a column twice": lambda m: m["models"][0].update(columns=["w", "w"]),
    "other columns": lambda m: m["models"][0].update(columns=["v"]),
    "a model too few": lambda m: m["models"].pop(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(damage, tmp_path):
    hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS).fit(X, Y).save(tmp_path / "m.hedgerow")
    arrays, metadata = storage.read(tmp_path / "m.hedgerow")
    metadata = json.loads(json.dumps(dict(metadata)))
    DAMAGES[damage](metadata["potential"])
    storage.write(tmp_path / "d.hedgerow", dict(arrays), metadata)
    with pytest.raises(ModelFileError, match="holds no model"):
        hr.load(tmp_path / "d.hedgerow")


def test_views_that_a_pool_does_not_have_say_so():
    model = hr.OpinionPool(base=hr.TreeCRF(**TREES), subsets=SUBSETS).fit(X, Y)
    from hedgerow import inspection
    from hedgerow.errors import AbsentPartError

    with pytest.raises(AbsentPartError, match="each of its models has its own"):
        inspection.importances(model.model_)
    with pytest.raises(AbsentPartError, match="each of its models has its own"):
        inspection.transition_graph(model)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": hr.OpinionPool()}, "base must be an estimator other than OutputCode, OpinionPool and SearchTagger"),
        ({"base": hr.OutputCode()}, "base must be an estimator other than"),
        ({"base": hr.SearchTagger()}, "base must be an estimator other than"),
        ({"base": hr.HMM(constraints="IOB2")}, "base must not have constraints='IOB2'; .* pass constraints to Opinion"),
        ({"base": hr.HMM(order=-1)}, "HMM: order"),
        ({"base": hr.StructuredPerceptron(averaging="vote")}, 'must not have averaging="vote"'),
        ({"subsets": []}, "subsets must be"),
        ({"subsets": "all"}, "subsets must be"),
        ({"subsets": [[]]}, "subsets must be"),
        ({"subsets": ["w"]}, "subsets must be"),
        ({"subsets": [[1.5]]}, "subsets must be"),
        ({"subsets": [[True]]}, "subsets must be"),
        ({"subsets": [["w"], ["u"]]}, "subset 1 of subsets has the column 'u', but the columns are 'v', 'w'"),
        ({"subsets": [["w", 2]]}, "has the offset 2, but the window of base has the offsets"),
        ({"base": hr.HMM(), "subsets": [[0]]}, "has the offset 0, but base has no window"),
        ({"n_models": 2, "share": 0.4}, r"n_models \* share must be at least 1"),
        ({"n_models": 0}, "n_models"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"pool": "vote"}, "pool must be one of 'sequence', 'position'"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "-".join(value),
)
def test_misuse(parameters, message):
    with pytest.raises(InputError, match=message):
        hr.OpinionPool(**{"random_state": 0, **parameters}).fit(X, Y)


def test_one_column_at_one_offset_cannot_be_divided():
    with pytest.raises(InputError, match="X has the single column 'symbol' and base reads it at one offset"):
        hr.OpinionPool(base=hr.HMM()).fit(["ab"], [["x", "y"]])
