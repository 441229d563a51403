"""What every format has: reading of a text into a corpus, and writing of sequences as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.ragged import first_duplicate
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.source import Source
from hedgerow.utilities import counted, is_count

if TYPE_CHECKING:
    from hedgerow.formats.content import Content


Probabilities: TypeAlias = Sequence[Sequence[float]] | None  # of the labels of each sequence
NAMELESS = {"conll", "crf++"}  # formats of columns without names


@dataclass(frozen=True)
class Choice:
    """What the caller of `read` says about the columns."""

    label: str | int | bool | None = None
    columns: Sequence[str] | None = None
    sequence: str | Sequence[str] | None = None
    layout: Layout | None = None
    kinds: Layout | None = None  # says which columns hold numbers, if `layout` is not given
    exact: bool = False  # whether `Parsed.exact` is wanted

    def beside(self, layout: Layout | None, given: str | None) -> Choice:
        """The choice with a layout; of which only the kinds count if the caller chose columns or another format."""
        if layout is None:
            return self
        same = given in (None, layout.format) or {given, layout.format} <= NAMELESS
        if same and self.label is None and self.columns is None and self.sequence is None:
            return replace(self, layout=layout)
        return replace(self, kinds=layout)

    def kind(self, column: str) -> str | None:
        """The kind that a column has in the layout: "numeric", "categorical", or None if nobody knows."""
        known = self.layout or self.kinds
        if known is None or column not in known.attributes:
            return None
        return "numeric" if column in known.numeric else "categorical"


@dataclass(frozen=True)
class Parsed:
    """The corpus of a text, the number of its lines, and what `with_labels` needs.

    `exact` has the values of numeric columns by position as the file has them: text, or numbers of 64 bits.
    """

    corpus: Corpus
    n_lines: int
    places: Any = None
    exact: Mapping[str, list[Any]] = field(default_factory=dict)


class Format(ABC):
    """A file format. Objects have no state."""

    name: str

    @abstractmethod
    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        """The corpus of a text that begins at `first_line` of its file; a partial text may hold no position."""

    @abstractmethod
    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The text with a label added to every position, and its probability if there are some."""

    @abstractmethod
    def encode(self, content: Content) -> Iterable[bytes]:
        """The text of a file; raises InputError for what the format cannot hold."""

    def settled(self, parsed: Parsed) -> Format:
        """The format with the rules that the first part of a file has settled, for the parts that follow."""
        del parsed
        return self

    def end_of_sequences(self, text: NDArray[np.uint8], begin: int) -> int:
        """The offset behind the last sequence that ends for certain; -1 if none does, as in formats read at once."""
        del text, begin
        return -1


def split_labels(flat: NDArray[Any], starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    """The labels of each sequence."""
    return [flat[begin:end] for begin, end in pairwise(starts.tolist())]


def text_labels(codes: NDArray[np.int32], alphabet: Alphabet, starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    """The labels of each sequence from their codes."""
    flat = np.array(list(alphabet), np.str_)[codes] if len(alphabet) else np.empty(0, np.str_)
    return split_labels(flat, starts)


def empty(layout: Layout, n_lines: int, places: Any = None) -> Parsed:
    """A text without positions."""
    X = Sequences.trusted(np.zeros(1, np.int64), ())
    return Parsed(Corpus(X, None, None, layout, np.empty(0, np.int64)), n_lines, places)


def refuse_empty(source: Source) -> NoReturn:
    """Raise InputError for a file without positions."""
    if not source.text:
        content = "nothing; is it the right file?"
    else:
        content = "only comments and blank lines" if source.text.strip() else "only blank lines"
    raise InputError(f"{source.name} must hold at least one position, but it holds {content}")


def refuse(source: Source, kind: str, line: int, column: int) -> NoReturn:
    """Raise InputError for a fault that the compiled readers found."""
    if kind == "encoding":
        source.fail_encoding(line, f" (value {column + 1} of the line)")
    if kind == "nul":
        source.fail(line, f"text must not hold NUL bytes, but this line does; is it text? {source.encoding_cure()}")
    if kind == "wide":
        source.fail(line, f"a line must have at most 65536 columns, but it has {column}; is it the right `format`?")
    if kind == "number":
        source.fail(line, f"what follows the colon in field {column} must be a finite number, but it is not; write \\:")
    source.fail(line, f"column {column} holds a carriage return; end lines with \\n or \\r\\n")


def check_names(columns: Iterable[object]) -> tuple[str, ...]:
    """The argument `columns`; raises InputError unless it holds distinct names."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    texts = [name for name in names if isinstance(name, str) and name]
    if len(texts) < len(names):
        raise InputError(f"`columns` must be names, but got {first_few(list(names))}")
    twice = first_duplicate(texts)
    if twice is not None:
        raise InputError(f"`columns` must be distinct names, but {twice!r} occurs twice; rename one")
    return tuple(texts)


def label_name(name: str, names: Sequence[str], label: str | int | bool | None) -> str | None:
    """The label column that the caller chose by name or number; None for False."""
    if label is False or label is None:
        return None
    if isinstance(label, str):
        if label not in names:
            raise InputError(f"{name} has no column {label!r} for `label`; its columns are {first_few(names)}")
        return label
    if not is_count(label):
        raise InputError(f"label must be a name, a number or False, but got {label!r}")
    if not -len(names) <= int(label) < len(names):
        raise InputError(f"{name} has no column {label} for `label`; it has {counted(len(names), 'column')}")
    return names[int(label)]


def chosen_attributes(
    name: str, choice: Choice, names: Sequence[str], roles: Sequence[str | None], default: Sequence[str]
) -> tuple[str, ...]:
    """The columns of X in a format that names its columns: `columns`, which must be there and have no other role."""
    attributes = check_names(default if choice.columns is None else choice.columns)
    for column in attributes:
        if column not in names:
            raise InputError(f"{name} has no column {column!r} for `columns`; its columns are {', '.join(names)}")
        if column in roles:
            raise InputError(f"column {column!r} cannot be in `columns` and be the label or `sequence`; leave it out")
    if not attributes:
        raise InputError(f"{name} has no column for X beside {first_few([role for role in roles if role])}; add one")
    return attributes
