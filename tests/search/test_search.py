"""SearchTagger against weights in a dict and hypotheses written out."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import _core
from hedgerow.datasets.synthetic import future
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.epochs import epoch_orders
from hedgerow.search.learner import SearchLearner, SearchRules
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology
from oracles.linear import Problem, mean, training_of
from oracles.search import UPDATES, SearchProblem, learned, log_sum, paths_kept, weights_of

pytestmark = pytest.mark.kernel

DIRECTIONS = ["left-to-right", "right-to-left"]


def random_data(seed, n=8, letters="abc", n_labels=3, longest=5):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list(letters), size=rng.integers(1, longest))) for _ in range(n)]
    y = [[str(rng.integers(n_labels)) for _ in x] for x in X]
    y[0][0], X[1], y[1] = "0", "abca", ["1", "2", "0", str(n_labels - 1)]  # every label occurs
    return X, y


def fitted(training, **rules):
    """A learner after its epochs, and the order of their examples."""
    given = {
        "order": 1, "window": 0, "beam": 2, "update": "laso", "direction": "left-to-right", "epochs": 2,
        "averaged": False, "min_freq": 1, "random_state": 5,
    } | rules  # fmt: skip
    learner = SearchLearner(training, SearchRules(**given))
    n_epochs = len(list(learner))
    return learner, np.concatenate(list(islice(epoch_orders(training, 5), n_epochs)))


def assert_same(potential, w, tolerance=1e-5):
    found = weights_of(potential)
    for name in {*found, *w}:
        assert abs(found.get(name, 0.0) - float(w.get(name, 0))) <= tolerance, name


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [0, 1, 2, 4])
@pytest.mark.parametrize("beam", [1, 2])
def test_the_weights_are_those_of_the_books(update, direction, order, beam):
    for seed in range(3):
        training = training_of(*random_data(seed), 0, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
        averaged = seed == 0
        learner, examples = fitted(
            training, order=order, window=1, beam=beam, update=update, direction=direction, averaged=averaged
        )
        problem = SearchProblem(
            Problem(training, window=1), order, beam, backward=direction == "right-to-left", merges=update != "laso"
        )
        vectors = learned(problem, examples, update)
        assert_same(learner.potential, mean(vectors) if averaged else vectors[-1])


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [3, 5, 40])
def test_wider_beams_numbers_and_a_bias(update, beam):
    rng = np.random.default_rng(beam)
    X = [
        [{"n": float(rng.normal()), "b": {"u": float(rng.normal()), "v": float(rng.normal())}} for _ in range(4)]
        for _ in range(6)
    ]
    y = [[str(rng.integers(4)) for _ in x] for x in X]
    y[0] = ["0", "1", "2", "3"]
    training = training_of(X, y, 0)
    learner, examples = fitted(training, order=2, beam=beam, update=update, averaged=True)
    inputs = Problem(training, bias=True, scalings=learner.potential.scalings)
    problem = SearchProblem(inputs, 2, beam, merges=update != "laso")
    assert_same(learner.potential, mean(learned(problem, examples, update)), 1e-4)


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("n_labels", [2, 7, 19, 40])
@pytest.mark.parametrize("beam", [1, 3, 16, 17, 60])
def test_every_instruction_set_keeps_the_highest(name, n_labels, beam):
    """Order 1: what a beam over a lattice keeps, and so its best path."""
    rng = np.random.default_rng(n_labels)
    starts = np.array([0, 1, 4, 30], np.int64)
    state = rng.integers(-3, 4, size=(30, n_labels)).astype(np.float32) + rng.random((30, n_labels), np.float32)
    table = rng.normal(size=(1 + n_labels, n_labels)).astype(np.float32)
    bits = n_labels.bit_length()
    grams = (2**bits - 1 + np.array([n_labels, *range(n_labels)])).astype(np.int64)  # start, then each label
    cells = (grams[:, None] * n_labels + np.arange(n_labels)).ravel()
    model = _core.SearchGrams(n_labels, 1, cells, np.ascontiguousarray(table.ravel()))
    before = _core.instruction_set()
    _core.use_instruction_set(name)
    try:
        score, labels = _core.SearchBatch(model, starts, state, beam, False, None, 1).best()
    finally:
        _core.use_instruction_set(before)
    lattice = Lattice(Topology(n_labels), starts, state=state, table=table, beam=beam, general=True)
    np.testing.assert_allclose(score, lattice.viterbi()[0], atol=1e-3)
    np.testing.assert_array_equal(labels, lattice.viterbi()[1])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("beam", [1, 2, 4, 30])
def test_answers_are_over_the_paths_that_the_search_kept(order, beam, direction):
    X, y = random_data(7)
    training = training_of(X, y, 0)
    learner, _ = fitted(training, order=order, beam=beam, direction=direction, averaged=True)
    potential, backward = learner.potential, direction == "right-to-left"
    problem = SearchProblem(Problem(training), order, beam, backward=backward)
    w = weights_of(potential)
    search = potential.answers(training.sequences, training.topology, beam=beam).at(0.5)
    turned = slice(None, None, -1 if backward else 1)
    (log_z, marginals), (scores, paths) = search.marginals(), search.nbest(5)
    kept_log_z = search.keeping(training.codes).log_partition()
    for i, x in enumerate(problem.inputs):
        own = slice(int(search.starts[i]), int(search.starts[i + 1]))
        kept = paths_kept(problem, x, w, 0.5)
        assert log_z[i] == pytest.approx(log_sum(kept.values()), abs=1e-3)
        expected = np.zeros((len(x), problem.k))
        for labels, score in kept.items():
            expected[range(len(x)), labels] += math.exp(score - log_sum(kept.values()))
        np.testing.assert_allclose(marginals[own], expected[turned], atol=1e-4)
        ranked = sorted(kept.values(), reverse=True)[:5]
        np.testing.assert_allclose(scores[i], ranked + [-np.inf] * (5 - len(ranked)), atol=1e-3)
        for r in range(len(ranked)):
            labels = tuple(paths[r, own][turned].tolist())
            assert kept[labels] == pytest.approx(ranked[r], abs=1e-3)
        assert len({tuple(p) for p in paths[: len(ranked), own].tolist()}) == len(ranked)
        with_gold = paths_kept(problem, x, w, 0.5, keep=problem.gold[i])
        assert kept_log_z[i] == pytest.approx(log_sum(with_gold.values()), abs=1e-3)
        assert search.score(training.codes)[i] == pytest.approx(with_gold[problem.gold[i]], abs=1e-3)
    np.testing.assert_array_equal(search.viterbi()[1], paths[0])


def test_a_label_far_back_needs_a_high_order():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(300):
        first = str(rng.choice(["a", "b"]))
        X.append(first + "xxxx" + "?")
        y.append([first, *"zzzz", first.upper()])
    low, high = (hr.SearchTagger(order=order, random_state=0).fit(X[:200], y[:200]) for order in (4, 5))
    assert high.score(X[200:], y[200:]) == 1.0
    assert low.score(X[200:], y[200:]) < 0.95
    weights = high.transition_features_
    assert weights["a", "z", "z", "z", "z", "A"] > weights.get(("a", "z", "z", "z", "z", "B"), 0.0)
    assert any(name[0] is None for name in weights)


def test_what_comes_last_is_seen_first_from_the_right():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("xy"), size=5)) + str(rng.choice(list("ab"))) for _ in range(200)]
    y = [[x[-1]] * 6 for x in X]
    left = hr.SearchTagger(beam=1, random_state=0).fit(X[:150], y[:150])
    right = hr.SearchTagger(beam=1, direction="right-to-left", random_state=0).fit(X[:150], y[:150])
    assert right.score(X[150:], y[150:]) == 1.0 > left.score(X[150:], y[150:])
    assert right.transition_features_["a", "a"] > right.transition_features_.get(("b", "a"), 0.0)
    assert any(name[-1] is None for name in right.transition_features_)


def test_epochs_after_the_last_mistake_count_without_being_run():
    training = training_of(["ab", "ba", "bb"], [["x", "y"], ["y", "x"], ["y", "y"]], 0)
    learner, examples = fitted(training, epochs=30, averaged=True)
    assert len(examples) < 90
    vectors = learned(SearchProblem(Problem(training), 1, 2, merges=False), examples, "laso")
    assert_same(learner.potential, mean(vectors + vectors[-1:] * (91 - len(vectors))))


@pytest.mark.parametrize("update", UPDATES)
def test_mistakes_and_updates_are_told(update):
    X, y = random_data(1, n=30)
    history = hr.SearchTagger(update=update, beam=1, epochs=3, random_state=0).fit(X, y).training_log_
    assert [record["step"] for record in history] == [1, 2, 3]
    assert all(record["updates"] >= record["mistakes"] > 0 for record in history)
    if update == "laso":
        assert history[0]["updates"] > history[0]["mistakes"]
    else:
        assert history[0]["updates"] == history[0]["mistakes"]


def test_probabilities_are_scaled_on_dev_data(tmp_path):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), size=8)) for _ in range(60)]
    y = [[c if rng.random() < 0.8 else "d" for c in x] for x in X]
    model = hr.SearchTagger(random_state=0).fit(X[:30], y[:30], X_dev=X[30:], y_dev=y[30:])
    assert model.temperature_ == model.training_log_[-1]["temperature"] != 1
    best = model.log_likelihood(X[30:], y[30:]).mean()
    assert -model.training_log_[-1]["dev_loss"] == pytest.approx(best)
    plain = hr.SearchTagger(random_state=0).fit(X[:30], y[:30])
    assert plain.temperature_ == 1.0
    assert plain.state_features_ == model.state_features_
    assert [p.tolist() for p in plain.predict(X)] == [p.tolist() for p in model.predict(X)]
    assert best > plain.log_likelihood(X[30:], y[30:]).mean()


def test_a_wider_beam_may_be_asked_for_later():
    X, y = random_data(3, n=40, longest=9)
    model = hr.SearchTagger(beam=1, random_state=0).fit(X, y)
    assert len(model.predict_nbest(["abcab"], n=9)[0]) == 1
    model.set_params(beam=4)
    assert len(model.predict_nbest(["abcab"], n=9)[0]) > 1


def test_rare_attributes_are_left_out():
    model = hr.SearchTagger(min_freq=2, random_state=0).fit(["aab", "ca"], [["x", "x", "y"], ["y", "x"]])
    assert {name for name, _ in model.state_features_} <= {"symbol:a"}


def test_a_sequence_without_weight_is_not_there():
    X, y = random_data(2)
    given = {"random_state": 0, "averaging": "none", "epochs": 3}
    weighted = hr.SearchTagger(**given).fit(X, y, sample_weight=[1.0] * 7 + [0.0])
    assert weighted.transition_features_ == hr.SearchTagger(**given).fit(X[:7], y[:7]).transition_features_


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"beam": 0}, "beam must be an integer at least 1; it is 0"),
        ({"beam": None}, "beam must be an integer at least 1; it is None"),
        ({"update": "late"}, "update must be one of 'laso', 'early', 'max-violation', 'standard'"),
        ({"direction": "down"}, "direction must be one of 'left-to-right', 'right-to-left'"),
        ({"averaging": "vote"}, "averaging must be one of 'average', 'none'"),
        ({"epochs": 0}, "epochs must be an integer at least 1"),
        ({"order": 31}, "order 31 with 2 labels needs n-grams that 64 bits cannot number; take a lower order"),
    ],
)
def test_bad_parameters(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.SearchTagger(**change).fit(["ab"], [["x", "y"]])


def test_weights_beyond_all_numbers_are_refused():
    with pytest.raises(InputError, match="the weights grew beyond all numbers"):
        hr.SearchTagger(update="standard", random_state=0).fit(
            ["aaaaaaaa", "b"], [["x"] * 8, ["y"]], sample_weight=[1e30, 1e30]
        )


def test_a_long_sequence_costs_no_more_than_its_length():
    rng = np.random.default_rng(0)
    x = "".join(rng.choice(list("abc"), size=100_000))
    y = list(rng.choice(list("pq"), size=100_000))
    model = hr.SearchTagger(epochs=2, n_jobs=1, random_state=0).fit([x], [y])  # quadratic would take minutes
    assert model.training_log_[0]["updates"] > 1000


def test_future_features_are_read_at_each_step(tmp_path):
    train, test = future("extra", 120, seed=1), future("extra", 40, seed=2)
    given = {"order": 1, "window": 1, "epochs": 6, "random_state": 0}
    plain = hr.SearchTagger(**given).fit(train.X, train.y)
    ahead = hr.SearchTagger(future=hr.FutureMEMM(order=0, bag=6), **given)
    assert ahead.get_params()["future__bag"] == 6
    ahead.fit(train.X, train.y, X_dev=test.X, y_dev=test.y)
    assert plain.score(test.X, test.y) < 0.95 < 0.98 < ahead.score(test.X, test.y)
    assert ahead.training_log_[-1]["future_features"] >= 1
    assert ahead.training_log_[-1]["dev_accuracy"] == ahead.score(test.X, test.y)
    assert ahead.state_features_["future feature 1", "1"] > 1
    ahead.save(tmp_path / "m")
    loaded = hr.load(tmp_path / "m")
    assert repr(loaded) == repr(ahead)
    for a, b in zip(ahead.predict_proba(test.X), loaded.set_params(n_jobs=3).predict_proba(test.X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_future_features_that_are_not_there_are_told():
    X, y = ["ab", "ba"] * 4, [["a", "b"], ["b", "a"]] * 4
    model = hr.SearchTagger(future=hr.FutureMEMM(order=0), random_state=0).fit(X, y)
    assert model.training_log_[0]["future_features"] == 0
    assert model.score(X, y) == 1.0
    with pytest.raises(InputError, match="future must be a FutureMEMM or None; it is HMM"):
        hr.SearchTagger(future=hr.HMM()).fit(X, y)
    with pytest.raises(InputError, match="bag must be an integer of at least 1"):
        hr.SearchTagger(future=hr.FutureMEMM(bag=0)).fit(X, y)


def test_without_a_beam_the_search_keeps_every_hypothesis():
    X, y = ["abca", "cab"], [["x", "y", "x", "z"], ["z", "y", "x"]]
    model = hr.SearchTagger(order=2, beam=1, random_state=0).fit(X, y)
    assert isinstance(model.model_.potential, SearchPotential)
    encoded = model.model_.encode(["abcabc"])
    exact = model.model_.answers(encoded)
    widest = model.model_.answers(encoded, beam=3**6)
    np.testing.assert_array_equal(exact.log_partition(), widest.log_partition())
    scores, _ = exact.nbest(3**6)
    assert np.logaddexp.reduce(scores[0]) == pytest.approx(exact.log_partition()[0])


def test_kernels_refuse_what_does_not_fit():
    grams = _core.SearchGrams(2, 1, np.zeros(0, np.int64), np.zeros(0, np.float32))
    state, starts = np.zeros((2, 2), np.float32), np.array([0, 2])
    for change in (
        {"starts": np.array([0, 3])}, {"starts": np.array([1, 2])}, {"starts": np.array([0, 2, 2])},
        {"starts": np.zeros(0, np.int64)}, {"state": np.zeros((2, 3), np.float32)}, {"beam": 0}, {"n_threads": 0},
        {"keep": np.array([0], np.int32)}, {"keep": np.array([0, 2], np.int32)}, {"keep": np.array([0, -2], np.int32)},
    ):  # fmt: skip
        given = {"starts": starts, "state": state, "beam": 1, "backward": False, "keep": None, "n_threads": 1}
        with pytest.raises(ValueError, match=r"."):
            _core.SearchBatch(grams, **(given | change))
    for cells in ([-1], [2 * 7]):
        with pytest.raises(ValueError, match="cells are numbers of n-grams"):
            _core.SearchGrams(2, 1, np.array(cells), np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="order is too high"):
        _core.SearchGrams(2, 1000, np.zeros(0, np.int64), np.zeros(0, np.float32))
