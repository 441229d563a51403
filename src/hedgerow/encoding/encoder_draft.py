"""EncoderDraft: an encoder whose alphabets are known, except those of pairs of derived columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow.data.alphabet import Alphabet, Values
from hedgerow.data.columns import CategoricalColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.derivation import Derivation, PartKey, derived_specs
from hedgerow.encoding.encoder import Encoder, derived_sources
from hedgerow.encoding.pair_statistics import PairCounts, PairStatistics
from hedgerow.encoding.rules import Pair, Part, Plan


@dataclass(frozen=True, eq=False)
class EncoderDraft:
    """An encoder that lacks the pairs of derived columns.

    `approximate` names columns of dicts whose presence is only bounded; see `Encoder.with_presence`.
    """

    raw: Encoder
    plan: Plan
    parts: Mapping[PartKey, Alphabet]
    min_freq: int
    approximate: frozenset[str]

    @property
    def pair_rules(self) -> tuple[tuple[str, Pair], ...]:
        return tuple((name, rule) for name, rule, _ in self.plan if isinstance(rule, Pair))

    @property
    def needs_pairs(self) -> bool:
        """Whether `encoder` needs the pairs of all data."""
        return bool(self.pair_rules)

    def pairs(self, sequences: Sequences, n_threads: int = 1) -> PairStatistics:
        """The pairs of some sequences, a part of the data of the statistics."""
        encoded = self.raw.encode_part(sequences, n_threads)
        rules = [rule for _, rule, _ in self.plan]
        derivation = Derivation(derived_sources(rules, self.raw.columns, sequences, encoded), n_threads)
        read = {side for _, rule in self.pair_rules for side in (rule.left, rule.right)}
        alphabets: dict[str, Values] = {}
        found: dict[str, PairCounts] = {}
        for name, rule, _ in self.plan:
            if isinstance(rule, Part) and name in read:
                alphabets[name] = self.parts[rule.values]
            elif isinstance(rule, Pair):
                alphabets[name] = pairs = derivation.fit_pairs(rule, alphabets[rule.left], alphabets[rule.right])
            else:
                continue
            if name in read or self.min_freq > 1:
                column = derivation.column(ColumnSpec(name, "categorical", alphabets[name], local=True, rule=rule))
            if isinstance(rule, Pair):
                codes = column.codes if self.min_freq > 1 and isinstance(column, CategoricalColumn) else None
                found[name] = PairCounts.of(pairs, codes)
        return PairStatistics(self.pair_rules, found)

    def encoder(self, pairs: PairStatistics | None = None) -> Encoder:
        """The encoder; `pairs` are those of all data, which it needs if `needs_pairs`."""
        return self.encoder_with({} if pairs is None else self.pair_alphabets(pairs))

    def pair_alphabets(self, pairs: PairStatistics) -> dict[str, Values]:
        """The alphabets of some columns of pairs; their statistics are those of all data."""
        chosen = pairs.frequent(self.min_freq)
        known: dict[str, Values] = {name: self.parts[r.values] for name, r, _ in self.plan if isinstance(r, Part)}
        found: dict[str, Values] = {}
        for name, rule in pairs.rules:
            known[name] = found[name] = chosen.pairs[name].alphabet(known[rule.left], known[rule.right])
        return found

    def encoder_with(self, pairs: Mapping[str, Values]) -> Encoder:
        """The encoder with the alphabets of all columns of pairs."""
        return self.raw.with_derived_specs(derived_specs(self.plan, self.parts, pairs)) if self.plan else self.raw
