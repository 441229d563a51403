"""A model keeps the description of its training file, and a damaged description is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow import storage
from hedgerow.model import Model

LAYOUT = {"format": "columns", "columns": ["word", "tag"], "label": "tag"}


@pytest.fixture
def model() -> Model:
    return hr.HMM().fit(["ab", "ba"], [["x", "y"], ["y", "x"]]).model_


def test_layout_is_stored_and_pickled(model: Model, tmp_path: Path) -> None:
    assert model.layout is None
    with_layout = replace(model, layout=LAYOUT)
    with_layout.save(tmp_path / "m.hedgerow")
    assert hr.load(tmp_path / "m.hedgerow").model_.layout == LAYOUT
    assert pickle.loads(pickle.dumps(with_layout)).layout == LAYOUT


def test_a_model_without_layout_stores_none(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.hedgerow")
    assert "layout" not in storage.read(tmp_path / "m.hedgerow")[1]
    assert hr.load(tmp_path / "m.hedgerow").model_.layout is None


@pytest.mark.parametrize("damaged", ["columns", 3, ["word"], True])
def test_a_damaged_layout_is_refused(model: Model, tmp_path: Path, damaged: object) -> None:
    model.save(tmp_path / "m.hedgerow")
    arrays, metadata = storage.read(tmp_path / "m.hedgerow")
    storage.write(tmp_path / "damaged.hedgerow", arrays, {**metadata, "layout": damaged})
    with pytest.raises(hr.errors.ModelFileError, match="layout must be an object"):
        hr.load(tmp_path / "damaged.hedgerow")
