"""Binning of numeric columns: at most 255 bins with about equal counts."""

from __future__ import annotations

from collections.abc import Sequence
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
        quantiles: the k-th bin ends with the first value at which the cumulative count reaches k / max_bins of the
        total. NaN is ignored. Raises InputError for infinities.
        """
        return cls.fit_all([values], [max_bins])[0]

    @classmethod
    def fit_all(
        cls, columns: Sequence[NDArray[np.float32]], max_bins: Sequence[int], n_threads: int = 1
    ) -> list[Binning]:
        """The binning of each column; see `fit`."""
        for most in max_bins:
            if not 1 <= most <= MAX_BINS:
                raise InputError(f"max_bins must be from 1 to {MAX_BINS}, but got {most}")
        contiguous = [np.ascontiguousarray(values, np.float32) for values in columns]
        try:
            return [cls(edges) for edges in _core.bin_edges(contiguous, max_bins, n_threads)]
        except ValueError as rule:
            raise InputError(str(rule)) from None

    @property
    def n_bins(self) -> int:
        """The number of bins, without the one for missing values."""
        return len(self.edges) + 1

    def transform(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The bin of each value; 255 for a missing value."""
        return transform_all([values], [self])[0]


def transform_all(
    columns: Sequence[NDArray[np.float32]], binnings: Sequence[Binning], n_threads: int = 1
) -> list[NDArray[np.uint8]]:
    """The bins of the values of each column by its binning; 255 for a missing value."""
    contiguous = [np.ascontiguousarray(values) for values in columns]
    return _core.find_bins(contiguous, [binning.edges for binning in binnings], n_threads)


def fit_binnings(sequences: Encoded, n_threads: int = 1) -> dict[str, Binning]:
    """The binning of each numeric column, by name."""
    numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
    fitted = Binning.fit_all([column.values for column in numeric], [MAX_BINS] * len(numeric), n_threads)
    return {column.name: binning for column, binning in zip(numeric, fitted, strict=True)}
