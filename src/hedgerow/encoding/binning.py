"""Binning of numeric columns: at most 255 bins with about equal counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.utilities import read_only

MAX_BINS = 255


@dataclass(frozen=True, eq=False)
class Binning:
    """Bins of a numeric column: value v falls into bin b when edges[b - 1] <= v < edges[b]."""

    edges: NDArray[np.float32]

    def __post_init__(self) -> None:
        edges = self.edges
        if not isinstance(edges, np.ndarray) or edges.ndim != 1 or edges.dtype != np.float32:
            raise InputError("the edges of bins must be a 1-D array of float32; convert them")
        if len(edges) >= MAX_BINS or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            raise InputError(f"the edges of bins must be finite, strictly increasing, and fewer than {MAX_BINS}")
        object.__setattr__(self, "edges", read_only(np.ascontiguousarray(edges)))

    @classmethod
    def fit(cls, values: NDArray[np.float32], max_bins: int = MAX_BINS) -> Binning:
        """The binning of these values, with edges midway between neighbouring values.

        There is one bin for each distinct value, or, if there are more than max_bins of them, max_bins bins cut at the
        quantiles. NaN is ignored. Raises InputError for infinities.
        """
        if not 1 <= max_bins <= MAX_BINS:
            raise InputError(f"max_bins must be from 1 to {MAX_BINS}, but got {max_bins}")
        values = np.asarray(values, np.float32)
        distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if len(distinct) and not np.isfinite(distinct[[0, -1]]).all():
            raise InputError("values to bin must be finite, but got an infinity; use NaN where a value is missing")
        cuts = np.arange(1, len(distinct))
        if len(distinct) > max_bins:
            cuts = _quantile_cuts(counts, max_bins)
        below, above = distinct[cuts - 1].astype(np.float64), distinct[cuts]
        middle = ((below + above) / 2).astype(np.float32)
        # Between two adjacent floats there is no middle; rounding may return the lower one.
        return cls(np.where(middle > below, middle, above))

    @property
    def n_bins(self) -> int:
        """The number of bins, without the one for missing values."""
        return len(self.edges) + 1

    def transform(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The bin of each value; 255 for a missing value."""
        return _core.find_bins(np.ascontiguousarray(values), self.edges)


def _quantile_cuts(counts: NDArray[np.int64], max_bins: int) -> NDArray[np.int64]:
    """Where to cut the sorted distinct values: cut c separates value c - 1 from value c.

    The k-th cut follows the first value at which the cumulative count reaches k / max_bins of the total.
    """
    cumulative = np.cumsum(counts)
    targets = np.arange(1, max_bins) * cumulative[-1] / max_bins
    cuts = np.unique(np.searchsorted(cumulative, targets, side="left") + 1)
    return cuts[cuts < len(counts)]


def fit_binnings(sequences: Encoded) -> dict[str, Binning]:
    """The binning of each numeric column, by name."""
    return {c.name: Binning.fit(c.values) for c in sequences.columns if isinstance(c, NumericColumn)}
