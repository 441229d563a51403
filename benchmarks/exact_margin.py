"""The duality gap of StructuredSVM on CoNLL-2000, by seconds, beside Pegasos and python-crfsuite's passive-aggressive.

python benchmarks/exact_margin.py

The attributes are those of benchmarks/data.py; everything runs on one thread, and seconds are CPU seconds. "above" is
by how much the loss lies above the highest lower bound that any row has found.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hedgerow as hr
from data import chunking, few
from jobs import main
from printing import log, print_table

TOLERANCES = few(4, 1)
EPOCHS = (20, 100, 400)[: few(3, 1)]


class Row(NamedTuple):
    name: str
    seconds: float
    loss: float
    gap: float | None
    f1: float


def row(name: str, model: Any, X: Any, y: Any, X_test: Any, gold: Any) -> Row:
    log(name)
    begin = time.process_time()
    last = model.fit(X, y).training_log_[-1]
    seconds = time.process_time() - begin
    found = [labels.tolist() for labels in model.predict(X_test)]
    return Row(name, seconds, last["loss"], last.get("gap"), hr.metrics.span_f1(gold, found))


def passive_aggressive() -> list[str]:
    """The seconds and F1 of python-crfsuite, whose objective is another one."""
    import pycrfsuite

    (X, y), (X_test, gold) = chunking("train"), chunking("test")
    trainer = pycrfsuite.Trainer(algorithm="pa", params={"max_iterations": few(20, 2)}, verbose=False)
    for x, labels in zip(X, y, strict=True):
        trainer.append(x, labels)
    with tempfile.TemporaryDirectory() as folder:
        path, begin = str(Path(folder) / "m.crfsuite"), time.process_time()
        trainer.train(path)
        seconds = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(x) for x in X_test]
    f1 = hr.metrics.span_f1(gold, found)
    return ["python-crfsuite pa, 20 epochs", f"{seconds:.1f}", "", "", "", "", f"{100 * f1:.2f}"]


def rows() -> Iterator[list[str]]:
    yield passive_aggressive()
    (X, y), (X_test, gold) = chunking("train"), chunking("test")
    data = hr.Sequences(X), y, hr.Sequences(X_test), gold
    shared: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
    found = [
        row(f"frank-wolfe, tol = {tol:g}", hr.StructuredSVM(solver="frank-wolfe", tol=tol, **shared), *data)
        for tol in (0.1, 0.01, 6e-3, 1e-3)[:TOLERANCES]
    ]
    found += [
        row(f"pegasos, {epochs} epochs, {averaging}",
            hr.StructuredSVM(epochs=epochs, averaging=averaging, **shared), *data)
        for epochs in EPOCHS
        for averaging in ("average", "none")
    ]  # fmt: skip
    bound = max(one.loss - one.gap for one in found if one.gap is not None)
    for one in found:
        gap = "" if one.gap is None else f"{one.gap:.5f}"
        share = "" if one.gap is None else f"{100 * one.gap / one.loss:.2f} %"
        above = f"{100 * (one.loss - bound) / bound:.2f} %"
        yield [one.name, f"{one.seconds:.1f}", f"{one.loss:.5f}", gap, share, above, f"{100 * one.f1:.2f}"]


def print_gaps() -> None:
    print_table(["", "CPU s", "loss", "gap", "gap / loss", "above", "F1"], rows())


if __name__ == "__main__":
    main(__doc__, {"gaps": print_gaps})
