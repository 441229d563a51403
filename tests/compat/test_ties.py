"""Where scores tie, the labels are CRFsuite's too: the label that CRFsuite numbered first wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.compat import CRF, from_crfsuite

pycrfsuite = pytest.importorskip("pycrfsuite")
sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
LABELS = np.array(list("abcde"))
# Longer ones have several paths with the same transitions in another order, which differ by rounding only.
UNKNOWN = [[["never seen"]] * length for length in range(1, 5)]


def training_data(seed: int) -> tuple[list[Any], list[list[str]]]:
    """Few attributes and labels in a random order, so that `c1` leaves most weights at 0."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 12)
    X = [[[f"w={rng.integers(4)}"] for _ in range(length)] for length in lengths]
    return X, [rng.choice(LABELS, length).tolist() for length in lengths]


def sequences(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [[[f"w={rng.integers(8)}"] for _ in range(length)] for length in rng.integers(1, 7, 40)] + UNKNOWN


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("source", ["binary", "dump", "info"])
def test_ties_in_a_converted_model(source: str, seed: int, tmp_path: Path) -> None:
    trainer = pycrfsuite.Trainer(params={"c1": 1.0, "c2": 0.1}, verbose=False)
    for x, labels in zip(*training_data(seed), strict=True):
        trainer.append(x, labels)
    trainer.train(str(tmp_path / "m.crfsuite"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "m.crfsuite"))
    tagger.dump(str(tmp_path / "m.txt"))
    model = from_crfsuite({"binary": tmp_path / "m.crfsuite", "dump": tmp_path / "m.txt", "info": tagger}[source])
    model.save(tmp_path / "m.hedgerow")
    X = sequences(100 + seed)
    assert model.classes_.tolist() == tagger.labels()
    for loaded in (model, hr.load(tmp_path / "m.hedgerow")):
        assert [labels.tolist() for labels in loaded.predict(X)] == [tagger.tag(x) for x in X]


@pytest.mark.parametrize("seed", range(6))
def test_ties_after_a_fit(seed: int) -> None:
    data = training_data(seed)
    ours, theirs = (cls(c1=1.0, c2=0.1, all_possible_transitions=True) for cls in (CRF, sklearn_crfsuite.CRF))
    ours.fit(*data)
    theirs.fit(*data)
    X = sequences(100 + seed)
    assert ours.classes_ == theirs.classes_
    assert [list(labels) for labels in ours.predict(X)] == [list(labels) for labels in theirs.predict(X)]


def test_the_label_that_comes_first_in_the_data_wins() -> None:
    X, y = [[["a"]], [["b"]]], [["z"], ["m"]]
    assert CRF().fit(X, y).predict_single([["unknown"]]) == ["z"]
    assert CRF().fit(X[::-1], y[::-1]).predict_single([["unknown"]]) == ["m"]
