"""Derived columns: learned from training sequences, and computed for new ones.

Parts of text are computed once for each distinct text, then read by position: a neighbour is a shifted read, and a pair
is found by the codes of its two values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

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
    LocalBag,
    LocalColumn,
    LocalNumericColumn,
    trusted,
)
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.rules import Bag, Outside, Pair, Part, Plan, Rule, Summary
from hedgerow.encoding.text_parts import AFTER, BEFORE, OUTSIDE, WHOLE, part_alphabets, part_codes

# What the values of a part depend on: source, part, and what stands outside the sequence.
PartKey: TypeAlias = tuple[str, str, Outside]


@dataclass(frozen=True, eq=False)
class Texts:
    """The distinct texts of a column, and the code of the text at each position."""

    codes: NDArray[np.int32]
    distinct: Alphabet

    @classmethod
    def of(cls, column: CategoricalColumn, fill: str | int | None) -> Texts:
        """The texts of a column; `fill` replaces missing ones, unless it is None."""
        assert isinstance(column.alphabet, Alphabet)  # columns of X hold no pairs
        codes, distinct = _without_gaps(column.codes, column.alphabet)
        if fill is not None and column.n_missing:
            code: int = ABSENT
            if isinstance(fill, str):
                if fill not in distinct:
                    more = Alphabet.of([*distinct, fill])
                    codes, distinct = distinct.recode(codes, more)[0], more
                code = int(distinct.ids([fill])[0])
            codes = np.where(codes == MISSING, np.int32(code), codes)
        return cls(codes, distinct)


def _without_gaps(codes: NDArray[np.int32], alphabet: Alphabet) -> tuple[NDArray[np.int32], Alphabet]:
    """(codes, alphabet) of the texts that occur: a slice of sequences has the alphabet of all of them."""
    occurs = np.zeros(len(alphabet), np.bool_)
    occurs[codes[codes >= 0]] = True
    if occurs.all():
        return codes, alphabet
    places = np.append(np.cumsum(occurs, dtype=np.int32) - 1, [ABSENT, MISSING]).astype(np.int32)
    return places[codes], alphabet.subset(occurs)  # -1 and -2 count from the end


@dataclass(frozen=True, eq=False)
class Sources:
    """The columns of some sequences from which others are derived."""

    starts: NDArray[np.int64]
    texts: Mapping[str, Texts]
    numbers: Mapping[str, NDArray[np.float32]]


class Derivation:
    """Computes derived columns one after the other; pairs and bags read columns that were computed before them."""

    def __init__(self, sources: Sources, n_threads: int = 1) -> None:
        self._sources = sources
        self._n_threads = n_threads
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._alphabets: dict[str, Values] = {}
        self._ids: dict[PartKey, NDArray[np.int32]] = {}

    def column(self, spec: ColumnSpec) -> Column:
        """The column of a rule with an alphabet."""
        starts, name, rule, alphabet = self._sources.starts, spec.name, spec.rule, spec.alphabet
        if isinstance(rule, Summary):
            numbers = self._sources.numbers[rule.source]
            summary = _core.number_statistic(starts, numbers, rule.statistic, rule.first, rule.last)
            return trusted(LocalNumericColumn, name, summary)
        if isinstance(rule, Bag):
            return self._bag(name, rule, alphabet)
        if isinstance(rule, Part):
            assert isinstance(alphabet, Alphabet)
            texts, outside = self._sources.texts[rule.source], alphabet.codes(_outside(rule))
            ids = self._read(rule, alphabet)
            codes = _core.neighbours(starts, texts.codes, ids, rule.offset, outside, self._n_threads)
        else:
            assert isinstance(rule, Pair)
            assert isinstance(alphabet, PairAlphabet)
            codes = alphabet.codes(self._codes[rule.left], self._codes[rule.right], self._n_threads)
        self._codes[name], self._alphabets[name] = codes, alphabet
        return trusted(LocalColumn, name, codes, alphabet)

    def _bag(self, name: str, rule: Bag, alphabet: Values | None) -> Column:
        """The bag of other columns. What is missing is left out, unless nothing else is there."""
        assert isinstance(alphabet, Alphabet)
        read = [(self._codes[member], self._alphabets[member]) for member in rule.members]
        ids = np.stack([_in_bag(codes, values, alphabet) for codes, values in read], axis=1)
        nothing_known = (ids < 0).all(axis=1, keepdims=True)
        kept = (ids >= 0) | (nothing_known & (ids == MISSING))
        # One number for each position and value, rising in both.
        keys = np.arange(len(ids))[:, None] * np.int64(len(alphabet) + 1) + ids + 1
        found, counts = np.unique(keys[kept], return_counts=True)
        positions, values = np.divmod(found, len(alphabet) + 1)
        starts = np.searchsorted(positions, np.arange(len(ids) + 1)).astype(np.int64)
        weights = counts.astype(np.float32)
        known = (values - 1).astype(np.int32)
        weights[known == MISSING] = 1
        return trusted(LocalBag, name, starts, known, None if (weights == 1).all() else weights, alphabet)

    def _read(self, rule: Part, alphabet: Alphabet) -> NDArray[np.int32]:
        """The code of each distinct text; all offsets of a part share it."""
        if rule.values not in self._ids:
            distinct = self._sources.texts[rule.source].distinct
            self._ids[rule.values] = part_codes(alphabet, distinct, part_to_read(rule), self._n_threads)
        return self._ids[rule.values]

    def fit(self, plan: Plan) -> list[ColumnSpec]:
        """The derived columns and their alphabets. The columns of a part at several offsets share one."""
        parts = part_values(plan, self._sources, self._n_threads)
        read = {name for column in plan for name in _members(column.rule)}
        specs: dict[str, ColumnSpec] = {}
        for name, rule, hidden in plan:
            alphabet: Values | None
            if isinstance(rule, Pair):
                alphabet = self.fit_pairs(rule, _values(specs[rule.left]), _values(specs[rule.right]))
            else:
                alphabet = _alphabet_of(rule, parts, specs)
            specs[name] = _spec(name, rule, alphabet, hidden)
            if name in read:
                self.column(specs[name])
        return list(specs.values())

    def fit_pairs(self, rule: Pair, left: Values, right: Values) -> PairAlphabet:
        """The pairs of two columns that were computed before."""
        return PairAlphabet.fit(left, right, self._codes[rule.left], self._codes[rule.right], self._n_threads)


def derived_specs(plan: Plan, parts: Mapping[PartKey, Alphabet], pairs: Mapping[str, Values]) -> list[ColumnSpec]:
    """The derived columns of a plan, from the alphabets of its parts and of its pairs."""
    specs: dict[str, ColumnSpec] = {}
    for name, rule, hidden in plan:
        alphabet = pairs[name] if isinstance(rule, Pair) else _alphabet_of(rule, parts, specs)
        specs[name] = _spec(name, rule, alphabet, hidden)
    return list(specs.values())


def _alphabet_of(
    rule: Part | Bag | Summary, parts: Mapping[PartKey, Alphabet], specs: Mapping[str, ColumnSpec]
) -> Alphabet | None:
    """The alphabet of a rule that depends on no positions."""
    if isinstance(rule, Part):
        return parts[rule.values]
    if isinstance(rule, Bag):
        return Alphabet.of({value for member in rule.members for value in specs[member].alphabet or ()})
    return None


def _spec(name: str, rule: Rule, alphabet: Values | None, hidden: bool) -> ColumnSpec:
    kind: Kind = "numeric" if alphabet is None else "bag" if isinstance(rule, Bag) else "categorical"
    return ColumnSpec(name, kind, alphabet, local=True, rule=rule, hidden=hidden)


def _values(spec: ColumnSpec) -> Values:
    assert spec.alphabet is not None
    return spec.alphabet


def _members(rule: Rule) -> tuple[str, ...]:
    """The derived columns that a rule reads."""
    if isinstance(rule, Bag):
        return rule.members
    return (rule.left, rule.right) if isinstance(rule, Pair) else ()


def _in_bag(codes: NDArray[np.int32], values: Values, alphabet: Alphabet) -> NDArray[np.int32]:
    """The codes of a column as ids of the alphabet of a bag; negative codes stay as they are."""
    occurring, places = np.unique(codes, return_inverse=True)
    n_negative = int(np.searchsorted(occurring, 0))
    ids = alphabet.codes([values[code] for code in occurring[n_negative:].tolist()])
    return np.concatenate([occurring[:n_negative], ids])[places]


def part_to_read(rule: Part) -> str:
    """The part to read. CRF++ does not keep texts apart from what it writes outside the sequence."""
    return WHOLE if rule.part == "text" and rule.outside == "distance" else rule.part


def _outside(rule: Part) -> list[str]:
    """The values at distances 1, 2, ... from the sequence that the rule can read."""
    if rule.outside == "same":
        return [OUTSIDE] * abs(rule.offset)
    sign = BEFORE if rule.offset < 0 else AFTER
    return [f"{sign}{distance}" for distance in range(1, abs(rule.offset) + 1)]


def part_values(plan: Plan, sources: Sources, n_threads: int) -> dict[PartKey, Alphabet]:
    """The alphabet of each part of each column, with the values outside the sequence that are read."""
    parts: dict[str, dict[PartKey, tuple[str, set[str]]]] = {name: {} for name in sources.texts}
    for _, rule, _ in plan:
        if isinstance(rule, Part):
            _, outside = parts[rule.source].setdefault(rule.values, (part_to_read(rule), set()))
            outside.update(_outside(rule))
    alphabets: dict[PartKey, Alphabet] = {}
    for name, texts in sources.texts.items():
        found = part_alphabets(texts.distinct, list(parts[name].values()), n_threads)
        alphabets |= zip(parts[name], found, strict=True)
    return alphabets


def values_outside(plan: Plan, key: PartKey) -> set[str]:
    """The values outside the sequence that a part of the plan can read."""
    rules = [rule for _, rule, _ in plan if isinstance(rule, Part) and rule.values == key]
    return {value for rule in rules for value in _outside(rule)}
