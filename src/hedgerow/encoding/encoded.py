"""Encoded: sequences in the columns and alphabets of training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import Column

NOTHING_UNSEEN: Mapping[str, int] = MappingProxyType({})


class Encoded(ColumnStore):
    """Sequences encoded by an Encoder, the input of potentials and learners; immutable."""

    __slots__ = ("unseen",)

    unseen: Mapping[str, int]  # by column: how many values were left out because training never saw them

    @classmethod
    def trusted(
        cls, starts: NDArray[np.int64], columns: tuple[Column, ...], unseen: Mapping[str, int] = NOTHING_UNSEEN
    ) -> Self:
        """Build from parts that are known to be consistent, without checks."""
        encoded = super().trusted(starts, columns)
        encoded.unseen = MappingProxyType(dict(unseen))
        return encoded

    def with_columns(self, added: Iterable[Column]) -> Self:
        """The same sequences with the columns `added` after their own; nothing is copied."""
        return self.trusted(self.starts, (*self.columns, *added), self.unseen)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.starts, self.columns, dict(self.unseen))
