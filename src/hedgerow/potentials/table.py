"""The potential of a hidden Markov model: tables of log-probabilities of values and of label transitions.

The state score of a position is the sum over columns of

    categorical   log P(value | label)
    bag           the sum over its attributes of weight * log P(attribute | label)
    numeric       the log-density of a normal distribution with the label's mean and variance

A missing value is summed out, so it adds nothing; neither does an absent or unseen value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import ScoredPotential, Scores, Stored
from hedgerow.potentials.registry import register
from hedgerow.topology import Topology
from hedgerow.utilities import Floats64

BLOCK = 4096  # positions whose scores are computed together, in memory that stays in a near cache


@dataclass(frozen=True, eq=False)
class Discrete:
    """Log-probabilities of the values of a categorical column or a bag: (values, labels)."""

    log_probability: Floats64

    def add_scores(self, column: Column, to: Floats64) -> None:
        """Add the score of each position and label."""
        if isinstance(column, BagColumn):
            to += _summed(column, self.log_probability)
            return
        assert isinstance(column, CategoricalColumn)
        if len(self.log_probability) == 0:
            return
        for first in range(0, len(column), BLOCK):
            block = slice(first, first + BLOCK)
            scores = self.log_probability.take(column.codes[block], axis=0, mode="clip")
            scores[column.codes[block] < 0] = 0.0  # missing, absent, unseen
            to[block] += scores


@dataclass(frozen=True, eq=False)
class Normal:
    """Means and variances of a numeric column by label."""

    mean: Floats64
    variance: Floats64

    def add_scores(self, column: Column, to: Floats64) -> None:
        """Add the score of each position and label."""
        assert isinstance(column, NumericColumn)
        x = column.values.astype(np.float64)[:, None]
        density = -0.5 * (np.log(2 * np.pi * self.variance) + (x - self.mean) ** 2 / self.variance)
        to += np.where(np.isnan(x), 0.0, density)


def _summed(bag: BagColumn, rows: Floats64) -> Floats64:
    """For each bag the weighted sum of its attributes' rows; 0 for a missing bag."""
    there = bag.ids >= 0
    values = rows[bag.ids[there]]
    if bag.weights is not None:
        values = values * bag.weights[there, None]
    position = np.repeat(np.arange(len(bag)), np.diff(bag.starts))[there]
    sums = np.zeros((len(bag), rows.shape[1]))
    if len(position):
        first = np.flatnonzero(np.diff(position, prepend=-1))
        sums[position[first]] = np.add.reduceat(values, first)
    return sums


@register
@dataclass(frozen=True, eq=False)
class TablePotential(ScoredPotential):
    """An emission for each column of the encoder, and the log-probabilities of labels given their context."""

    emissions: tuple[Discrete | Normal, ...]
    transitions: Floats64  # (label contexts of every length, labels), see hedgerow.topology
    kind: ClassVar[str] = "table"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        state = np.zeros((encoded.n_positions, self.transitions.shape[1]))
        for emission, column in zip(self.emissions, encoded.columns, strict=True):
            emission.add_scores(column, state)
        return Scores(state=state, table=self.transitions)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {"transitions": self.transitions}
        for i, emission in enumerate(self.emissions):
            if isinstance(emission, Discrete):
                arrays[f"{i}.log_probability"] = emission.log_probability
            else:
                arrays |= {f"{i}.mean": emission.mean, f"{i}.variance": emission.variance}
        return {}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        _, arrays, encoder, n_labels, order = stored

        def part(name: str, *shape: int) -> Floats64:
            array = arrays.get(name)
            if array is None or array.dtype != np.float64 or array.shape != shape or not (array < np.inf).all():
                raise InputError(f"the potential's array {name!r} must hold {shape} numbers below infinity")
            return array

        def emissions() -> Iterator[Discrete | Normal]:
            for i, spec in enumerate(encoder.columns):
                if spec.alphabet is not None:
                    yield Discrete(part(f"{i}.log_probability", len(spec.alphabet), n_labels))
                    continue
                mean, variance = part(f"{i}.mean", n_labels), part(f"{i}.variance", n_labels)
                if not (np.isfinite(mean).all() and (variance > 0).all()):
                    raise InputError(f"column {spec.name!r} must have finite means and positive variances")
                yield Normal(mean, variance)

        return cls(tuple(emissions()), part("transitions", Topology(n_labels, order).n_rows, n_labels))
