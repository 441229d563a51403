"""The dicts that users of python-crfsuite have give the model that CRFsuite gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.data.columns import FoldedBag

L2 = 0.3


def words(rng: np.random.Generator) -> dict[str, Any]:
    """Many keys, each at few positions; and one that all have."""
    return {f"w={rng.integers(200)}": 1.0, f"s={rng.integers(150)}": 0.5, "bias": 1.0}


def bools(rng: np.random.Generator) -> dict[str, Any]:
    return {f"k={k}": True for k in rng.choice(12, 3, replace=False)}


def mixed(rng: np.random.Generator) -> dict[str, Any]:
    number = {"number": float(rng.normal(2, 3))} if rng.random() < 0.7 else {}
    return {"word": f"w{rng.integers(30)}", "bias": 1.0} | number | bools(rng)


def nested(rng: np.random.Generator) -> dict[str, Any]:
    embedding = {f"d{k}": float(rng.normal()) for k in rng.choice(20, 4, replace=False)}
    inner = {"deep": {f"k{rng.integers(5)}": True}, "next": {"word": f"w{rng.integers(9)}", "length": 2.0}}
    return {"word": f"w{rng.integers(30)}", "emb": embedding, "in": inner} | ({"emb": {}} if rng.random() < 0.2 else {})


def data(item: Callable[[np.random.Generator], dict[str, Any]]) -> tuple[list[Any], list[list[str]]]:
    rng = np.random.default_rng(5)
    X = [[item(rng) for _ in range(rng.integers(2, 9))] for _ in range(80)]
    return X, [[str(rng.choice(["A", "B", "C"])) for _ in sequence] for sequence in X]


def objective_of_crfsuite(X: list[Any], y: list[list[str]], path: Path) -> float:
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is only needed to compare with it")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {"c1": 0.0, "c2": L2, "epsilon": 1e-9, "delta": 1e-12, "max_iterations": 1000, "feature.minfreq": -1e9}
    )
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train(str(path))
    return float(trainer.logparser.last_iteration["loss"])


def objective(model: hr.LinearCRF, X: list[Any], y: list[list[str]]) -> float:
    weights = [*model.state_features_.values(), *model.transition_features_.values(), *model.intercept_.values()]
    return float(L2 * np.square(weights).sum() - model.log_likelihood(X, y).sum())


@pytest.mark.parametrize("item", [words, bools, mixed, nested])
def test_the_objective_is_that_of_crfsuite(item: Any, tmp_path: Path) -> None:
    X, y = data(item)
    theirs = objective_of_crfsuite(X, y, tmp_path / "m")
    model = hr.LinearCRF(l2=L2, tol=1e-9, scale=False).fit(X, y)
    assert objective(model, X, y) == pytest.approx(theirs, rel=1e-5)
    assert isinstance(hr.Sequences(X).columns[-1], FoldedBag) == (item is words)


def test_the_weights_of_nested_dicts_have_the_names_of_crfsuite(tmp_path: Path) -> None:
    X, y = data(nested)
    objective_of_crfsuite(X, y, tmp_path / "m")
    tagger = pytest.importorskip("pycrfsuite").Tagger()
    tagger.open(str(tmp_path / "m"))
    theirs = tagger.info().state_features
    ours = hr.LinearCRF(l2=L2, tol=1e-9, scale=False).fit(X, y).state_features_
    assert {name for name, _ in theirs} <= {name for name, _ in ours}
    for pair, weight in theirs.items():
        assert ours[pair] == pytest.approx(weight, abs=1e-3)


def test_without_dense_numbers_scale_makes_no_difference(tmp_path: Path) -> None:
    X, y = data(lambda rng: {key: value for key, value in words(rng).items() if key != "bias"})
    model = hr.LinearCRF(l2=L2, tol=1e-9).fit(X, y)
    assert objective(model, X, y) == pytest.approx(objective_of_crfsuite(X, y, tmp_path / "m"), rel=1e-5)


def test_false_is_absent() -> None:
    X, y = data(bools)
    full = [[{f"k={k}": item.get(f"k={k}", False) for k in range(12)} for item in sequence] for sequence in X]
    a = hr.LinearCRF(scale=False).fit(X, y)
    b = hr.LinearCRF(scale=False).fit(full, y)
    np.testing.assert_allclose(np.concatenate(a.predict_proba(X)), np.concatenate(b.predict_proba(full)), atol=1e-6)
