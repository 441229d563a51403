"""The drop-in selects CRFsuite's features and reaches its objective, also where the forms of attributes are unusual."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.compat import CRF

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
EXACT = {"epsilon": 1e-9, "delta": 1e-10}


def bools(rng: np.random.Generator) -> Any:
    return {f"k{i}": bool(rng.random() < 0.3) for i in range(8)} | {"bias": 1.0}


def zeros(rng: np.random.Generator) -> Any:
    return {f"k{i}": float(rng.integers(0, 3)) for i in range(6)}


def negative(rng: np.random.Generator) -> Any:
    return {f"k{i}": float(rng.normal(0, 1)) for i in rng.choice(30, 4, replace=False)} | {
        "word": f"w{rng.integers(9)}"
    }


def repeated(rng: np.random.Generator) -> Any:
    return [f"k{i}" for i in rng.integers(0, 6, 4)]


def mixed(rng: np.random.Generator) -> Any:
    value: Any = f"t{rng.integers(4)}" if rng.random() < 0.5 else float(rng.integers(1, 3))
    nested = {"deep": [f"x{rng.integers(5)}"], "n": True}
    return {"key": value, "in": nested, "set": {f"s{i}" for i in rng.integers(0, 5, 2)}}


FORMS = [bools, zeros, negative, repeated, mixed]


def data(item: Callable[[np.random.Generator], Any], n: int = 60) -> tuple[list[Any], list[list[str]]]:
    rng = np.random.default_rng(7)
    X = [[item(rng) for _ in range(rng.integers(1, 8))] for _ in range(n)]
    return X, [[str(rng.choice(["A", "B", "C", "D"], p=[0.6, 0.2, 0.15, 0.05])) for _ in sequence] for sequence in X]


def both(parameters: dict[str, Any], X: Any, y: Any) -> tuple[Any, Any]:
    return CRF(**parameters).fit(X, y), sklearn_crfsuite.CRF(**parameters).fit(X, y)


@pytest.mark.parametrize("item", FORMS)
@pytest.mark.parametrize(
    "parameters",
    [
        {"c2": 0.3},
        {"c2": 0.3, "min_freq": 2},
        {"c2": 0.3, "min_freq": 1.5, "all_possible_transitions": True},
        {"c2": 0.3, "all_possible_states": True, "all_possible_transitions": True},
        {"c2": 0.3, "min_freq": -1000.0},
    ],
    ids=str,
)
def test_features_and_objective_are_those_of_crfsuite(item: Any, parameters: dict[str, Any]) -> None:
    X, y = data(item)
    ours, theirs = both({**parameters, **EXACT}, X, y)
    assert ours.training_log_.featgen_num_features == theirs.training_log_.featgen_num_features
    loss = theirs.training_log_.last_iteration["loss"]
    assert ours.training_log_.last_iteration["loss"] == pytest.approx(loss, rel=1e-5)
    for mine, other in (
        (ours.state_features_, theirs.state_features_),
        (ours.transition_features_, theirs.transition_features_),
    ):
        for key in set(mine) | set(other):  # weights below 1e-6 are absent from what CRFsuite prints
            assert mine.get(key, 0.0) == pytest.approx(other.get(key, 0.0), abs=2e-3)
    assert ours.predict(X).tolist() == [list(labels) for labels in theirs.predict(X)]


@pytest.mark.parametrize("item", FORMS)
def test_with_an_l1_penalty(item: Any) -> None:
    X, y = data(item)
    ours, theirs = both({"c1": 0.2, "c2": 0.1, "all_possible_transitions": True, **EXACT}, X, y)
    loss = theirs.training_log_.last_iteration["loss"]
    assert ours.training_log_.last_iteration["loss"] == pytest.approx(loss, rel=1e-5)


def test_stochastic_gradients_come_closer_to_the_minimum() -> None:
    X, y = data(bools)
    ours, theirs = both({"algorithm": "l2sgd", "c2": 0.3, "max_iterations": 300}, X, y)
    minimum = CRF(c2=0.3).fit(X, y).training_log_.last_iteration["loss"]
    assert minimum <= ours.training_log_.last_iteration["loss"] < theirs.training_log_.last_iteration["loss"]
    assert ours.training_log_.last_iteration["loss"] == pytest.approx(minimum, rel=1e-2)


def test_the_perceptron_learns_as_well() -> None:
    rng = np.random.default_rng(1)
    X = [[{"word": f"w{rng.integers(20)}", "bias": 1.0} for _ in range(8)] for _ in range(80)]
    y = [["B" if int(item["word"][1:]) % 3 == 0 else "O" for item in sequence] for sequence in X]
    ours, theirs = both({"algorithm": "ap", "max_iterations": 20}, X, y)
    assert ours.score(X, y) == 1.0 >= theirs.score(X, y)


def test_the_log_is_that_of_sklearn_crfsuite() -> None:
    X, y = data(negative)
    arguments = X[:40], y[:40], X[40:], y[40:]
    parameters = {"c1": 0.1, "c2": 0.1, "max_iterations": 15}
    ours = CRF(**parameters).fit(*arguments).training_log_
    theirs = sklearn_crfsuite.CRF(**parameters).fit(*arguments).training_log_
    assert len(ours.iterations) == len(theirs.iterations) == 15
    assert ours.last_iteration is ours.iterations[-1]
    for mine, other in zip(ours.iterations[:8], theirs.iterations[:8], strict=True):
        assert set(mine) == set(other)
        for name in set(mine) - {"time", "scores"}:
            assert float(mine[name]) == pytest.approx(float(other[name]), rel=1e-3, abs=1e-6), name
        assert set(mine["scores"]) == set(other["scores"])
        for label, score in mine["scores"].items():
            assert score._fields == other["scores"][label]._fields
            assert score[:3] == other["scores"][label][:3]
            assert score[3:] == pytest.approx(other["scores"][label][3:], abs=1e-4)


@pytest.mark.parametrize("parameters", [{"delta": 1e-2}, {"delta": 1e-2, "period": 3}, {"epsilon": 1e-2}], ids=str)
def test_training_ends_where_crfsuite_ends(parameters: dict[str, Any]) -> None:
    X, y = data(bools)
    ours, theirs = both({"c1": 0.1, "c2": 0.1, **parameters}, X, y)
    assert abs(len(ours.training_log_.iterations) - len(theirs.training_log_.iterations)) <= 1


def test_a_file_with_zeros_has_the_objective_of_crfsuite(tmp_path: Path) -> None:
    """An attribute with the value 0 occurs, so that its pairs with labels have weights."""
    X, y = data(zeros)
    lines = [
        "\n".join("\t".join([label, *(f"{k}:{v}" for k, v in item.items())]) for label, item in zip(*pair, strict=True))
        for pair in zip(y, X, strict=True)
    ]
    (tmp_path / "zeros.txt").write_text("\n\n".join(lines) + "\n")
    corpus = hr.read(tmp_path / "zeros.txt", "crfsuite")
    parameters = {"c2": 0.1, **EXACT}
    ours, theirs = CRF(**parameters).fit(corpus.X, corpus.y), sklearn_crfsuite.CRF(**parameters).fit(X, y)
    losses = [crf.training_log_.last_iteration["loss"] for crf in (ours, theirs)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    hr.write(tmp_path / "again.txt", corpus, format="crfsuite")
    assert (tmp_path / "again.txt").read_text().count(":0") == sum(v == 0 for x in X for at in x for v in at.values())
