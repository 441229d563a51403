"""Templates: which columns to derive from the words, letters or numbers of X. Every estimator takes one as `features`.

words      words, their endings and shapes, their neighbours, and pairs of words
letters    letters around a position, and strings of two to five of them
numbers    changes of numbers, and their mean and spread around a position
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from typing import Any, ClassVar

from hedgerow.data.columns import CategoricalColumn, CharacterColumn, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Pair, Part, Rule, Summary
from hedgerow.encoding.rules import Template as _Template
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.utilities import is_count

__all__ = ["letters", "numbers", "words"]

NAMELESS = "symbol"  # the name of the only column of lists of strings and of str


class Template(_Template):
    """A declaration of columns to derive, made by `words`, `letters` or `numbers`; immutable, and equal by value."""

    name: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the template in types that JSON has.

        Returns
        -------
        dict
            The name of the template and its parameters.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.templates.letters(3).to_json()
        {'template': 'letters', 'n': 3}
        """
        return {"template": self.name} | vars(self)

    def __repr__(self) -> str:
        changed = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return f"{self.name}({', '.join(changed)})"


@dataclass(frozen=True, repr=False)
class Words(Template):
    """The template of `words`."""

    column: str | None = None
    name: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        if not (self.column is None or isinstance(self.column, str)):
            raise InputError(
                f"words: column must be the name of a column or None, but got {type_name(self.column)}; give its name"
            )

    def plan(self, sequences: Sequences) -> list[tuple[str, Rule]]:
        texts = [column for column in sequences.columns if isinstance(column, CategoricalColumn)]
        word = self._word(sequences, texts)
        tags = (_tag_columns(column.name) for column in texts if column is not word)
        return [*_word_columns(word.name), *chain.from_iterable(tags)]

    def _word(self, sequences: Sequences, texts: list[CategoricalColumn]) -> CategoricalColumn:
        if not texts:
            names = [column.name for column in sequences.columns]
            raise InputError(f"words: X must have a column of text, but it has none; the columns are {names}")
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
        names = [column.name for column in sequences.columns]
        found = "it holds no text" if self.column in names else f"the columns are {names}"
        nameless = " (the only column of lists of str)" if names == [NAMELESS] else ""
        return (
            f"words: X must have a column {self.column!r} of text, but {found}{nameless}; use words(), which reads "
            f"{default!r}, or name a column of text"
        )


def _shown(column: str, nameless: str) -> str:
    return nameless if column == NAMELESS else column


def _at(name: str, offset: int) -> str:
    return name if offset == 0 else f"{name}[{offset}]"


def _pair(left: str, right: str) -> tuple[str, Rule]:
    return f"{left}|{right}", Pair(left, right)


def _word_columns(source: str) -> Iterator[tuple[str, Rule]]:
    word = _shown(source, "word")
    yield word, Part(source, "text")
    for part in _PARTS:
        yield part, Part(source, part)
    for offset in (-2, -1, 1, 2):
        yield _at(word, offset), Part(source, "text", offset)
    for offset in (-1, 1):
        yield _at("outline", offset), Part(source, "outline", offset)
    yield _pair(_at(word, -1), word)
    yield _pair(word, _at(word, 1))


_PARTS = (
    "lower",
    *(f"prefix{n}" for n in range(1, 5)),
    *(f"suffix{n}" for n in range(1, 5)),
    "shape",
    "outline",
)


def _tag_columns(source: str) -> Iterator[tuple[str, Rule]]:
    """The tag at -2..2, and the pairs and triples of tags that follow each other there."""
    names = [_at(source, offset) for offset in range(-2, 3)]
    for offset, name in zip(range(-2, 3), names, strict=True):
        yield name, Part(source, "text", offset)
    for left, right in pairwise(names):
        yield _pair(left, right)
    for first, second, third in zip(names, names[1:], names[2:], strict=False):
        yield _pair(f"{first}|{second}", third)


@dataclass(frozen=True, repr=False)
class Letters(Template):
    """The template of `letters`."""

    n: int
    name: ClassVar[str] = "letters"

    def __post_init__(self) -> None:
        if not is_count(self.n) or not 1 <= self.n <= LONGEST:
            raise InputError(f"letters: n must be an integer from 1 to {LONGEST}, but got {self.n!r}")
        object.__setattr__(self, "n", int(self.n))

    def plan(self, sequences: Sequences) -> list[tuple[str, Rule]]:
        texts = [column for column in sequences.columns if isinstance(column, CategoricalColumn)]
        if not texts:
            names = [column.name for column in sequences.columns]
            raise InputError(f"letters: X must have a column of letters, but it has none; the columns are {names}")
        longer = {column.name: _longer_text(column) for column in texts}
        derived = [rule for column in texts if longer[column.name] is None for rule in self._columns(column.name)]
        if not derived:
            name, text = next(iter(longer.items()))
            raise InputError(
                f"letters: X must have a column of single letters, but column {name!r} has {text!r}; pass str or lists "
                "of single letters, or use words()"
            )
        return derived

    def _columns(self, source: str) -> Iterator[tuple[str, Rule]]:
        letter, n = _shown(source, "letter"), self.n
        for offset in range(-n, n + 1):
            yield _at(letter, offset), Part(source, "text", offset)
        for length in range(2, LONGEST_STRING + 1):
            for first in range(max(-n, 1 - length), min(0, n - length + 1) + 1):
                last = first + length - 1
                if last > 0:
                    parts = Pair(_string(letter, first, last - 1), _at(letter, last))
                else:
                    parts = Pair(_at(letter, first), _string(letter, first + 1, last))
                yield _string(letter, first, last), parts


LONGEST_STRING = 5


def _string(letter: str, first: int, last: int) -> str:
    return _at(letter, first) if first == last else f"{letter}[{first}..{last}]"


def _longer_text(column: CategoricalColumn) -> str | None:
    return None if isinstance(column, CharacterColumn) else next((v for v in column.alphabet if len(v) > 1), None)


@dataclass(frozen=True, repr=False)
class Numbers(Template):
    """The template of `numbers`."""

    name: ClassVar[str] = "numbers"

    def plan(self, sequences: Sequences) -> list[tuple[str, Rule]]:
        numeric = [column.name for column in sequences.columns if isinstance(column, NumericColumn)]
        if not numeric:
            names = [column.name for column in sequences.columns]
            empty = [c.name for c in sequences.columns if isinstance(c, CategoricalColumn) and not len(c.alphabet)]
            kind = f"; {first_few(empty)} may be of any kind: all values are missing" if empty else ""
            raise InputError(f"numbers: X must have a numeric column, but it has none; the columns are {names}{kind}")
        return [column for source in numeric for column in _number_columns(source)]


def _number_columns(source: str) -> Iterator[tuple[str, Rule]]:
    for offset in (-5, -1, 1, 5):
        yield f"{source} change[{offset}]", Summary(source, "change", offset, offset)
    yield f"{source} mean[-5..5]", Summary(source, "mean", -5, 5)
    yield f"{source} deviation[-5..5]", Summary(source, "deviation", -5, 5)


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


def letters(n: int) -> Letters:
    """Derive columns from the letters around a position.

    Parameters
    ----------
    n : int >= 1
        How many letters before and after a position are read.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Raises
    ------
    InputError
        If n is not an integer of at least 1. `fit` raises it if X has no column of single letters.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.LinearCRF(features=hr.templates.letters(2)).fit(X, y)
    >>> model.predict_single("dot").tolist()
    ['-', 'o', '-']
    """
    return Letters(n)


def numbers() -> Numbers:
    """Derive columns from numbers: their change, and their mean and spread around a position.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = [[{"heat": 0.0}, {"heat": 0.1}, {"heat": 5.0}]] * 2, [["low", "low", "high"]] * 2
    >>> model = hr.LinearCRF(features=hr.templates.numbers()).fit(X, y)
    >>> model.feature_names_in_.tolist()
    ['heat']
    """
    return Numbers()


_BY_NAME: dict[str, type[Template]] = {cls.name: cls for cls in (Words, Letters, Numbers)}


def template_from_json(stored: object) -> Template:
    """The template that `to_json` described; raises InputError if the description is not valid."""
    match stored:
        case {"template": str(name), **values} if name in _BY_NAME:
            cls = _BY_NAME[name]
            parameters = {str(key): value for key, value in values.items()}
            if set(parameters) == {field.name for field in fields(cls)}:  # type: ignore[arg-type]
                return cls(**parameters)
    raise InputError(f"features must be the description of a template, but got {stored!r}")


def parse_template(text: str) -> Template:
    """The template of a command-line flag: words, words:COLUMN, letters:N or numbers."""
    found = re.fullmatch(r"(words|letters|numbers)(?::(.*))?", text, re.DOTALL)
    match found and found.groups():
        case ("words", column):
            return Words(column)
        case ("letters", str(n)) if n.isdecimal():
            return Letters(int(n))
        case ("numbers", None):
            return Numbers()
    raise InputError(f"features must be words, words:COLUMN, letters:N or numbers; it is {text!r}")
