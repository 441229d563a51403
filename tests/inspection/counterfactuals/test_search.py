"""The search against every change of every value, for every estimator and every form of X."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hedgerow as hr
from builders.counterfactuals import animals, tried
from hedgerow.errors import ImpossibleLatticeError, InputError
from hedgerow.inspection import counterfactual
from oracles.counterfactuals import Tried, smallest_change, variants

X, Y = animals(60, seed=0)
X_NEW, _ = animals(3, seed=1)
WITHOUT_NUMBERS = [[{"word": p["word"], "tags": p["tags"]} for p in x] for x in X]

BY_TREES = {
    "TreeCRF": hr.TreeCRF(n_rounds=4, window=1, n_jobs=1),
    "TreeCRF order 0": hr.TreeCRF(n_rounds=4, window=1, order=0, n_jobs=1),
    "TreeCRF trees": hr.TreeCRF(n_rounds=3, transitions="trees", n_jobs=1),
    "TreeCRF table": hr.TreeCRF(n_rounds=3, transitions="table", order=2, n_jobs=1),
    "TreeCRF statistics": hr.TreeCRF(n_rounds=3, order=0, window=1, label_statistics=True, n_jobs=1, random_state=0),
    "MEMM order 0": hr.MEMM(n_rounds=3, order=0, n_jobs=1),
    "MEMM": hr.MEMM(n_rounds=3, n_jobs=1),
    "FutureMEMM": hr.FutureMEMM(n_rounds=4, max_future=1, n_jobs=1, random_state=0),
    "OutputCode": hr.OutputCode(base=hr.TreeCRF(n_rounds=2), n_bits=3, n_jobs=1, random_state=0),
    "OutputCode cascade": hr.OutputCode(base=hr.TreeCRF(n_rounds=2), cascade=1, n_jobs=1, random_state=0),
}
BY_WEIGHTS = {
    "HMM": hr.HMM(),
    "HMM order 0": hr.HMM(order=0),
    "LinearCRF": hr.LinearCRF(window=1, max_iter=20, n_jobs=1),
    "LinearCRF order 0": hr.LinearCRF(window=2, order=0, max_iter=20, n_jobs=1),
    "LinearCRF induced": hr.LinearCRF(window=1, max_iter=20, induce="mccallum", n_jobs=1),
    "StructuredPerceptron": hr.StructuredPerceptron(epochs=3, n_jobs=1, random_state=0),
    "StructuredPerceptron vote": hr.StructuredPerceptron(epochs=3, averaging="vote", n_jobs=1, random_state=0),
    "StructuredSVM": hr.StructuredSVM(epochs=3, n_jobs=1, random_state=0),
    "TreeCRF linear": hr.TreeCRF(n_rounds=3, linear=True, n_jobs=1, random_state=0),
    "MEMM weights": hr.MEMM(learner="linear", max_iter=20, n_jobs=1),
    "SearchTagger": hr.SearchTagger(epochs=2, n_jobs=1, random_state=0),
    "OutputCode weights": hr.OutputCode(base=hr.LinearCRF(max_iter=20), n_jobs=1, random_state=0),
}


def check(model, X, tried_values, write=lambda x: x):
    """Compare the search with the oracle at every position and for every label; returns how often a label flips."""
    n_flips = 0
    for x in X:
        given = write(x)
        labels, probabilities = model.predict_single(given).tolist(), model.predict_proba([given])[0]
        found = variants(model, x, tried_values, write)
        for position, to in itertools.product(range(len(x)), (None, *model.classes_.tolist())):
            if to == labels[position]:
                continue
            expected = smallest_change(model, found, position, labels[position], to)
            result = counterfactual(model, given, position, to)
            if expected is None:
                assert result is None, (position, to)
                continue
            variant, probability = expected
            assert result is not None, (position, to, variant)
            assert (result.position, result.label) == (position, labels[position])
            assert (result.column, result.offset) == (variant.name, variant.place - position)
            assert (result.value, result.new_value) == short(variant.value, variant.new_value)
            assert result.new_label == variant.labels[position]
            assert result.new_probability == probability
            code = model.classes_.tolist().index(labels[position])
            assert result.probability == float(probabilities[position][code])
            n_flips += 1
    return n_flips


def short(*values):
    """Numbers with the digits of 32-bit floats."""
    return tuple(float(str(np.float32(v))) if isinstance(v, float) else v for v in values)


@pytest.mark.parametrize("name", BY_TREES)
def test_trees_of_texts_numbers_and_sets(name):
    model = BY_TREES[name].fit(X, Y)
    assert check(model, X_NEW, tried(model, ["word", "size", "tags"], missing=True)) > 5


@pytest.mark.parametrize("name", BY_WEIGHTS)
def test_weights_of_texts_and_sets(name):
    model = BY_WEIGHTS[name].fit(WITHOUT_NUMBERS, Y)
    assert check(model, X_NEW, tried(model, ["word", "tags"], missing=True)) > 5


@pytest.mark.parametrize(
    "estimator", [hr.TreeCRF(n_rounds=4, n_jobs=1), hr.MEMM(n_rounds=4, missing="impute", n_jobs=1)]
)
def test_missing_values_become_values(estimator):
    model = estimator.fit(*animals(60, seed=2, missing=0.2))
    incomplete, _ = animals(4, seed=3, missing=0.5)
    assert check(model, incomplete, tried(model, ["word", "size", "tags"], missing=True)) > 5


def test_a_missing_set_gains_a_member():
    X = [[{"tags": {"red"}}], [{"tags": {"wet"}}], [{"tags": None}], [{"tags": {"red", "wet"}}]] * 5
    model = hr.TreeCRF(missing="learned", n_rounds=5, n_jobs=1).fit(X, [["red"], ["wet"], ["none"], ["wet"]] * 5)
    assert model.predict_single([{"tags": None}]).tolist() == ["none"]
    found = counterfactual(model, [{"tags": None}], 0, to="wet")
    assert (found.value, found.new_value, found.new_label) == (None, "wet", "wet")
    assert found.new_probability == model.predict_proba([[{"tags": {"wet"}}]])[0][0][2]


def test_only_a_missing_value_flips():
    X = [[{"word": "cat", "n": 1}], [{"word": None, "n": 1}], [{"n": 1}]] * 5
    y = [["known"], ["unknown"], ["known"]] * 5
    for estimator in (hr.TreeCRF(missing="learned", n_rounds=5, n_jobs=1), hr.LinearCRF(max_iter=20, n_jobs=1)):
        model = estimator.fit(X, y)
        assert counterfactual(model, X[0], 0).new_value is None
        # An absent value cannot become missing: both are None.
        assert counterfactual(model, X[2], 0) is None


def test_a_model_that_refuses_missing_values_gets_none(tmp_path):
    corpus = hr.encode(list(zip(WITHOUT_NUMBERS, Y, strict=True)), tmp_path / "corpus")
    model = hr.LinearCRF(max_iter=20, n_jobs=1).fit(corpus, corpus.y)
    with pytest.raises(InputError, match="missing"):
        model.predict_single([{"word": None, "tags": {"red"}}])
    assert check(model, X_NEW, tried(model, ["word", "tags"])) > 5
    with pytest.raises(InputError, match="counterfactual: x must be a raw sequence, but it is encoded"):
        counterfactual(model, corpus[0:1], 0)


@pytest.mark.parametrize("order", [0, 1])
def test_constraints_link_labels_even_without_transitions(order):
    pairs = [(None, "A"), (None, "C"), ("A", "A"), ("A", "B"), ("B", "A"), ("B", "C"), ("C", "C"), ("C", "A")]
    allowed = [y for y in Y if all(pair in pairs for pair in itertools.pairwise([None, *y]))]
    x = [one for one, y in zip(WITHOUT_NUMBERS, Y, strict=True) if y in allowed]
    model = hr.LinearCRF(order=order, constraints=pairs, max_iter=20, n_jobs=1).fit(x, [y for y in Y if y in allowed])
    assert check(model, X_NEW, tried(model, ["word", "tags"], missing=True)) > 5


@pytest.mark.parametrize("decode", ["viterbi", "marginal"])
def test_the_label_is_the_one_that_predict_returns(decode):
    model = hr.LinearCRF(max_iter=20, decode=decode, n_jobs=1).fit(WITHOUT_NUMBERS, Y)
    assert check(model, X_NEW, tried(model, ["word", "tags"], missing=True)) > 5


def test_a_variant_without_possible_labels_is_no_flip():
    model = hr.HMM(smoothing=0).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    with pytest.raises(ImpossibleLatticeError):
        model.predict_single("cct")
    x = [{"symbol": c} for c in "cat"]
    assert check(model, [x], Tried({"symbol": sorted("catdog")}), lambda x: "".join(words_of(x))) > 0


def words_of(x):
    return [position["symbol"] for position in x]


SENTENCES = [
    ["the", "old", "cat", "sat"],
    ["a", "cat", "saw", "the", "old", "dog"],
    ["dogs", "sat"],
    ["the", "cat"],
] * 3
TAGS = [["D", "J", "N", "V"], ["D", "N", "V", "D", "J", "N"], ["N", "V"], ["D", "N"]] * 3


@pytest.mark.parametrize(
    "estimator",
    [
        hr.LinearCRF(features=hr.templates.words(), max_iter=20, n_jobs=1),
        hr.LinearCRF(features=hr.templates.words(), order=0, max_iter=20, n_jobs=1),
        hr.TreeCRF(features=hr.templates.words(), n_rounds=3, n_jobs=1),
    ],
)
def test_derived_columns_are_derived_again(estimator):
    model = estimator.fit(SENTENCES, TAGS)
    x = [{"symbol": word} for word in ["the", "red", "dogs", "saw", "unheard", "cat"]]
    values = Tried({"symbol": sorted({word for sentence in SENTENCES for word in sentence})}, missing=True)
    assert check(model, [x, x[2:4]], values, words_of) > 5


def test_characters_of_str():
    model = hr.LinearCRF(window=1, max_iter=20, n_jobs=1).fit(
        ["knife", "know", "name"], [list("_n_f_"), list("_no_"), list("nam_")]
    )
    values = Tried({"symbol": sorted("knifeowam")})
    assert (
        check(model, [[{"symbol": c} for c in "knee"], [{"symbol": "z"}]], values, lambda x: "".join(words_of(x))) > 5
    )


def test_lists_of_tuples_and_arrays():
    rows = [[(p["word"], p["size"]) for p in x] for x in X]
    model = hr.TreeCRF(n_rounds=4, n_jobs=1).fit(rows, Y)
    names = model.feature_names_in_.tolist()
    values = tried(model, names, missing=True)
    x = [[dict(zip(names, position, strict=True)) for position in row] for row in rows[:2]]
    assert check(model, x, values, lambda x: [tuple(position.values()) for position in x]) > 3
    arrays = [np.array([[p["size"], len(p["tags"])] for p in x]) for x in X]
    model = hr.TreeCRF(n_rounds=4, n_jobs=1).fit(arrays, Y)
    names = model.feature_names_in_.tolist()
    x = [[dict(zip(names, position, strict=True)) for position in array.tolist()] for array in arrays[:2]]
    values = tried(model, names, missing=True)
    assert check(model, x, values, lambda x: np.array([list(p.values()) for p in x], np.float64)) > 3


def test_lists_of_attributes():
    bags = [[sorted(p["tags"] | {f"word={p['word']}"}) for p in x] for x in X]
    model = hr.LinearCRF(max_iter=20, n_jobs=1).fit(bags, Y)
    (name,) = model.feature_names_in_
    x = [[{name: set(position)} for position in bag] for bag in bags[:3]]
    assert check(model, x, tried(model, [name]), lambda x: [sorted(p[name]) for p in x]) > 3


@pytest.mark.filterwarnings("ignore:X lacks columns")
def test_keys_that_x_lacks_or_training_lacked():
    model = hr.TreeCRF(n_rounds=4, n_jobs=1).fit(X, Y)
    x = [{"word": "cat"}, {"size": 1.5, "colour": "blue"}, {"word": "zebra", "tags": {"tame"}, "size": 3}]
    values = tried(model, ["word", "size", "tags"], missing=True)
    assert check(model, [x], values) > 3
    assert check(model, [[{"word": "cat"}], [{"tags": set()}], [{"size": 2.5}, {"size": 2.5}]], values) > 3
    assert {counterfactual(model, [{"word": word}], 0, to="A").column for word in ("cat", "eel")} == {"size"}


def test_weighted_sets():
    weighted = [[{"tags": dict.fromkeys(p["tags"], 2.0)} for p in x] for x in X]
    y = [["wet" if "wet" in p["tags"] else "red" if "red" in p["tags"] else "dry" for p in x] for x in X]
    model = hr.LinearCRF(max_iter=50, order=0, n_jobs=1).fit(weighted, y)
    assert check(model, weighted[:5], tried(model, ["tags"])) > 10
    found = counterfactual(model, [{"tags": {"shy": 2.0}}], 0, to="wet")
    assert (found.value, found.new_value, found.kind) == (None, "wet", "bag")


def test_characters_of_a_str_cannot_become_missing():
    X = ["abcde" * 4]
    y = [[letter if t // 5 < 3 else "most" for t, letter in enumerate(X[0])]]
    model = hr.HMM(order=0).fit(X, y)
    assert model.predict_single([None, "a"]).tolist() == ["most", "a"]
    assert "most" not in model.predict_single("abcde").tolist()
    assert counterfactual(model, "c", 0, to="most") is None
    assert counterfactual(model, ["c", "a"], 0, to="most").new_value is None
    for x in (["c"], ["c", None]):  # a list of nothing but None is no sequence
        assert counterfactual(model, x, 0, to="most") is None


def test_forms_of_the_same_sequence_give_the_same():
    model = hr.TreeCRF(n_rounds=4, n_jobs=1).fit(X, Y)
    x = X[1]
    expected = [counterfactual(model, x, position) for position in range(len(x))]
    for form in (hr.Sequences([x]), hr.Sequences(X)[1:2]):
        assert [counterfactual(model, form, position) for position in range(len(x))] == expected
    assert [counterfactual(model, iter(x), position) for position in range(len(x))] == expected


def test_threads_and_batches_do_not_change_results(monkeypatch):
    model = hr.TreeCRF(n_rounds=4, n_jobs=1).fit(X, Y)
    cases = [(x, position) for x in X_NEW for position in range(len(x))]
    expected = [counterfactual(model, *case) for case in cases]
    model.set_params(n_jobs=2)
    monkeypatch.setattr("hedgerow.inspection.counterfactuals.search.BATCH", 7)
    assert [counterfactual(model, *case) for case in cases] == expected
