"""StructuredPerceptron, StructuredSVM and LinearCRF by SGD on CoNLL-2000, beside python-crfsuite's averaged perceptron.

python benchmarks/margin.py

The attributes are those of benchmarks/data.py. Everything runs on one thread, but for the part "threads". The time of
an epoch is the time of a fit less that of a fit of one epoch, divided by the other epochs, so that set-up does not
count.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hedgerow as hr
from data import chunking, few
from jobs import main, tagged
from printing import log, print_table
from two_threads import print_two_threads

EPOCHS = few(10, 3)


class Row(NamedTuple):
    seconds: float
    epoch: float
    f1: float
    speed: float  # tokens a second


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def with_hedgerow(model: Any, X: hr.Sequences, y: Any, X_test: Any, gold: Any) -> Row:
    seconds, _ = timed(lambda: model.fit(X, y))
    log = model.training_log_
    found, speed = tagged(model, X_test)
    f1 = hr.metrics.span_f1(gold, [labels.tolist() for labels in found])
    return Row(seconds, (log[-1]["seconds"] - log[0]["seconds"]) / max(len(log) - 1, 1), f1, speed)


def with_crfsuite(X: Any, y: Any, X_test: Any, gold: Any) -> Row:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    for x, labels in zip(X, y, strict=True):
        trainer.append(x, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "m.crfsuite")
        times = []
        for epochs in (1, EPOCHS):
            trainer.set_params({"max_iterations": epochs, "epsilon": 0.0})
            times.append(timed(lambda: trainer.train(path))[0])
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        items = [pycrfsuite.ItemSequence(x) for x in X_test]
        seconds, found = timed(lambda: [tagger.tag(item) for item in items])
    epoch = (times[1] - times[0]) / (EPOCHS - 1)
    return Row(times[1], epoch, hr.metrics.span_f1(gold, found), sum(map(len, found)) / seconds)


def models() -> dict[str, Any]:
    shared: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
    return {
        "StructuredPerceptron": hr.StructuredPerceptron(epochs=EPOCHS, **shared),
        "StructuredPerceptron(min_freq=2)": hr.StructuredPerceptron(epochs=EPOCHS, min_freq=2, **shared),
        'StructuredPerceptron(averaging="none")': hr.StructuredPerceptron(epochs=EPOCHS, averaging="none", **shared),
        "StructuredSVM": hr.StructuredSVM(**shared),
        'LinearCRF(solver="sgd"), 20 epochs': hr.LinearCRF(solver="sgd", epochs=20, **shared),
    }


def rows() -> Iterator[list[str]]:
    (X, y), test = chunking("train"), chunking("test")
    theirs = with_crfsuite(X, y, *test)
    yield cells(f"python-crfsuite ap, {EPOCHS} epochs", theirs, theirs)
    sequences = hr.Sequences(X)
    for name, model in models().items():
        log(name)
        yield cells(name, with_hedgerow(model, sequences, y, *test), theirs)


def cells(name: str, ours: Row, theirs: Row) -> list[str]:
    return [
        name,
        f"{ours.seconds:.2f}",
        f"{ours.epoch:.3f}",
        f"{ours.epoch / theirs.epoch:.2f}",
        f"{100 * ours.f1:.2f}",
        f"{ours.speed / 1000:.0f}k",
        f"{ours.speed / theirs.speed:.2f}",
    ]


def print_margin() -> None:
    print_table(["", "s", "s an epoch", "ratio", "F1", "tag tokens/s", "ratio"], rows())


def print_threads() -> None:
    print_two_threads([hr.StructuredPerceptron(random_state=0), hr.StructuredSVM(random_state=0)])


if __name__ == "__main__":
    main(__doc__, {"chunks": print_margin, "threads": print_threads})
