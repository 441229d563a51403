"""ColumnSpec: what the encoder stores about one column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet, PairAlphabet, Values
from hedgerow.data.columns import (
    ABSENT,
    FOLDED,
    MISSING,
    BagColumn,
    CategoricalColumn,
    CharacterColumn,
    Column,
    FoldedBag,
    Kind,
    LocalBag,
    LocalColumn,
    LocalNumericColumn,
    NumericColumn,
    trusted,
)
from hedgerow.data.ragged import starts_of
from hedgerow.encoding.imputation import FillValue, fill_value_from_json, fill_value_to_json
from hedgerow.encoding.presence import NEVER, Presence
from hedgerow.encoding.rules import Bag, Pair, Rule, Summary, rule_from_json, rule_to_json
from hedgerow.errors import InputError


@dataclass(frozen=True)
class ColumnSpec:
    """What the encoder stores about one column: a column of training, a derived column, or an indicator column."""

    name: str
    kind: Kind
    alphabet: Values | None  # None if the column is numeric
    fill_value: FillValue | None = None  # replaces missing values; None without a treatment
    indicates: str | None = None  # of an indicator column: the column whose missing values it marks
    local: bool = False  # windows read the column at offset 0 only
    presence: Presence = NEVER
    folded: bool = False  # the bag of numeric keys that are mostly absent
    characters: bool = False  # the characters of sequences that are str
    rule: Rule | None = None  # of a derived column: how it is computed
    hidden: bool = False  # a derived column that only pairs and bags read


def spec_of(column: Column, starts: NDArray[np.int64]) -> ColumnSpec:
    """What the encoder stores about a column of training, without a fill value."""
    presence = Presence.of(column, starts)
    if isinstance(column, NumericColumn):
        return ColumnSpec(column.name, column.kind, None, presence=presence)
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    occurs = np.zeros(len(column.alphabet), np.bool_)
    occurs[ids if ids.min(initial=0) >= 0 else ids[ids >= 0]] = True
    assert isinstance(column.alphabet, Alphabet)  # columns of X hold no pairs
    alphabet = column.alphabet if occurs.all() else column.alphabet.subset(occurs)
    return ColumnSpec(
        column.name,
        column.kind,
        alphabet,
        presence=presence,
        folded=isinstance(column, FoldedBag),
        characters=isinstance(column, CharacterColumn),
    )


def without_values(spec: ColumnSpec, missing: NDArray[np.bool_]) -> Column:
    """The column without any value: missing where `missing` is true, and absent elsewhere."""
    if spec.alphabet is None:
        numeric = LocalNumericColumn if spec.local else NumericColumn
        return trusted(numeric, spec.name, np.where(missing, np.float32(np.nan), np.float32(0)))
    if spec.kind == "categorical":
        categorical = LocalColumn if spec.local else CategoricalColumn
        return trusted(categorical, spec.name, np.where(missing, np.int32(MISSING), np.int32(ABSENT)), spec.alphabet)
    bag = FoldedBag if spec.folded else LocalBag if spec.local else BagColumn
    ids = np.full(np.count_nonzero(missing), MISSING, np.int32)
    return trusted(bag, spec.name, starts_of(missing), ids, None, spec.alphabet)


def in_kind_of(spec: ColumnSpec, column: Column) -> Column:
    """The column in the kind of training.

    A column without any value, here or in training, can have any kind. Other columns must have the kind of training;
    otherwise InputError is raised. So it is if one side holds characters of str and the other side longer strings.
    """
    if column.kind == spec.kind:
        _check_characters(spec, column)
        return column
    valueless = (
        len(column.alphabet) == 0
        if isinstance(column, CategoricalColumn)
        else isinstance(column, NumericColumn) and column.n_missing == len(column)
    ) or (spec.alphabet is not None and len(spec.alphabet) == 0)
    if not valueless:
        raise InputError(
            f"column {column.name!r} must be {spec.kind}, as in training, but it is {column.kind}; convert it"
        )
    return without_values(spec, column.missing())


def _check_characters(spec: ColumnSpec, column: Column) -> None:
    """Raise InputError if either training or X was read from str, letter by letter, and the other holds words."""
    read_from_str = isinstance(column, CharacterColumn)
    if not isinstance(column, CategoricalColumn) or spec.alphabet is None or (read_from_str and spec.characters):
        return
    if read_from_str and (word := _longer_string(spec.alphabet)):
        raise InputError(
            f"training had lists of strings, such as {word!r}, but the sequences of X are str, which are read letter "
            'by letter; wrap a sentence that is a list in another list, or split a str ("the cat".split())'
        )
    if spec.characters and (word := _longer_string(column.alphabet)):
        raise InputError(
            f"the sequences of training were str, read letter by letter, but X holds lists with longer strings, such "
            f"as {word!r}; give str, or lists of single characters"
        )


def _longer_string(alphabet: Values) -> str | None:
    """The first value of more than one character."""
    return next((value for value in alphabet if len(value) > 1), None)


def spec_to_json(spec: ColumnSpec) -> dict[str, Any]:
    """What a file stores about the column, except its alphabet, in types that JSON has."""
    entry: dict[str, Any] = {"name": spec.name, "kind": spec.kind}
    if spec.rule is not None:
        entry["derived"] = rule_to_json(spec.rule)
        if spec.hidden:
            entry["hidden"] = True
    elif spec.indicates is None:
        entry["presence"] = [spec.presence.positions, spec.presence.sequences]
    if spec.fill_value is not None:
        entry["fill_value"] = fill_value_to_json(spec.fill_value)
    if spec.indicates is not None:
        entry["indicates"] = spec.indicates
    if spec.folded:
        entry["folded"] = True
    if spec.characters:
        entry["characters"] = True
    return entry


def alphabet_to_arrays(alphabet: Values | None) -> dict[str, NDArray[Any]]:
    """The arrays from which the alphabet of a column is restored."""
    if isinstance(alphabet, Alphabet):
        return {"blob": alphabet.blob, "offsets": alphabet.offsets}
    if isinstance(alphabet, PairAlphabet):
        return {"starts": alphabet.starts, "rights": alphabet.rights}
    return {}


def derived_spec_from_json(
    i: int, entry: object, arrays: Mapping[str, NDArray[Any]], earlier: Mapping[str, ColumnSpec]
) -> ColumnSpec:
    """Derived column i of an encoder, as `spec_to_json` described it; `earlier` are the derived columns before it.

    Raises InputError if the description is not valid.
    """
    match entry:
        case {"name": str(name), "derived": stored, **details}:
            rule, hidden = rule_from_json(stored), details.get("hidden") is True
            if isinstance(rule, Summary):
                return ColumnSpec(name, "numeric", None, local=True, rule=rule)
            if isinstance(rule, Pair):
                parts = [earlier.get(rule.left), earlier.get(rule.right)]
                left, right = (None if part is None or part.rule is None else part.alphabet for part in parts)
                if left is None or right is None:
                    raise InputError(f"column {i} of an encoder must be a pair of columns before it, but got {rule}")
                starts, rights = _stored_arrays(i, arrays, "starts", "rights")
                pairs = PairAlphabet(left, right, starts, rights)
                return ColumnSpec(name, "categorical", pairs, local=True, rule=rule, hidden=hidden)
            if isinstance(rule, Bag):
                if any(name not in earlier or earlier[name].kind != "categorical" for name in rule.members):
                    raise InputError(f"column {i} of an encoder must be a bag of columns before it, but got {rule}")
                return ColumnSpec(name, "bag", _stored_alphabet(i, arrays), local=True, rule=rule)
            owner = earlier.get(str(details.get("alphabet_of")))
            alphabet = _stored_alphabet(i, arrays) if owner is None else owner.alphabet
            if isinstance(alphabet, Alphabet):
                return ColumnSpec(name, "categorical", alphabet, local=True, rule=rule, hidden=hidden)
    raise InputError(f"column {i} of an encoder must have a name and a rule, but got {entry!r}")


def spec_from_json(i: int, entry: object, arrays: Mapping[str, NDArray[Any]]) -> ColumnSpec:
    """Column i of an encoder, as `spec_to_json` described it; raises InputError if the description is not valid."""
    match entry:
        case {"name": str(name), "kind": ("categorical" | "numeric" | "bag") as kind, **details}:
            alphabet = None if kind == "numeric" else _stored_alphabet(i, arrays)
            value = fill_value_from_json(details["fill_value"], kind, alphabet) if "fill_value" in details else None
            indicates, presence = details.get("indicates"), _presence_from_json(details.get("presence"))
            if indicates is None and presence is not None:
                folded, characters = details.get("folded") is True, details.get("characters") is True
                if (not folded or (kind == "bag" and name == FOLDED)) and (not characters or kind == "categorical"):
                    return ColumnSpec(
                        name, kind, alphabet, value, presence=presence, folded=folded, characters=characters
                    )
            if isinstance(indicates, str):
                return ColumnSpec(name, kind, alphabet, value, indicates)
    raise InputError(f"column {i} of an encoder must have a name and a known kind, but got {entry!r}")


def _presence_from_json(shares: object) -> Presence | None:
    match shares:
        case [float(positions), float(sequences)] if 0 <= positions <= 1 and 0 <= sequences <= 1:
            return Presence(positions, sequences)
    return None


def _stored_alphabet(i: int, arrays: Mapping[str, NDArray[Any]]) -> Alphabet:
    return Alphabet(*_stored_arrays(i, arrays, "blob", "offsets"))


def _stored_arrays(i: int, arrays: Mapping[str, NDArray[Any]], *names: str) -> list[NDArray[Any]]:
    if not all(f"{i}.{name}" in arrays for name in names):
        raise InputError(f"column {i} of an encoder must have an alphabet, but it has none")
    return [arrays[f"{i}.{name}"] for name in names]
