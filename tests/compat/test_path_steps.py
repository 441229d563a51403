"""algorithm="pa" and "arow" take CRFsuite's steps; CRFsuite only draws another order of the sequences."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.training import training_of
from hedgerow.compat import CRF, read_items
from hedgerow.compat.algorithms import _steps
from hedgerow.compat.feature_rule import crfsuite_space
from hedgerow.errors import InputError
from hedgerow.learning.path_steps import PathStepLearner, PathStepRules

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
SETTINGS: list[dict[str, Any]] = [
    {"algorithm": "pa"},
    {"algorithm": "pa", "pa_type": 0, "averaging": False},
    {"algorithm": "pa", "pa_type": 0, "error_sensitive": False},
    {"algorithm": "pa", "c": 0.005, "averaging": False},
    {"algorithm": "pa", "pa_type": 2, "c": 0.01},
    {"algorithm": "pa", "pa_type": 2, "c": 0.01, "error_sensitive": False, "averaging": False, "min_freq": 2},
    {"algorithm": "arow"},
    {"algorithm": "arow", "variance": 0.3, "gamma": 2.0, "all_possible_states": True},
    {"algorithm": "arow", "gamma": 0.1, "all_possible_transitions": True},
]
every_setting = pytest.mark.parametrize("parameters", SETTINGS, ids=str)


def data(n: int, length: int, noise: float = 0.1) -> tuple[list[Any], list[list[str]]]:
    """Labels that follow from the attributes, with noise. They first occur in sorted order."""
    rng = np.random.default_rng(n)
    X = [
        [{"word": f"w{rng.integers(30)}", "value": float(rng.normal()), "bias": 1.0} for _ in range(length)]
        for _ in range(n)
    ]
    y = [
        [("A" if int(item["word"][1:]) % 3 == 0 else "B") if rng.random() >= noise else "C" for item in sequence]
        for sequence in X
    ]
    y[0][:3] = "A", "B", "C"
    return X, y


def weights(crf: Any) -> dict[Any, float]:
    return {**crf.state_features_, **crf.transition_features_}


def differ(mine: dict[Any, float], other: dict[Any, float]) -> float:
    """By how much; weights below 1e-6 are absent from what CRFsuite prints."""
    return max(abs(mine.get(name, 0.0) - other.get(name, 0.0)) for name in {*mine, *other})


@every_setting
def test_one_sequence_gives_the_weights_and_losses_of_crfsuite(parameters: dict[str, Any]) -> None:
    X, y = data(1, 40)
    y = [["Z" if label == "A" else label for label in labels] for labels in y]  # first in the data, last if sorted
    given = {**parameters, "max_iterations": 6}
    ours, theirs = CRF(**given).fit(X, y), sklearn_crfsuite.CRF(**given).fit(X, y)
    assert ours.training_log_.featgen_num_features == theirs.training_log_.featgen_num_features
    assert differ(weights(ours), weights(theirs)) < 2e-6
    losses, others = ([step["loss"] for step in crf.training_log_.iterations] for crf in (ours, theirs))
    assert losses == pytest.approx(others, abs=2e-6)
    assert ours.predict(X).tolist() == [list(labels) for labels in theirs.predict(X)]


@every_setting
def test_one_pass_gives_the_weights_of_crfsuite_in_some_order(parameters: dict[str, Any]) -> None:
    X, y = data(4, 6)
    theirs = weights(sklearn_crfsuite.CRF(**parameters, max_iterations=1).fit(X, y))
    training = training_of(read_items(X), y)
    crf = CRF(**parameters)
    space = crfsuite_space(
        training,
        min_freq=crf.min_freq or 0,
        all_possible_states=bool(crf.all_possible_states),
        all_possible_transitions=bool(crf.all_possible_transitions),
    )
    averaging = crf.algorithm == "pa" and crf.averaging is not False
    rules = PathStepRules(steps=_steps(crf), epochs=1, averaging=averaging, random_state=0)
    learner = PathStepLearner(training, space, rules)
    estimator = CRF("ap", max_iterations=1).fit(X, y).estimator_
    found = []
    for order in permutations(range(4)):
        trainer = learner.trainer()
        trainer.epoch(np.array(order))
        potential = space.potential(trainer.weights())
        estimator._set_model(replace(estimator.model_, potential=potential))
        found.append(differ({**estimator.state_features_, **estimator.transition_features_}, theirs))
    assert sum(difference < 2e-6 for difference in found) >= 1
    assert max(found) > 1e-3  # the order does matter


@pytest.mark.parametrize("parameters", SETTINGS[:1] + SETTINGS[6:7], ids=str)
def test_they_learn_as_well_as_crfsuite(parameters: dict[str, Any]) -> None:
    X, y = data(300, 8, noise=0.0)  # with noise, AROW depends much on the order of the sequences
    given = {**parameters, "max_iterations": 10}
    ours, theirs = (crf(**given).fit(X[:200], y[:200]) for crf in (CRF, sklearn_crfsuite.CRF))
    assert ours.score(X[200:], y[200:]) == pytest.approx(theirs.score(X[200:], y[200:]), abs=0.03)
    assert ours.score(X[200:], y[200:]) > 0.97


@pytest.mark.parametrize("algorithm", ["pa", "arow"])
def test_dev_data_files_and_repeated_runs(algorithm: str, tmp_path: Path) -> None:
    X, y = data(20, 8)
    path = tmp_path / "model.hedgerow"
    crf = CRF(algorithm, max_iterations=3, model_filename=path).fit(X, y, X, y)
    assert crf.training_log_.last_iteration is not None
    assert crf.training_log_.last_iteration["item_accuracy_float"] == crf.score(X, y)
    assert isinstance(hr.load(path), hr.StructuredPerceptron)
    assert CRF(model_filename=path).predict(X).tolist() == crf.predict(X).tolist()
    again = CRF(algorithm, max_iterations=3).fit(X, y)
    assert weights(again) == weights(crf)
    # The first sequence stays where it is: its labels come first, and ties go to them.
    backwards = CRF(algorithm, max_iterations=3).fit(X[:1] + X[:0:-1], y[:1] + y[:0:-1])
    assert weights(backwards) == weights(crf)


@pytest.mark.parametrize("algorithm", ["pa", "arow"])
def test_epsilon_bounds_the_mean_loss(algorithm: str) -> None:
    X, y = data(40, 8, noise=0.0)
    crf = CRF(algorithm, max_iterations=50, epsilon=0.3).fit(X, y)
    losses = [step["loss"] / len(X) for step in crf.training_log_.iterations]
    assert 1 < len(losses) < 50
    assert 0 < losses[-1] < 0.3 <= min(losses[:-1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"algorithm": "pa"},
        {"algorithm": "arow"},
        {"algorithm": "pa", "epsilon": 1.0},
        {"algorithm": "arow", "epsilon": 4.0},
    ],
    ids=str,
)
def test_training_ends_with_the_weights_of_crfsuite(parameters: dict[str, Any]) -> None:
    """CRFsuite repeats epochs without a mistake, and the mean of "pa" counts them; ours only counts them."""
    X, y = data(1, 20, noise=0.0)
    ours, theirs = CRF(**parameters).fit(X, y), sklearn_crfsuite.CRF(**parameters).fit(X, y)
    assert 1 < len(ours.training_log_.iterations) < 100
    assert differ(weights(ours), weights(theirs)) < 2e-6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "pa", "pa_type": 3}, "pa_type must be one of 0, 1, 2 or None; it is 3"),
        ({"algorithm": "pa", "c": 0}, "c must be a number above 0 or None; it is 0"),
        ({"algorithm": "pa", "averaging": "yes"}, "averaging must be True or False or None"),
        ({"algorithm": "pa", "gamma": 1.0}, "gamma is a parameter of algorithm='arow', but the algorithm is 'pa'"),
        ({"algorithm": "pa", "c2": 1.0}, "c2 is a parameter of algorithm='lbfgs', but the algorithm is 'pa'"),
        ({"algorithm": "arow", "gamma": 0.0}, "gamma must be a number above 0"),
        ({"algorithm": "arow", "variance": -1}, "variance must be a number above 0"),
        ({"algorithm": "arow", "c": 1.0}, "c is a parameter of algorithm='pa', but the algorithm is 'arow'"),
        ({"algorithm": "ap", "pa_type": 1}, "pa_type is a parameter of algorithm='pa', but the algorithm is 'ap'"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF(**parameters).fit(*data(2, 4))
