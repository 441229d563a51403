"""The format of a file: given, that of the training file, or detected; and hints where these do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.errors import InputError
from hedgerow.formats.base import Format
from hedgerow.formats.corpus import Layout
from hedgerow.formats.registry import by_extension, detect, find_format

_CERTAIN = ("jsonl", "parquet")  # formats that no other text looks like
_UNLIKE_COLUMNS = ("jsonl", "csv", "parquet")  # formats for which a column file cannot be mistaken


def choose_format(head: bytes, name: str, given: str | None, layout: Layout | None) -> Format:
    """The given format, otherwise that of the layout, otherwise the one that the beginning of the file shows.

    Raises InputError if the file has certainly another format than the training file.
    """
    if given is not None:
        return find_format(given)
    found = detect(head, name)
    if layout is None:
        return find_format(found)
    if found != layout.format and (found in _CERTAIN or found == by_extension(name) == "csv"):
        raise InputError(f"{name} {_other_format(found, layout)}")
    return find_format(layout.format)


@contextmanager
def hinting(head: bytes, name: str, given: str | None, layout: Layout | None) -> Iterator[None]:
    """Add to an error that the file looks like another format than that of the training file."""
    try:
        yield
    except InputError as error:
        if given is not None or layout is None or "looks like" in str(error):
            raise
        found = detect(head, name)
        if found == layout.format or (found in ("conll", "crf++") and layout.format not in _UNLIKE_COLUMNS):
            raise
        raise InputError(f"{error}; the file {_other_format(found, layout)}") from None


def _other_format(found: str, layout: Layout) -> str:
    return f"looks like {found}, but the training file was {layout.format}; give format={found!r}"
