"""Files that commands read, with messages that name flags instead of Python's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.cli.failures import say
from hedgerow.errors import InputError, first_few
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.formats import Corpus

_ARGUMENTS = [
    (r"`?\blabel=False`?", "--label none"),
    (r"\b(encoding|format|label|columns|scoring|sequence)=['\"]([^'\"]*)['\"]", r"--\1 \2"),
    (r"`(encoding|format|label|columns|sequence)`", r"--\1"),
]


@dataclass(frozen=True, kw_only=True)
class FileChoice:
    """What flags say about files: format, columns, encoding; None where they say nothing."""

    format: str | None = None
    label: str | None = None
    columns: str | None = None
    sequence: str | None = None
    encoding: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Arguments of `hedgerow.read`."""
        return {
            "format": self.format,
            "label": _label(self.label),
            "columns": _names(self.columns),
            "sequence": _names(self.sequence),
            "encoding": self.encoding,
        }


def read_labelled(path: str, choice: FileChoice) -> Corpus:
    """The sequences and labels of a file; raises InputError if it has no labels."""
    import hedgerow as hr

    with naming_flags():
        corpus = hr.read(path, **choice.arguments())
    if corpus.y is None:
        raise InputError(f"{name_of(path)} must have a column of labels, but it has none; name it with --label")
    if choice.sequence is not None and not corpus.layout.sequence:
        raise InputError(
            f"--sequence names columns of a table, but {name_of(path)} is of format {corpus.layout.format}, in which "
            "sequences have borders of their own; leave it out, or give --format csv"
        )
    return corpus


@contextmanager
def naming_flags() -> Iterator[None]:
    """Let errors name the flags of the command line."""
    try:
        yield
    except InputError as error:
        message = str(error)
        for argument, flag in _ARGUMENTS:
            message = re.sub(argument, flag, message)
        raise InputError(message) from error


def describe(path: str, corpus: Corpus) -> None:
    """Say on standard error what was read."""
    layout = corpus.layout
    columns = first_few(list(layout.attributes)).replace("'", "")
    label = "" if layout.label is None else f", label {layout.label}"
    say(
        f"{name_of(path)}: {counted(len(corpus.X), 'sequence')}, {counted(corpus.X.n_positions, 'position')}; "
        f"format {layout.format}, columns {columns or 'none'}{label}{''.join(f'; {note}' for note in corpus.notes)}"
    )


def name_of(path: str) -> str:
    """The name of a file, for messages."""
    return "standard input" if path == "-" else path


def _label(text: str | None) -> Any:
    if text is None:
        return None
    if text.lower() == "none":
        return False
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]
