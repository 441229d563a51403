"""Answers: the interface of every kind of inference over label sequences."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.spans import CodedSpans, SpanRules


class Answers(Protocol):
    """Inference over a batch of sequences: a lattice, or a beam search.

    Every method answers for all sequences of the batch. `starts` holds the first position of each sequence, and the
    number of positions at the end.
    """

    @property
    def starts(self) -> NDArray[np.int64]: ...

    def viterbi(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(score by sequence, label by position) of the best path."""
        ...

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.floating[Any]]]:
        """(log Z by sequence, P(label) by position and label)."""
        ...

    def most_probable_labels(self) -> NDArray[np.int32]:
        """The most probable label of each position, or the best allowed combination of such labels."""
        ...

    def span_probabilities(self, spans: CodedSpans, rules: SpanRules) -> NDArray[np.float64]:
        """The probability that the labels mark exactly each span."""
        ...

    def log_partition(self) -> NDArray[np.float64]:
        """Log of the sum over paths of exp(score), for each sequence."""
        ...

    def nbest(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(scores by sequence and rank, labels by rank and position); a score of -inf means there is no such path."""
        ...

    def score(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Score of a path of each sequence."""
        ...

    def keeping(self, labels: NDArray[np.int32]) -> Answers:
        """The same inference with a beam that never drops this path (-1 for no label)."""
        ...
