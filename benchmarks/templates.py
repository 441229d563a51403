"""Columns that templates derive from words and tags of CoNLL-2000, beside the same attributes made in Python.

python benchmarks/templates.py

Learning is from the training set, encoding of the test set, both from `Sequences`. Times are CPU milliseconds on one
core, the best of five. CRF++'s template has the 19 attributes of its example for chunks. The Python function makes
these as dicts, which are then read.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import TEMPLATES, attributes, load, repeated, sentences
from hedgerow.encoding import Encoder
from jobs import main
from printing import print_table

REPEATS = 5


def crfpp() -> Any:
    """CRF++'s template of the 19 attributes."""
    numbers = {"word": 0, "pos": 1}
    lines = [
        f"U{i:02}:" + "/".join(f"%x[{offset},{numbers[column]}]" for column, offset in parts)
        for i, parts in enumerate(TEMPLATES.values())
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template"
        path.write_text("\n".join([*lines, "B", ""]))
        return hr.templates.read(path, columns=list(numbers))


def milliseconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return 1e3 * (time.process_time() - begin)


def rows() -> Iterator[list[str]]:
    train, test = (hr.Sequences(load("conll2000", split).X) for split in ("train", "test"))
    for name, template in {"`words()`": hr.templates.words("word"), "CRF++'s template": crfpp()}.items():
        encoder = Encoder.fit(train, features=template)
        learning = repeated(partial(milliseconds, partial(Encoder.fit, train, features=template)), REPEATS)
        encoding = repeated(partial(milliseconds, partial(encoder.transform, test)), REPEATS)
        yield [name, str(len(encoder.columns)), f"{learning:.0f}", *_speed(encoding, test.n_positions)]
    plain = sentences("test")
    made = repeated(lambda: milliseconds(lambda: hr.Sequences([attributes(w, t) for w, t, _ in plain])), REPEATS)
    yield ["the same in Python", str(len(TEMPLATES)), "", *_speed(made, test.n_positions)]


def _speed(took: float, n_positions: int) -> list[str]:
    return [f"{took:.1f}", f"{1e6 * took / n_positions:.0f}"]


def print_templates() -> None:
    print_table(["template", "columns", "learn ms", "encode ms", "ns a token"], rows())


if __name__ == "__main__":
    main(__doc__, {"templates": print_templates}, {})
