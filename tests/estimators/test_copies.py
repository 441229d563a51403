"""Copies by pickle and deepcopy, as scikit-learn's tools and process pools make them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import hedgerow as hr
from hedgerow.estimators.registry import REGISTRY

# two labels are enough for most of these tests, and output codes say that they are few
pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")

ESTIMATORS = sorted(set(REGISTRY) - {"Estimator"})
COPIES = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
X: list[list[dict[str, Any]]] = [
    [{"w": w, "n": i, "b": ["x", w]} for i, w in enumerate(x)] for x in ("cat", "dog", "cog", "at", "dot", "tact") * 2
]
Y = [[p["w"] if p["w"] in "ao" else "-" for p in x] for x in X]


def arrays_of(sequences):
    yield sequences.starts
    for column in sequences.columns:
        yield from (value for value in vars(column).values() if isinstance(value, np.ndarray))


@pytest.mark.parametrize("copied", COPIES)
def test_sequences(copied):
    for original in (hr.Sequences(X), hr.Sequences(X)[2:4], hr.Sequences(X)[[5, 1]], hr.Sequences(X)[:0]):
        twin = copied(original)
        assert repr(twin) == repr(original)
        for mine, other in zip(arrays_of(twin), arrays_of(original), strict=True):
            assert mine.dtype == other.dtype
            assert mine.tolist() == other.tolist()
            assert not mine.flags.writeable
        for mine, other in zip(twin.columns, original.columns, strict=True):
            assert type(mine) is type(other)
            assert getattr(mine, "alphabet", None) == getattr(other, "alphabet", None)


def test_a_slice_is_pickled_without_the_rest():
    whole = hr.Sequences(["abcdefghij" * 1000] * 100)
    assert len(pickle.dumps(whole[:1])) < len(pickle.dumps(whole)) / 50


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name, copied, tmp_path):
    fresh = copied(REGISTRY[name](order=2))
    assert repr(fresh) == f"{name}(order=2)"
    fitted = REGISTRY[name]().fit(X, Y)
    fitted.save(tmp_path / "m")
    for original in (fitted, hr.load(tmp_path / "m")):
        twin = copied(original)
        assert twin.get_params() == fitted.get_params()
        assert [p.tolist() for p in twin.predict_proba(X)] == [p.tolist() for p in fitted.predict_proba(X)]
        twin.save(tmp_path / "twin")
        assert (tmp_path / "twin").read_bytes() == (tmp_path / "m").read_bytes()
        assert not hasattr(clone(twin), "model_")


@pytest.mark.slow
def test_processes_of_scikit_learn():
    model = hr.HMM()
    searches = [GridSearchCV(model, {"order": [0, 1]}, cv=2, n_jobs=n).fit(X, Y) for n in (1, 2)]
    assert len({tuple(search.cv_results_["mean_test_score"]) for search in searches}) == 1
    assert len({str(search.predict(X)) for search in searches}) == 1
    alone, together = (cross_val_score(model, X, Y, cv=2, n_jobs=n).tolist() for n in (1, 2))
    assert alone == together == cross_val_score(model, hr.Sequences(X), Y, cv=2, n_jobs=2).tolist()
