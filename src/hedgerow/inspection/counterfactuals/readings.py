"""How a model reads X: how far from a position, and which numbers it can tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from hedgerow.codes.potential import CodePotential
from hedgerow.encoding import AttributeReader, Encoder
from hedgerow.encoding.binning import Binning
from hedgerow.encoding.rules import Part, Summary
from hedgerow.encoding.scaling import Scaling
from hedgerow.encoding.window import Window
from hedgerow.future.potential import FuturePotential
from hedgerow.inspection.frozen_model import once_per_model
from hedgerow.model import Model
from hedgerow.pooling.potential import PoolPotential
from hedgerow.potentials.base import Potential
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.table import Normal, TablePotential
from hedgerow.potentials.trees import TreePotential
from hedgerow.potentials.votes import VotedPotential
from hedgerow.search.potential import SearchPotential
from hedgerow.utilities import Floats32

LABEL_REACH = 5  # positions beyond the reach of attributes that are tried, because labels depend on their neighbours
DEVIATIONS = np.linspace(-4.0, 4.0, 33)  # distances from the mean that are tried, in standard deviations
POWERS = 4.0 ** np.arange(-2, 21)  # numbers that are tried if the model does not scale them
MOST_POINTS = 128  # of a column, and as many thresholds if scores change at other numbers too

NONE = np.zeros(0, np.float32)


class NumberReading(NamedTuple):
    """How a numeric column is read.

    `steps` are thresholds: a model tells v < step from v >= step. `points` are values to try where scores change at
    other numbers too. `spread` is the standard deviation that the model stores, or 0; `middle` a number in the middle
    of those of training.
    """

    steps: Floats32 = NONE
    points: Floats32 = NONE
    spread: float = 0.0
    middle: float = 0.0

    def beside(self, value: float) -> list[Floats32]:
        """Numbers below the value and numbers above it, the nearest first; if it is NaN, all, from the middle on.

        Of a threshold, the number on its other side is tried: the largest number under it, or the threshold itself. If
        there are points, both are tried, because scores change between thresholds too.
        """
        under = np.nextafter(self.steps, np.float32(-np.inf))
        under = under[np.isfinite(under)]
        every = np.concatenate([under, self.steps, self.points])
        if np.isnan(value):
            every = np.unique(np.append(every, np.float32(self.middle)))
            return [every[np.argsort(np.abs(every.astype(np.float64) - self.middle), kind="stable")]]
        below, above = (every, every) if len(self.points) else (under, self.steps)
        return [np.unique(below[below < value])[::-1], np.unique(above[above > value])]


class Reading(NamedTuple):
    """How one potential reads the columns of the encoder."""

    reach: int = 0  # positions to either side whose values are read
    numbers: Mapping[str, NumberReading] = {}
    links: bool = False  # whether values elsewhere matter through the predictions there


@once_per_model
def whole_reading(model: Model) -> Reading:
    """How a model reads X: the reach is how many positions away from a position a value is tried.

    The reach covers all positions whose values the scores of the position depend on. If labels depend on their
    neighbours, it is LABEL_REACH positions longer.
    """
    found = list(readings(model.potential, model.encoder))
    rules = [spec.rule for spec in model.encoder.derived]
    parts = [abs(rule.offset) for rule in rules if isinstance(rule, Part)]
    summaries = [max(abs(rule.first), abs(rule.last)) for rule in rules if isinstance(rule, Summary)]
    links = model.order > 0 or model.constraints is not None or any(one.links for one in found)
    reach = max(one.reach for one in found) + max([0, *parts, *summaries]) + (LABEL_REACH if links else 0)
    names = {name for one in found for name in one.numbers}
    numbers = {name: _merged([one.numbers[name] for one in found if name in one.numbers]) for name in names}
    return Reading(reach, numbers, links)


def _merged(found: list[NumberReading]) -> NumberReading:
    """How several potentials read the same column; the spread is 1 if none is stored."""
    steps, points = (np.unique(np.concatenate([one[i] for one in found])) for i in (0, 1))
    if len(points):  # trees alone change their scores at steps only, and need all of them
        steps, points = _sampled(steps), _sampled(points)
    return NumberReading(steps, points, next((one.spread for one in found if one.spread), 1.0), found[0].middle)


def _sampled(numbers: Floats32) -> Floats32:
    """MOST_POINTS of the numbers, or all if there are fewer."""
    places = np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_POINTS)).round()
    return numbers[places.astype(np.int64)]


@singledispatch
def readings(potential: Potential, encoder: Encoder) -> Iterator[Reading]:
    """The readings of a potential and of those that it contains; each kind of potential registers its own."""
    raise NotImplementedError(type(potential).__name__)


def _scaled(window: Window, scalings: Mapping[str, Scaling]) -> Reading:
    return Reading(_reach(window), {name: _of_scaling(scaling) for name, scaling in scalings.items()})


@readings.register
def _linear(potential: LinearPotential, encoder: Encoder) -> Iterator[Reading]:
    yield _scaled(potential.window, potential.scalings)


@readings.register
def _votes(potential: VotedPotential, encoder: Encoder) -> Iterator[Reading]:
    yield _scaled(potential.window, potential.scalings)


@readings.register
def _search(potential: SearchPotential, encoder: Encoder) -> Iterator[Reading]:
    yield _scaled(potential.window, potential.scalings)._replace(links=potential.n_grams.order > 0)
    if potential.future is not None:
        yield from readings(potential.future, encoder)


@readings.register
def _trees(potential: TreePotential, encoder: Encoder) -> Iterator[Reading]:
    if potential.columns is not None and potential.columns.linear is not None:
        yield from readings(potential.columns.linear, encoder)
    reading = _all_steps(potential, encoder)
    yield reading._replace(numbers=_tested(reading.numbers, potential, encoder))


def _all_steps(potential: TreePotential, encoder: Encoder) -> Reading:
    """The reading with all thresholds between bins."""
    sources = {spec.rule.source for spec in encoder.derived if isinstance(spec.rule, Summary)}
    numbers = {name: _of_bins(bins, name in sources) for name, bins in potential.binnings.items()}
    return Reading(_reach(potential.window), numbers)


def _tested(
    numbers: Mapping[str, NumberReading], potential: TreePotential, encoder: Encoder
) -> dict[str, NumberReading]:
    """The numbers with the thresholds that trees test, and the lowest one; nothing changes at the others."""
    trees, found = potential.trees, {name: {0} for name in numbers}
    tests = np.concatenate([trees.nodes["attribute"], trees.surrogates, ~trees.surrogates])
    read = potential.read(encoder.nothing()).sequences
    for slot in AttributeReader(read, potential.window, potential.binnings).slots():
        if slot.column in found:
            found[slot.column].update(tests[(tests >= slot.first) & (tests < slot.first + slot.n_values)] - slot.first)
    return {
        name: one._replace(steps=one.steps[[step for step in sorted(found[name]) if step < len(one.steps)]])
        for name, one in numbers.items()
    }


@readings.register
def _table(potential: TablePotential, encoder: Encoder) -> Iterator[Reading]:
    pairs = zip(encoder.columns, potential.emissions, strict=False)  # a cascade has further columns
    yield Reading(0, {spec.name: _of_normal(one) for spec, one in pairs if isinstance(one, Normal)})


@readings.register
def _local(potential: LocalPotential, encoder: Encoder) -> Iterator[Reading]:
    yield from readings(potential.inner, encoder)


@readings.register
def _future(potential: FuturePotential, encoder: Encoder) -> Iterator[Reading]:
    yield _all_steps(potential.trees, encoder)  # the patterns of features test thresholds too
    if potential.features:
        yield Reading(potential.instance_bags.size)


@readings.register
def _code(potential: CodePotential, encoder: Encoder) -> Iterator[Reading]:
    for i, bit in enumerate(potential.bits):
        of_bit = potential.cascade.encoder(encoder, i)  # without the rules: the data of bits are derived already
        yield from readings(bit, replace(of_bit, derived=encoder.derived))
    yield Reading(links=potential.bit_order > 0 or potential.cascade.length > 0)


@readings.register
def _pool(potential: PoolPotential, encoder: Encoder) -> Iterator[Reading]:
    for model in potential.models:  # without the rules: their data are derived already
        yield from readings(model.potential, replace(model.encoder(encoder), derived=encoder.derived))


def _reach(window: Window) -> int:
    return max(abs(offset) for offset in window.offsets)


def _of_scaling(scaling: Scaling) -> NumberReading:
    if scaling.zero_is_absent:  # not scaled: no deviation is stored
        return NumberReading(NONE, np.concatenate([-POWERS, [0.0], POWERS]).astype(np.float32))
    return NumberReading(NONE, _finite(scaling.mean + scaling.deviation * DEVIATIONS), scaling.deviation, scaling.mean)


def _of_bins(binning: Binning, derives: bool) -> NumberReading:
    """Edges of bins lie between values of training, with about as many values in each bin.

    Numbers that are derived from the column have thresholds of their own, which are other numbers of the column.
    """
    edges = binning.edges.astype(np.float64)
    if not len(edges):
        return NumberReading()
    deviation = float(edges.std())  # 0 of a single edge
    points = _finite(edges.mean() + (deviation or 1.0) * DEVIATIONS) if derives else NONE
    return NumberReading(binning.edges, points, deviation, float(np.median(edges)))


def _of_normal(normal: Normal) -> NumberReading:
    deviations = np.sqrt(normal.variance)
    spread = float(np.sqrt(normal.variance.mean() + normal.mean.var()))
    lowest, highest = (normal.mean - 4 * deviations).min(), (normal.mean + 4 * deviations).max()
    points = _finite(np.concatenate([np.linspace(lowest, highest, len(DEVIATIONS)), normal.mean]))
    return NumberReading(NONE, points, spread, float(normal.mean.mean()))


def _finite(values: np.ndarray) -> Floats32:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single[np.isfinite(single)]
