"""LinearCRF: scores, likelihood and gradient against features in dicts, and the conditions of a minimum."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.training import training_of
from hedgerow import _core
from hedgerow.encoding import Scaling
from hedgerow.errors import ConvergenceWarning, InputError
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import Minimizer, Penalty
from oracles import crf as oracles_crf

pytestmark = pytest.mark.kernel

CLASSES = ["A", "B", "C"]


def draw(seed, n=8, numeric=True):
    """Sequences of dicts with a category, a weighted bag and perhaps a number; labels that depend on them."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(1, 5))
        sequence = []
        for _ in range(length):
            item = {"c": str(rng.choice(list("pqr")))}
            if numeric:
                item["x"] = float(np.float32(rng.normal(3, 2)))
            sequence.append(item)
        X.append(sequence)
        y.append([str(rng.choice(CLASSES)) for _ in sequence])
    y[0][0], y[-1][-1] = "A", "B"
    return X, y


def standardised(X):
    """The same sequences with numbers as the model reads them."""
    values = np.array([item["x"] for sequence in X for item in sequence if "x" in item], np.float32)
    if not len(values):
        return X
    scaling = Scaling.fit(values)
    return [
        [item | {"x": (np.float32(item["x"]) - scaling.mean) / scaling.deviation} for item in sequence]
        for sequence in X
    ]


def named(space, training, window):
    """The names that the oracle gives to the features of a space, in the order of its weights."""
    rows, labels = space.attributes(training), training.labels.classes.tolist()
    k = len(labels)

    def attribute(i):
        column, offset, value = rows.name(int(i))
        if isinstance(value, str):
            return column, offset, value
        return column, offset, None if value == 0 and column == "x" else "outside"

    def before(number, m):
        digits = [number // k**j % k for j in range(m)]  # the oldest is the last digit
        return tuple(labels[d] for d in digits)

    pairs = zip(space.state.attributes, space.state.outputs, strict=True)
    names = [("state", attribute(i), labels[y]) for i, y in pairs]
    if space.edge is not None:
        names += [
            ("edge", attribute(i), before(cell // k, training.order), labels[cell % k])
            for i, cell in zip(space.edge.attributes.tolist(), space.edge.outputs.tolist(), strict=True)
        ]
    contexts = training.topology.contexts()
    for cell in space.n_grams.cells.tolist():
        context = contexts[cell // k]
        names.append(("gram", tuple(labels[h] for h in reversed(context)), labels[cell % k]))
    return names


CASES = [(0, 0, False, False), (1, 0, False, False), (1, 1, True, True), (2, 0, False, True), (2, 1, True, False)]


@pytest.mark.parametrize(("order", "window", "edges", "numeric"), CASES)
@pytest.mark.parametrize("every", [False, True])
def test_value_and_gradient_are_those_of_all_label_sequences(order, window, edges, numeric, every):
    X, y = draw(order + 10 * window, numeric=numeric)
    sample_weight = np.linspace(0.5, 2, len(X))
    training = training_of(X, y, order, sample_weight)
    space = LinearSpace.of(training, window, observed_only=not every, all_transitions=every, edges=edges)
    names = named(space, training, window)
    assert len(set(names)) == len(names) == space.n_weights
    kinds = {"edges": edges, "bias": numeric}
    plain = standardised(X)
    times = oracles_crf.observed(plain, y, window, order, **kinds)
    if not every:
        assert set(names) == set(times)
    rng = np.random.default_rng(1)
    weights = rng.normal(size=len(names)).astype(np.float32).astype(np.float64)
    value, gradient = Likelihood(training, space)(weights)

    def slow(weights):
        table = dict(zip(names, weights, strict=True))
        classes = training.labels.classes.tolist()
        return -sum(
            w * oracles_crf.log_likelihood(table, sequence, labels, classes, window, order, **kinds)
            for w, sequence, labels in zip(sample_weight, plain, y, strict=True)
        )

    assert value == pytest.approx(slow(weights), rel=1e-6)
    for i in rng.choice(len(names), min(12, len(names)), replace=False):
        step = np.zeros(len(names))
        step[i] = 1e-4
        slope = (slow(weights + step) - slow(weights - step)) / 2e-4
        assert gradient[i] == pytest.approx(slope, abs=2e-5), names[i]


def test_features_must_occur_often_enough():
    X, y = draw(3, n=30, numeric=False)
    training = training_of(X, y, 1)
    times = oracles_crf.observed(X, y, 1, 1)
    for least in (1, 2, 5):
        space = LinearSpace.of(training, 1, min_freq=least)
        found = {name for name in named(space, training, 1) if name[0] == "state"}
        assert found == {name for name, n in times.items() if name[0] == "state" and n >= least}


def test_scores_of_wide_and_narrow_attributes_are_sums_of_weights():
    """Rows, a few features and single ones take different ways through the scorer."""
    rng = np.random.default_rng(0)
    n, width, n_values = 300, 40, 12
    codes = rng.integers(0, n_values, n).astype(np.int32)
    reader = _core.AttributeReader(np.array([0, 100, n]), np.array([0]))
    reader.add_categorical(codes, n_values)
    counts = rng.choice([0, 1, 2, 5, 6, 39, 40], n_values)
    outputs = [np.sort(rng.choice(width, c, replace=False)).astype(np.int32) for c in counts]
    features = _core.LinearFeatures(np.concatenate([[0], np.cumsum(counts)]), np.concatenate(outputs), width)
    weights = rng.normal(size=int(counts.sum())).astype(np.float32)
    dense = np.zeros((n_values, width), np.float32)
    for i, first in enumerate(np.cumsum(counts) - counts):
        dense[i, outputs[i]] = weights[first : first + counts[i]]
    scores = np.zeros((250, width), np.float32)
    _core.LinearScorer(features, weights).score(reader, 20, 270, 3, scores, 2)
    expected = dense[codes[20:270]]
    expected[80:83] = 0  # the first three positions of the second sequence
    np.testing.assert_array_equal(scores, expected)
    residuals = rng.integers(-(2**25), 2**25, (250, width), endpoint=True).astype(np.int32)
    gradient = np.zeros(len(weights))
    _core.LinearPostings(reader, features, 20, 270, 3).add_whole_gradient(residuals, 2.0**-25, 1.0, gradient, 2)
    residuals[80:83] = 0
    sums = np.zeros((n_values, width))
    np.add.at(sums, codes[20:270], residuals)
    rows = np.repeat(np.arange(n_values), counts)
    np.testing.assert_array_equal(gradient, sums[rows, np.concatenate(outputs)] * 2.0**-25)


def test_scores_and_gradients_in_double_precision():
    rng = np.random.default_rng(1)
    n, width, n_values = 1200, 5, 7
    codes, numbers = rng.integers(0, n_values, n).astype(np.int32), rng.normal(size=n).astype(np.float32)
    reader = _core.AttributeReader(np.array([0, 500, n]), np.array([0]))
    reader.add_categorical(codes, n_values)
    reader.add_numbers(numbers)
    starts, outputs = np.arange(n_values + 2) * width, np.tile(np.arange(width, dtype=np.int32), n_values + 1)
    features = _core.LinearFeatures(starts, outputs, width)
    weights = rng.normal(size=(n_values + 1, width))
    scores = np.zeros((n - 10, width))
    _core.LinearScorer64(features, weights.ravel()).score(reader, 10, n, 2, scores, 2)
    expected = weights[codes] + numbers[:, None].astype(np.float64) * weights[-1]
    expected[500:502] = 0  # the first two positions of the second sequence
    np.testing.assert_allclose(scores, expected[10:], rtol=0, atol=1e-13)
    residuals = rng.normal(size=(n - 10, width))
    gradient = np.zeros(weights.size)
    largest = _core.largest_values(reader)
    _core.LinearPostings(reader, features, 10, n, 2, largest).add_gradient(residuals, gradient, 2)
    residuals[490:492] = 0
    sums = np.zeros((n_values + 1, width))
    np.add.at(sums, codes[10:], residuals)
    sums[-1] = numbers[10:].astype(np.float64) @ residuals
    np.testing.assert_allclose(gradient, sums.ravel(), rtol=0, atol=1e-11)


def test_the_likelihood_in_double_precision_is_that_in_single():
    X, y = draw(3, n=30, numeric=False)
    training = training_of(X, y, 1)
    space = LinearSpace.of(training, 1)
    weights = np.random.default_rng(0).normal(size=space.n_weights)
    (single, slope), (double, precise) = (Likelihood(training, space, double=d)(weights) for d in (False, True))
    assert single == pytest.approx(double, rel=1e-5)
    np.testing.assert_allclose(slope, precise, atol=1e-3)
    for i in range(0, space.n_weights, 7):  # differences that single precision could not show
        step = np.zeros(space.n_weights)
        step[i] = 1e-5
        above, below = (Likelihood(training, space, double=True)(weights + s)[0] for s in (step, -step))
        assert (above - below) / 2e-5 == pytest.approx(precise[i], abs=1e-7)


def test_the_gradient_of_a_frequent_attribute_does_not_overflow():
    n, width = 5000, 9
    reader = _core.AttributeReader(np.array([0, n]), np.array([0]))
    reader.add_categorical(np.zeros(n, np.int32), 1)
    features = _core.LinearFeatures(np.array([0, width]), np.arange(width, dtype=np.int32), width)
    for largest in (2**25, -(2**25)):
        gradient = np.zeros(width)
        residuals = np.full((n, width), largest, np.int32)
        _core.LinearPostings(reader, features, 0, n, 0).add_whole_gradient(residuals, 1.0, 1.0, gradient, 1)
        np.testing.assert_array_equal(gradient, float(n * largest))


def test_bindings_refuse_what_does_not_fit():
    reader = _core.AttributeReader(np.array([0, 2]), np.array([0]))
    reader.add_categorical(np.array([0, 1], np.int32), 2)
    starts, outputs = np.array([0, 1, 2]), np.array([0, 1], np.int32)
    falling = starts[::-1].copy()
    for bad in ((starts[1:], outputs, 2), (starts, outputs[:1], 2), (starts, outputs, 1), (falling, outputs, 2)):
        with pytest.raises(ValueError):
            _core.LinearFeatures(*bad)
    with pytest.raises(ValueError, match="rise"):
        _core.LinearFeatures(np.array([0, 2]), np.array([1, 1], np.int32), 2)
    features = _core.LinearFeatures(starts, outputs, 2)
    with pytest.raises(ValueError, match="weight"):
        _core.LinearScorer(features, np.zeros(3, np.float32))
    scorer = _core.LinearScorer(features, np.zeros(2, np.float32))
    for shape, first, last in (((1, 2), 0, 2), ((2, 3), 0, 2), ((3, 2), 0, 3)):
        with pytest.raises(ValueError):
            scorer.score(reader, first, last, 0, np.zeros(shape, np.float32), 1)
    other = _core.AttributeReader(np.array([0, 2]), np.array([0]))
    with pytest.raises(ValueError, match="attributes"):
        scorer.score(other, 0, 2, 0, np.zeros((2, 2), np.float32), 1)
    with pytest.raises(ValueError, match="infinite"):
        other.add_numbers(np.array([0, np.inf], np.float32))
    postings = _core.LinearPostings(reader, features, 0, 2, 0)
    for residuals, gradient in (((1, 2), 2), ((2, 1), 2), ((2, 2), 3)):
        with pytest.raises(ValueError):
            postings.add_gradient(np.zeros(residuals), np.zeros(gradient), 1)
        with pytest.raises(ValueError):
            postings.add_whole_gradient(np.zeros(residuals, np.int32), 1.0, 1.0, np.zeros(gradient), 1)
    for outputs in ([0, 5], [0]):
        with pytest.raises(ValueError):
            _core.count_features(reader, 0, 2, np.array(outputs, np.int32), 2)
    with pytest.raises(ValueError):
        _core.QuasiNewton(2, 3).down(np.zeros(3), False, 1)


def test_trees_refuse_numbers_that_are_read_as_they_are():
    reader = _core.AttributeReader(np.array([0, 2]), np.array([0]))
    reader.add_numbers(np.array([0.5, 1.5], np.float32))
    with pytest.raises(ValueError, match="bins"):
        _core.TreeData(reader, 1, _core.GrowthRules(), 1)


def test_quasi_newton_is_bfgs_written_out():
    rng = np.random.default_rng(5)
    n, memory = 7, 3
    hessian = np.diag(rng.uniform(0.5, 4, n))
    guess = _core.QuasiNewton(n, memory)
    gradient = rng.normal(size=n)
    np.testing.assert_allclose(guess.down(gradient, False, 1), -gradient)
    pairs = []
    for _ in range(5):
        step = rng.normal(size=n).astype(np.float32).astype(np.float64)
        change = (hessian @ step).astype(np.float32).astype(np.float64)
        guess.remember(step, change, 1)
        pairs.append((step, change))
        expected = oracles_crf.inverse_hessian(pairs[-memory:]) @ gradient
        np.testing.assert_allclose(guess.down(gradient, False, 2), -expected, rtol=1e-5)
    guess.remember(step, -change, 1)  # curves downward: of no use
    np.testing.assert_allclose(guess.down(gradient, False, 1), -expected, rtol=1e-5)
    assert guess.forget()
    assert not guess.forget()
    np.testing.assert_allclose(guess.down(gradient, False, 1), -gradient)


def test_the_minimum_is_flat_and_l1_holds_weights_at_zero():
    X, y = draw(8, n=40)
    training = training_of(X, y, 1)
    space = LinearSpace.of(training, 0)
    likelihood = Likelihood(training, space)
    for l1, l2 in ((0.0, 0.5), (1.5, 0.0), (0.7, 0.3)):
        minimizer = Minimizer(
            likelihood, np.zeros(space.n_weights), Penalty(l1, l2), tol=1e-10, n_threads=1, noise=1e-5
        )
        values = [minimizer.value for _, _ in zip(minimizer, range(200), strict=False)]
        assert all(after <= before + 1e-5 for before, after in pairwise(values))
        weights = minimizer.weights
        gradient = likelihood(weights)[1] + 2 * l2 * weights
        away, zero = weights != 0, weights == 0
        np.testing.assert_allclose(gradient[away], -l1 * np.sign(weights[away]), atol=5e-3)
        assert (np.abs(gradient[zero]) <= l1 + 5e-3).all()
        assert zero.any() == (l1 > 0)
        penalty = l1 * np.abs(weights).sum() + l2 * (weights**2).sum()
        assert minimizer.value == pytest.approx(likelihood(weights)[0] + penalty)


def test_a_search_that_fails_says_so_and_keeps_the_best_point():
    def broken(weights):
        return float(abs(weights[0] - 1)) if weights[0] == 0 else 2.0, np.array([-1.0])

    minimizer = Minimizer(broken, np.zeros(1), Penalty(0, 0), tol=1e-5, n_threads=1)
    with pytest.warns(
        ConvergenceWarning,
        match=r"after \d+ iterations no step lowered it .*\(use scale=True\)",
    ):
        assert list(minimizer) == []
    assert minimizer.weights.tolist() == [0.0]
    assert minimizer.value == 1.0


def test_objective_and_weights_are_those_of_crfsuite():
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is only a peer")
    X, y = draw(21, n=60, numeric=False)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.3, "epsilon": 1e-9, "delta": 1e-12, "max_iterations": 1000})
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "m")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        info = tagger.info()
        tagger.close()
    loss = trainer.logparser.last_iteration["loss"]
    model = hr.LinearCRF(l2=0.3, tol=1e-9).fit(X, y)
    assert model.training_log_[-1]["loss"] * len(X) == pytest.approx(loss, rel=1e-6)
    for found, theirs in (
        (model.state_features_, info.state_features),
        (model.transition_features_, info.transitions),
    ):
        assert set(theirs) <= set(found)
        for name, weight in found.items():
            assert weight == pytest.approx(theirs.get(name, 0.0), abs=2e-3)


def test_weights_are_in_the_units_of_the_data():
    X, y = draw(5, n=30)
    model = hr.LinearCRF(window=1, l2=0.1).fit(X, y)
    scores = model.model_.potential.scores(model.model_.encode(X))
    weights, bias = model.state_features_, model.intercept_
    row = 0
    for sequence in X:
        for t in range(len(sequence)):
            for k, label in enumerate(model.classes_):
                total = bias[label]
                for (key, offset, value), number in oracles_crf.attributes(sequence, t, 1).items():
                    place = key if offset == 0 else f"{key}[{offset:+d}]"
                    name = place if value is None else f"{place} outside" if value == "outside" else f"{place}:{value}"
                    total += weights.get((name, label), 0.0) * number
                ours = scores.state[row, k] + scores.table[0, k]  # the bias is in every row of the table
                assert ours == pytest.approx(total, abs=1e-4)
            row += 1


def test_words_of_a_bag_keep_their_names():
    model = hr.LinearCRF().fit([[["a", "b"], ["b"]], [["a"]]], [["X", "Y"], ["X"]])
    assert set(model.state_features_) == {("a", "X"), ("b", "X"), ("b", "Y")}
    assert set(model.transition_features_) == {("X", "Y")}
    assert model.intercept_ == {"X": 0.0, "Y": 0.0}


def test_higher_orders_name_labels_in_the_order_of_the_sequence():
    model = hr.LinearCRF(order=2).fit(["abc"], [["X", "Y", "Z"]])
    assert set(model.transition_features_) == {("X", "Y"), ("Y", "Z"), ("X", "Y", "Z")}


@pytest.mark.parametrize("order", [0, 1, 2])
def test_it_learns_what_a_window_and_the_last_labels_tell(order):
    """Labels copy what came `order` positions ago, or the letter itself."""
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice(list("ab"), 12)) for _ in range(60)]
    y = [[c.upper() for c in ("a" * order + w)[: len(w)]] for w in words]
    model = hr.LinearCRF(order=order, window=order, l2=0.01).fit(words, y)
    assert model.score(words, y) == 1.0


def test_edge_features_learn_what_attributes_and_labels_tell_only_together():
    """The letter s keeps the last label, c changes it: no sum of the two says so."""
    rng = np.random.default_rng(4)
    words, y = [], []
    for _ in range(60):
        word = "".join(rng.choice(list("sc"), 10))
        labels = ["A"]
        for letter in word[1:]:
            labels.append(labels[-1] if letter == "s" else "AB"["BA".index(labels[-1])])
        words.append(word)
        y.append(labels)
    plain, edges = (hr.LinearCRF(edge_features=flag, l2=0.01).fit(words, y) for flag in (False, True))
    assert plain.score(words, y) < 0.8
    assert edges.score(words, y) > 0.95


def test_bad_parameters_are_refused_before_any_work():
    X, y = ["ab"], [["A", "B"]]
    for bad in ({"l1": -1.0}, {"l2": -0.1}, {"tol": 0.0}, {"max_iter": 0}, {"min_freq": 0}, {"solver": "newton"}):
        with pytest.raises(InputError, match=next(iter(bad))):
            hr.LinearCRF(**bad).fit(X, y)
    with pytest.raises(InputError, match="has no L1 penalty"):
        hr.LinearCRF(solver="lbfgs", l1=1.0).fit(X, y)
    with pytest.raises(InputError, match="edge_features"):
        hr.LinearCRF(edge_features=True, order=0).fit(X, y)


def test_features_that_never_occur_often_leave_transitions_alone():
    model = hr.LinearCRF(min_freq=100).fit(["ab", "ba"], [["A", "B"], ["A", "A"]])
    assert model.state_features_ == {}
    assert len(model.transition_features_) == 2


def test_held_out_scores_stand_in_the_history():
    X, y = draw(1, n=20)
    with pytest.warns(ConvergenceWarning, match="ended after max_iter=5 iterations, before it reached the tolerance"):
        model = hr.LinearCRF(max_iter=5).fit(X, y, X_dev=X[:5], y_dev=y[:5])
    assert len(model.training_log_) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.LinearCRF().fit(X, y)
    last = model.training_log_[-1]
    assert last["dev_accuracy"] == pytest.approx(model.score(X[:5], y[:5]))
    assert -last["dev_loss"] == pytest.approx(model.log_likelihood(X[:5], y[:5]).mean(), rel=1e-5)


@pytest.mark.parametrize("solver", ["auto", "sgd"])
@pytest.mark.parametrize(("n_words", "l2"), [(200, 1.0), (201, 0.1)])
def test_the_automatic_penalty_is_weak_for_words(n_words: int, l2: float, solver: Any) -> None:
    X = [[f"w{i}", f"w{(i + 1) % n_words}"] for i in range(n_words)]
    y = [["X" if i % 3 else "Y", "X"] for i in range(n_words)]
    settings: Any = {"solver": solver, "max_iter": 50, "epochs": 5, "random_state": 0}
    chosen, same = hr.LinearCRF(**settings).fit(X, y), hr.LinearCRF(l2=l2, **settings).fit(X, y)
    assert chosen.training_log_[0]["l2"] == l2
    assert chosen.state_features_ == same.state_features_
    letters = hr.LinearCRF(features=hr.templates.letters(2), max_iter=5).fit(["abc"], [["X", "Y", "X"]])
    assert letters.training_log_[0]["l2"] == 1.0


@pytest.mark.parametrize("l2", ["none", -1, float("nan"), True, None, 1e40])
def test_other_penalties_are_refused(l2: Any) -> None:
    with pytest.raises(InputError, match=r"LinearCRF: l2 must (be a number of at least 0 or 'auto'|not be larger)"):
        hr.LinearCRF(l2=l2).fit(["ab"], [["X", "Y"]])


def test_kl_is_the_usual_bound(tmp_path):
    data = hr.datasets.hmm_forty(20, 12, kind="both", seed=0)
    named, numbered = (hr.LinearCRF(beam=beam, max_iter=5).fit(data.X, data.y) for beam in ("kl", 0.03))
    for a, b in zip(named.predict_proba(data.X), numbered.predict_proba(data.X), strict=True):
        np.testing.assert_array_equal(a, b)
    named.save(tmp_path / "model.hedgerow")
    assert hr.load(tmp_path / "model.hedgerow").beam == "kl"
    with pytest.raises(InputError, match='beam must be "kl", an integer'):
        hr.LinearCRF(beam="wide").fit(data.X, data.y)


def test_a_file_has_the_beam_and_the_decoding_of_now(tmp_path):
    data = hr.datasets.hmm_forty(20, 12, kind="both", seed=0)
    model = hr.LinearCRF(max_iter=5).fit(data.X, data.y).set_params(beam=2, decode="viterbi", l2=7.0)
    model.save(tmp_path / "model.hedgerow")
    loaded = hr.load(tmp_path / "model.hedgerow")
    assert (loaded.beam, loaded.decode, loaded.l2) == (2, "viterbi", "auto")
    for a, b in zip(model.predict_proba(data.X), loaded.predict_proba(data.X), strict=True):
        np.testing.assert_array_equal(a, b)
