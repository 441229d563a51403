"""The template of text with few values, such as tags or categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import ClassVar

from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Derived, Pair, Part, Plan
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.templates.base import Section, at, names_of, shown, texts_of

OFFSETS = range(-2, 3)


@dataclass(frozen=True, repr=False)
class Tags(Section):
    """The template of `tags`."""

    columns: tuple[str, ...] | None = None
    name: ClassVar[str] = "tags"

    def __post_init__(self) -> None:
        given: object = self.columns
        if given is None:
            return
        if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(c, str) for c in given):
            raise InputError(f"tags: columns must be a list of names or None, but got {type_name(given)}; give a list")
        object.__setattr__(self, "columns", tuple(given))

    def plan(self, sequences: Sequences) -> Plan:
        texts = [column.name for column in texts_of(sequences)]
        lacking = [name for name in self.columns or () if name not in texts]
        if lacking or not texts:
            wanted = f"a column {lacking[0]!r} of text" if lacking else "a column of text"
            raise InputError(f"tags: X must have {wanted}, but it has none; the columns are {names_of(sequences)}")
        return list(chain.from_iterable(map(tag_columns, self.columns or texts)))

    def summary(self, sequences: Sequences) -> str:
        return f"{self}: {tags_in_words(self.columns or [column.name for column in texts_of(sequences)])}"


def tags_in_words(names: Sequence[str]) -> str:
    """What is derived from these columns."""
    return f"{first_few(names)} at {OFFSETS[0]}..{OFFSETS[-1]}, pairs, triples"


def tag_columns(source: str) -> Iterator[Derived]:
    """The tag at -2..2, and the pairs and triples of tags that follow each other there."""
    names = [at(shown(source, "tag"), offset) for offset in OFFSETS]
    for offset, name in zip(OFFSETS, names, strict=True):
        yield Derived(name, Part(source, "text", offset))
    for left, right in pairwise(names):
        yield pair(left, right)
    for first, second, third in zip(names, names[1:], names[2:], strict=False):
        yield pair(f"{first}|{second}", third)


def pair(left: str, right: str) -> Derived:
    """The column of two derived columns together."""
    return Derived(f"{left}|{right}", Pair(left, right))


def tags(columns: Sequence[str] | None = None) -> Tags:
    """Derive columns from text with few different values: the values around a position, their pairs and triples.

    Parameters
    ----------
    columns : list of str, optional
        The columns of tags. By default all columns of text.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Raises
    ------
    InputError
        If `columns` is not a list of str. `fit` raises it if X has no such column.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X = [[{"sky": "clear"}, {"sky": "clear"}, {"sky": "grey"}]] * 2
    >>> model = hr.LinearCRF(features=hr.templates.tags()).fit(X, [["dry", "dry", "wet"]] * 2)
    >>> model.predict_single([{"sky": "clear"}, {"sky": "grey"}]).tolist()
    ['dry', 'wet']
    """
    return Tags(columns)  # type: ignore[arg-type]
