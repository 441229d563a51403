"""EncoderStatistics: what an encoder learns, computed for parts of the data apart and merged in any order.

The columns of X are learned first. Derived columns follow: the parts of texts depend on the distinct texts alone, but
pairs of columns must be collected once more from the data, when the alphabets of their sides are known:

    statistics = merge(EncoderStatistics.of(part) for each part)
    draft = statistics.draft(features)
    pairs = merge_pairs(draft.pairs(part) for each part)   # None unless draft.needs_pairs
    encoder = draft.encoder(pairs)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import (
    ABSENT,
    BagColumn,
    CategoricalColumn,
    CharacterColumn,
    Column,
    FoldedBag,
    NumericColumn,
    trusted,
)
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.column_statistics import ColumnStatistics
from hedgerow.encoding.derivation import (
    PartKey,
    Sources,
    Texts,
    part_to_read,
    part_values,
    values_outside,
)
from hedgerow.encoding.encoder import Encoder, indicator_specs, refuse_names_twice
from hedgerow.encoding.encoder_draft import EncoderDraft
from hedgerow.encoding.imputation import FillValue, Treatment, adds_indicators, zero_value
from hedgerow.encoding.key_placement import outer_names, placed
from hedgerow.encoding.rules import Part, Plan, Template
from hedgerow.encoding.text_parts import part_codes
from hedgerow.errors import InputError, first_few


@dataclass(frozen=True, eq=False)
class EncoderStatistics:
    """Counts of every column over some sequences; plain data, which can be pickled.

    Attributes
    ----------
    columns
        The columns by name, as blocks of sequences were read.
    folded
        The bag of folded keys of dicts, if a block has one.
    independent
        Columns whose names begin like a nested dict but that are no keys of it.
    n_sequences, n_positions
        The size of the data.
    optional
        Whether a column may be absent from some sequences; None without sequences.
    with_numbers
        Whether numbers were counted one by one, which medians need: for a treatment of missing values.
    """

    columns: Mapping[str, ColumnStatistics]
    folded: ColumnStatistics | None
    independent: frozenset[str]
    n_sequences: int
    n_positions: int
    optional: bool | None
    with_numbers: bool

    @classmethod
    def of(
        cls, sequences: Sequences, treatment: Treatment | None = None, *, place: tuple[int, int] = (0, 0)
    ) -> EncoderStatistics:
        """The statistics of some sequences.

        Parameters
        ----------
        sequences
            A part of the data, as `Sequences` or a block of a file reads it.
        treatment
            How missing values will be replaced; with None no medians can be computed.
        place
            The number of the part in the data, and of the block in the part. The columns of dicts are ordered by their
            first occurrence.
        """
        named = {}
        folded = None
        for i, column in enumerate(sequences.columns):
            counted = ColumnStatistics.of(column, sequences.starts, (*place, i), with_numbers=treatment is not None)
            if isinstance(column, FoldedBag):
                folded = counted
            else:
                named[column.name] = counted
        bags = {name for name, column in named.items() if column.kind == "bag"}
        independent = {name for name in named if bags.intersection(outer_names(name))} if bags else set()
        return cls(
            columns=named,
            folded=folded,
            independent=frozenset(independent),
            n_sequences=len(sequences),
            n_positions=sequences.n_positions,
            optional=sequences.optional_columns if len(sequences) else None,
            with_numbers=treatment is not None,
        )

    def merge(self, other: EncoderStatistics) -> EncoderStatistics:
        """The statistics of both parts; the order of merging does not matter.

        Raises InputError if a column has different kinds, or parts without names of columns differ in their columns.
        """
        if self.n_sequences == 0 or other.n_sequences == 0:
            return self if other.n_sequences == 0 else other
        if not (self.optional or other.optional) and set(self.columns) != set(other.columns):
            raise InputError(
                f"all sequences must have the same columns, but some have {first_few(sorted(self.columns))} and others "
                f"{first_few(sorted(other.columns))}; name the columns in the same way"
            )
        columns = dict(self.columns)
        for name, column in other.columns.items():
            columns[name] = columns[name] + column if name in columns else column
        folded = self.folded
        if other.folded is not None:
            folded = other.folded if folded is None else folded + other.folded
        return EncoderStatistics(
            columns=columns,
            folded=folded,
            independent=self.independent | other.independent,
            n_sequences=self.n_sequences + other.n_sequences,
            n_positions=self.n_positions + other.n_positions,
            optional=bool(self.optional or other.optional),
            with_numbers=self.with_numbers and other.with_numbers,
        )

    def placed(self) -> list[ColumnStatistics]:
        """The columns of all data in their order; numeric keys of dicts where the whole of the data puts them."""
        if self.optional:
            return placed(self.columns, self.folded, self.independent, self.n_positions)
        return sorted(self.columns.values(), key=lambda column: (column.first, column.name))

    def draft(
        self,
        features: Template | None = None,
        treatment: Treatment | None = None,
        *,
        min_freq: int = 1,
        n_threads: int = 1,
    ) -> EncoderDraft:
        """The encoder of all data, except the pairs of derived columns.

        Parameters
        ----------
        features
            Which columns to derive; None for none.
        treatment
            As in `Encoder.fit`; the statistics must have been computed for it.
        min_freq
            Values that occur at fewer positions are left out of the alphabets.
        n_threads
            The number of threads. Results do not depend on it.

        Raises
        ------
        InputError
            As `Encoder.fit`.
        """
        assert treatment is None or self.with_numbers
        columns = self.placed()
        if not columns:
            raise InputError("X holds nothing but empty dicts; give at least one attribute")
        specs = tuple(self._spec(column, treatment, min_freq) for column in columns)
        incomplete = [column.name for column in columns if column.n_missing]
        if adds_indicators(treatment):
            specs += indicator_specs([column.name for column in columns], incomplete)
        raw = Encoder(specs)
        approximate = frozenset(column.name for column in columns if column.approximate)
        if features is None:
            return EncoderDraft(raw, (), {}, min_freq, approximate)
        plan = tuple(features.plan(self._prototype(columns)))
        texts = self._texts(plan, columns, specs)
        refuse_names_twice(raw.columns, texts, plan)
        alphabets = _part_alphabets(plan, texts, min_freq, n_threads)
        return EncoderDraft(raw, plan, alphabets, min_freq, approximate)

    def _spec(self, column: ColumnStatistics, treatment: Treatment | None, min_freq: int) -> ColumnSpec:
        kept = column.kept(min_freq)
        alphabet = column.alphabet
        if alphabet is not None and not kept.all():
            alphabet = alphabet.subset(kept)
        return ColumnSpec(
            column.name,
            column.kind,
            alphabet,
            self._fill_value(column, treatment, kept),
            presence=column.presence(self.n_positions, self.n_sequences),
            folded=column.folded,
            characters=column.characters,
        )

    def _fill_value(
        self, column: ColumnStatistics, treatment: Treatment | None, kept: NDArray[np.bool_]
    ) -> FillValue | None:
        if treatment is None:
            return None
        if treatment == "published-indicator":
            return zero_value(column.kind)
        return column.fill_value(kept, self.n_positions)

    def _prototype(self, columns: list[ColumnStatistics]) -> Sequences:
        """One position without values that has the columns and alphabets of all data: what a template reads."""
        made = tuple(_column_without_values(column) for column in columns)
        return Sequences.trusted(np.array([0, 1]), made, None, bool(self.optional))

    def _texts(
        self, plan: Plan, columns: list[ColumnStatistics], specs: tuple[ColumnSpec, ...]
    ) -> dict[str, tuple[Alphabet, NDArray[np.int64]]]:
        """By source of the plan: its distinct texts, and the number of positions of each after missing ones are
        filled in.
        """
        fills = {spec.name: spec for spec in specs}
        found = {}
        sources = {rule.source for _, rule, _ in plan if isinstance(rule, Part)}
        for column in columns:
            if column.name in sources and column.alphabet is not None:
                counts, fill = column.counts.copy(), fills[column.name]
                if column.n_missing and isinstance(fill.fill_value, int) and fill.fill_value != ABSENT:
                    assert fill.alphabet is not None
                    counts[column.alphabet.ids([fill.alphabet[fill.fill_value]])] += column.n_missing
                found[column.name] = column.alphabet, counts
        return found


def _column_without_values(column: ColumnStatistics) -> Column:
    if column.alphabet is None:
        return trusted(NumericColumn, column.name, np.zeros(1, np.float32))
    if column.kind == "categorical":
        cls = CharacterColumn if column.characters else CategoricalColumn
        return trusted(cls, column.name, np.full(1, ABSENT, np.int32), column.alphabet)
    bag = FoldedBag if column.folded else BagColumn
    return trusted(bag, column.name, np.zeros(2, np.int64), np.empty(0, np.int32), None, column.alphabet)


def _part_alphabets(
    plan: Plan, texts: Mapping[str, tuple[Alphabet, NDArray[np.int64]]], min_freq: int, n_threads: int
) -> dict[PartKey, Alphabet]:
    """The alphabet of each part of the plan: values that occur often enough, and those outside the sequence."""
    nowhere = np.empty(0, np.int32)
    sources = Sources(
        np.zeros(1, np.int64), {name: Texts(nowhere, distinct) for name, (distinct, _) in texts.items()}, {}
    )
    alphabets = part_values(plan, sources, n_threads)
    if min_freq <= 1:
        return alphabets
    found = {}
    rules = {rule.values: rule for _, rule, _ in plan if isinstance(rule, Part)}
    outside = {key: values_outside(plan, key) for key in alphabets}
    for key, alphabet in alphabets.items():
        distinct, counts = texts[key[0]]
        codes = part_codes(alphabet, distinct, part_to_read(rules[key]), n_threads)
        has_part = codes >= 0
        often = np.bincount(codes[has_part], weights=counts[has_part], minlength=len(alphabet)) >= min_freq
        always = alphabet.ids(sorted(outside[key]))
        often[always[always >= 0]] = True
        found[key] = alphabet.subset(often)
    return found
