"""Learning to search: update rules, orders and directions, beside the exact perceptron.

The order and the number of epochs are those with the highest accuracy on the last tenth of the training sequences; then
the model is trained on all of them and tested once.

python experiments/search.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias, get_args

import hedgerow as hr
from common import arguments, log, percent, print_machine, print_table
from margin import CHUNK_PARTS, WORD_PARTS, conll, joined, spelling

Data = tuple[Any, list[Any]]
Update: TypeAlias = Literal["laso", "early", "max-violation", "standard"]
Direction: TypeAlias = Literal["left-to-right", "right-to-left"]

UPDATES: tuple[Update, ...] = get_args(Update)
WAYS: tuple[tuple[Update, Direction], ...] = (
    *((update, "left-to-right") for update in UPDATES),
    ("laso", "right-to-left"),
)
ORDERS = (1, 3)
EPOCHS = 8


def chunk_data(split: str, quick: bool = False) -> Data:
    """Words and tags around a position, alone and joined; labels are chunks."""
    X, y = [], []
    for sentence in conll(split, quick):
        words, tags, chunks = zip(*sentence, strict=True)
        X.append(joined({"word": words, "pos": tags}, CHUNK_PARTS))
        y.append(list(chunks))
    return hr.Sequences(X), y


def joint_data(split: str, quick: bool = False) -> Data:
    """Words around a position and the spelling of its own word; labels join part of speech and noun phrase."""
    X, y = [], []
    for sentence in conll(split, quick):
        words, tags, chunks = zip(*sentence, strict=True)
        around = joined({"word": words}, WORD_PARTS)
        X.append([item | spelling(word) for item, word in zip(around, words, strict=True)])
        inside = [chunk if chunk.endswith("-NP") else "O" for chunk in chunks]
        y.append([f"{tag}+{chunk}" for tag, chunk in zip(tags, inside, strict=True)])
    return hr.Sequences(X), y


def sound_data(split: str, quick: bool = False) -> Data:
    """Letters; labels join phoneme and stress."""
    data = hr.datasets.load("pronounce" if quick else "nettalk", split)
    n = 40 if quick else len(data.X)
    return hr.Sequences(data.X[:n]), list(data.y[:n])


def models(window: int, quick: bool) -> Iterator[tuple[str, list[Any]]]:
    """Yield (name, candidates that differ in their order)."""
    shared: dict[str, Any] = {"window": window, "random_state": 0, "epochs": 2 if quick else EPOCHS}
    yield "exact perceptron, order 1", [hr.StructuredPerceptron(order=1, **shared)]
    orders = ORDERS[:1] if quick else ORDERS
    for update, direction in WAYS:
        candidates = [hr.SearchTagger(order=o, update=update, direction=direction, **shared) for o in orders]
        yield f"{update}, {direction}", candidates


def chosen(candidates: list[Any], train: Data) -> tuple[Any, float]:
    """Return the best candidate with its best number of epochs, and its accuracy on dev data."""
    X, y = train
    n = len(X) * 9 // 10
    best: tuple[Any, float] = candidates[0], -1.0
    for model in candidates:
        model.fit(X[:n], y[:n], X_dev=X[n:], y_dev=y[n:])
        record = max(model.training_log_, key=lambda record: record["dev_accuracy"])
        if record["dev_accuracy"] > best[1]:
            best = model, record["dev_accuracy"]
            best[0].set_params(epochs=record["step"])
    return best


def table(title: str, load: Callable[[str, bool], Data], measure: Callable[[Any, Any], float], window: int,
          quick: bool) -> None:  # fmt: skip
    train, (X_test, y_test) = load("train", quick), load("test", quick)
    rows = []
    for name, candidates in models(window, quick):
        model, held_out = chosen(candidates, train)
        model.fit(*train)
        found = [labels.tolist() for labels in model.predict(X_test)]
        measured = measure(y_test, found)
        log(f"{title}: {name}: order {model.order}, {model.epochs} epochs, {measured:.2f}")
        rows.append([name, model.order, model.epochs, f"{100 * held_out:.2f}", f"{measured:.2f}"])
    print_table([title, "order", "epochs", "held-out accuracy", "test"], rows)


def f1(gold: Any, found: Any) -> float:
    return 100 * hr.metrics.span_f1(gold, found)


def main() -> None:
    quick = arguments(__doc__, []).parse_args().quick
    print_machine()
    table("Chunks, F1, beam 5", chunk_data, f1, 0, quick)
    table("Parts of speech and noun phrases, accuracy, beam 5", joint_data, percent, 0, quick)
    table("NETtalk phonemes and stresses, accuracy, beam 5", sound_data, percent, 3, quick)


if __name__ == "__main__":
    main()
