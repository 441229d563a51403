"""What a user of python-crfsuite runs: columns in, attributes from templates, columns with labels out.

python -c "from crfsuite_pipeline import tag; tag('MODEL', 'FILE')"
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

# The chunking templates of CRFsuite's own example: (column, offset) of the values that an attribute joins.
WORD, POS = 0, 1
OFFSETS = (-2, -1, 0, 1, 2)
TEMPLATES = [
    *([(WORD, i)] for i in OFFSETS),
    *([(WORD, i), (WORD, i + 1)] for i in (-1, 0)),
    *([(POS, i)] for i in OFFSETS),
    *([(POS, i), (POS, i + 1)] for i in OFFSETS[:-1]),
    *([(POS, i), (POS, i + 1), (POS, i + 2)] for i in OFFSETS[:-2]),
]
NAMES = ["|".join(f"{'wp'[column]}[{offset}]" for column, offset in parts) for parts in TEMPLATES]


def crfpp_template() -> str:
    """The same templates as a CRF++ file."""
    lines = [
        f"U{i:02d}:" + "/".join(f"%x[{offset},{column}]" for column, offset in parts)
        for i, parts in enumerate(TEMPLATES)
    ]
    return "\n".join([*lines, "B", ""])


def sequences(file: TextIO) -> Iterator[list[list[str]]]:
    """The rows of each sequence."""
    rows: list[list[str]] = []
    for line in file:
        cells = line.split()
        if cells:
            rows.append(cells)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def attributes(rows: list[list[str]]) -> list[list[str]]:
    """The attributes of each position; none that reach outside the sequence."""
    n, items = len(rows), []
    for t in range(n):
        item = []
        for name, parts in zip(NAMES, TEMPLATES, strict=True):
            values = []
            for column, offset in parts:
                if not 0 <= t + offset < n:
                    break
                values.append(rows[t + offset][column])
            else:
                item.append(f"{name}={'|'.join(values)}")
        items.append(item)
    return items


def train(path: str, model: str, max_iterations: int) -> None:
    """Train by L-BFGS with c2 = 1."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 1.0, "max_iterations": max_iterations})
    with Path(path).open(encoding="utf-8") as file:
        for rows in sequences(file):
            trainer.append(attributes(rows), [row[-1] for row in rows])
    trainer.train(model)


def tag(model: str, path: str) -> None:
    """Write each line with its label behind it."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with Path(path).open(encoding="utf-8") as file:
        for rows in sequences(file):
            for row, label in zip(rows, tagger.tag(attributes(rows)), strict=True):
                sys.stdout.write(f"{' '.join(row)} {label}\n")
            sys.stdout.write("\n")
