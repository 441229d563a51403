"""Label statistics: what the values of columns say about labels, as numbers that trees can test.

A column of thousands of values, such as words, would take a tree one split for each value. Instead each value v has for
each label y the number log P(y | v) / P(y), from counts in training. The counts are smoothed towards P(y); a value that
training never saw has 0. Values are read through the window; a value at an offset has counts of its own.

There would be too many numbers if every column and offset had its own, so they are grouped into families, and the
numbers of a family are summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn, ScoreColumn, is_local, trusted
from hedgerow.encoding import HERE, AttributeReader, Encoder, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.group import ALONE, Group
from hedgerow.potentials.base import require_array
from hedgerow.utilities import Floats32, Floats64

SMOOTHING = 1.0  # how many positions the prior P(label) counts as
LEAST_PRIOR = 1e-3  # positions that every label has in the prior, at least
MAX_FAMILIES = 16
MAX_NUMBERS = 400  # of a position: families x labels


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelStatistics:
    """Counts of labels by attribute, and how attributes are grouped.

    Attribute v, an id of a reader of `columns` through `window`, occurs counts[e] times with the label labels[e], for e
    in starts[v] : starts[v + 1]. A slot is a column at an offset; `families` has the family of each slot.
    """

    columns: tuple[str, ...]
    window: Window
    families: NDArray[np.int32]
    prior: Floats64
    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: Floats64

    @classmethod
    def fit(
        cls,
        encoded: Encoded,
        columns: Sequence[str],
        window: Window,
        codes: NDArray[np.int32],
        n_labels: int,
        *,
        weights: Floats64 | None,
        folds: NDArray[np.int32],
        n_folds: int,
        n_threads: int,
        group: Group = ALONE,
    ) -> tuple[Self, list[ScoreColumn]]:
        """(the statistics of all positions, the numbers of each position from the other folds).

        `folds` has the fold of each position; a sequence must lie in one fold. Trees that learn from numbers in which
        a position's own label is counted would trust them too much. In a group, positions are those of this process,
        and the statistics those of all.
        """
        reader = _reader(encoded, columns, window)
        counted = _core.count_labels(reader.reader, codes, n_labels, folds, n_folds, weights, n_threads)
        starts, labels, by_fold = counted if group.size == 1 else _summed(*counted, n_labels, n_folds, group)
        prior = group.sum(np.bincount(codes, weights, minlength=n_labels).astype(np.float64)) + LEAST_PRIOR
        statistics = cls(
            columns=tuple(columns),
            window=window,
            families=_families(reader, n_labels),
            prior=prior / prior.sum(),
            starts=starts,
            labels=labels,
            counts=by_fold.reshape(-1, n_folds).sum(axis=1),
        )
        out_of_fold = statistics._log_ratios(fold_counts=by_fold, folds=folds, n_folds=n_folds)
        return statistics, statistics._named(_rows(out_of_fold.sum(reader.reader, n_threads)))

    def numbers(self, encoded: Encoded, n_threads: int) -> list[ScoreColumn]:
        """For each family a column for each label, and one with the logarithms of counts."""
        return self._named(self.matrix(encoded, n_threads))

    def matrix(self, encoded: Encoded, n_threads: int) -> Floats32:
        """The values of the columns of `numbers`: (columns, positions)."""
        reader = _reader(encoded, self.columns, self.window).reader
        return _rows(self._ratios.sum(reader, n_threads))

    @cached_property
    def _ratios(self) -> _core.LogRatios:
        return self._log_ratios()

    def _log_ratios(self, **out_of_fold: Any) -> _core.LogRatios:
        return _core.LogRatios(
            self.starts, self.labels, self.counts, self.prior, SMOOTHING, self.families, self.n_families, **out_of_fold
        )

    def _named(self, matrix: Floats32) -> list[ScoreColumn]:
        return [trusted(ScoreColumn, name, values) for name, values in zip(self.names(), matrix, strict=True)]

    def equals(self, other: LabelStatistics) -> bool:
        same = self.columns == other.columns and self.window == other.window
        return same and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)

    @property
    def n_families(self) -> int:
        return int(self.families.max()) + 1

    def names(self) -> list[str]:
        """The names of the columns of `numbers`."""
        ends = [*map(str, range(len(self.prior))), "count"]
        return [f"statistics.{family}.{end}" for family in range(self.n_families) for end in ends]

    def described(self, encoder: Encoder, classes: Sequence[object]) -> list[str]:
        """The columns of `numbers` in words, in the same order."""
        words = []
        for family in range(self.n_families):
            members = self.members(encoder, family)
            keys = ", ".join(f"{name}[{offset:+d}]" if offset else name for name, offset in members)
            words += [f"log P({label} | {keys}) / P({label})" for label in classes] + [f"log count of {keys}"]
        return words

    def members(self, encoder: Encoder, family: int) -> list[tuple[str, int]]:
        """(column, offset) of the slots of a family."""
        slots = _slots(_reader(encoder.nothing(), self.columns, self.window))
        return [(name, offset) for (name, offset, _), of in zip(slots, self.families, strict=True) if of == family]

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata = {"columns": list(self.columns), "window": list(self.window.offsets)}
        return metadata, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(
        cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Encoder, n_labels: int
    ) -> Self:
        """The statistics that `to_arrays` described; raises InputError unless they fit encoder and labels."""
        columns, window = metadata["columns"], Window.from_stored(metadata["window"])
        if not (isinstance(columns, list) and columns and all(isinstance(name, str) for name in columns)):
            raise InputError("label statistics must name their columns")
        slots = _slots(_reader(encoder.nothing(), columns, window))
        read = {name: require_array(arrays, name, dtype) for name, dtype in _ARRAYS.items()}
        families, prior, counts = read["families"], read["prior"], read["counts"]
        valid = len(families) == len(slots) and len(prior) == n_labels
        valid = valid and sorted(set(families.tolist())) == list(range(len(set(families.tolist()))))
        if not valid or not (np.isfinite(counts).all() and (counts >= 0).all()):
            raise InputError("label statistics must have a family for each column and offset, and counts from 0")
        return cls(columns=tuple(columns), window=window, **read)


_ARRAYS = {
    "families": np.dtype(np.int32),
    "prior": np.dtype(np.float64),
    "starts": np.dtype(np.int64),
    "labels": np.dtype(np.int32),
    "counts": np.dtype(np.float64),
}


def _summed(
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    counts: Floats64,
    n_labels: int,
    n_folds: int,
    group: Group,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats64]:
    """The counts of all processes as one sparse matrix."""
    n_attributes = len(starts) - 1
    cells = np.repeat(np.arange(n_attributes), np.diff(starts)) * n_labels + labels
    all_cells, all_counts = group.concatenated(cells), group.concatenated(counts.reshape(-1, n_folds))
    found, entry = np.unique(all_cells, return_inverse=True)
    summed = np.zeros((len(found), n_folds))
    np.add.at(summed, entry, all_counts)
    starts = np.searchsorted(found, np.arange(n_attributes + 1) * n_labels)
    return starts, (found % n_labels).astype(np.int32), summed.reshape(-1)


def _rows(ratios: NDArray[np.float32]) -> Floats32:
    """(families, labels + 1, positions) as (columns, positions)."""
    return ratios.reshape(-1, ratios.shape[-1])


def _reader(encoded: Encoded, columns: Sequence[str], window: Window) -> AttributeReader:
    chosen = tuple(encoded.column(name) for name in columns)
    for column in chosen:
        if isinstance(column, NumericColumn):
            raise InputError(f"label statistics are for values that are text, but column {column.name!r} is numeric")
    return AttributeReader(Encoded.trusted(encoded.starts, chosen), window)


def _slots(reader: AttributeReader) -> list[tuple[str, int, int]]:
    """(column, offset, number of values) of each slot, in the order of the reader."""
    slots = []
    for column in reader.sequences.columns:
        assert not isinstance(column, NumericColumn)
        offsets = (HERE if is_local(column) else reader.window).offsets
        slots += [(column.name, offset, len(column.alphabet)) for offset in offsets]
    return slots


def _families(reader: AttributeReader, n_labels: int) -> NDArray[np.int32]:
    """The family of each slot: slots of about as many values are together, for they are about as precise."""
    n_values = np.array([n for _, _, n in _slots(reader)])
    n_families = min(len(n_values), MAX_FAMILIES, max(1, MAX_NUMBERS // n_labels))
    families = np.empty(len(n_values), np.int32)
    for family, members in enumerate(np.array_split(np.argsort(n_values, kind="stable"), n_families)):
        families[members] = family
    return families
