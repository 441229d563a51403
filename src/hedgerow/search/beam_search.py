"""Beam search: scores of positions and weights of label n-grams go in, the answers that a lattice gives come out.

Labels are given one position after the other; of the hypotheses about those so far, the `beam` best are kept, and of
those with the same last labels only the best. The best labelling is the best hypothesis at the end. Sums and lists go
over every path through the hypotheses that were kept, also one that lost against a better on its way: with a beam of
everything that is every path.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SearchBatch, SearchGrams
from hedgerow.errors import InputError
from hedgerow.utilities import is_count

LARGEST = np.float32(1e30)  # of a score, so that sums of many can still be compared


@dataclass(frozen=True, eq=False)
class Search:
    """Searches of a batch of sequences; every method answers for all of them.

    `starts` holds where each sequence begins in the rows of `state`, and the end of the last. Scores are divided by the
    temperature when they are answered or summed, not while searching. `keep`, a label for each position (-1 for none),
    is a path that no beam loses.
    """

    grams: SearchGrams
    starts: NDArray[np.int64]
    state: NDArray[np.float32]  # (positions, labels)
    beam: int
    backward: bool = False  # the last position is labelled first
    temperature: float = 1.0
    n_threads: int = 1
    keep: NDArray[np.int32] | None = None
    _batch: SearchBatch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.state.size and not (self.state.min() >= -LARGEST and self.state.max() <= LARGEST):
            raise InputError(f"scores must be numbers from {-LARGEST:g} to {LARGEST:g}; lower the weights or values")
        batch = SearchBatch(
            self.grams, self.starts, self.state, self.beam, self.backward, self.keep, self.n_threads
        )  # fmt: skip
        object.__setattr__(self, "_batch", batch)

    def keeping(self, labels: NDArray[np.int32]) -> Search:
        """The same searches with another path that no beam loses."""
        return replace(self, keep=np.ascontiguousarray(labels, dtype=np.int32))

    def at(self, temperature: float) -> Search:
        """The same searches read at another temperature."""
        return replace(self, temperature=temperature)

    def viterbi(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(score, labels) of the best hypothesis."""
        score, labels = self._batch.best()
        return score / self.temperature, labels

    def log_partition(self) -> NDArray[np.float64]:
        """Log of the sum over paths of exp(score), for each sequence."""
        return self._batch.sums(self.temperature, False)[0]  # type: ignore[no-any-return]

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.floating[Any]]]:
        """(log Z by sequence, P(label) by position and label)."""
        log_z, marginals = self._batch.sums(self.temperature, True)
        return log_z, marginals

    def nbest(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(scores by sequence and rank, labels by rank and position); a score of -inf: there is no such path."""
        if not is_count(n) or n < 1:
            raise InputError(f"n must be an integer of at least 1 to ask for the n best paths; it is {n!r}")
        scores, labels = self._batch.ranked(self.temperature, int(n))
        return scores, labels

    def score(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Score of the given path of each sequence, whether or not the search has it."""
        labels = np.ascontiguousarray(labels, dtype=np.int32)
        return self._batch.score(self.temperature, labels)  # type: ignore[return-value]
