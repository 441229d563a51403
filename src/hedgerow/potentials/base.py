"""What every potential offers, and the buffer in which it meets the lattice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError

COLDEST = 1e-6  # temperatures, by which scores may be divided, lie between this and its inverse


class Scores(NamedTuple):
    """Log-scores in the shapes a lattice takes; a part that is not there is None."""

    state: NDArray[np.floating[Any]] | None = None  # (positions, labels)
    edge: NDArray[np.floating[Any]] | None = None  # (positions, histories, labels)
    table: NDArray[np.floating[Any]] | None = None  # (histories of every length, labels)
    normalised: bool = False  # whether the scores of a path add up to its log-probability


class Stored(NamedTuple):
    """What a model file holds of a potential, and what that must fit."""

    metadata: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    encoder: Encoder
    n_labels: int
    order: int


def strip_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


class Potential(Protocol):
    """Immutable; sequences are in the columns and alphabets of the encoder it was learned with."""

    kind: ClassVar[str]

    def scores(self, sequences: Encoded, n_threads: int = 1) -> Scores:
        """The log-scores of every position of the sequences."""
        ...

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `from_state` makes an equal potential."""
        ...

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        """What `state` described; raises InputError unless all of it fits encoder, labels and order."""
        ...


def stored_temperature(stored: object) -> float:
    """A temperature of a model file."""
    if not (isinstance(stored, float) and COLDEST <= stored <= 1 / COLDEST):
        raise InputError(f"the temperature must be a number from {COLDEST:g} to {1 / COLDEST:g}; it is {stored!r}")
    return stored


def stored_table(table: NDArray[Any] | None, n_labels: int, order: int) -> NDArray[np.float32] | None:
    """A table of transitions of a model file, or none."""
    shape = (sum(n_labels**m for m in range(order + 1)), n_labels)
    if table is not None and (table.dtype != np.float32 or table.shape != shape or not np.isfinite(table).all()):
        raise InputError(f"the table of transitions must hold {shape} finite numbers")
    return table
