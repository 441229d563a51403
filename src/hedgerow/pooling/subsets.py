"""Subsets: which columns and which offsets of the window a model of a pool reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hedgerow.encoding import Encoder, Window
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.rules import Bag, Pair
from hedgerow.errors import InputError, first_few

#: Names of columns, offsets of the window, or both, as users write them.
Choice: TypeAlias = Sequence[str | int]


@dataclass(frozen=True)
class Subset:
    """The columns that a model reads, by name, and the offsets at which it reads them; None for those of its base."""

    columns: tuple[str, ...]
    offsets: tuple[int, ...] | None

    def described(self) -> list[str | int]:
        """The subset as users write it."""
        return [*self.columns, *(self.offsets or ())]


def encoder_of(encoder: Encoder, columns: Sequence[str]) -> Encoder:
    """The encoder of these columns alone. They are kept as they are encoded, so derived columns need no rules."""
    return Encoder(tuple(spec for spec in encoder.columns if spec.name in columns))


def read_columns(encoded: Encoded, columns: Sequence[str]) -> Encoded:
    """The sequences with these columns alone; nothing is copied."""
    return Encoded.trusted(encoded.starts, tuple(one for one in encoded.columns if one.name in columns))


def chosen_subset(choice: Choice, encoder: Encoder, window: Window | None, number: int) -> Subset:
    """The subset that a user described; raises InputError for a column or an offset that does not exist.

    A name stands for the column, for its indicator of missing values, and for all columns that are derived from it
    alone. Without a name all columns are read, without an offset all offsets.
    """
    names = [one for one in choice if isinstance(one, str)]
    offsets = [int(one) for one in choice if not isinstance(one, str)]
    owner = f"OpinionPool: subset {number} of subsets"
    if offsets and window is None:
        raise InputError(f"{owner} has the offset {offsets[0]}, but base has no window; give names of columns only")
    for offset in offsets:
        if window is not None and offset not in window.offsets:
            raise InputError(
                f"{owner} has the offset {offset}, but the window of base has the offsets "
                f"{first_few(list(map(str, window.offsets)))}; widen the window of base"
            )
    found = {spec.name: {spec.name, *_sources(spec, encoder)} for spec in encoder.columns}
    known = set().union(*found.values())
    for name in names:
        if name not in known:
            raise InputError(
                f"{owner} has the column {name!r}, but the columns are {first_few(sorted(known))}; name one of them"
            )
    wanted = set(names)
    columns = tuple(
        spec.name for spec in encoder.columns if not names or spec.name in wanted or _sources(spec, encoder) <= wanted
    )
    if not columns:
        raise InputError(
            f"{owner} has the columns {first_few(names)}, but no column is derived from these alone; add a column"
        )
    return Subset(columns, _offsets(window, offsets))


def drawn_subsets(
    encoder: Encoder, window: Window | None, n_models: int, share: float, rng: np.random.Generator
) -> list[Subset]:
    """Random subsets of the columns or, if there is only one column, of the offsets; equal ones are drawn once.

    Each has the share of them, rounded up. They are drawn among those that occur in the fewest subsets so far, so that
    each column or offset occurs about equally often.
    """
    names = [spec.name for spec in encoder.columns if spec.indicates is None]
    offsets = () if window is None else window.offsets
    if len(names) > 1:
        drawn = ({names[i] for i in one} for one in _draws(len(names), n_models, share, rng))
        return _distinct(Subset(_with_indicators(encoder, one), _offsets(window, ())) for one in drawn)
    if len(offsets) > 1:
        columns = tuple(spec.name for spec in encoder.columns)
        drawn_offsets = (tuple(offsets[i] for i in one) for one in _draws(len(offsets), n_models, share, rng))
        return _distinct(Subset(columns, one) for one in drawn_offsets)
    raise InputError(
        f"OpinionPool divides columns or the offsets of a window, but X has the single column {names[0]!r} and base "
        "reads it at one offset; give base a window, or use base alone"
    )


def _draws(n: int, n_models: int, share: float, rng: np.random.Generator) -> list[list[int]]:
    """For each model the numbers of the units that it reads, rising."""
    uses, drawn = np.zeros(n, np.int64), []
    for _ in range(n_models):
        rarest_first = np.lexsort((rng.random(n), uses))
        chosen = np.sort(rarest_first[: math.ceil(share * n)])
        uses[chosen] += 1
        drawn.append(chosen.tolist())
    return drawn


def _with_indicators(encoder: Encoder, names: set[str]) -> tuple[str, ...]:
    return tuple(spec.name for spec in encoder.columns if spec.name in names or spec.indicates in names)


def _distinct(subsets: Iterator[Subset]) -> list[Subset]:
    return list(dict.fromkeys(subsets))


def _offsets(window: Window | None, chosen: Sequence[int]) -> tuple[int, ...] | None:
    return None if window is None or window.is_trivial else tuple(sorted(set(chosen))) or window.offsets


def _sources(spec: ColumnSpec, encoder: Encoder) -> set[str]:
    """The columns of X that a column is made from."""
    if spec.indicates is not None:
        return {spec.indicates}
    if spec.rule is None:
        return {spec.name}
    if not isinstance(spec.rule, (Pair, Bag)):
        return {spec.rule.source}
    members = (spec.rule.left, spec.rule.right) if isinstance(spec.rule, Pair) else spec.rule.members
    derived = {one.name: one for one in encoder.derived}
    return set().union(*(_sources(derived[name], encoder) for name in members))
