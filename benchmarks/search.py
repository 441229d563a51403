"""SearchTagger beside the exact StructuredPerceptron on CoNLL-2000: chunks; parts of speech and noun phrases at once.

python benchmarks/search.py

Chunking has 22 labels and the attributes of benchmarks/data.py; the joint task has 118 labels in training, with words
around a position and the spelling of its own word. Everything runs on one thread, but for the part "threads". Models
are trained alternately, three times; times are CPU seconds, the smallest of the three. The time of an epoch is the time
of a fit less that of a fit of one epoch, divided by the other epochs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import hedgerow as hr
from data import chunking, few, load, repeated
from jobs import main
from printing import log, print_table
from two_threads import print_two_threads

REPEATS = few(3, 1)
SHARED: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
Data = tuple[hr.Sequences, list[Any]]
Measure = Callable[[list[Any], list[Any]], float]


def perceptron(epochs: int) -> hr.StructuredPerceptron:
    return hr.StructuredPerceptron(epochs=epochs, **SHARED)


def tagger(order: int, epochs: int) -> hr.SearchTagger:
    return hr.SearchTagger(order=order, epochs=epochs, **SHARED)


def chunks(split: str) -> Data:
    X, y = chunking(split)
    return hr.Sequences(X), y


def joint(split: str) -> Data:
    data = load("conll2000-joint", split)
    X = [spelled([position["word"] for position in x]) for x in data.X]
    return hr.Sequences(X), [[str(label) for label in labels] for labels in data.y]


def spelled(words: list[str]) -> list[dict[str, str]]:
    """The words around each position; of its own the ends, and whether it has a digit, a capital or a hyphen."""
    items = []
    for t, word in enumerate(words):
        item = {f"w{i}": words[t + i] for i in range(-2, 3) if 0 <= t + i < len(words)}
        for n in range(1, 5):
            if len(word) >= n:
                item |= {f"first {n}": word[:n], f"last {n}": word[-n:]}
        marks = {"digit": any(map(str.isdigit, word)), "capital": word[0].isupper(), "hyphen": "-" in word}
        items.append(item | {name: "yes" for name, there in marks.items() if there})
    return items


def cpu_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def training_times(model: Any, train: Data) -> tuple[float, float]:
    """CPU seconds of a fit and of one of its epochs."""
    n = model.epochs
    one = cpu_seconds(lambda: model.set_params(epochs=1).fit(*train))
    whole = cpu_seconds(lambda: model.set_params(epochs=n).fit(*train))
    return whole, (whole - one) / (n - 1)


def rows(models: list[Any], load: Callable[[str], Data], measure: Measure) -> Iterator[list[str]]:
    train, (X_test, gold) = load("train"), load("test")
    times: list[list[tuple[float, float]]] = [[] for _ in models]
    for i in range(REPEATS):
        log(f"  repeat {i + 1} of {REPEATS}")
        for model, found in zip(models, times, strict=True):
            found.append(training_times(model, train))
    for model, found in zip(models, times, strict=True):
        order = "" if isinstance(model, hr.StructuredPerceptron) else f", order {model.order}"
        seconds = repeated(lambda model=model: cpu_seconds(lambda: model.predict(X_test)), REPEATS)  # type: ignore[misc]
        quality = measure(gold, [labels.tolist() for labels in model.predict(X_test)])
        yield [
            f"{type(model).__name__}{order}, {model.epochs} epochs",
            f"{min(whole for whole, _ in found):.2f}",
            f"{min(epoch for _, epoch in found):.3f}",
            f"{100 * quality:.2f}",
            f"{X_test.n_positions / seconds / 1000:.0f}k",
        ]


def print_chunks() -> None:
    models = [perceptron(5), perceptron(10), tagger(1, 5), tagger(3, 10)]
    head = ["chunks, 22 labels", "s", "s an epoch", "F1", "tag tokens/s"]
    print_table(head, rows(models, chunks, hr.metrics.span_f1))


def print_joint() -> None:
    models = [perceptron(5), perceptron(10), tagger(2, 3), tagger(2, 5), tagger(2, 10)]
    head = ["parts of speech and noun phrases at once, 118 labels", "s", "s an epoch", "right %", "tag tokens/s"]
    print_table(head, rows(models, joint, hr.metrics.accuracy))


def print_threads() -> None:
    print_two_threads([hr.SearchTagger(random_state=0)])


if __name__ == "__main__":
    main(__doc__, {"chunks": print_chunks, "joint": print_joint, "threads": print_threads})
