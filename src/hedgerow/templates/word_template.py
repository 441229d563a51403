"""The template of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from hedgerow.data.columns import CategoricalColumn, CharacterColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Derived, Part, Plan
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.templates.base import NAMELESS, Section, at, names_of, shown, texts_of
from hedgerow.templates.tag_template import OFFSETS, pair, tag_columns


@dataclass(frozen=True, repr=False)
class Words(Section):
    """The template of `words`."""

    column: str | None = None
    name: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        if not (self.column is None or isinstance(self.column, str)):
            raise InputError(
                f"words: column must be the name of a column or None, but got {type_name(self.column)}; give its name"
            )

    def plan(self, sequences: Sequences) -> Plan:
        word = self._word(sequences)
        return [*_word_columns(word.name), *chain.from_iterable(map(tag_columns, _others(sequences, word)))]

    def summary(self, sequences: Sequences) -> str:
        word = self._word(sequences)
        first, last = OFFSETS[0], OFFSETS[-1]
        tags = _others(sequences, word)
        beside = f"; {'tags' if len(tags) > 1 else 'tag'} {first_few(tags)} at {first}..{last}" if tags else ""
        return f"{self}: word, beginnings, endings, shapes, neighbours at {first}..{last}, pairs{beside}"

    def _word(self, sequences: Sequences) -> CategoricalColumn:
        texts = texts_of(sequences)
        if not texts:
            raise InputError(
                f"words: X must have a column of text, but it has none; the columns are {names_of(sequences)}"
            )
        word = max(texts, key=lambda column: len(column.alphabet))  # the first of equals
        if self.column is not None:
            found = [column for column in texts if column.name == self.column]
            if not found and not isinstance(word, CharacterColumn):
                raise InputError(self._no_such_text(sequences, word.name))
            word = found[0] if found else word
        if isinstance(word, CharacterColumn):
            raise InputError(
                "words: X must hold lists of words, but its sequences are str, which are read letter by letter; split "
                "them, or use letters(n)"
            )
        return word

    def _no_such_text(self, sequences: Sequences, default: str) -> str:
        names = names_of(sequences)
        found = "it holds no text" if self.column in names else f"the columns are {names}"
        nameless = " (the only column of lists of str)" if names == [NAMELESS] else ""
        return (
            f"words: X must have a column {self.column!r} of text, but {found}{nameless}; use words(), which reads "
            f"{default!r}, or name a column of text"
        )


def _others(sequences: Sequences, word: CategoricalColumn) -> list[str]:
    """The columns of text beside the words."""
    return [column.name for column in texts_of(sequences) if column is not word]


def _word_columns(source: str) -> Iterator[Derived]:
    word = shown(source, "word")
    yield Derived(word, Part(source, "text"))
    for part in _PARTS:
        yield Derived(part, Part(source, part))
    for offset in OFFSETS:
        if offset != 0:
            yield Derived(at(word, offset), Part(source, "text", offset))
    for offset in (-1, 1):
        yield Derived(at("outline", offset), Part(source, "outline", offset))
    yield pair(at(word, -1), word)
    yield pair(word, at(word, 1))


_PARTS = (
    "lower",
    *(f"prefix{n}" for n in range(1, 5)),
    *(f"suffix{n}" for n in range(1, 5)),
    "shape",
    "outline",
)


def words(column: str | None = None) -> Words:
    """Derive columns from words: their letters, their shape, their neighbours.

    Parameters
    ----------
    column : str, optional
        The column of words. By default the only column of text or, if there are several, the one with the most distinct
        values. Lists of str have one column, called "symbol". The other columns of text are read as tags, at the
        positions -2..2 with their pairs and triples.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Raises
    ------
    InputError
        If `column` is not a str. `fit` raises it if X has no such column.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = [["The", "cat", "sat"], ["A", "dog", "sat"]], [["D", "N", "V"], ["D", "N", "V"]]
    >>> model = hr.LinearCRF(features=hr.templates.words()).fit(X, y)
    >>> model.predict_single(["The", "rat", "spat"]).tolist()
    ['D', 'N', 'V']
    """
    return Words(column)
