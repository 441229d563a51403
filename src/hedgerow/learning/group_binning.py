"""Bins of numeric columns whose values are divided among the processes of a group.

The edges are those that one process would find for all values. They are found digit by digit: processes first add up
how many values begin with each of 2^16 upper halves of a key; only values in the halves where a bin ends are then
exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Binning
from hedgerow.errors import InputError
from hedgerow.group import Group
from hedgerow.utilities import Floats32

HALF = 16  # bits
TOGETHER = 16  # columns whose counts travel in one message

Keys = NDArray[np.uint32]
Counts = NDArray[np.int64]


def fit_binnings(columns: Sequence[Floats32], max_bins: Sequence[int], group: Group, n_threads: int) -> list[Binning]:
    """The binning of each column, of the values of all processes; see `Binning.fit`."""
    if group.size == 1:
        return Binning.fit_all(columns, max_bins, n_threads)
    binnings: list[Binning] = []
    for first in range(0, len(columns), TOGETHER):
        some = slice(first, first + TOGETHER)
        binnings += _fit_together([keys_of(values) for values in columns[some]], max_bins[some], group)
    return binnings


def keys_of(values: Floats32) -> Keys:
    """Whole numbers in the order of the values, without those that are missing; both zeros have the same key."""
    known = np.ascontiguousarray(values[~np.isnan(values)]) + np.float32(0)  # -0 becomes 0
    if np.isinf(known).any():
        raise InputError("values to bin must be finite, but got an infinity; use NaN where a value is missing")
    bits = known.view(np.uint32)
    sign = np.uint32(1 << 31)
    return np.where(bits & sign, ~bits, bits | sign)


def value_of(key: int) -> float:
    """The value of a key."""
    bits = key ^ (1 << 31) if key & (1 << 31) else ~key & 0xFFFFFFFF
    return float(np.uint32(bits).view(np.float32))


def _fit_together(keys: list[Keys], max_bins: Sequence[int], group: Group) -> list[Binning]:
    by_half = group.sum(np.stack([np.bincount(own >> HALF, minlength=1 << HALF) for own in keys]))
    wanted = [_halves(counts, most) for counts, most in zip(by_half, max_bins, strict=True)]
    chosen = [own[is_wanted[own >> HALF]] for own, is_wanted in zip(keys, wanted, strict=True)]
    runs = [np.unique(own, return_counts=True) for own in chosen]
    n_runs = group.gather(np.array([[len(found) for found, _ in runs]], np.int64))
    all_keys = group.gather(np.concatenate([found for found, _ in runs]))
    all_counts = group.gather(np.concatenate([counts for _, counts in runs]).astype(np.int64))
    cuts = [np.concatenate([[0], np.cumsum(lengths[0])]) for lengths in n_runs]
    binnings = []
    for i, most in enumerate(max_bins):
        parts = [slice(int(cut[i]), int(cut[i + 1])) for cut in cuts]
        found, counts = _merged(
            np.concatenate([own[part] for own, part in zip(all_keys, parts, strict=True)]),
            np.concatenate([own[part] for own, part in zip(all_counts, parts, strict=True)]),
        )
        binnings.append(Binning(_edges(found, counts, by_half[i], most)))
    return binnings


def _merged(keys: Keys, counts: Counts) -> tuple[Keys, Counts]:
    found, at = np.unique(keys, return_inverse=True)
    return found, np.bincount(at, counts, minlength=len(found)).astype(np.int64)


def _targets(n: int, max_bins: int) -> Counts:
    """How many values the first bins have together, at least: of the k-th bin, k n / max_bins rounded up."""
    return (np.arange(1, max_bins) * n + max_bins - 1) // max_bins


def _halves(counts: Counts, max_bins: int) -> NDArray[np.bool_]:
    """The upper halves of the keys that edges may depend on: where a bin may end, and the next half that occurs.

    All of them if there may be no more than max_bins distinct values.
    """
    occurs = np.flatnonzero(counts)
    wanted = np.zeros(len(counts), np.bool_)
    if len(occurs) <= max_bins:
        wanted[occurs] = True
        return wanted
    ends = np.searchsorted(np.cumsum(counts[occurs]), _targets(int(counts.sum()), max_bins))
    wanted[occurs[ends]] = True
    wanted[occurs[np.minimum(ends + 1, len(occurs) - 1)]] = True
    return wanted


def _edges(keys: Keys, counts: Counts, by_half: Counts, max_bins: int) -> Floats32:
    """The edges, from the distinct keys in the wanted halves and how often each occurs."""
    n = int(by_half.sum())
    if n == 0:
        return np.zeros(0, np.float32)
    halves = (keys >> HALF).astype(np.int64)
    before_half = np.cumsum(by_half) - by_half
    in_half = np.cumsum(counts) - counts
    first_of_half = np.searchsorted(halves, halves)
    ends = before_half[halves] + in_half - in_half[first_of_half] + counts  # values up to each key
    if len(keys) <= max_bins and counts.sum() == n:
        chosen = np.arange(len(keys) - 1)
    else:
        chosen = np.unique(np.searchsorted(ends, _targets(n, max_bins)))
        chosen = chosen[ends[chosen] < n]
    edges = []
    for at in chosen:
        below, above = value_of(int(keys[at])), value_of(int(keys[at + 1]))
        middle = np.float32((below + above) / 2)
        edges.append(middle if middle > below else np.float32(above))
    return np.array(edges, np.float32)
