"""The pairs of derived columns that occur: what an encoder with pairs learns once the alphabets are known.

A pair is a number: the id of its left value times 2^32 plus the id of its right value. A value that is itself a pair
has the rank of that pair as its id. Ranks differ between parts of the data, so that a merge renumbers them; it keeps
their order, because it keeps the order of what they are ranks of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import PairAlphabet, Values
from hedgerow.encoding.rules import Pair

Keys: TypeAlias = NDArray[np.int64]
_RIGHT = np.int64(2**32 - 1)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Distinct pairs, rising, and the number of positions of each; `counts` is None if nobody needs it."""

    keys: Keys
    counts: NDArray[np.int64] | None

    @classmethod
    def of(cls, pairs: PairAlphabet, codes: NDArray[np.int32] | None) -> PairCounts:
        """The pairs of an alphabet; `codes` has the pair of each position, if they shall be counted."""
        lefts = np.repeat(np.arange(len(pairs.starts) - 1, dtype=np.int64), np.diff(pairs.starts))
        keys = (lefts << 32) | pairs.rights
        counts = None if codes is None else np.bincount(codes[codes >= 0], minlength=len(keys)).astype(np.int64)
        return cls(keys, counts)

    @property
    def lefts(self) -> NDArray[np.int64]:
        return self.keys >> 32

    @property
    def rights(self) -> NDArray[np.int64]:
        return self.keys & _RIGHT

    def renumbered(self, lefts: Keys | None, rights: Keys | None) -> PairCounts:
        """The pairs with other ids; an id of -1 leaves its pairs out."""
        if lefts is None and rights is None:
            return self
        left = self.lefts if lefts is None else lefts[self.lefts]
        right = self.rights if rights is None else rights[self.rights]
        kept = (left >= 0) & (right >= 0)
        return PairCounts(((left << 32) | right)[kept], None if self.counts is None else self.counts[kept])

    def __add__(self, other: PairCounts) -> PairCounts:
        both = np.concatenate([self.keys, other.keys])
        if self.counts is None or other.counts is None:
            both.sort(kind="stable")  # two runs that rise are merged, not sorted
            return PairCounts(both[_is_first(both)], None)
        order = np.argsort(both, kind="stable")
        both = both[order]
        at = np.flatnonzero(_is_first(both))
        counts = np.concatenate([self.counts, other.counts])[order]
        return PairCounts(both[at], np.add.reduceat(counts, at) if len(at) else counts)

    def alphabet(self, left: Values, right: Values) -> PairAlphabet:
        starts = np.searchsorted(self.lefts, np.arange(len(left) + 1)).astype(np.int64)
        return PairAlphabet(left, right, starts, self.rights.astype(np.int32))


def _is_first(keys: Keys) -> NDArray[np.bool_]:
    """Whether a key is the first of equal ones."""
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return is_first


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """The pairs of each column of pairs, by name; `rules` has the columns in their order."""

    rules: tuple[tuple[str, Pair], ...]
    pairs: Mapping[str, PairCounts]

    def merge(self, other: PairStatistics) -> PairStatistics:
        """The statistics of both parts of the data; the order does not matter."""
        merged: dict[str, PairCounts] = {}
        mine: dict[str, Keys] = {}  # by column: the new id of each pair
        its: dict[str, Keys] = {}
        for name, rule in self.rules:
            a = self.pairs[name].renumbered(mine.get(rule.left), mine.get(rule.right))
            b = other.pairs[name].renumbered(its.get(rule.left), its.get(rule.right))
            merged[name] = both = a + b
            if name in self._inner:
                mine[name] = np.searchsorted(both.keys, a.keys)
                its[name] = np.searchsorted(both.keys, b.keys)
        return PairStatistics(self.rules, merged)

    def only(self, names: Collection[str]) -> PairStatistics:
        """The statistics of some columns, which read no pairs of others."""
        rules = tuple((name, rule) for name, rule in self.rules if name in names)
        return PairStatistics(rules, {name: self.pairs[name] for name, _ in rules})

    @property
    def _inner(self) -> set[str]:
        """The columns of pairs that other pairs read."""
        return {side for _, rule in self.rules for side in (rule.left, rule.right)}

    def frequent(self, min_freq: int) -> PairStatistics:
        """Only the pairs of at least `min_freq` positions."""
        if min_freq <= 1:
            return self
        kept: dict[str, PairCounts] = {}
        places: dict[str, Keys] = {}
        for name, rule in self.rules:
            counted = self.pairs[name]
            assert counted.counts is not None
            often = counted.counts >= min_freq
            places[name] = np.where(often, np.cumsum(often) - 1, -1)
            chosen = PairCounts(counted.keys[often], counted.counts[often])
            kept[name] = chosen.renumbered(places.get(rule.left), places.get(rule.right))
        return PairStatistics(self.rules, kept)


def merge_pairs(parts: Iterable[PairStatistics]) -> PairStatistics | None:
    """The statistics of all parts; None if there are none.

    Parts of similar size are merged first, so that each pair is moved a logarithmic number of times.
    """
    waiting: list[tuple[int, PairStatistics]] = []  # (number of parts, statistics), falling
    for part in parts:
        entry = (1, part)
        while waiting and waiting[-1][0] <= entry[0]:
            size, before = waiting.pop()
            entry = (size + entry[0], before.merge(entry[1]))
        waiting.append(entry)
    return _merged_from_the_end([statistics for _, statistics in waiting])


def _merged_from_the_end(parts: Sequence[PairStatistics]) -> PairStatistics | None:
    merged: PairStatistics | None = None
    for part in reversed(parts):
        merged = part if merged is None else part.merge(merged)
    return merged


def pair_groups(rules: Iterable[tuple[str, Pair]]) -> list[set[str]]:
    """Columns of pairs in groups that can be merged apart: a pair that reads another pair is in its group."""
    groups: list[set[str]] = []
    for name, rule in rules:
        read = [group for group in groups if rule.left in group or rule.right in group]
        groups = [group for group in groups if group not in read]
        groups.append({name}.union(*read))
    return groups
