"""Where the numeric keys of dicts are stored when parts of the data were read apart from each other.

The reader of dicts decides by the block at hand whether a numeric key has a column of its own, belongs to the bag of
its nested dict, or to the bag of folded keys. Over all data the same rules hold (docs/sequences.md): a nested dict is a
bag if its values are numbers and never missing; at least 100 other keys that are never missing and differ from 0 at
fewer than half of the positions are folded.

A column "outer:inner" counts as a key of the nested dict "outer", unless a block has both it and a bag "outer".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import FOLDED
from hedgerow.encoding.column_statistics import ColumnStatistics, NumberCounts
from hedgerow.errors import InputError

FEWEST_FOLDED = 100  # as kFewestFolded of the reader


def placed(
    columns: Mapping[str, ColumnStatistics],
    folded: ColumnStatistics | None,
    independent: Collection[str],
    n_positions: int,
) -> list[ColumnStatistics]:
    """The columns over all data, in the order of their first occurrence; the bag of folded keys is the last.

    `columns` are those of the blocks, `folded` the folded keys of all blocks, and `independent` the columns that are
    not keys of a nested dict although their names begin like one. Keys that blocks stored in a bag and that have a
    column of their own stand where the bag stood, in alphabetical order.
    """
    dissolved = set(_dissolved(columns, independent))
    kept = {name: column for name, column in columns.items() if name not in dissolved}
    for name in dissolved:
        for key in _members(columns[name], prefix=f"{name}:"):
            _add(kept, key)
    for key in () if folded is None else _members(folded, prefix=""):
        _add(kept, key)
    _move_into_bags(kept, independent)
    rare = _keys_to_fold(kept, n_positions)
    stay = sorted((column for name, column in kept.items() if name not in rare), key=lambda c: (c.first, c.name))
    if rare and FOLDED in kept and FOLDED not in rare:
        raise InputError(
            f"X has many numeric keys that are mostly absent, and they become one bag called {FOLDED!r}, but there is "
            "a key of that name; rename it"
        )
    return [*stay, _folded_bag([kept[name] for name in rare], folded)] if rare else stay


def outer_names(name: str) -> Iterator[str]:
    """The names of the nested dicts that a key of this name may belong to, the innermost first."""
    end = name.rfind(":")
    while end >= 0:
        yield name[:end]
        end = name.rfind(":", 0, end)


def _dissolved(columns: Mapping[str, ColumnStatistics], independent: Collection[str]) -> Iterator[str]:
    """The bags of nested dicts that have a value which is no number, or a missing one."""
    for name, column in columns.items():
        if name in independent or column.kind == "bag" or (column.kind == "numeric" and not column.n_missing):
            continue
        outer = next(outer_names(name), None)
        if outer is not None and outer in columns and columns[outer].kind == "bag":
            yield outer


def _members(bag: ColumnStatistics, prefix: str) -> Iterator[ColumnStatistics]:
    """A column of numbers for each value of a bag."""
    assert bag.alphabet is not None
    for i, value in enumerate(bag.alphabet):
        n = int(bag.counts[i])
        yield ColumnStatistics(
            name=prefix + value,
            kind="numeric",
            first=bag.first,
            n_positions=bag.n_positions,
            n_missing=0,
            n_present=n,
            n_having=min(n, bag.n_having),
            alphabet=None,
            counts=np.array([n], np.int64),
            numbers=None if bag.numbers is None else _numbers_beside(bag.numbers, i),
            approximate=True,
        )


def _numbers_beside(numbers: NumberCounts, value: int) -> NumberCounts:
    chosen = numbers.ids == value
    return NumberCounts(np.zeros(int(chosen.sum()), np.int32), numbers.numbers[chosen], numbers.counts[chosen])


def _add(columns: dict[str, ColumnStatistics], key: ColumnStatistics) -> None:
    columns[key.name] = columns[key.name] + key if key.name in columns else key


def _move_into_bags(columns: dict[str, ColumnStatistics], independent: Collection[str]) -> None:
    """Move keys that are members of the bag of their nested dict in another block into that bag."""
    for name in [name for name, column in columns.items() if column.kind == "numeric" and not column.n_missing]:
        outer = next(outer_names(name), None)
        bag = None if outer is None or name in independent else columns.get(outer)
        if outer is None or bag is None or bag.kind != "bag":
            continue
        member = name.removeprefix(f"{outer}:")
        if bag.alphabet is not None and member in bag.alphabet:
            columns[outer] = bag + _as_bag(columns.pop(name), bag, member)


def _as_bag(key: ColumnStatistics, bag: ColumnStatistics, member: str) -> ColumnStatistics:
    """A numeric key as a bag of one value."""
    empty = not int(key.counts[0])
    return replace(
        key,
        name=bag.name,
        kind="bag",
        alphabet=Alphabet.of([] if empty else [member]),
        counts=key.counts[key.counts > 0],
        weighted=not empty,
        folded=bag.folded,
        approximate=True,
    )


def _keys_to_fold(columns: Mapping[str, ColumnStatistics], n_positions: int) -> list[str]:
    """The numeric keys that are rare, if there are many of them."""
    numeric = [column for column in columns.values() if column.kind == "numeric"]
    rare = [c.name for c in numeric if 2 * int(c.counts[0]) < n_positions and not c.n_missing]
    return rare if len(rare) >= FEWEST_FOLDED else []


def _folded_bag(keys: list[ColumnStatistics], folded: ColumnStatistics | None) -> ColumnStatistics:
    """The bag of rare numeric keys. A key that is 0 wherever it occurs is a value of the bag that never occurs."""
    alphabet = Alphabet.of([key.name for key in keys])
    places = alphabet.ids([key.name for key in keys])
    counts = np.zeros(len(keys), np.int64)
    counts[places] = [int(key.counts[0]) for key in keys]
    numbers: NumberCounts | None = None
    for key, place in zip(keys, places.tolist(), strict=True):
        if key.numbers is not None:
            own = key.numbers.renumbered(np.array([place], np.int32))
            numbers = own if numbers is None else numbers + own
    occurs = counts > 0
    ranks = np.where(occurs, np.cumsum(occurs) - 1, -1).astype(np.int32)
    return ColumnStatistics(
        name=FOLDED,
        kind="bag",
        first=min(key.first for key in keys),
        n_positions=max(key.n_positions for key in keys),
        n_missing=0,
        n_present=max(key.n_present for key in keys) if folded is None else folded.n_present,
        n_having=max(key.n_having for key in keys) if folded is None else folded.n_having,
        alphabet=alphabet.subset(occurs),
        counts=counts[occurs],
        folded=True,
        weighted=True,
        numbers=None if numbers is None else numbers.renumbered(ranks),
        approximate=True,
    )
