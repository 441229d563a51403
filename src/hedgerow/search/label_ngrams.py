"""Label n-grams of any order, numbered sparsely.

The n-grams of a lattice (`potentials/linear.py`) are cells of a dense table over all label contexts, K^order rows. A
beam search has no such table: its order may be high, only n-grams with weights need memory, and n-grams that reach
beyond the beginning of a sequence contain `start`.

A label is a digit of b bits, where b bits also hold the number K, which is `start`. An n-gram of j labels has the
number of its digits, most recent label first, plus 2^(b j) - 1. The number 0 is the n-gram of no labels, a bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.errors import InputError


@dataclass(frozen=True, eq=False)
class SparseNGrams:
    """The n-grams that have weights: rising `cells`, each the number of an n-gram times K plus the label after it."""

    cells: NDArray[np.int64]
    n_labels: int
    order: int

    def __post_init__(self) -> None:
        if self._bits * (max(self.order, 1) + 1) >= 62:
            raise InputError(
                f"order {self.order} with {self.n_labels} labels has more n-grams than 64-bit numbers; "
                "use a lower order"
            )

    @property
    def _bits(self) -> int:
        return self.n_labels.bit_length()

    def __len__(self) -> int:
        return len(self.cells)

    def forbidden(self, constraints: Constraints, backward: bool) -> NDArray[np.int64]:
        """The cells of pairs that constraints forbid; `backward` searches label the last position first."""
        # A backward search begins with the end of the sequence, and what it labelled before is the next label.
        allowed = np.vstack([constraints.last, constraints.follows[1:].T]) if backward else constraints.follows
        rows, labels = np.nonzero(~allowed)
        last_label = np.where(rows == 0, self.n_labels, rows - 1)  # K is `start`
        return (((1 << self._bits) - 1 + last_label) * self.n_labels + labels).astype(np.int64)

    def labels(self, number: int) -> list[int]:
        """The labels of an n-gram, most recent first; K is `start`."""
        bits = self._bits
        length = ((number + 1).bit_length() - 1) // bits
        digits = number + 1 - (1 << bits * length)
        return [digits >> bits * (length - 1 - i) & ((1 << bits) - 1) for i in range(length)]
