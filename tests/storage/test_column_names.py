"""Columns may have any names: the arrays of a model file are not named after them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr

NAMES = ["a\u200bb", "line\nbreak", "\ud800", "", "bins.0", "__metadata__"]
MODELS = [
    hr.HMM(),
    hr.LinearCRF(max_iter=50),
    hr.StructuredPerceptron(),
    hr.SearchTagger(),
    hr.MEMM(n_rounds=2),
    hr.FutureMEMM(n_rounds=2, max_future=1),
    hr.OutputCode(base=hr.TreeCRF(n_rounds=2)),
    hr.TreeCRF(n_rounds=2),
    hr.TreeCRF(n_rounds=2, linear=True),
    hr.TreeCRF(n_rounds=2, features=hr.templates.numbers()),
]


def data() -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    """Each column of numbers has a range of its own, so that bins of another column give other answers."""
    draw = random.Random(0)
    X: list[list[dict[str, Any]]] = [
        [{name: draw.gauss(10 * i, 1 + i) for i, name in enumerate(NAMES)} for _ in range(4)] for _ in range(30)
    ]
    for sequence in X:
        for position in sequence:
            position |= {"word\u200b": draw.choice("ab"), "bag\u200b": [draw.choice("cd")]}
    return X, [["x" if one["\ud800"] > 20 else "y" if one[""] > 30 else "z" for one in sequence] for sequence in X]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_model_of_columns_with_any_names_is_saved(model: Any, tmp_path: Path) -> None:
    X, y = data()
    model.fit(X, y).save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    for own, theirs in zip(model.predict_proba(X), loaded.predict_proba(X), strict=True):
        np.testing.assert_array_equal(own, theirs)


def test_a_corpus_of_columns_with_any_names_is_encoded(tmp_path: Path) -> None:
    X, y = data()
    corpus = hr.encode(zip(X, y, strict=True), tmp_path / "corpus")
    model = hr.TreeCRF(n_rounds=2).fit(corpus, corpus.y)
    assert [labels.tolist() for labels in model.predict(corpus)] == [labels.tolist() for labels in model.predict(X)]
