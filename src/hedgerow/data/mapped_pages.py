"""Memory-mapped arrays: giving the pages that were read back to the system, to bound the memory of a process."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column

PAGE_POSITIONS = 2**20  # positions that are read before their pages are given back


class MappedPages:
    """The files that read-only arrays are mapped from. Pages that can be written to are never given back."""

    def __init__(self, arrays: Iterable[NDArray[Any] | None]) -> None:
        found = {id(file): file for array in arrays if (file := _mapped_file(array)) is not None}
        self._files = list(found.values())

    @classmethod
    def of_columns(cls, columns: Iterable[Column], *more: NDArray[Any]) -> MappedPages:
        """The files of columns, and of more arrays."""
        return cls([*(array for column in columns for array in _arrays(column)), *more])

    def __len__(self) -> int:
        return len(self._files)

    def release(self) -> None:
        """Give all pages back. Reading them again is slower, but they still hold the same numbers."""
        for file in self._files:
            file.madvise(mmap.MADV_DONTNEED)


def _arrays(column: Column) -> list[NDArray[Any] | None]:
    if isinstance(column, CategoricalColumn):
        return [column.codes]
    if isinstance(column, BagColumn):
        return [column.starts, column.ids, column.weights]
    return [column.values]


def _mapped_file(array: NDArray[Any] | None) -> mmap.mmap | None:
    """The file that the memory of an array belongs to, if it is mapped for reading only."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):  # numpy.frombuffer keeps a memoryview
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    with memoryview(owner) as memory:
        return owner if memory.readonly else None
