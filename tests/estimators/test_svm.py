"""StructuredSVM against Pegasos in fractions, with the most violating path of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hedgerow as hr
from builders.online import learned, random_data
from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.estimators.allowed_labels import constraints_of
from oracles.linear import (
    Problem,
    assert_same_weights,
    hamming,
    mean,
    pegasos,
    svm_objective,
    weights_of,
    zero_one,
)

pytestmark = pytest.mark.kernel

LOSSES = {"hamming": hamming, "zero-one": zero_one}
# Of 8 sequences, a power of two makes margins of whole eighths: no rounding decides between paths that are equal.
C = 0.5


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_of_the_book(order, loss, seed):
    training = training_of(*random_data(seed), order, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    for averaging in ("none", "average"):
        learner, examples = learned(training, window=1, epochs=2, averaging=averaging, C=C, loss=loss)
        vectors = pegasos(Problem(training, window=1), examples, C, LOSSES[loss])
        truth = vectors[-1]
        if averaging == "average":
            truth = mean(vectors, list(range(1, len(vectors) + 1)))
        assert_same_weights(learner.potential, truth, 1e-5)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES)
def test_batches_are_found_with_the_same_weights(order, loss):
    training = training_of(*random_data(2), order)
    for batch in (2, 3, 20):
        learner, examples = learned(training, window=1, epochs=2, C=C, loss=loss, batch=batch)
        truth = pegasos(Problem(training, window=1), examples, C, LOSSES[loss], batch)[-1]
        assert_same_weights(learner.potential, truth, 1e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_the_primal(order, loss):
    training = training_of(*random_data(1), order, weights=[1, 2, 0.5, 1, 1, 0, 1, 4])
    learner, _ = learned(training, C=2.0, loss=loss)
    truth = svm_objective(Problem(training), weights_of(learner.potential), 2.0, LOSSES[loss])
    assert learner._objective() == pytest.approx(truth, rel=1e-5)


def objective_of_lattices(training, potential, C):
    """The objective with the Hamming loss, by the general lattice."""
    lattice = potential.lattice(training.sequences, training.topology)
    hinges = lattice.loss_augmented(training.codes)[0] - lattice.score(training.codes)
    return sum(value * value for value in weights_of(potential).values()) / 2 + C / 2 * hinges @ training.weights


@pytest.mark.parametrize(("n_labels", "constrained", "beam"), [(3, True, None), (3, False, 2), (200, False, None)])
def test_the_objective_is_that_of_lattices_with_any_number_of_threads(n_labels, constrained, beam):
    X, y = random_data(3, n=60, n_labels=n_labels)
    training = training_of(X, y, weights=np.arange(60) % 3, beam=beam)
    if constrained:
        seen = [pair for labels in y for pair in zip([None, *labels], labels, strict=False)]
        training = replace(training, constraints=constraints_of(seen, training.labels))
    values = []
    for n_threads in (1, 2, 3):
        learner, _ = learned(replace(training, n_threads=n_threads), C=2.0, epochs=2, averaging="average")
        values.append(learner._objective())
    assert values[0] == pytest.approx(objective_of_lattices(training, learner.potential, 2.0), rel=1e-5)
    assert values[0] == values[1] == values[2]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_falls_to_what_nothing_improves(loss):
    X, y = random_data(0)
    model = hr.StructuredSVM(C=1.0, loss=loss, epochs=300, random_state=0).fit(X, y)
    values = [record["loss"] * len(X) for record in model.training_log_]
    assert values[-1] < values[len(values) // 2] < values[0]
    training = training_of(X, y, 1)
    problem = Problem(training)
    w = weights_of(model.model_.potential)
    least = svm_objective(problem, w, 1.0, LOSSES[loss])
    assert values[-1] == pytest.approx(least, rel=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(30):  # a convex function that no step lowers by more than a little
        step = {name: value + 0.05 * rng.normal() for name, value in w.items()}
        assert svm_objective(problem, step, 1.0, LOSSES[loss]) > least * 0.99


def test_violations_and_objective_are_told():
    model = hr.StructuredSVM(epochs=3, random_state=0).fit(*random_data(0))
    keys = {"unit", "step", "loss", "violations", "seconds"}
    assert [set(record) for record in model.training_log_] == [keys | {"decode"}, keys, keys]


def test_a_small_c_leaves_small_weights():
    X, y = random_data(0)
    sizes = [
        sum(w * w for w in hr.StructuredSVM(C=C, random_state=0).fit(X, y).state_features_.values())
        for C in (0.001, 0.1, 10.0)
    ]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"C": 0}, "C must be a number above 0; it is 0"),
        ({"C": -1.0}, "C must be a number above 0"),
        ({"epochs": 0}, "epochs must be an integer of at least 1"),
        ({"beam": 0}, 'beam must be "kl", an integer of at least 1, a number between 0 and 1, or None'),
        ({"loss": "f1"}, "loss must be one of 'hamming', 'zero-one'"),
        ({"averaging": "vote"}, "averaging must be one of 'average', 'none'"),
    ],
)
def test_bad_parameters(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.StructuredSVM(**change).fit(["ab"], [["x", "y"]])


def test_beams():
    X, y = random_data(0)
    exact = hr.StructuredSVM(random_state=0).fit(X, y)
    assert hr.StructuredSVM(random_state=0, beam=3).fit(X, y).state_features_ == exact.state_features_
    assert hr.StructuredSVM(random_state=0, beam=1).fit(X, y).score(X, y) > 0.5


def test_weights_beyond_all_numbers_are_refused():
    X, y = random_data(0)
    with pytest.raises(InputError, match="the weights are too large; lower C"):
        hr.StructuredSVM(C=1e30, random_state=0).fit(X, y, sample_weight=[1e30] * 8)


@pytest.mark.parametrize("C", [1e-30, 1e30])
def test_extreme_c_neither_crashes_nor_overflows(C):
    X, y = random_data(0)
    model = hr.StructuredSVM(C=C, random_state=0, epochs=2).fit(X, y, X_dev=X, y_dev=y)
    assert np.isfinite(list(model.state_features_.values())).all()
    assert len(model.predict(X)) == len(X)
