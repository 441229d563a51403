"""Moves numbers of dicts to the columns where training stored them.

The reader decides by the X at hand where it stores a numeric key: in a column of its own, in the bag of its nested
dict, or in the bag of folded keys. It may decide differently for new sequences; the encoder corrects this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import FOLDED, MISSING, BagColumn, Column, FoldedBag, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec, in_kind_of, without_values
from hedgerow.errors import InputError


class _Numbers(NamedTuple):
    """The numbers of one key that have to move: where the key is not 0, and its values there."""

    column: str  # of training
    member: str | None  # of that column if it is a bag; otherwise None
    positions: NDArray[np.int64]
    values: NDArray[np.float32]


def refold(sequences: Sequences, training: Mapping[str, ColumnSpec]) -> Sequences:
    """The same sequences, with every numeric key where training stored it; `training` holds columns by name.

    The key "inner" of a nested dict "outer" has the full name "outer:inner". A key belongs to the column of its full
    name, or else to the bag "outer", or else to the bag of folded keys. A key without such a column stays where it is.

    Raises
    ------
    InputError
        If a key that training stored in a bag holds text, a list or a missing value.
    """
    if not sequences.optional_columns or all(_is_in_place(column, training) for column in sequences.columns):
        return sequences
    kept: dict[str, Column] = {}
    moved: dict[str, list[_Numbers]] = {}
    for column in sequences.columns:
        if isinstance(column, BagColumn):
            rest, numbers = _take_from_bag(column, training)
        else:
            rest, numbers = _take_column(column, training)
        if rest is not None:
            kept[rest.name] = rest
        for one in numbers:
            moved.setdefault(one.column, []).append(one)
    if not moved:
        return sequences
    nowhere = np.zeros(sequences.n_positions, np.bool_)
    for name, numbers in moved.items():
        if numbers[0].member is None:
            kept[name] = _column_of(numbers[0], sequences.n_positions)
        else:
            bag = in_kind_of(training[name], kept[name]) if name in kept else without_values(training[name], nowhere)
            assert isinstance(bag, BagColumn)
            kept[name] = _with_members(bag, numbers)
    return Sequences.trusted(sequences.starts, tuple(kept.values()), sequences.rows, sequences.optional_columns)


def _is_in_place(column: Column, training: Mapping[str, ColumnSpec]) -> bool:
    """Whether the column clearly is where training stored it; quick, because nearly all columns are."""
    spec = training.get(column.name)
    if column.kind == "bag":
        return spec is not None and spec.kind == "bag" and not isinstance(column, FoldedBag)
    return spec is not None


def _target(name: str, training: Mapping[str, ColumnSpec]) -> tuple[str, str | None] | None:
    """(column, member) where training stores the key of this full name; None if training has no place for it."""
    if name in training:
        return name, None
    end = name.rfind(":")
    while end >= 0:
        bag = training.get(name[:end])
        if bag is not None and bag.kind == "bag" and not bag.folded:
            return name[:end], name[end + 1 :]
        end = name.rfind(":", 0, end)
    return (FOLDED, name) if FOLDED in training and training[FOLDED].folded else None


def _take_column(column: Column, training: Mapping[str, ColumnSpec]) -> tuple[Column | None, list[_Numbers]]:
    """(the column if it stays, its numbers if they belong to a bag)."""
    target = _target(column.name, training)
    if target is None or target[1] is None:
        return column, []
    if isinstance(column, NumericColumn) and not column.n_missing:
        at = np.flatnonzero(column.values)
        return None, [_Numbers(*target, at, column.values[at])]
    if target[1] not in (training[target[0]].alphabet or ()):
        return column, []
    if column.n_missing:
        raise InputError(
            f"column {column.name!r} must not have missing values, because training stored this key in the bag "
            f"{target[0]!r}, whose attributes are present or absent; leave the key out"
        )
    raise InputError(f"column {column.name!r} must be numeric, as in training, but it is {column.kind}; convert it")


def _take_from_bag(bag: BagColumn, training: Mapping[str, ColumnSpec]) -> tuple[Column | None, list[_Numbers]]:
    """(the members that stay, the numbers of the members that belong to another column)."""
    if isinstance(bag, FoldedBag):
        stays, prefix = not _names_in(bag.alphabet, training), ""
    else:
        stays, prefix = _is_in_place(bag, training), f"{bag.name}:"
    if stays:
        return bag, []
    targets = [_target(prefix + member, training) for member in bag.alphabet]
    moves = np.array([target is not None and target[0] != bag.name for target in targets] + [False])
    positions, weights = _positions(bag), _weights(bag)
    by_id = np.argsort(bag.ids, kind="stable")
    bounds = np.searchsorted(bag.ids[by_id], np.arange(len(bag.alphabet) + 1))
    numbers = []
    for i, target in enumerate(targets):
        if target is not None and moves[i]:
            at = by_id[bounds[i] : bounds[i + 1]]
            numbers.append(_Numbers(*target, positions[at], weights[at]))
    remain = ~moves[bag.ids]  # the id of a missing bag, -1, reads the last entry, False
    if numbers and not remain.any():
        return None, numbers
    starts = starts_of(remain)[bag.starts]
    return trusted(type(bag), bag.name, starts, bag.ids[remain], weights[remain], bag.alphabet), numbers


def _names_in(folded: Alphabet, training: Mapping[str, ColumnSpec]) -> bool:
    """Whether folded keys may belong to other columns of training; quick, because the answer is nearly always no."""
    blob = folded.blob.tobytes()
    bags = (name for name, column in training.items() if column.kind == "bag" and not column.folded)
    return bool((folded.ids(list(training)) >= 0).any()) or any(
        f"{name}:".encode("utf-8", "surrogatepass") in blob for name in bags
    )


def _column_of(numbers: _Numbers, n_positions: int) -> NumericColumn:
    values = np.zeros(n_positions, np.float32)
    values[numbers.positions] = numbers.values
    return NumericColumn(numbers.column, values)


def _with_members(bag: BagColumn, numbers: list[_Numbers]) -> BagColumn:
    """The bag with more members, whose weights are the numbers."""
    members, old = [one.member or "" for one in numbers], list(bag.alphabet)
    alphabet = Alphabet.of(members + old)
    old_ids = np.append(alphabet.ids(old), np.int32(MISSING))[bag.ids]  # the id of a missing bag, -1, reads the last
    ids = np.concatenate([old_ids, np.repeat(alphabet.ids(members), [len(one.positions) for one in numbers])])
    positions = np.concatenate([_positions(bag), *(one.positions for one in numbers)])
    weights = np.concatenate([_weights(bag), *(one.values for one in numbers)])
    order = np.lexsort((ids, positions))
    ids, positions, weights = ids[order], positions[order], weights[order]
    again = np.append(positions[1:] == positions[:-1], False)  # whether the next id is at the same position
    twice = np.flatnonzero(again[:-1] & (ids[1:] == ids[:-1]))
    if len(twice):
        member = alphabet[int(ids[twice[0]])]
        raise InputError(
            f"a position must have an attribute once, but {member!r} is in the bag {bag.name!r} and in the key "
            f"'{bag.name}:{member}'; leave one of them out"
        )
    kept = (ids != MISSING) | ~again  # a bag is not missing where a key gives it a member
    starts = starts_of(np.bincount(positions[kept], minlength=len(bag)))
    return trusted(type(bag), bag.name, starts, ids[kept], weights[kept], alphabet)


def _positions(bag: BagColumn) -> NDArray[np.int64]:
    """The position of each id of the bag."""
    return np.repeat(np.arange(len(bag)), np.diff(bag.starts))


def _weights(bag: BagColumn) -> NDArray[np.float32]:
    return np.ones(len(bag.ids), np.float32) if bag.weights is None else bag.weights
