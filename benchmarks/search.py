"""SearchTagger beside the exact StructuredPerceptron on CoNLL-2000: chunks; parts of speech and noun phrases at once.

HEDGEROW_DATA=... python benchmarks/search.py

Chunking has 22 labels and the attributes of benchmarks/encoding.py; the joint task has 118 in training, with the words
around a position and the spelling of its own. Everything is on one thread. Models are learned in turn, several times;
times are CPU seconds, the least of them, and an epoch is a whole fit less one of a single epoch, shared out. Several
numbers of epochs show how far each gets in its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import hedgerow as hr
from encoding import attributes, sentences
from machine import describe_machine

REPEATS = 3
GIVEN: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
Data = tuple[hr.Sequences, list[Any]]
Measure = Callable[[list[Any], list[Any]], float]


def main() -> None:
    print(describe_machine())
    report("chunking, F1", chunking, hr.metrics.span_f1, {
        "StructuredPerceptron, 5 epochs": hr.StructuredPerceptron(epochs=5, **GIVEN),
        "StructuredPerceptron, 10 epochs": hr.StructuredPerceptron(epochs=10, **GIVEN),
        "SearchTagger, order 1, 5 epochs": hr.SearchTagger(order=1, epochs=5, **GIVEN),
        "SearchTagger, order 3, 10 epochs": hr.SearchTagger(order=3, epochs=10, **GIVEN),
    })  # fmt: skip
    report("joint, accuracy", joint, hr.metrics.accuracy, {
        "StructuredPerceptron, 5 epochs": hr.StructuredPerceptron(epochs=5, **GIVEN),
        "StructuredPerceptron, 10 epochs": hr.StructuredPerceptron(epochs=10, **GIVEN),
        "SearchTagger, order 2, 3 epochs": hr.SearchTagger(order=2, epochs=3, **GIVEN),
        "SearchTagger, order 2, 5 epochs": hr.SearchTagger(order=2, epochs=5, **GIVEN),
        "SearchTagger, order 2, 10 epochs": hr.SearchTagger(order=2, epochs=10, **GIVEN),
    })  # fmt: skip


def chunking(split: str) -> Data:
    data = sentences(split)
    return hr.Sequences([attributes(words, tags) for words, tags, _ in data]), [chunks for _, _, chunks in data]


def joint(split: str) -> Data:
    data = hr.datasets.load("conll2000-joint", split)
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


def report(title: str, load: Callable[[str], Data], measure: Measure, models: dict[str, Any]) -> None:
    train, (X_test, gold) = load("train"), load("test")
    times = {name: float("inf") for name in models}
    epochs = dict(times)
    for _ in range(REPEATS):
        for name, model in models.items():
            n = model.epochs
            once = timed(lambda model=model: model.set_params(epochs=1).fit(*train))
            whole = timed(lambda model=model, n=n: model.set_params(epochs=n).fit(*train))
            times[name] = min(times[name], whole)
            epochs[name] = min(epochs[name], (whole - once) / (n - 1))
    print(f"{title:36}{'s':>8}{'s an epoch':>12}{'':>9}{'positions a s':>15}")
    for name, model in models.items():
        items = hr.Sequences(X_test)
        model.predict(items[:10])
        speed = items.n_positions / min(timed(lambda: model.predict(items)) for _ in range(REPEATS))  # noqa: B023
        quality = measure(gold, [labels.tolist() for labels in model.predict(items)])
        print(f"{name:36}{times[name]:8.2f}{epochs[name]:12.3f}{100 * quality:9.2f}{speed:15,.0f}", flush=True)


def timed(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
