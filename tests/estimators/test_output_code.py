"""OutputCode: equal to the printed algorithm, the counter example, choices on dev data, files, threads, misuse."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import _core
from hedgerow.codes.bits import BitTrainer
from hedgerow.codes.coupling import label_log_probabilities
from hedgerow.codes.potential import CodePotential
from hedgerow.encoding import Encoder
from hedgerow.errors import CodeWarning, InputError, ModelFileError, UnseenLabelWarning
from oracles import codes as oracle


def words_and_sounds(n: int, seed: int = 0, k: int = 5) -> tuple[list[str], list[list[str]]]:
    """Letters, and labels that follow from a letter, its neighbour and the label before."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcde"), size=size)) for size in rng.integers(1, 8, size=n)]
    Y = []
    for x in X:
        labels, last = [], 0
        for t, letter in enumerate(x):
            last = (ord(letter) + (x[t - 1] == "a" if t else 0) + last // 2) % k
            labels.append(f"l{last}")
        Y.append(labels)
    return X, Y


X, Y = words_and_sounds(60)
ASKED, ANSWERS = words_and_sounds(15, seed=1)
TREES = hr.TreeCRF(n_rounds=6, max_leaves=5)
WORDS = [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1]]


def assert_same(found, known):
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(known))


def code_of(label: str) -> int:
    return int(label[1])


BASES = {
    "trees": (TREES, 0),
    "trees through a window": (hr.TreeCRF(n_rounds=6, max_leaves=5, window=2), 2),
    "trees of order 0": (hr.TreeCRF(n_rounds=6, max_leaves=5, order=0, window=1), 1),
    "table": (hr.TreeCRF(n_rounds=6, max_leaves=5, transitions="table", window=1), 1),
    "linear": (hr.LinearCRF(window=1, max_iter=20), 1),
    "HMM": (hr.HMM(order=2), 0),
    "perceptron": (hr.StructuredPerceptron(epochs=3, random_state=0), 0),
    "published trees": (hr.TreeCRF.published(l2=0.0, n_rounds=4, max_leaves=5, window=1), 1),
    "last perceptron": (hr.StructuredPerceptron(averaging="none", epochs=3, random_state=3), 0),
    "voted perceptron": (hr.StructuredPerceptron(averaging="vote", epochs=2, random_state=0), 0),
}


@pytest.mark.parametrize(
    ("cascade", "left", "right"), [(0, 1, 1), (1, 1, 1), (2, 1, 0), (2, 0, 2), (100, 1, 1), ("all", 1, 1)]
)
@pytest.mark.parametrize("name", BASES)
def test_it_is_the_printed_algorithm(name, cascade, left, right):
    base, window = BASES[name]
    model = hr.OutputCode(base=base, cascade=cascade, cascade_left=left, cascade_right=right, code=WORDS).fit(X, Y)
    plain = base.__class__(**base.get_params())
    if window:
        plain.set_params(window=0)
    length = 3 if cascade == "all" else cascade
    expected = oracle.train_and_test(
        lambda: plain.__class__(**plain.get_params()), [oracle.window_dicts(x, window) for x in X],
        [[code_of(label) for label in y] for y in Y], [oracle.window_dicts(x, window) for x in ASKED], WORDS, length,
        left, right,
    )  # fmt: skip
    for found, known in zip(model.predict_bits(ASKED), expected, strict=True):
        np.testing.assert_allclose(found, known, atol=1e-5)
    assert model.cascade_ == min(length, 3)
    for p, label in zip(np.concatenate(expected).tolist(), np.concatenate(model.predict(ASKED)), strict=True):
        scores = [oracle.score(p, word, "l1") for word in WORDS]
        assert scores[code_of(label)] >= max(scores) - 1e-4  # shares of votes are often equally near to two words


@pytest.mark.parametrize("cascade", [1, 3])
def test_predictions_out_of_fold(cascade):
    model = hr.OutputCode(base=TREES, cascade=cascade, cascade_predictions="cross", code=WORDS).fit(X, Y)
    expected = oracle.train_and_test(
        lambda: hr.TreeCRF(**TREES.get_params()), [oracle.window_dicts(x, 0) for x in X],
        [[code_of(label) for label in y] for y in Y], [oracle.window_dicts(x, 0) for x in ASKED], WORDS, cascade,
        folds=3,
    )  # fmt: skip
    for found, known in zip(model.predict_bits(ASKED), expected, strict=True):
        np.testing.assert_allclose(found, known, atol=1e-5)
    plain = hr.OutputCode(base=TREES, cascade=cascade, code=WORDS).fit(X, Y)
    assert not np.array_equal(np.concatenate(plain.predict_bits(ASKED)), np.concatenate(model.predict_bits(ASKED)))


@pytest.mark.parametrize("distance", ["l1", "hamming", "likelihood"])
def test_positions_are_decoded_by_the_nearest_word(distance):
    model = hr.OutputCode(base=TREES, n_bits=7, distance=distance, random_state=3).fit(X, Y)
    words = model.code_.tolist()
    for p, labels, proba in zip(
        model.predict_bits(ASKED), model.predict(ASKED), model.predict_proba(ASKED), strict=True
    ):
        scores = np.array([[oracle.score(row, word, distance) for word in words] for row in p.tolist()])
        assert labels.tolist() == [f"l{oracle.nearest(row, words, distance)}" for row in p.tolist()]
        odds = np.exp(scores / model.temperature_)
        np.testing.assert_allclose(proba, odds / odds.sum(axis=1, keepdims=True), atol=1e-5)
    assert [a.tolist() for a in model.predict(ASKED)] == [a.tolist() for a in model.predict(ASKED, decode="marginal")]


def test_the_lattice_lays_transitions_over_the_bits():
    model = hr.OutputCode(base=TREES, n_bits=7, distance="lattice", random_state=3).fit(X, Y)
    table = model.model_.potential.table
    codes = [[code_of(label) for label in y] for y in Y]
    shares = (np.bincount(np.concatenate(codes), minlength=5) + 0.1) / (sum(map(len, codes)) + 0.5)
    pairs = np.zeros((6, 5))
    for y in codes:
        for before, label in zip([-1, *y[:-1]], y, strict=True):
            pairs[before + 1, label] += 1
    after = (pairs + 0.5 * shares) / (pairs.sum(axis=1, keepdims=True) + 0.5)
    np.testing.assert_allclose(table, 0.4 * np.log(after / shares), atol=1e-5)
    x = next(x for x in ASKED if len(x) == 4)
    p = model.predict_bits([x])[0].tolist()
    assert model.temperature_ == 1
    state = label_log_probabilities(np.array(p, np.float32), model.code_)
    paths = oracle.path_log_probabilities(state, table.astype(float))
    ranked = sorted(paths, key=paths.__getitem__, reverse=True)
    best = model.predict_nbest([x], n=3)[0]
    assert [[code_of(label) for label in labels] for _, labels in best] == [list(path) for path in ranked[:3]]
    assert [value for value, _ in best] == pytest.approx([paths[path] for path in ranked[:3]], abs=1e-4)
    proba = model.predict_proba([x])[0]
    expected = np.zeros_like(proba)
    for path, value in paths.items():
        expected[np.arange(4), path] += math.exp(value)
    np.testing.assert_allclose(proba, expected, atol=1e-4)


def test_the_counter_example():
    """Independent bits forget the cycle, a cascade carries it one position further for each bit, the lattice has it."""
    train, test = hr.datasets.cycle(300, 30, seed=1), hr.datasets.cycle(200, 30, seed=2)
    base = hr.TreeCRF(n_rounds=40)

    def right(**parameters):
        model = hr.OutputCode(base=base, code="one-vs-rest", **parameters).fit(train.X, train.y)
        return np.mean(np.array(model.predict(test.X)) == np.array(test.y), axis=0), model

    independent, model = right()
    assert independent[0] == 1
    assert independent[1] < 0.8
    assert independent[5:].mean() < 0.4
    ones = np.concatenate([p[10:25] for p in model.predict_bits(test.X)])
    np.testing.assert_allclose(ones, 1 / 3, atol=0.02)  # the stationary distribution
    cascaded, _ = right(cascade="all")
    assert cascaded[:2].tolist() == [1, 1]
    assert right(distance="lattice")[0].tolist() == [1] * 30
    assert hr.TreeCRF(n_rounds=40).fit(train.X, train.y).score(test.X, test.y) == 1


@pytest.mark.parametrize("cascade", [0, 2])
@pytest.mark.parametrize("many", [1, 50_000])
def test_threads_change_nothing(cascade, many, monkeypatch):
    monkeypatch.setattr("hedgerow.codes.potential.MANY_POSITIONS", many)  # from so many on, threads share a bit
    models = [
        hr.OutputCode(
            base=hr.TreeCRF(n_rounds=6, subsample=0.5), n_bits=9, cascade=cascade, n_jobs=n, random_state=5
        ).fit(X, Y)
        for n in (1, 4)
    ]
    assert_same(*(model.predict_bits(ASKED) for model in models))
    other = hr.OutputCode(base=hr.TreeCRF(n_rounds=6, subsample=0.5), n_bits=9, cascade=cascade, random_state=6).fit(
        X, Y
    )
    assert other.code_.tolist() != models[0].code_.tolist()


def test_bits_share_one_encoding(monkeypatch):
    encoded = []
    columns = set()
    transform = Encoder.transform
    monkeypatch.setattr(
        "hedgerow.encoding.encoder.Encoder.transform",
        lambda self, x, *threads: encoded.append(1) or transform(self, x, *threads),
    )
    run = BitTrainer._run

    def watched(self, training, bit):
        columns.add(id(training.sequences.columns[0].codes))
        return run(self, training, bit)

    monkeypatch.setattr(BitTrainer, "_run", watched)
    hr.OutputCode(base=TREES, n_bits=10, cascade=3).fit(hr.Sequences(X), Y)
    assert len(encoded) == 1
    assert len(columns) == 1


@pytest.mark.parametrize("base", [TREES, hr.MEMM(n_rounds=4, window=1), hr.TreeCRF(n_rounds=4, transitions="table")])
def test_what_bits_share_changes_no_bit(monkeypatch, base):
    data = [[{"letter": letter, "number": ord(letter) % 7 / 3} for letter in x] for x in X]
    shared = hr.OutputCode(base=base, n_bits=8, random_state=0).fit(data, Y)
    monkeypatch.setattr(
        "hedgerow.learning.tree_inputs.TreeInputs.tree_data",
        lambda self, rows, binnings, order, rules, n_threads, _: _core.TreeData(rows.reader, order, rules, n_threads),
    )
    alone = hr.OutputCode(base=base, n_bits=8, random_state=0).fit(data, Y)
    assert_same(shared.predict_bits(data), alone.predict_bits(data))


@pytest.mark.parametrize("cascade", [0, 2])
def test_a_record_for_each_bit(cascade):
    seen = []
    model = hr.OutputCode(base=TREES, n_bits=9, cascade=cascade, random_state=0)
    model.fit(X, Y, X_dev=ASKED, y_dev=ANSWERS, callbacks=[seen.append])
    assert seen == model.training_log_
    assert [(record["unit"], record["step"]) for record in seen] == [("bit", n) for n in range(1, 10)]
    assert {record["bit_steps"] for record in seen} == {6}
    assert all(record["loss"] > 0 for record in seen)
    assert seen[-1]["dev_accuracy"] == pytest.approx(model.score(ASKED, ANSWERS))
    assert -seen[-1]["dev_loss"] == pytest.approx(model.log_likelihood(ASKED, ANSWERS).mean(), abs=1e-6)
    words = model.code_.tolist()
    flat = np.concatenate(model.predict_bits(ASKED)).tolist()
    gold = [code_of(label) for y in ANSWERS for label in y]
    for record in seen:
        n = record["step"]
        guesses = [oracle.nearest(p[:n], [word[:n] for word in words], "l1") for p in flat]
        assert record["dev_accuracy"] == pytest.approx(np.mean(np.array(guesses) == gold))


def test_dev_data_set_the_temperature():
    model = hr.OutputCode(base=TREES, n_bits=9, random_state=0).fit(X, Y, X_dev=ASKED, y_dev=ANSWERS)
    best = model.log_likelihood(ASKED, ANSWERS).sum()
    for factor in (0.8, 1.25):
        potential = replace(model.model_.potential, temperature=model.temperature_ * factor)
        other = hr.OutputCode(base=TREES, n_bits=9)
        other._set_model(replace(model.model_, potential=potential))
        assert other.log_likelihood(ASKED, ANSWERS).sum() < best
    without = hr.OutputCode(base=TREES, n_bits=9, random_state=0).fit(X, Y)
    assert without.temperature_ != model.temperature_
    assert [a.tolist() for a in without.predict(ASKED)] == [a.tolist() for a in model.predict(ASKED)]


def test_dev_data_say_how_far_transitions_are_trusted():
    model = hr.OutputCode(base=TREES, n_bits=9, distance="lattice", random_state=0).fit(
        X, Y, X_dev=ASKED, y_dev=ANSWERS
    )
    trust = model.training_log_[-1]["transition_weight"]
    lift = (
        hr.OutputCode(base=TREES, n_bits=9, distance="lattice", random_state=0).fit(X, Y).model_.potential.table / 0.4
    )
    np.testing.assert_allclose(model.model_.potential.table, trust * lift, atol=1e-5)
    right = {}
    for other in (0, 0.2, 0.4, 0.6, 0.8, 1):
        potential = replace(model.model_.potential, table=(other * lift).astype(np.float32), temperature=1.0)
        tried = hr.OutputCode(base=TREES, n_bits=9, distance="lattice")
        tried._set_model(replace(model.model_, potential=potential))
        right[other] = tried.score(ASKED, ANSWERS)
    assert len(set(right.values())) > 1
    assert right[trust] == max(right.values())
    assert trust == min((t for t in right if right[t] == right[trust]), key=lambda t: abs(t - 0.4))


@pytest.mark.parametrize(
    ("base", "parameters", "trust"),
    [
        ({"order": 0}, {}, 1.0),
        ({"order": 0, "window": 1}, {}, 0.4),
        ({"order": 0}, {"cascade": 1}, 0.4),
        ({"order": 1}, {}, 0.4),
    ],
)
def test_bits_that_know_no_neighbours_leave_transitions_to_the_lattice(base, parameters, trust):
    learns = hr.TreeCRF(n_rounds=2, **base)
    table = hr.OutputCode(base=learns, n_bits=6, distance="lattice", **parameters).fit(X, Y).model_.potential.table
    whole = hr.OutputCode(base=hr.HMM(order=0), n_bits=6, distance="lattice").fit(X, Y).model_.potential.table
    np.testing.assert_allclose(table, trust * whole, atol=1e-5)


def test_weights_count_sequences():
    weights = np.array([1.0, 3.0] * 30)
    repeated = [x for x, w in zip(X, weights, strict=True) for _ in range(int(w))]
    labels = [y for y, w in zip(Y, weights, strict=True) for _ in range(int(w))]
    weighted = hr.OutputCode(base=hr.HMM(), cascade=1, code=WORDS).fit(X, Y, sample_weight=weights).predict_bits(ASKED)
    plain = hr.OutputCode(base=hr.HMM(), cascade=1, code=WORDS).fit(repeated, labels).predict_bits(ASKED)
    np.testing.assert_allclose(np.concatenate(weighted), np.concatenate(plain), atol=1e-6)


@pytest.mark.parametrize("given", [False, True], ids=["split off", "dev data"])
def test_the_length_of_a_cascade_is_chosen(monkeypatch, given):
    """A cascade is needed, and found; what shorter ones share with it is learned once."""
    data = hr.datasets.cycle(400, 4, seed=4)
    learned = []
    learn = BitTrainer.train

    def counted(self, bit, column, earlier, n_threads, is_read):
        learned.append((bit, self.cascade.length, len(self.training.sequences)))
        return learn(self, bit, column, earlier, n_threads, is_read)

    monkeypatch.setattr(BitTrainer, "train", counted)
    monkeypatch.setattr("hedgerow.codes.learner.CASCADE_LENGTHS", (0, 1, 2))
    dev = hr.datasets.cycle(100, 4, seed=5)
    passed = {"X_dev": dev.X, "y_dev": dev.y} if given else {}
    model = hr.OutputCode(base=hr.TreeCRF(n_rounds=20), code="one-vs-rest", cascade="auto", random_state=0)
    model.fit(data.X, data.y, **passed)
    tried = model.training_log_[0]["cascades_tried"]
    assert set(tried) == {"0", "1", "2"}
    assert model.cascade_ == model.training_log_[0]["cascade"] >= 1
    assert tried[str(model.cascade_)] == max(tried.values()) > tried["0"] + 0.1
    # bits 1 to 3 on their own; bits 2 and 3 that read one; bit 3 that reads two; then all again unless they are kept
    assert len(learned) == 6 + (0 if given else 3)
    assert {n for *_, n in learned} == ({400} if given else {320, 400})
    if given:
        same = hr.OutputCode(base=hr.TreeCRF(n_rounds=20), code="one-vs-rest", cascade=model.cascade_, random_state=0)
        same.fit(data.X, data.y, **passed)
        assert_same(same.predict_bits(dev.X), model.predict_bits(dev.X))


@pytest.mark.parametrize("given", [False, True], ids=["split off", "dev data"])
def test_a_code_that_grows(given):
    train = words_and_sounds(200, seed=7, k=12)
    dev = words_and_sounds(80, seed=8, k=12)
    passed = {"X_dev": dev[0], "y_dev": dev[1]} if given else {}
    model = hr.OutputCode(base=hr.TreeCRF(n_rounds=10, window=1), n_bits=40, code="grow", random_state=0).fit(
        *train, **passed
    )
    assert oracle.broken_rules(model.code_.tolist()) == []
    n_bits = model.code_.shape[1]
    assert 4 <= n_bits < 40
    if given:
        by_bits = [record["dev_accuracy"] for record in model.training_log_]
        distinct = [len(set(map(tuple, model.code_[:, :n].tolist()))) == len(model.code_) for n in range(1, n_bits + 1)]
        assert by_bits[n_bits - 1] == max(a for a, d in zip(by_bits, distinct, strict=False) if d)
        assert len(by_bits) in (n_bits + model.patience, 40)
        assert model.score(*dev) == pytest.approx(by_bits[n_bits - 1])
    else:
        assert len(model.training_log_) == n_bits
    short, random = (
        hr.OutputCode(base=hr.TreeCRF(n_rounds=10, window=1), n_bits=5, code=code, random_state=0).fit(*train)
        for code in ("grow", "random")
    )
    assert oracle.broken_rules(short.code_.tolist()) == []
    assert short.score(*dev) > random.score(*dev)


def test_one_sequence_cannot_be_split():
    x, y = ["abcabc"], [["l0", "l1", "l2"] * 2]
    for change in ({"code": "grow"}, {"cascade": "auto"}):
        with pytest.raises(InputError, match="are chosen on dev data, but X has only one sequence"):
            hr.OutputCode(base=TREES, **change).fit(x, y)
    with pytest.raises(InputError, match=r'"cross" trains on some sequences .* only one; use "training"'):
        hr.OutputCode(base=TREES, cascade=1, cascade_predictions="cross").fit(x, y)


def test_two_labels_work_with_one_warning():
    labels = [[label in ("l1", "l2") for label in y] for y in Y]
    with pytest.warns(CodeWarning, match="y has 2 labels: the code has one bit") as said:
        model = hr.OutputCode(base=TREES, distance="likelihood").fit(X, labels)
    assert len(said) == 1
    expected = hr.TreeCRF(**TREES.get_params()).fit(X, labels).predict_proba(ASKED)
    np.testing.assert_allclose(np.concatenate(model.predict_proba(ASKED)), np.concatenate(expected), atol=1e-5)


@pytest.mark.parametrize(
    ("base", "parameters"),
    [
        (TREES, {"cascade": 2, "distance": "lattice"}),
        (hr.TreeCRF(window=1, n_rounds=3, transitions="table"), {"code": "separated", "n_bits": 6}),
        (hr.LinearCRF(window=1, max_iter=5), {"cascade": "all", "cascade_left": 2, "cascade_right": 0}),
        (hr.LinearCRF(induce="mccallum", max_iter=20, random_state=0), {"cascade": 1}),
        (hr.HMM(order=0), {"code": "one-vs-rest", "distance": "hamming"}),
        (hr.StructuredSVM(epochs=2), {"cascade": 1, "cascade_predictions": "cross"}),
        (hr.StructuredPerceptron(averaging="vote", epochs=2), {"cascade": 1}),
        (None, {"code": WORDS}),
    ],
)
def test_one_file_holds_all(base, parameters, tmp_path):
    model = hr.OutputCode(base=base, random_state=0, **parameters).fit(X, Y)
    model.save(tmp_path / "m")
    loaded = hr.load(tmp_path / "m")
    assert repr(loaded) == repr(model)
    assert_same(loaded.predict_bits(ASKED), model.predict_bits(ASKED))
    assert_same(loaded.predict_proba(ASKED), model.predict_proba(ASKED))
    assert loaded.code_.tolist() == model.code_.tolist()
    assert (loaded.cascade_, loaded.temperature_) == (model.cascade_, model.temperature_)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_file_whose_code_does_not_fit_is_refused(tmp_path):
    from hedgerow import storage

    hr.OutputCode(base=TREES, n_bits=6, cascade=1, distance="lattice", random_state=0).fit(X, Y).save(tmp_path / "m")
    arrays, metadata = storage.read(tmp_path / "m")
    potential = metadata["potential"]
    damages = [
        (arrays | {"potential.code_words": arrays["potential.code_words"] + 2}, potential),
        (arrays | {"potential.code_words": arrays["potential.code_words"][:, :-1]}, potential),
        (arrays | {"potential.code_words": arrays["potential.code_words"][1:]}, potential),
        (arrays | {"potential.bits.9.x": arrays["potential.code_words"]}, potential),
        (arrays | {"potential.table": arrays["potential.table"][:-1]}, potential),
        (arrays, potential | {"cascade": [1, 10**7, 1]}),
        (arrays, potential | {"cascade": [1, 1]}),
        (arrays, potential | {"distance": "l1"}),
        (arrays, potential | {"distance": "miles"}),
        (arrays, potential | {"temperature": 0.0}),
        (arrays, potential | {"bit_order": -1}),
        (arrays, potential | {"bits": potential["bits"][:-1]}),
        (arrays, potential | {"bits": []}),
        (arrays, potential | {"bits": [{"kind": "code"}] * 6}),
        (arrays, potential | {"kind": "trees"}),
    ]
    for changed, told in damages:
        storage.write(tmp_path / "d", changed, metadata | {"potential": told})
        with pytest.raises(ModelFileError):
            hr.load(tmp_path / "d")
    for base in ({"estimator": "Oracle", "parameters": {}}, {"estimator": "TreeCRF"}, "TreeCRF", 3):
        storage.write(tmp_path / "d", arrays, metadata | {"parameters": metadata["parameters"] | {"base": base}})
        with pytest.raises(ModelFileError):
            hr.load(tmp_path / "d")


def test_parameters_of_the_base_are_reached():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    model = hr.OutputCode(base=hr.TreeCRF(n_rounds=3), n_bits=5)
    assert model.get_params()["base__n_rounds"] == 3
    assert "base__n_rounds" not in model.get_params(deep=False)
    twin = clone(model)
    assert twin.base is not model.base
    twin.set_params(base__n_rounds=7, base__l2=0.5, n_bits=6)
    assert (twin.base.n_rounds, twin.base.l2, twin.n_bits, model.base.n_rounds) == (7, 0.5, 6, 3)
    assert repr(twin) == "OutputCode(base=TreeCRF(n_rounds=7, l2=0.5), n_bits=6)"
    twin.set_params(base__window=2, base=hr.LinearCRF())  # the base first, then what is in it
    assert repr(twin.base) == "LinearCRF(window=2)"
    seeded = clone(model).set_params(random_state=0)
    search = GridSearchCV(seeded, {"base__n_rounds": [1, 30]}, cv=2).fit(X, Y)
    by_hand = [
        cross_val_score(hr.OutputCode(base=hr.TreeCRF(n_rounds=n), n_bits=5, random_state=0), X, Y, cv=2).mean()
        for n in (1, 30)
    ]
    assert search.cv_results_["mean_test_score"].tolist() == by_hand
    assert by_hand[0] != by_hand[1]
    for wrong in ({"base__nonsense": 1}, {"n_bits__x": 1}, {"nonsense__x": 1}):
        with pytest.raises(InputError, match="has no parameter"):
            model.set_params(**wrong)
    with pytest.raises(InputError, match="base is None and has no parameters; give an estimator"):
        hr.OutputCode().set_params(base__l2=1.0)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("cascade", [0, 1])
def test_an_interrupted_fit_keeps_the_bits_done_so_far(cascade, n_jobs, tmp_path):
    def interrupt(record):
        if record["step"] == 4:
            raise KeyboardInterrupt

    whole = hr.OutputCode(base=TREES, n_bits=9, cascade=cascade, random_state=0).fit(X, Y)
    model = hr.OutputCode(base=TREES, n_bits=9, cascade=cascade, random_state=0, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt), pytest.warns(CodeWarning, match="when 4 of 9 bits had been learned"):
        model.fit(X, Y, callbacks=[interrupt])
    assert model.code_.tolist() == whole.code_[:, :4].tolist()
    bits = np.concatenate(whole.predict_bits(ASKED))[:, :4]
    np.testing.assert_array_equal(np.concatenate(model.predict_bits(ASKED)), bits)
    model.save(tmp_path / "m")
    assert [a.tolist() for a in hr.load(tmp_path / "m").predict(ASKED)] == [a.tolist() for a in model.predict(ASKED)]
    assert threading.active_count() < 10


def test_a_fit_interrupted_before_the_first_bit_leaves_nothing(monkeypatch):
    def interrupt(self, training, bit):
        raise KeyboardInterrupt

    monkeypatch.setattr(BitTrainer, "_run", interrupt)
    model = hr.OutputCode(base=TREES, n_bits=9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


HOLES = [[{"letter": None if t % 3 == 1 else letter, "size": float(t)} for t, letter in enumerate(x)] for x in X]


@pytest.mark.parametrize("base", [TREES, hr.LinearCRF(max_iter=10), hr.HMM(), hr.TreeCRF(n_rounds=4, missing="impute")])
def test_missing_values_go_to_the_base(base):
    model = hr.OutputCode(base=base, cascade=1, code=WORDS).fit(HOLES, Y)
    first = [[WORDS[code_of(label)][0] for label in y] for y in Y]
    alone = base.__class__(**base.get_params()).fit(HOLES, first).predict_proba(HOLES)
    found = np.concatenate(model.predict_bits(HOLES))[:, 0]
    np.testing.assert_allclose(found, np.concatenate(alone)[:, 1], atol=1e-5)
    assert model.training_log_[0]["missing"]["rates"]["letter"] > 0.2


def test_unseen_labels_of_dev_data():
    """They are wrong for every bit."""
    labels = [["new"] * len(x) for x in ASKED[1:]]
    with pytest.warns(UnseenLabelWarning):
        model = hr.OutputCode(base=hr.TreeCRF(n_rounds=6, early_stopping="accuracy"), n_bits=5).fit(
            X, Y, X_dev=ASKED, y_dev=[ANSWERS[0], *labels]
        )
    most = len(ASKED[0]) / sum(map(len, ASKED))
    assert model.training_log_[-1]["dev_accuracy"] <= most
    assert max(record["bit_dev_accuracy"] for record in model.training_log_) <= most


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"base": hr.TreeCRF},
            "base must be an estimator other than OutputCode, OpinionPool and SearchTagger, or None for TreeCRF",
        ),
        ({"base": hr.SearchTagger()}, "base must be an estimator other than"),
        ({"base": "TreeCRF"}, "base must be an estimator"),
        ({"base": hr.OutputCode()}, "base must be an estimator"),
        ({"base": hr.TreeCRF(n_rounds=0)}, "TreeCRF: n_rounds must be an integer of at least 1 or 'auto'; it is 0"),
        ({"base": hr.TreeCRF(beam=1)}, "base must not have beam=1; a lattice of two labels needs none"),
        ({"base": hr.TreeCRF(n_rounds=9, warm_start=True)}, "base must not have warm_start=True"),
        (
            {"base": hr.TreeCRF(n_rounds=9, checkpoint="c")},
            "base must not have checkpoint='c'; all bits would write the same file",
        ),
        ({"base": hr.TreeCRF(early_stopping="span_f1")}, "needs labels that mark spans"),
        ({"n_bits": 0}, "n_bits must be an integer of at least 1 or None"),
        ({"n_bits": 16}, "n_bits must be from 3 to 15 for 5 labels"),
        ({"n_bits": 2, "code": "grow"}, "n_bits must be from 3 to 15 for 5 labels"),
        ({"cascade": -1}, 'cascade must be an integer of at least 0, "all" or "auto"; it is -1'),
        ({"cascade": "some"}, "cascade must be an integer"),
        ({"cascade": True}, "cascade must be an integer"),
        ({"cascade": 1.5}, "cascade must be an integer"),
        ({"cascade": 1, "cascade_left": 0, "cascade_right": 0}, "a cascade reads positions before or after its own"),
        ({"cascade_left": 1001}, "cascade_left must be an integer of at least 0 and at most 1000"),
        ({"cascade_predictions": "none"}, "cascade_predictions must be one of 'training', 'cross'"),
        ({"code": "gray"}, "code must be one of 'random', 'separated', 'exhaustive', 'one-vs-rest', 'grow', or a"),
        ({"code": 3}, "code must be one of"),
        ({"code": [[0, 1]]}, "a row for each of the 5 labels"),
        ({"code": WORDS, "n_bits": 5}, "the matrix given as code has 4 bits for 5 labels, but n_bits is 5"),
        ({"code": "grow", "cascade": "auto"}, 'cannot be combined with cascade="auto"; set cascade to a number'),
        ({"distance": "l2"}, "distance must be one of 'l1', 'hamming', 'likelihood', 'lattice'; it is 'l2'"),
    ],
)
def test_misuse(parameters, said):
    model = hr.OutputCode(**{"base": TREES} | parameters)
    with pytest.raises(InputError, match=said):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


def test_the_model_is_plain():
    model = hr.OutputCode(base=TREES, n_bits=np.int64(6), cascade=np.int64(1), cascade_left=np.int32(1)).fit(X, Y)
    assert isinstance(model.model_.potential, CodePotential)
    assert model.model_.parameters["n_bits"] == 6
    assert type(model.model_.parameters["cascade"]) is int
    assert hr.OutputCode(code=np.eye(5)).fit(X, Y).model_.parameters["code"] == np.eye(5).tolist()
