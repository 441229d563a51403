"""The encoder: the columns and alphabets of training, and new sequences encoded with them.

With a treatment of missing values the encoder also replaces them by a fill value learned in training. The treatment
"indicator" adds columns that mark where values were missing. With a template it derives columns, such as the ending of
a word, from those of X; missing values are replaced before.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet, Values
from hedgerow.data.columns import ABSENT, BAG, BagColumn, CategoricalColumn, Column, Kind, NumericColumn, trusted
from hedgerow.data.ragged import first_duplicate, starts_of
from hedgerow.data.sequences import Sequences, read_sequences
from hedgerow.data.value_reader import ValueReader
from hedgerow.encoding.attribute_bag import as_attribute_bag
from hedgerow.encoding.column_check import check_columns, is_missing_without
from hedgerow.encoding.column_spec import (
    ColumnSpec,
    alphabet_to_arrays,
    derived_spec_from_json,
    in_kind_of,
    spec_from_json,
    spec_of,
    spec_to_json,
    without_values,
)
from hedgerow.encoding.derivation import Derivation, Sources, Texts
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.folding import refold
from hedgerow.encoding.imputation import (
    INDICATOR,
    Treatment,
    adds_indicators,
    fill_missing,
    fill_value,
    indicator_column,
    indicator_name,
)
from hedgerow.encoding.presence import Presence
from hedgerow.encoding.rules import Bag, Pair, Part, Plan, Rule, Summary, Template
from hedgerow.errors import InputError


@dataclass(frozen=True)
class Encoder:
    """The columns of encoded sequences: those of X in their order, then indicator columns, then derived columns.

    With derived columns, `raw` are the columns of X and their indicator columns. A column of text from which others are
    derived is only there. `derived` are the derived columns and, before the pairs that read them, hidden ones.
    """

    columns: tuple[ColumnSpec, ...]
    raw: tuple[ColumnSpec, ...] = ()
    derived: tuple[ColumnSpec, ...] = ()

    @classmethod
    def _of(cls, specs: Iterable[ColumnSpec], raw: tuple[ColumnSpec, ...]) -> Encoder:
        """The encoder of columns that are kept and of derived ones, hidden ones among them."""
        listed = tuple(specs)
        visible = tuple(spec for spec in listed if not spec.hidden)
        return cls(visible, raw, tuple(spec for spec in listed if spec.rule is not None))

    @classmethod
    def fit(
        cls,
        sequences: Sequences,
        treatment: Treatment | None = None,
        features: Template | None = None,
        n_threads: int = 1,
    ) -> Encoder:
        """Learn the columns, their alphabets and, with a treatment, their fill values.

        An alphabet holds only the values that occur in `sequences`: a cross-validation fold may lack some values of
        the full data.

        Parameters
        ----------
        sequences
            The training sequences.
        treatment
            "impute" learns fill values. "indicator" also adds an indicator column for every column that has missing
            values in `sequences`; "published-indicator" does so too, and fills in zeros. None leaves missing values as
            they are.
        features
            Which columns to derive; None for none.
        n_threads
            The number of threads. Results do not depend on it.

        Raises
        ------
        InputError
            If a column already has the name of an indicator column or of a derived column, or the template needs a
            column that X does not have.
        """
        if not sequences.columns:
            raise InputError("X holds nothing but empty dicts; give at least one attribute")
        specs = tuple(spec_of(column, sequences.starts) for column in sequences.columns)
        if treatment is not None:
            pairs = zip(specs, sequences.columns, strict=True)
            specs = tuple(
                replace(spec, fill_value=fill_value(_align(column, spec, n_threads)[0], treatment))
                for spec, column in pairs
            )
        if adds_indicators(treatment):
            names = [column.name for column in sequences.columns]
            specs += indicator_specs(names, [column.name for column in sequences.columns if column.n_missing])
        raw = cls(specs)
        return raw if features is None else raw._with_derived(features.plan(sequences), sequences, n_threads)

    def _with_derived(self, plan: Plan, sequences: Sequences, n_threads: int) -> Encoder:
        """This encoder of the columns of X, with derived columns."""
        rules = [column.rule for column in plan]
        sources = derived_sources(rules, self.columns, sequences, self.transform(sequences, n_threads))
        refuse_names_twice(self.columns, sources.texts, plan)
        return self.with_derived_specs(Derivation(sources, n_threads).fit(plan))

    def with_derived_specs(self, derived: Sequence[ColumnSpec]) -> Encoder:
        """This encoder of the columns of X, with derived columns; texts that these read are no columns any more."""
        texts = {spec.rule.source for spec in derived if isinstance(spec.rule, Part)}
        kept = (spec for spec in self.columns if spec.name not in texts)
        return Encoder._of((*kept, *derived), self.columns)

    def with_presence(self, presence: Mapping[str, Presence]) -> Encoder:
        """The same encoder with another presence of some columns of X."""

        def changed(specs: tuple[ColumnSpec, ...]) -> tuple[ColumnSpec, ...]:
            return tuple(
                replace(spec, presence=presence[spec.name]) if spec.rule is None and spec.name in presence else spec
                for spec in specs
            )

        return Encoder(changed(self.columns), changed(self.raw), self.derived)

    @cached_property
    def digest(self) -> str:
        """A digest of everything that the encoder stores: equal for equal encoders."""
        metadata, arrays = self.to_arrays()
        found = blake2b(json.dumps(metadata, sort_keys=True).encode(), digest_size=16)
        for name in sorted(arrays):
            found.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
            found.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
        return found.hexdigest()

    @property
    def raw_columns(self) -> tuple[ColumnSpec, ...]:
        """The columns of X, and their indicator columns."""
        return self.raw or self.columns

    @property
    def fills_missing(self) -> bool:
        """Whether `transform` replaces all missing values."""
        return self.raw_columns[0].fill_value is not None

    def encode(self, X: object, *, n_threads: int = 1) -> Encoded:
        """As `transform(Sequences(X))`, but texts are looked up in the alphabets of training as they are read."""
        return self.transform(read_sequences(X, ValueReader(self._alphabets, n_threads)), n_threads)

    @property
    def _alphabets(self) -> dict[str, tuple[Kind, Alphabet]]:
        """The alphabets in which texts of X can be looked up: not where others are derived from texts, and not where
        texts of several characters are an error.
        """
        sources = {rule.source for rule in self._rules if isinstance(rule, Part)}
        return {
            spec.name: (spec.kind, spec.alphabet)
            for spec in self.raw_columns
            if isinstance(spec.alphabet, Alphabet)
            and not (spec.name in sources or spec.characters or spec.folded or spec.indicates)
        }

    def transform(self, sequences: Sequences, n_threads: int = 1) -> Encoded:
        """Encode sequences with the columns and alphabets of training, and fill missing values.

        Parameters
        ----------
        sequences
            Raw sequences.
        n_threads
            The number of threads. Results do not depend on it.

        Returns
        -------
        The encoded sequences. Values and columns that training never saw are left out and counted in `.unseen`. A
        column of training that X lacks is missing at every position, or absent if X holds dicts, with an
        AbsentColumnWarning. The alphabets are the encoder's own objects.

        Raises
        ------
        InputError
            If a column has another kind than in training, X lacks a column from which others are derived, or X and
            training have no column in common, unless all columns are optional.
        """
        if self.raw:
            needed = frozenset(rule.source for rule in self._rules if isinstance(rule, (Part, Summary)))
            return self._derived(sequences, Encoder(self.raw)._encode(sequences, n_threads, needed), n_threads)
        return self._encode(sequences, n_threads)

    def encode_part(self, sequences: Sequences, n_threads: int = 1) -> Encoded:
        """Encode a part of the training sequences. It may lack columns, as other parts have them."""
        if self.raw:
            return self._derived(sequences, Encoder(self.raw).encode_part(sequences, n_threads), n_threads)
        return self._filled(self.aligned_part(sequences, n_threads))

    def aligned_part(self, sequences: Sequences, n_threads: int = 1) -> Encoded:
        """The columns of X of a part of the training sequences, in the alphabets of training, before values are filled
        in.
        """
        specs = {spec.name: spec for spec in self.raw_columns}
        return Encoder(self.raw_columns)._in_columns(refold(sequences, specs), {}, n_threads)

    def _encode(self, sequences: Sequences, n_threads: int, needed: frozenset[str] = frozenset()) -> Encoded:
        """The columns of X; `needed` are those that X must have."""
        aligned = self._is_aligned(sequences)
        return self._filled(
            Encoded.trusted(sequences.starts, sequences.columns, sequences.left_out)
            if aligned
            else self._aligned(sequences, needed, n_threads)
        )

    def _derived(self, sequences: Sequences, encoded: Encoded, n_threads: int) -> Encoded:
        """The encoded columns of X that are kept, and the derived ones."""
        derivation = Derivation(derived_sources(self._rules, self.raw, sequences, encoded), n_threads)
        kept = [encoded.column(spec.name) for spec in self.columns if spec.rule is None]
        derived = {spec.name: derivation.column(spec) for spec in self.derived}
        visible = [derived[spec.name] for spec in self.derived if not spec.hidden]
        return Encoded.trusted(encoded.starts, (*kept, *visible), encoded.unseen)

    @property
    def _rules(self) -> list[Rule]:
        """The rules of derived columns."""
        return [spec.rule for spec in self.derived if spec.rule is not None]

    def _aligned(self, sequences: Sequences, needed: frozenset[str], n_threads: int) -> Encoded:
        unseen = dict(sequences.left_out)
        sequences = refold(self._as_attributes(sequences), {spec.name: spec for spec in self.columns})
        if len(sequences):
            check_columns([spec for spec in self.columns if spec.indicates is None], sequences, needed)
        return self._in_columns(sequences, unseen, n_threads)

    def _in_columns(self, sequences: Sequences, unseen: dict[str, int], n_threads: int) -> Encoded:
        """The sequences in the columns and alphabets of the encoder; `unseen` counts values that were left out."""
        unread = {column.name: column for column in sequences.columns}
        columns: dict[str, Column] = {}
        for spec in self.columns:
            if spec.indicates is not None and spec.alphabet is not None:
                columns[spec.name] = indicator_column(spec.name, columns[spec.indicates].missing(), spec.alphabet)
            elif spec.name in unread:
                columns[spec.name], left_out = _encode_checked(unread.pop(spec.name), spec, n_threads)
                unseen[spec.name] = unseen.get(spec.name, 0) + left_out
            else:
                missing = np.full(sequences.n_positions, is_missing_without(spec, sequences))
                columns[spec.name] = without_values(spec, missing)
        unseen |= {name: _occurrences(column) for name, column in unread.items()}
        counted = {name: count for name, count in unseen.items() if count}
        return Encoded.trusted(sequences.starts, tuple(columns.values()), counted)

    def _as_attributes(self, sequences: Sequences) -> Sequences:
        """The sequences; dicts as lists of attributes if training read such lists and knows one of the attributes."""
        (bag, *others), names = self.columns, {column.name for column in sequences.columns}
        if bag.name != BAG or not all(spec.indicates for spec in others):
            return sequences
        if not sequences.optional_columns or BAG in names or not isinstance(bag.alphabet, Alphabet):
            return sequences
        read = as_attribute_bag(sequences)
        (column,) = read.columns
        assert isinstance(column, BagColumn)
        return read if (column.alphabet.into(bag.alphabet) >= 0).any() else sequences

    def _filled(self, sequences: Encoded) -> Encoded:
        columns = tuple(
            column if spec.fill_value is None else fill_missing(column, spec.fill_value)
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )
        if all(column is before for column, before in zip(columns, sequences.columns, strict=True)):
            return sequences
        return Encoded.trusted(sequences.starts, columns, sequences.unseen)

    def nothing(self) -> Encoded:
        """One sequence of one position at which every column is absent: a carrier of the columns without data."""
        columns = tuple(without_values(spec, np.zeros(1, np.bool_)) for spec in self.columns)
        return Encoded.of_columns(np.array([0, 1]), columns)

    def _is_aligned(self, sequences: Sequences) -> bool:
        return len(self.columns) == len(sequences.columns) and all(
            spec.name == column.name and spec.kind == column.kind and _alphabet(column) is spec.alphabet
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays), from which `from_arrays` builds an equal encoder."""
        arrays: dict[str, NDArray[Any]] = {}
        entries = []
        owners: dict[int, str] = {}  # the first column of an alphabet, by its id
        kept = [spec for spec in self.columns if spec.rule is None] if self.raw else self.columns
        for i, spec in enumerate((*kept, *self.derived)):
            entry = spec_to_json(spec)
            owner = owners.setdefault(id(spec.alphabet), spec.name)
            if isinstance(spec.rule, Part) and owner != spec.name:
                entry["alphabet_of"] = owner
            else:
                arrays |= {f"{i}.{name}": array for name, array in alphabet_to_arrays(spec.alphabet).items()}
            entries.append(entry)
        if not self.raw:
            return {"columns": entries}, arrays
        raw, raw_arrays = Encoder(self.raw).to_arrays()
        return {"columns": entries, "raw": raw["columns"]}, arrays | {f"raw.{k}": v for k, v in raw_arrays.items()}

    @classmethod
    def from_arrays(cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Encoder:
        """The encoder that `to_arrays` described; raises InputError if the description is not valid."""
        entries = metadata.get("columns") if isinstance(metadata, Mapping) else None
        if not isinstance(entries, list) or not entries:
            raise InputError("the description of an encoder must have a list of columns, but it has none")
        raw: tuple[ColumnSpec, ...] = ()
        if "raw" in metadata:
            own = {name.removeprefix("raw."): array for name, array in arrays.items() if name.startswith("raw.")}
            raw = cls.from_arrays({"columns": metadata["raw"]}, own).columns
        specs: dict[str, ColumnSpec] = {}
        for i, entry in enumerate(entries):
            spec = _spec_from_json(i, entry, arrays, specs)
            if spec.name in specs:
                raise InputError(f"the columns of an encoder must have distinct names, but {spec.name!r} occurs twice")
            specs[spec.name] = spec
        columns = tuple(specs.values())
        if raw or any(spec.rule is not None for spec in columns):
            _check_derived(columns, raw)
            return cls._of(columns, raw)
        _check_treatment(columns)
        return cls(columns)


def _spec_from_json(
    i: int, entry: object, arrays: Mapping[str, NDArray[Any]], earlier: Mapping[str, ColumnSpec]
) -> ColumnSpec:
    if isinstance(entry, Mapping) and "derived" in entry:
        return derived_spec_from_json(i, entry, arrays, earlier)
    return spec_from_json(i, entry, arrays)


def _check_derived(columns: tuple[ColumnSpec, ...], raw: tuple[ColumnSpec, ...]) -> None:
    """Raise InputError unless every column is one of `raw` or derived from one of a fitting kind."""
    kinds = {spec.name: spec.kind for spec in raw}
    alphabets: dict[tuple[str, ...], Values | None] = {}  # the columns of a part share theirs
    for i, spec in enumerate(columns):
        if isinstance(spec.rule, (Pair, Bag)):
            continue
        if spec.rule is None:
            valid = kinds.get(spec.name) == spec.kind
        elif isinstance(spec.rule, Summary):
            valid = kinds.get(spec.rule.source) == "numeric"
        else:
            shared = alphabets.setdefault(spec.rule.values, spec.alphabet)
            valid = kinds.get(spec.rule.source) == "categorical" and shared is spec.alphabet
        if not valid:
            raise InputError(f"column {i} of an encoder, {spec.name!r}, must be derived from a column of X")


def derived_sources(
    rules: Iterable[Rule], raw: tuple[ColumnSpec, ...], sequences: Sequences, encoded: Encoded
) -> Sources:
    """What the rules read: the texts of X with alphabets of their own, and the encoded numbers; both without missing
    values if the encoder fills them in.
    """
    specs = {spec.name: spec for spec in raw}
    texts: dict[str, Texts] = {}
    numbers: dict[str, NDArray[np.float32]] = {}
    here = {column.name: column for column in sequences.columns}
    for rule in rules:
        if isinstance(rule, Part) and rule.source not in texts:
            column = here.get(rule.source)
            if not isinstance(column, CategoricalColumn):  # X lacks the column, or it has no value
                column = encoded.column(rule.source)
            assert isinstance(column, CategoricalColumn)
            texts[rule.source] = Texts.of(column, _fill_text(specs[rule.source]))
        elif isinstance(rule, Summary) and rule.source not in numbers:
            numeric = encoded.column(rule.source)
            assert isinstance(numeric, NumericColumn)
            numbers[rule.source] = numeric.values
    return Sources(encoded.starts, texts, numbers)


def _fill_text(spec: ColumnSpec) -> str | int | None:
    """The text that replaces missing ones, or ABSENT; None without a treatment."""
    if spec.fill_value is None or spec.fill_value == ABSENT:
        return ABSENT if spec.fill_value is not None else None
    assert isinstance(spec.fill_value, int)
    assert spec.alphabet is not None
    return spec.alphabet[spec.fill_value]


def _check_treatment(specs: tuple[ColumnSpec, ...]) -> None:
    """Raise InputError unless the columns have all a fill value or all none, and indicator columns follow them."""
    names = [spec.name for spec in specs if spec.indicates is None]
    fills = specs[0].fill_value is not None
    for i, spec in enumerate(specs):
        if i < len(names):
            valid = spec.indicates is None and (spec.fill_value is not None) == fills
        else:
            valid = spec.indicates in names and spec.fill_value is None and fills
            valid = valid and spec.kind == "categorical" and list(spec.alphabet or ()) == [INDICATOR]
        if not valid:
            raise InputError(
                f"column {i} of an encoder, {spec.name!r}, does not match the treatment of missing values of the "
                "other columns"
            )


def _alphabet(column: Column) -> Values | None:
    return None if isinstance(column, NumericColumn) else column.alphabet


def indicator_specs(names: Sequence[str], incomplete: Sequence[str]) -> tuple[ColumnSpec, ...]:
    """An indicator column for each of the columns that are `incomplete`: those that have missing values."""
    alphabet, taken = Alphabet.of([INDICATOR]), set(names)
    for name in incomplete:
        if indicator_name(name) in taken:
            raise InputError(
                f"missing values of column {name!r} are marked in a column {indicator_name(name)!r}, but X already has "
                'a column of that name; rename it, or use missing="impute"'
            )
    return tuple(ColumnSpec(indicator_name(name), "categorical", alphabet, None, name) for name in incomplete)


def refuse_names_twice(columns: Iterable[ColumnSpec], sources: Container[str], plan: Plan) -> None:
    """Raise InputError if a derived column has the name of another column, except of a text that is only a source."""
    kept = (spec.name for spec in columns if spec.name not in sources)
    twice = first_duplicate([*kept, *(column.name for column in plan)])
    if twice is not None:
        raise InputError(
            f"columns that features derive must have names of their own, but {twice!r} occurs twice; rename the "
            "column of X"
        )


def _encode_checked(column: Column, spec: ColumnSpec, n_threads: int) -> tuple[Column, int]:
    """The column in the kind and alphabet of training, and how many values were left out."""
    adapted = in_kind_of(spec, column)
    aligned, left_out = _align(adapted, spec, n_threads)
    return aligned, left_out if adapted is column else _occurrences(column)


def _align(column: Column, spec: ColumnSpec, n_threads: int) -> tuple[Column, int]:
    """The column in the alphabet of training, and how many values were left out."""
    if spec.alphabet is None or isinstance(column, NumericColumn) or column.alphabet is spec.alphabet:
        return column, 0
    assert isinstance(column.alphabet, Alphabet)  # columns of X hold no pairs
    assert isinstance(spec.alphabet, Alphabet)
    if isinstance(column, CategoricalColumn):
        codes, left_out = column.alphabet.recode(column.codes, spec.alphabet, n_threads)
        return trusted(CategoricalColumn, column.name, codes, spec.alphabet), left_out
    ids, left_out = column.alphabet.recode(column.ids, spec.alphabet, n_threads)
    if left_out == 0:
        return trusted(type(column), column.name, column.starts, ids, column.weights, spec.alphabet), 0
    kept = ids != ABSENT
    starts = starts_of(kept)[column.starts]  # how many values are kept before each bag
    weights = None if column.weights is None else column.weights[kept]
    return trusted(type(column), column.name, starts, ids[kept], weights, spec.alphabet), left_out


def _occurrences(column: Column) -> int:
    """The number of values that are neither missing nor absent. A number 0 counts as absent."""
    if isinstance(column, NumericColumn):
        return int(np.count_nonzero(np.nan_to_num(column.values)))
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    return int(np.count_nonzero(ids >= 0))
