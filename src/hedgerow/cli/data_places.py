"""Errors about training data with file and line, in place of the argument of `fit`, the sequence and the position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.cli.reading import name_of
from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.formats import Corpus

_PLACE = re.compile(r"[Xy](_dev)?: sequence (\d+), position (\d+)")


@contextmanager
def naming_lines(training: tuple[str, Corpus], dev: tuple[str, Corpus] | None, encoding: str | None) -> Iterator[None]:
    """Let errors name the lines of the files; each is given by its path and its content."""
    try:
        yield
    except InputError as error:
        message = str(error)
        found = _PLACE.match(message)
        source = None if found is None else training if found[1] is None else dev
        if found is None or source is None:
            raise
        path, corpus = source
        place = f"{name_of(path)}: {_line(path, corpus, encoding, int(found[2]), int(found[3]))}"
        raise InputError(f"{place}{message[found.end() :]}{_likely_scheme(message, corpus)}") from error


def _line(path: str, corpus: Corpus, encoding: str | None, sequence: int, position: int) -> str:
    """The line of a position, or its sequence and number where the text cannot be read again."""
    from hedgerow.formats import read_blocks

    where = f"sequence {sequence}, position {position}"
    if path == "-" or Path(path).is_dir():
        return where
    first = 0
    for block in read_blocks(path, layout=corpus.layout, encoding=encoding or "utf-8"):
        if sequence < first + len(block.X):
            return f"line {block.lines[block.X.starts[sequence - first] + position]}"
        first += len(block.X)
    return where


def _likely_scheme(message: str, corpus: Corpus) -> str:
    """A hint at the scheme of the labels, for labels that break the constraints."""
    from hedgerow.formats import detect_scheme

    if "under the constraints" not in message or corpus.y is None:
        return ""
    try:
        return f"; the labels look like {detect_scheme(corpus.y)}"
    except InputError:
        return ""
