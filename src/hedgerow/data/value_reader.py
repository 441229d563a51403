"""Reads values of Python into columns; texts of known columns become codes of their alphabets at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, Kind, column_of, trusted

Parts: TypeAlias = list[list[Any]] | list[tuple[Any, ...]] | list[Any]
NO_ALPHABETS: Mapping[str, tuple[Kind, Alphabet]] = MappingProxyType({})


class ValueReader:
    """Reads values in lists or tuples.

    Parameters
    ----------
    alphabets
        By name of column its kind and alphabet. Texts of a column of this name and kind are looked up there. Other
        columns get an alphabet of their own, of the values that occur.
    n_threads
        The number of threads. Results do not depend on it.
    """

    def __init__(
        self, alphabets: Mapping[str, tuple[Kind, Alphabet]] = NO_ALPHABETS, n_threads: int | None = None
    ) -> None:
        self._alphabets = {name: alphabet for name, (_, alphabet) in alphabets.items()}
        self._known: dict[str, Any] = {name: (kind, alphabet.strings) for name, (kind, alphabet) in alphabets.items()}
        self._n_threads = n_threads or 1
        self.left_out: dict[str, int] = {}  # by column: how many texts its alphabet lacks; they are absent

    def values(self, parts: Parts, starts: NDArray[np.int64], name: str) -> Column:
        """The column of the values in `parts`, which are read end to end; one value for each position."""
        return self._column(_core.ingest_values(parts, starts, name, self._known, self._n_threads))

    def dicts(self, parts: Parts, starts: NDArray[np.int64]) -> list[Column]:
        """The columns of the dicts in `parts`, which are read end to end; one dict for each position."""
        return list(map(self._column, _core.ingest_dicts(parts, starts, self._known, self._n_threads)))

    def _column(self, parts: tuple[Any, ...]) -> Column:
        name, kind, *arrays, last = parts
        if not isinstance(last, int):
            return column_of(parts)
        self.left_out[name] = last
        if kind == "categorical":
            return trusted(CategoricalColumn, name, *arrays, self._alphabets[name])
        return trusted(BagColumn, name, *arrays, self._alphabets[name])
