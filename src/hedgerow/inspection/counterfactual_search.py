"""The search for the smallest change of one value that flips a label: nearest positions first, many variants at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, CharacterColumn, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import warnings_to
from hedgerow.estimators.base import Estimator
from hedgerow.inference.answers import Answers
from hedgerow.inspection.counterfactual_readings import Reading, farthest, number_reading, readings
from hedgerow.inspection.counterfactual_values import numbers_beside, tried_values
from hedgerow.inspection.counterfactual_variants import Change, Member, RawSequence
from hedgerow.inspection.frozen_model import once_per_model
from hedgerow.model import Model

BATCH = 2**17  # positions that are labelled at once
SECTIONS = 16  # into which an interval of numbers is divided
ROUNDS = 5  # of such divisions: the number is found to 1 / 16^5 of the interval
CATEGORY = 1.0  # the size of a change that is not from number to number


class Flip(NamedTuple):
    """A change that flips the label of the position."""

    change: Change
    size: float
    label: int  # the code of the new label
    probability: float  # of the new label, after the change


class Line(NamedTuple):
    """Numbers on one side of a value, the nearest first; any of a line that begins at a missing value."""

    column: int
    place: int
    start: float
    values: tuple[float, ...]


class FlipSearch:
    """Searches for a change of one sequence that flips the label of one position, to the label `to` if it is given."""

    def __init__(self, estimator: Estimator, raw: RawSequence, position: int, label: int, to: int | None) -> None:
        self._estimator, self._raw, self._position, self._label, self._to = estimator, raw, position, label, to
        self._model = estimator._fitted()
        self._readings = _readings(self._model)
        self._takes_missing = self._model.encoder.fills_missing or estimator._takes_missing

    def smallest(self) -> Flip | None:
        """The smallest change at the nearest position where there is one."""
        n, position = self._raw.n_positions, self._position
        last = min(farthest(self._model, self._readings), max(position, n - 1 - position))
        with warnings_to(lambda message, category: None):  # the same as those about the sequence itself
            for distance in range(last + 1):
                places = [t for t in sorted({position - distance, position + distance}) if 0 <= t < n]
                found = self._flips(places)
                if found:
                    return min(found, key=_order)
        return None

    def _flips(self, places: Sequence[int]) -> list[Flip]:
        """The changes of values at these positions that flip the label; on each line of numbers, the nearest."""
        single = [change for place in places for change in self._single_changes(place)]
        lines = [line for place in places for line in self._lines(place)]
        on_lines = [Change(line.column, line.place, value) for line in lines for value in line.values]
        flipped = self._flipped([*single, *on_lines])
        changes = [change for change, flips in zip(single, flipped[: len(single)], strict=True) if flips]
        brackets, first = list[_Bracket](), len(single)
        for line in lines:
            own = flipped[first : first + len(line.values)]
            first += len(own)
            if np.isnan(line.start):
                chosen = np.flatnonzero(own).tolist()
                changes += [Change(line.column, line.place, line.values[i]) for i in chosen]
            elif own.any():
                near = int(own.argmax())
                inside = line.values[near - 1] if near else line.start
                brackets.append(_Bracket(line.column, line.place, inside, line.values[near]))
        for _ in range(ROUNDS):
            brackets = self._narrowed(brackets)
        changes += [Change(one.column, one.place, one.flips) for one in brackets]
        return self._measured(changes)

    def _single_changes(self, place: int) -> Iterator[Change]:
        """The changes that are not from number to number."""
        for number, (column, spec) in enumerate(zip(self._raw.sequences.columns, self._raw.specs, strict=True)):
            if spec is None:
                continue
            if isinstance(column, BagColumn):
                ids = column.ids[column.starts[place] : column.starts[place + 1]].tolist()
                own = [column.alphabet[i] for i in ids if i >= 0]
                yield from (Change(number, place, Member(name, gained=False)) for name in own)
                others = (name for name in tried_values(self._model, spec, self._to) if name not in own)
                yield from (Change(number, place, Member(name, gained=True)) for name in others)
                continue
            if isinstance(column, CategoricalColumn):
                code = int(column.codes[place])
                own_value = column.alphabet[code] if code >= 0 else None
                values = tried_values(self._model, spec, self._to)
                yield from (Change(number, place, value) for value in values if value != own_value)
            expressible = not isinstance(column, CharacterColumn)  # a str has no missing characters
            if self._takes_missing and expressible and not column.missing()[place]:
                yield Change(number, place, None)

    def _lines(self, place: int) -> Iterator[Line]:
        for number, (column, spec) in enumerate(zip(self._raw.sequences.columns, self._raw.specs, strict=True)):
            if spec is None or not isinstance(column, NumericColumn):
                continue
            start = float(column.values[place])
            for values in numbers_beside(number_reading(self._readings, column.name), start):
                if len(values):
                    yield Line(number, place, start, tuple(values.tolist()))

    def _narrowed(self, brackets: list[_Bracket]) -> list[_Bracket]:
        """Each interval cut to the section nearest to the old value that ends with a flip."""
        inner = [bracket.inner() for bracket in brackets]
        pairs = zip(brackets, inner, strict=True)
        flipped = self._flipped([Change(one.column, one.place, value) for one, values in pairs for value in values])
        narrowed, first = list[_Bracket](), 0
        for bracket, values in zip(brackets, inner, strict=True):
            own = flipped[first : first + len(values)]
            first += len(values)
            bounds = [bracket.keeps, *values, bracket.flips]
            near = 1 + int(np.append(own, True).argmax())
            narrowed.append(bracket._replace(keeps=bounds[near - 1], flips=bounds[near]))
        return narrowed

    def _flipped(self, changes: Sequence[Change]) -> NDArray[np.bool_]:
        """Whether each change flips the label."""
        found = [np.zeros(0, np.int32)]
        for some in self._batches(changes):
            codes = self._estimator._predicted_codes(self._encoded(self._raw.variants(some)))
            found.append(codes[self._position :: self._raw.n_positions])
        codes = np.concatenate(found)
        flips: NDArray[np.bool_] = codes != self._label if self._to is None else codes == self._to
        return flips

    def _measured(self, changes: Sequence[Change]) -> list[Flip]:
        """Changes that flip the label, with their sizes, new labels and probabilities."""
        found = list[Flip]()
        for some in self._batches(changes):
            encoded = self._encoded(self._raw.variants(some))
            codes = self._estimator._predicted_codes(encoded)[self._position :: self._raw.n_positions]
            rows = np.concatenate(list(self._estimator._ask(encoded, self._own_marginals)))
            for change, code, row in zip(some, codes.tolist(), rows, strict=True):
                found.append(Flip(change, self._size(change), code, float(row[code])))
        return found

    def _own_marginals(self, answers: Answers) -> NDArray[np.floating]:
        """The probabilities of the position in each variant of a block."""
        return answers.marginals()[1][self._position :: self._raw.n_positions]

    def _size(self, change: Change) -> float:
        column = self._raw.sequences.columns[change.column]
        if not isinstance(column, NumericColumn) or not isinstance(change.value, float):
            return CATEGORY
        before = float(column.values[change.place])
        spread = number_reading(self._readings, column.name).spread or 1.0
        return CATEGORY if np.isnan(before) else abs(change.value - before) / spread

    def _encoded(self, variants: Sequences) -> Encoded:
        return self._estimator._encode(variants)

    def _batches(self, changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
        most = max(1, BATCH // self._raw.n_positions)
        return (changes[first : first + most] for first in range(0, len(changes), most))


class _Bracket(NamedTuple):
    """An interval of numbers: the label is kept at one end, on the side of the old value, and flips at the other."""

    column: int
    place: int
    keeps: float
    flips: float

    def inner(self) -> list[float]:
        """Numbers in the interval, without its ends, the nearest to the old value first."""
        values = np.linspace(self.keeps, self.flips, SECTIONS + 1)[1:-1].astype(np.float32).tolist()
        return [value for value in dict.fromkeys(values) if value not in (self.keeps, self.flips)]


def _order(flip: Flip) -> tuple[float, ...]:
    """Smaller changes first, then the more probable new label, then the left position, then the first column."""
    return flip.size, -flip.probability, flip.change.place, flip.change.column


@once_per_model
def _readings(model: Model) -> list[Reading]:
    return list(readings(model.potential, model.encoder))
