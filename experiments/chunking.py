"""TreeCRF on CoNLL-2000 chunking, with columns and settings chosen on the last fifth of the training data.

Each candidate changes the best settings so far; the number of rounds is the one with the highest accuracy on the
held-out sentences. The best candidate is then trained on all training data and tested once.

python experiments/chunking.py
"""

from __future__ import annotations

from typing import Any

import hedgerow as hr
from common import PLAIN_TREES, arguments, log, percent, print_machine, print_table

Sentences = list[list[dict[str, str]]]
START: dict[str, Any] = {
    "window": 2, "n_rounds": 100, "learning_rate": 0.4, "max_leaves": 60, "min_leaf": 3, "influence_trim": 0.01,
    "random_state": 0,
}  # fmt: skip
CHANGES: tuple[dict[str, Any], ...] = (
    {"columns": "shapes"},
    {"max_features": 0.3},
    {"learning_rate": 0.2, "n_rounds": 160},
    {"max_leaves": 120},
    {"max_leaves": 30},
    {"window": 3},
    {"min_leaf": 2},
    {"influence_trim": 0.003},
)


def shape(word: str) -> str:
    """Return the word with A for capitals, a for small letters and 0 for digits; equal neighbours count once."""
    kinds = ["A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word]
    return "".join(kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind)


def with_shapes(X: Sentences) -> Sentences:
    """Add to each word its ends, its shape, and the word in lower case."""
    return [
        [
            {**p, "lower": p["word"].lower(), "end2": p["word"][-2:], "end3": p["word"][-3:], "shape": shape(p["word"])}
            for p in sentence
        ]
        for sentence in X
    ]


def with_columns(settings: dict[str, Any], X: Sentences) -> Sentences:
    return with_shapes(X) if settings.get("columns") == "shapes" else X


def make_model(settings: dict[str, Any], n_rounds: int) -> hr.TreeCRF:
    given = {key: value for key, value in settings.items() if key != "columns"}
    return hr.TreeCRF(**{**PLAIN_TREES, **given, "n_rounds": n_rounds})


def held_out(settings: dict[str, Any], X: Sentences, y: list[Any]) -> tuple[float, int]:
    """Return the highest accuracy on the held-out sentences, and its round."""
    n = len(X) * 4 // 5
    X = with_columns(settings, X)
    model = make_model(settings, settings["n_rounds"]).fit(X[:n], y[:n], X_dev=X[n:], y_dev=y[n:])
    best = max(model.training_log_, key=lambda record: record["dev_accuracy"])
    log(f"    {settings}: {best['dev_accuracy']:.4f} after {best['step']} rounds")
    return best["dev_accuracy"], best["step"]


def search(X: Sentences, y: list[Any], start: dict[str, Any]) -> tuple[dict[str, Any], float, int]:
    settings, (accuracy, n_rounds) = start, held_out(start, X, y)
    for change in CHANGES:
        found, at = held_out({**settings, **change}, X, y)
        if found > accuracy:
            settings, accuracy, n_rounds = {**settings, **change}, found, at
    return settings, accuracy, n_rounds


def load(split: str, quick: bool) -> tuple[Sentences, list[Any]]:
    if not quick:
        data = hr.datasets.load("conll2000", split)
        return data.X, data.y
    words = hr.datasets.load("pronounce", split)
    X = [[{"word": c, "pos": "x"} for c in word] for word in words.X[:40]]
    return X, [["B-NP" if label == "_" else "O" for label in labels] for labels in words.y[:40]]


def main() -> None:
    quick = arguments(__doc__, []).parse_args().quick
    print_machine()
    train, test = load("train", quick), load("test", quick)
    settings, accuracy, n_rounds = search(*train, START | ({"n_rounds": 2} if quick else {}))
    model = make_model(settings, n_rounds).fit(with_columns(settings, train[0]), train[1])
    found = [labels.tolist() for labels in model.predict(with_columns(settings, test[0]))]
    shown = ", ".join(f"{k}={v}" for k, v in settings.items() if k not in ("n_rounds", "random_state"))
    f1 = 100 * hr.metrics.span_f1(test[1], found)
    row = [shown, n_rounds, f"{100 * accuracy:.2f}", f"{percent(test[1], found):.2f}", f"{f1:.2f}"]
    print_table(["chosen", "rounds", "held-out accuracy", "test accuracy", "test chunk F1"], [row])


if __name__ == "__main__":
    main()
