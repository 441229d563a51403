"""Spans of label codes, and their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Span(NamedTuple):
    """A span of positions that an estimator found in a sequence.

    Attributes
    ----------
    start : int
        The first position.
    end : int
        The position after the last one.
    type : str
        The type, such as "PER".
    probability : float
        The probability that the labels of the sequence mark exactly this span.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.Span(start=0, end=2, type="PER", probability=0.9).end
    2
    """

    start: int
    end: int
    type: str
    probability: float


@dataclass(frozen=True, eq=False)
class SpanRules:
    """How label codes mark spans.

    `joins[a, b]` says whether a span continues from label a to label b. `types` has the index of each label's type in
    `names`, -1 for labels outside of spans.
    """

    joins: NDArray[np.bool_]  # (labels, labels)
    types: NDArray[np.int32]  # (labels,)
    names: list[str]

    def spans(self, codes: NDArray[np.int32], starts: NDArray[np.int64]) -> CodedSpans:
        """The spans of all sequences, in the order of their positions."""
        continues = np.zeros(len(codes) + 1, np.bool_)  # whether a span goes on from the position before
        continues[1:-1] = self.joins[codes[:-1], codes[1:]]
        continues[starts] = False
        types = self.types[codes]
        firsts = np.flatnonzero((types >= 0) & ~continues[:-1])
        ends = np.flatnonzero((types >= 0) & ~continues[1:]) + 1
        return CodedSpans(firsts.astype(np.int64), ends.astype(np.int64), types[firsts])


class CodedSpans(NamedTuple):
    """Spans of a batch of sequences: first position, end (exclusive) and index of the type."""

    firsts: NDArray[np.int64]
    ends: NDArray[np.int64]
    types: NDArray[np.int32]
