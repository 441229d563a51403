"""What other libraries read: attributes of positions for linear models, rows of a window for LightGBM."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from practice import Task

OFFSETS = (-2, -1, 0, 1, 2)
AFFIXES = (1, 2, 3, 4)
RUNS = [(a, b) for a in range(-3, 1) for b in range(4) if 2 <= b - a + 1 <= 4]


def shape(word: str) -> str:
    """Capitals as X, other letters as x, digits as 0; runs as one."""
    marks = ["0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word]
    return "".join(mark for i, mark in enumerate(marks) if not i or mark != marks[i - 1])


def attributes(task: Task, X: list[Any], training: list[Any] | None = None) -> list[list[dict[str, Any]]]:
    """A dict of attributes for each position; numbers are scaled as in the training data (default: X)."""
    if task.kind == "words":
        return [_word_attributes(x) for x in X]
    if task.kind == "letters":
        return [_window_of_values(x, task.window) for x in X]
    known = np.concatenate([_numbers(x) for x in (training or X)])
    mean, deviation = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    return [_scaled((_numbers(x) - mean) / np.where(deviation > 0, deviation, 1.0), task.window) for x in X]


def _word_attributes(x: list[Any]) -> list[dict[str, str]]:
    """The words around a position, alone and in pairs, the affixes and the shape of the word; tags likewise."""
    words = [p["word"] if isinstance(p, dict) else p for p in x]
    sources = {"low": [word.lower() for word in words]}
    if isinstance(x[0], dict):
        sources["pos"] = [p["pos"] for p in x]
    shapes = [shape(word) for word in words]
    items = []
    for t, word in enumerate(words):
        item = {"word": word, "shape": shapes[t]}
        item |= {f"prefix{n}": word[:n].lower() for n in AFFIXES if len(word) > n}
        item |= {f"suffix{n}": word[-n:].lower() for n in AFFIXES if len(word) > n}
        item |= {f"shape[{o}]": shapes[t + o] for o in (-1, 1) if 0 <= t + o < len(words)}
        if any(c.isdigit() for c in word):
            item["digit"] = "1"
        for name, values in sources.items():
            item |= {f"{name}[{o}]": values[t + o] for o in OFFSETS if 0 <= t + o < len(words)}
            item |= {
                f"{name}[{o}]|[{o + 1}]": f"{values[t + o]}|{values[t + o + 1]}"
                for o in (OFFSETS[:-1] if name == "pos" else (-1, 0))
                if t + o >= 0 and t + o + 1 < len(words)
            }
        items.append(item)
    return items


def _window_of_values(x: Any, window: int) -> list[dict[str, str]]:
    """The letters, or columns, of the positions of a window, and the runs of letters around the position."""
    cells = [p if isinstance(p, dict) else {"": p} for p in x]
    items = []
    for t in range(len(cells)):
        item: dict[str, str] = {}
        for o in range(-window, window + 1):
            if 0 <= t + o < len(cells):
                item |= {f"{o}{name}": value for name, value in cells[t + o].items()}
            else:
                item[f"{o}"] = "outside"
        if isinstance(x, str):
            item |= {f"{a}..{b}": x[t + a : t + b + 1] for a, b in RUNS if t + a >= 0 and t + b < len(x)}
        items.append(item)
    return items


def _scaled(numbers: Any, window: int) -> list[dict[str, float]]:
    """The numbers of a window as weights of attributes; missing and outside ones are left out."""
    items = []
    for t in range(len(numbers)):
        near = [(o, numbers[t + o].tolist()) for o in range(-window, window + 1) if 0 <= t + o < len(numbers)]
        items.append({f"{o}:{j}": v for o, row in near for j, v in enumerate(row) if v and not math.isnan(v)})
    return items


def window_rows(task: Task, X: list[Any], X_test: list[Any]) -> tuple[Any, Any, Any]:
    """Rows of training and test data, and the categorical columns: what LightGBM needs."""
    if task.kind == "numbers":
        rows, test_rows = (_windows([_numbers(x) for x in part], task.window, np.nan) for part in (X, X_test))
        return rows, test_rows, "auto"
    columns = _word_columns if task.kind == "words" else _cells
    codes: list[dict[str, int]] = [{} for _ in next(columns(X[0]))]

    def encoded(part: list[Any], *, learn: bool) -> list[Any]:
        found = []
        for x in part:
            cells = [
                [
                    code.setdefault(v, len(code)) if learn else code.get(v, -1)
                    for code, v in zip(codes, row, strict=True)
                ]
                for row in columns(x)
            ]
            found.append(np.array(cells, dtype=np.float32))
        return found

    rows = _windows(encoded(X, learn=True), task.window, -1)
    test_rows = _windows(encoded(X_test, learn=False), task.window, -1)
    return rows, test_rows, list(range(rows.shape[1]))


def _word_columns(x: list[Any]) -> Iterator[tuple[str, ...]]:
    """The lower-cased word, its last three and two letters, its shape; the tag if there is one."""
    for p in x:
        word = p["word"] if isinstance(p, dict) else p
        low = word.lower()
        yield (low, low[-3:], low[-2:], shape(word), *((p["pos"],) if isinstance(p, dict) else ()))


def _cells(x: Any) -> Iterator[tuple[str, ...]]:
    for p in x:
        yield tuple(p.values()) if isinstance(p, dict) else (p,)


def _numbers(x: Any) -> Any:
    rows = [list(p.values()) for p in x] if isinstance(x[0], dict) else x
    return np.asarray(rows, dtype=np.float32)


def _windows(parts: list[Any], window: int, outside: float) -> Any:
    """A row for each position: the columns of all positions of its window."""
    rows = []
    for part in parts:
        padded = np.pad(part, ((window, window), (0, 0)), constant_values=outside)
        rows.append(np.concatenate([padded[o : o + len(part)] for o in range(2 * window + 1)], axis=1))
    return np.concatenate(rows)
