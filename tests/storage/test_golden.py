"""Model files of earlier releases load, and predict the same as then (tools/make_golden.py)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

FOLDER = Path(__file__).parents[1] / "golden"
FILES = sorted(FOLDER.glob("*.hedgerow"))


def test_every_model_has_its_answers() -> None:
    assert {path.stem for path in FILES} == {path.stem for path in FOLDER.glob("*.json")} != set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_model_answers_as_it_did(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = hr.load(path)
    X = expected["inputs"]
    assert [labels.tolist() for labels in model.predict(X)] == expected["labels"]
    if "probabilities" not in expected:
        return
    for found, known in zip(model.predict_proba(X), expected["probabilities"], strict=True):
        np.testing.assert_allclose(found, known, rtol=0, atol=1e-6)
