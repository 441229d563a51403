"""Beam search: a batch of searches with the same methods as a lattice.

Positions are labelled one after the other. Of the hypotheses about the labels so far the `beam` best are kept; of
hypotheses with the same last labels only the best (recombination). The best labelling is the best hypothesis at the
end. Sums and n-best lists run over every path through the kept hypotheses, also over paths that were recombined away.
With a beam that keeps everything, that is every path.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SearchBatch, SparseNGramWeights
from hedgerow.constraints import Constraints
from hedgerow.errors import InputError, no_path
from hedgerow.inference.lattice import most_probable_labels
from hedgerow.inference.spans import CodedSpans, SpanRules
from hedgerow.utilities import is_count

N_BEST = 100  # label sequences that the probability of a span sums
MAX_SCORE = np.float32(1e30)  # sums of many such scores can still be compared


@dataclass(frozen=True, eq=False, kw_only=True)
class BeamSearch:
    """Searches over a batch of sequences; every method answers for all of them.

    `starts` holds the first row of each sequence in `state`, and the number of rows. Scores are divided by the
    temperature in answers, not during the search. `keep` has a label for each position (-1 for none): a path that the
    beam never drops.
    """

    n_grams: SparseNGramWeights
    starts: NDArray[np.int64]
    state: NDArray[np.float32]  # (positions, labels)
    beam: int
    backward: bool = False  # the last position is labelled first
    temperature: float = 1.0
    n_threads: int = 1
    keep: NDArray[np.int32] | None = None
    constraints: Constraints | None = None  # whose forbidden pairs are minus infinity in `n_grams`
    allowed: NDArray[np.bool_] | None = None  # (positions, labels); None allows all
    _batch: SearchBatch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.state.size and not (self.state.min() >= -MAX_SCORE and self.state.max() <= MAX_SCORE):
            raise InputError(
                f"scores must be numbers from {-MAX_SCORE:g} to {MAX_SCORE:g}; use smaller weights or values"
            )
        state = self.state if self.allowed is None else np.where(self.allowed, self.state, np.float32(-np.inf))
        batch = SearchBatch(
            self.n_grams, self.starts, state, self.beam, self.backward, self.keep, self.n_threads
        )  # fmt: skip
        object.__setattr__(self, "_batch", batch)

    def keeping(self, labels: NDArray[np.int32]) -> BeamSearch:
        """The same searches with a beam that never drops this path."""
        return replace(self, keep=np.ascontiguousarray(labels, dtype=np.int32))

    def at(self, temperature: float) -> BeamSearch:
        """The same searches at another temperature."""
        return replace(self, temperature=temperature)

    def viterbi(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(score by sequence, label by position) of the best hypothesis."""
        score, labels = self._batch.best()
        if self.constraints is not None or self.allowed is not None:
            self._possible(self.score(labels))  # a search without a continuation goes on with labels it must not give
        return score / self.temperature, labels

    def _possible(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values; raises ImpossibleLatticeError if the search lost every allowed path of a sequence."""
        impossible = np.flatnonzero(np.isneginf(values))
        if impossible.size:
            raise no_path(int(impossible[0]), impossible.size - 1, self.beam)
        return values

    def log_partition(self) -> NDArray[np.float64]:
        """Log of the sum over paths of exp(score), for each sequence."""
        return self._possible(self._batch.sums(self.temperature, False)[0])

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.floating[Any]]]:
        """(log Z by sequence, P(label) by position and label)."""
        log_z, marginals = self._batch.sums(self.temperature, True)
        return self._possible(log_z), marginals

    def most_probable_labels(self) -> NDArray[np.int32]:
        """The label of each position with the highest marginal; see `hedgerow.inference.lattice`."""
        return most_probable_labels(
            self.marginals()[1], self.starts, self.constraints, self.allowed, n_threads=self.n_threads
        )

    def span_probabilities(self, spans: CodedSpans, rules: SpanRules) -> NDArray[np.float64]:
        """A lower bound: the sum over the N_BEST best label sequences that the beam kept and that mark the span."""
        scores, paths = self.nbest(N_BEST)
        shares = np.exp(scores - self.log_partition()[:, None])  # (sequences, ranks)
        sequence = np.searchsorted(self.starts, spans.firsts, side="right") - 1
        sums = np.zeros(len(spans.firsts))
        for rank in range(N_BEST):
            found = rules.spans(paths[rank], self.starts)
            end, type_ = np.full(len(self.state), -1), np.full(len(self.state), -1)
            end[found.firsts], type_[found.firsts] = found.ends, found.types
            marks = (end[spans.firsts] == spans.ends) & (type_[spans.firsts] == spans.types)
            sums += np.where(marks, shares[sequence, rank], 0.0)
        return np.minimum(sums, 1.0)

    def nbest(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(scores by sequence and rank, labels by rank and position); a score of -inf means there is no such path."""
        if not is_count(n) or n < 1:
            raise InputError(f"n must be an integer of at least 1 for the n best paths; it is {n!r}")
        scores, labels = self._batch.ranked(self.temperature, int(n))
        self._possible(scores[:, 0])
        return scores, labels

    def score(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Score of a path of each sequence, whether or not the search kept it."""
        labels = np.ascontiguousarray(labels, dtype=np.int32)
        return self._batch.score(self.temperature, labels)  # type: ignore[return-value]
