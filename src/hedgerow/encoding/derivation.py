"""Derived columns: learned from training sequences, and computed for new ones.

Parts of text are computed once for each distinct text, then read by position: a neighbour is a shifted read, and a pair
is found by the codes of its two values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet, PairAlphabet, Values
from hedgerow.data.columns import (
    ABSENT,
    MISSING,
    CategoricalColumn,
    Column,
    Kind,
    LocalColumn,
    LocalNumericColumn,
    trusted,
)
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.rules import Pair, Part, Plan, Summary
from hedgerow.encoding.text_parts import OUTSIDE, Parts, parts_of


@dataclass(frozen=True, eq=False)
class Texts:
    """The distinct texts of a column, and the code of the text at each position."""

    codes: NDArray[np.int32]
    distinct: list[str]
    _parts: dict[str, Parts] = field(default_factory=dict)

    @classmethod
    def of(cls, column: CategoricalColumn, fill: str | int | None) -> Texts:
        """The texts of a column; `fill` replaces missing ones, unless it is None."""
        codes = column.codes
        used, codes = _without_gaps(codes, len(column.alphabet))
        distinct = list(column.alphabet) if used is None else [column.alphabet[i] for i in used.tolist()]
        if fill is not None and column.n_missing:
            code: int = ABSENT
            if isinstance(fill, str):
                if fill not in distinct:
                    distinct.append(fill)
                code = distinct.index(fill)
            codes = np.where(codes == MISSING, np.int32(code), codes)
        return cls(codes, distinct)

    def parts(self, name: str) -> Parts:
        """The part of each distinct text."""
        if name not in self._parts:
            self._parts[name] = parts_of(self.distinct, name)
        return self._parts[name]


def _without_gaps(codes: NDArray[np.int32], n: int) -> tuple[NDArray[np.int32] | None, NDArray[np.int32]]:
    """(the codes that occur, codes as indices of these); (None, codes) if all n codes occur.

    A slice of sequences has the alphabet of all of them.
    """
    known = codes[codes >= 0]
    if len(known) < n:
        used = np.unique(known)
    else:
        occurs = np.zeros(n, np.bool_)
        occurs[known] = True
        used = np.flatnonzero(occurs).astype(np.int32)
    if len(used) == n:
        return None, codes
    places = np.searchsorted(used, codes).astype(np.int32)
    return used, np.where(codes < 0, codes, places)


@dataclass(frozen=True, eq=False)
class Sources:
    """The columns of some sequences from which others are derived."""

    starts: NDArray[np.int64]
    texts: Mapping[str, Texts]
    numbers: Mapping[str, NDArray[np.float32]]


class Derivation:
    """Computes derived columns one after the other; a pair reads columns that were computed before it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._read: dict[tuple[str, str], tuple[NDArray[np.int32], int]] = {}

    def column(self, spec: ColumnSpec) -> Column:
        """The column of a rule with an alphabet."""
        starts, name, rule, alphabet = self._sources.starts, spec.name, spec.rule, spec.alphabet
        if isinstance(rule, Summary):
            numbers = self._sources.numbers[rule.source]
            summary = _core.number_statistic(starts, numbers, rule.statistic, rule.first, rule.last)
            return trusted(LocalNumericColumn, name, summary)
        if isinstance(rule, Part):
            assert isinstance(alphabet, Alphabet)
            ids, outside = self._ids(rule, alphabet)
            codes = _core.neighbours(starts, self._sources.texts[rule.source].codes, ids, rule.offset, outside)
        else:
            assert isinstance(rule, Pair)
            assert isinstance(alphabet, PairAlphabet)
            codes = alphabet.codes(self._codes[rule.left], self._codes[rule.right])
        self._codes[name] = codes
        return trusted(LocalColumn, name, codes, alphabet)

    def _ids(self, rule: Part, alphabet: Alphabet) -> tuple[NDArray[np.int32], int]:
        """(the code of each distinct text, the code outside the sequence); all offsets of a part share an alphabet."""
        key = rule.source, rule.part
        if key not in self._read:
            ids = alphabet.codes([*self._sources.texts[rule.source].parts(rule.part), OUTSIDE])
            self._read[key] = ids[:-1], int(ids[-1])
        return self._read[key]

    def fit(self, plan: Plan) -> list[ColumnSpec]:
        """The derived columns and their alphabets. The columns of a part at several offsets share one."""
        texts = _part_alphabets(plan, self._sources)
        in_pairs = {name for _, rule in plan if isinstance(rule, Pair) for name in (rule.left, rule.right)}
        specs: dict[str, ColumnSpec] = {}
        for name, rule in plan:
            alphabet: Values | None = None
            if isinstance(rule, Part):
                alphabet = texts[rule.source, rule.part]
            elif isinstance(rule, Pair):
                left, right = specs[rule.left].alphabet, specs[rule.right].alphabet
                assert left is not None
                assert right is not None
                alphabet = PairAlphabet.fit(left, right, self._codes[rule.left], self._codes[rule.right])
            kind: Kind = "numeric" if alphabet is None else "categorical"
            specs[name] = ColumnSpec(name, kind, alphabet, local=True, rule=rule)
            if name in in_pairs:
                self.column(specs[name])
        return list(specs.values())


def _part_alphabets(plan: Plan, sources: Sources) -> dict[tuple[str, str], Alphabet]:
    """The alphabet of each part of each column, with OUTSIDE if the part is read at another offset than 0."""
    offsets: dict[tuple[str, str], set[int]] = {}
    for _, rule in plan:
        if isinstance(rule, Part):
            offsets.setdefault((rule.source, rule.part), set()).add(rule.offset)
    alphabets = {}
    for (source, part), read_at in offsets.items():
        values = {value for value in sources.texts[source].parts(part) if value is not None}
        alphabets[source, part] = Alphabet.of(values if read_at == {0} else values | {OUTSIDE})
    return alphabets
