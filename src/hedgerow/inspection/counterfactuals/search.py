"""The search for the smallest change that flips a label: nearest positions first, many variants at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import SYMBOL, BagColumn, CategoricalColumn, CharacterColumn, Column, NumericColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ImpossibleLatticeError, warnings_to
from hedgerow.estimators.base import Estimator
from hedgerow.inference.answers import Answers
from hedgerow.inspection.counterfactuals.readings import whole_reading
from hedgerow.inspection.counterfactuals.values import tried_texts
from hedgerow.inspection.counterfactuals.variants import Change, RawSequence, Value
from hedgerow.utilities import Floats

BATCH = 2**17  # positions that are labelled at once
FIRST_SECTIONS = 128  # into which the numbers between the value and the first flip are divided
SECTIONS = 16  # into which the interval before the first flip is divided then
ROUNDS = 5  # of such divisions: the number is found to 1 / 16^5 of the interval
NOT_BY_NUMBERS = 1.0  # the size of a change that is not from number to number


class Flip(NamedTuple):
    """A change that flips the label of the position."""

    change: Change
    label: int  # the code of the new label
    probability: float  # of the new label, after the change


class Line(NamedTuple):
    """Changes of the same value in one direction, the smallest first, beginning at a value that keeps the label.

    A missing number becomes the tried numbers, those in the middle first.
    """

    keeps: Value
    changes: tuple[Change, ...]


class FlipSearch:
    """Searches for a change of one sequence that flips the label of one position, to the label `to` if it is given.

    `marginals` are the probabilities of the labels at the position before the change.
    """

    def __init__(
        self, estimator: Estimator, raw: RawSequence, position: int, label: int, to: int | None, marginals: Floats
    ) -> None:
        model = estimator._fitted()
        probable_first = np.argsort(-marginals, kind="stable").tolist()
        self._texts = tried_texts(model, probable_first, to)
        self._estimator, self._raw = estimator, raw.with_texts(self._texts)
        self._position, self._label, self._to = position, label, to
        self._reading = whole_reading(model)
        self._takes_missing = model.encoder.fills_missing or estimator._takes_missing

    def smallest(self) -> Flip | None:
        """The smallest change at the nearest position where one flips the label."""
        n, position = self._raw.n_positions, self._position
        with warnings_to(lambda message, category: None):  # the same as those about the sequence itself
            for distance in range(min(self._reading.reach, n - 1) + 1):
                places = [t for t in sorted({position - distance, position + distance}) if 0 <= t < n]
                changes = self._flipping(places)
                if changes:
                    least = min(map(self._size, changes))
                    return self._most_probable([one for one in changes if self._size(one) == least])
        return None

    def _flipping(self, places: Sequence[int]) -> list[Change]:
        """The changes of values at these positions that flip the label; the smallest of each line."""
        lines = [line for place in places for line in self._lines(place)]
        found = list(self._smallest_flips(lines))
        numbers = list(self._smallest_flips([_filled(line) for line in found if _is_interval(line)]))
        for _ in range(ROUNDS):
            numbers = list(self._smallest_flips([_divided(line) for line in numbers]))
        others = [line for line in found if not _is_interval(line)]
        return [line.changes[-1] for line in (*others, *numbers)]

    def _lines(self, place: int) -> Iterator[Line]:
        """The changes of the values at a position that are tried."""
        for number, column in enumerate(self._raw.columns):
            if isinstance(column, NumericColumn):
                yield from self._number_lines(number, column, place)
                value: Value = None if column.missing()[place] else float(column.values[place])
            elif isinstance(column, CategoricalColumn):
                code = int(column.codes[place])
                value = column.alphabet[code] if code >= 0 else None
                yield from (_single(number, place, value, text) for text in self._texts[column.name] if text != value)
            else:
                yield from self._bag_lines(number, column, place)
                continue
            if self._takes_missing and value is not None and _can_lack_one_more(column):
                yield _single(number, place, value, None)

    def _number_lines(self, number: int, column: NumericColumn, place: int) -> Iterator[Line]:
        before = float(column.values[place])
        if column.name not in self._reading.numbers:
            return
        for numbers in self._reading.numbers[column.name].beside(before):
            value = None if np.isnan(before) else before
            if len(numbers):
                yield Line(value, tuple(Change(number, place, value, tried) for tried in numbers.tolist()))

    def _bag_lines(self, number: int, column: BagColumn, place: int) -> Iterator[Line]:
        ids = column.ids[column.starts[place] : column.starts[place + 1]].tolist()
        members = [column.alphabet[i] for i in ids if i >= 0]
        yield from (_single(number, place, member, None) for member in members)
        others = (text for text in self._texts[column.name] if text not in members)
        yield from (_single(number, place, None, text) for text in others)

    def _smallest_flips(self, lines: Sequence[Line]) -> Iterator[Line]:
        """Each line that has a flip, up to the first one."""
        codes = iter(self._codes([change for line in lines for change in line.changes]).tolist())
        for line in lines:
            flips = [self._is_flip(next(codes)) for _ in line.changes]
            if any(flips):
                yield line._replace(changes=line.changes[: flips.index(True) + 1])

    def _is_flip(self, code: int) -> bool:
        return code != self._label if self._to is None else code == self._to

    def _most_probable(self, changes: Sequence[Change]) -> Flip:
        """Of changes of the same size, the one with the most probable new label; then the leftmost, then the first."""
        codes = self._codes(changes).tolist()
        rows = np.concatenate([rows for some in self._batches(changes) for rows in self._marginals(some)])
        found = [Flip(*each) for each in zip(changes, codes, rows[np.arange(len(codes)), codes].tolist(), strict=True)]
        return min(found, key=lambda one: (-one.probability, one.change.place, one.change.column))

    def _size(self, change: Change) -> float:
        before, after = change.value, change.new_value
        if not isinstance(before, float) or not isinstance(after, float):
            return NOT_BY_NUMBERS
        return abs(after - before) / self._reading.numbers[self._raw.columns[change.column].name].spread

    def _codes(self, changes: Sequence[Change]) -> NDArray[np.int32]:
        """The code of the label that the position has after each change."""
        return np.concatenate([np.zeros(0, np.int32), *(self._codes_of_batch(some) for some in self._batches(changes))])

    def _codes_of_batch(self, changes: Sequence[Change]) -> NDArray[np.int32]:
        try:
            return self._estimator._predicted_codes(self._encoded(changes))[self._position :: self._raw.n_positions]
        except ImpossibleLatticeError:  # an HMM without smoothing cannot label some variants, which count as no flip
            if len(changes) == 1:
                return np.array([self._label], np.int32)
            half = len(changes) // 2
            return np.concatenate([self._codes_of_batch(changes[:half]), self._codes_of_batch(changes[half:])])

    def _marginals(self, changes: Sequence[Change]) -> Iterator[Floats]:
        """The probabilities of the labels at the position after each change, in blocks."""

        def of_block(answers: Answers) -> Floats:
            return answers.marginals()[1][self._position :: self._raw.n_positions]

        return self._estimator._ask(self._encoded(changes), of_block)

    def _encoded(self, changes: Sequence[Change]) -> Encoded:
        return self._estimator._encode(self._raw.variants(changes))

    def _batches(self, changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
        most = max(1, BATCH // self._raw.n_positions)
        return (changes[first : first + most] for first in range(0, len(changes), most))


def _can_lack_one_more(column: Column) -> bool:
    """Whether a user can write the sequence with one more value missing: no str, and no list of nothing but None."""
    return not isinstance(column, CharacterColumn) and (column.name != SYMBOL or column.n_missing + 1 < len(column))


def _single(number: int, place: int, value: Value, new_value: Value) -> Line:
    return Line(value, (Change(number, place, value, new_value),))


def _is_interval(line: Line) -> bool:
    return isinstance(line.keeps, float) and isinstance(line.changes[0].new_value, float)


def _filled(line: Line) -> Line:
    """The line with more numbers between the value and the flip, which is the last."""
    keeps, *tried = _numbers(line)
    numbers = {*tried, *_between(keeps, tried[-1], FIRST_SECTIONS)}
    return _with_numbers(line, sorted(numbers, key=lambda number: abs(number - keeps)))


def _divided(line: Line) -> Line:
    """The numbers between the last one that keeps the label and the flip, which is the last."""
    keeps, flip = _numbers(line)[-2:]
    return _with_numbers(line._replace(keeps=keeps), [*_between(keeps, flip, SECTIONS), flip])


def _numbers(line: Line) -> list[float]:
    return cast("list[float]", [line.keeps, *(change.new_value for change in line.changes)])


def _with_numbers(line: Line, numbers: Sequence[float]) -> Line:
    return line._replace(changes=tuple(line.changes[-1]._replace(new_value=number) for number in numbers))


def _between(first: float, last: float, n_sections: int) -> list[float]:
    """The numbers that divide an interval into equal sections, as 32-bit floats."""
    inner = np.linspace(first, last, n_sections + 1)[1:-1].astype(np.float32).tolist()
    return [number for number in dict.fromkeys(inner) if number not in (first, last)]
