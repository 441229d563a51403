"""Attributions: how the attributes of a position change the score of one label against another.

The score of a label may depend on the label context. Its probability given the label is known where a position is
explained, and scores are averaged over it. So an attribution is a function of two labels with the probabilities of
their contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.shown_values import RawValues
from hedgerow.potentials.base import Potential
from hedgerow.utilities import Floats64


class Part(NamedTuple):
    """What one value adds to the score of a label against another.

    The value is None for what is no value of a column, such as the bias. Where a column has no value, NoValue says why.
    """

    column: str
    offset: int
    value: Any
    amount: float


class LabelInContext(NamedTuple):
    """A label, and the probability of each label context that it may have."""

    label: int
    contexts: NDArray[np.int64]
    shares: Floats64

    @classmethod
    def alone(cls, label: int) -> LabelInContext:
        """The label without a context, for models of order 0."""
        return cls(label, np.zeros(1, np.int64), np.ones(1))


class Attributions(Protocol):
    """The attributions of some encoded sequences."""

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> Sequence[Part]:
        """What each attribute of a position, counted over all sequences, adds to the score of a label."""
        ...


class Scope(NamedTuple):
    """What names the attributes of a potential: the encoder of its data, and the patterns of future features.

    `owner` comes before the names of future features, where several potentials have their own. `raw` are the values of
    the sequence, if there is only one and it was not encoded before.
    """

    encoder: Encoder
    patterns: Sequence[str] = ()
    owner: str = ""
    raw: RawValues | None = None


@singledispatch
def attributions(potential: Potential, encoded: Encoded, scope: Scope) -> Attributions:
    """The attributions of a potential; each kind of potential registers its own."""
    raise NotImplementedError(type(potential).__name__)


def difference(one: float, other: float) -> float:
    """one - other, of logarithms of sums; 0 if both sums are 0."""
    return 0.0 if one == other == -np.inf else one - other


def merged(parts: Sequence[Part]) -> list[Part]:
    """Parts of the same column, offset and value added up, in the order of their first occurrence."""
    sums: dict[tuple[str, int, Any], float] = {}
    for part in parts:
        sums[part[:3]] = sums.get(part[:3], 0.0) + part.amount
    return [Part(*key, amount) for key, amount in sums.items()]
