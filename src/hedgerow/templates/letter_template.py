"""The template of single letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data.columns import CategoricalColumn, CharacterColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Derived, Pair, Part, Plan
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError
from hedgerow.templates.base import Section, at, names_of, shown, texts_of
from hedgerow.utilities import is_count

LONGEST_STRING = 5


@dataclass(frozen=True, repr=False)
class Letters(Section):
    """The template of `letters`."""

    n: int
    name: ClassVar[str] = "letters"

    def __post_init__(self) -> None:
        if not is_count(self.n) or not 1 <= self.n <= LONGEST:
            raise InputError(f"letters: n must be an integer from 1 to {LONGEST}, but got {self.n!r}")
        object.__setattr__(self, "n", int(self.n))

    def plan(self, sequences: Sequences) -> Plan:
        texts = texts_of(sequences)
        if not texts:
            raise InputError(
                f"letters: X must have a column of letters, but it has none; the columns are {names_of(sequences)}"
            )
        longer = {column.name: longer_text(column) for column in texts}
        derived = [rule for column in texts if longer[column.name] is None for rule in self._columns(column.name)]
        if not derived:
            name, text = next(iter(longer.items()))
            raise InputError(
                f"letters: X must have a column of single letters, but column {name!r} has {text!r}; pass str or lists "
                "of single letters, or use words()"
            )
        return derived

    def summary(self, sequences: Sequences) -> str:
        return f"{self}: letters at {-self.n}..{self.n}, strings of 2 to {LONGEST_STRING}"

    def _columns(self, source: str) -> Iterator[Derived]:
        letter, n = shown(source, "letter"), self.n
        for offset in range(-n, n + 1):
            yield Derived(at(letter, offset), Part(source, "text", offset))
        for length in range(2, LONGEST_STRING + 1):
            for first in range(max(-n, 1 - length), min(0, n - length + 1) + 1):
                last = first + length - 1
                if last > 0:
                    parts = Pair(_string(letter, first, last - 1), at(letter, last))
                else:
                    parts = Pair(at(letter, first), _string(letter, first + 1, last))
                yield Derived(_string(letter, first, last), parts)


def _string(letter: str, first: int, last: int) -> str:
    return at(letter, first) if first == last else f"{letter}[{first}..{last}]"


def longer_text(column: CategoricalColumn) -> str | None:
    """The first value of more than one letter; None if there is none."""
    return None if isinstance(column, CharacterColumn) else next((v for v in column.alphabet if len(v) > 1), None)


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
