"""The template of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data.columns import CategoricalColumn, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Derived, Plan, Summary
from hedgerow.errors import InputError, first_few
from hedgerow.templates.base import Section, names_of, texts_of


@dataclass(frozen=True, repr=False)
class Numbers(Section):
    """The template of `numbers`."""

    name: ClassVar[str] = "numbers"

    def plan(self, sequences: Sequences) -> Plan:
        numeric = _numeric(sequences)
        if not numeric:
            empty = [column.name for column in texts_of(sequences) if not len(column.alphabet)]
            kind = f"; {first_few(empty)} may be of any kind: all values are missing" if empty else ""
            text = [column.name for column in texts_of(sequences) if len(column.alphabet) and _are_numbers(column)]
            kind += f"; {first_few(text)} holds numbers as text: read them from CSV, TSV or JSON lines" if text else ""
            raise InputError(
                f"numbers: X must have a numeric column, but it has none; the columns are {names_of(sequences)}{kind}"
            )
        return [column for source in numeric for column in _number_columns(source)]

    def summary(self, sequences: Sequences) -> str:
        return f"{self}: changes, means and deviations over -5..5 of {first_few(_numeric(sequences))}"


def _numeric(sequences: Sequences) -> list[str]:
    return [column.name for column in sequences.columns if isinstance(column, NumericColumn)]


def _are_numbers(column: CategoricalColumn) -> bool:
    try:
        return all(float(text) == float(text) for text in column.alphabet)
    except ValueError:
        return False


def _number_columns(source: str) -> Iterator[Derived]:
    for offset in (-5, -1, 1, 5):
        yield Derived(f"{source} change[{offset}]", Summary(source, "change", offset, offset))
    yield Derived(f"{source} mean[-5..5]", Summary(source, "mean", -5, 5))
    yield Derived(f"{source} deviation[-5..5]", Summary(source, "deviation", -5, 5))


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
