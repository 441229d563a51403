"""The log-odds of labels of one sequence, split into attributes and the messages from both sides.

For a label y of one position, with F(y) the log of the sum over all paths that end there with y, and M(y) the same over
whole paths, the log-odds of y against z are M(y) - M(z). They are split into

    attributes   a(y) - a(z), where a(y) is the mean score of the attributes over the label contexts of y
    left         (F(y) - a(y)) - (F(z) - a(z)): what the labels before say, with the transition to y
    right        (M(y) - F(y)) - (M(z) - F(z)): what the rest of the sequence says

The mean is over P(context | y) of the paths that end there, for which F(y) is the mean score plus the entropy of the
contexts (Gibbs). If the attributes do not depend on the context, left and right are the log-ratios of the forward and
backward messages. Several positions are treated alike, with their labels one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.messages import Messages, log_sum
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, difference
from hedgerow.potentials.base import ScoredPotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats64

BEAM_NOTE = "probabilities are among the label sequences that the beam keeps, and the predicted one"


class Split(NamedTuple):
    """Log-odds and what adds up to them: parts by position, and three sums."""

    log_odds: float
    parts: list[list[Part]]  # by position of the span
    left: float
    inside: float  # transitions between the labels of the span; 0 for a single position
    right: float


class _Path(NamedTuple):
    """Labels of successive positions: what can precede them, and the sums F and M."""

    labels: list[LabelInContext]  # with the probabilities of their contexts, given the labels up to the last
    first: LabelInContext  # the same for the first label alone
    first_sum: float  # F of the first label alone
    ended: float  # F
    whole: float  # M


class LatticeExplainer:
    """Splits log-odds in the lattice of one sequence."""

    def __init__(
        self,
        potential: ScoredPotential,
        encoded: Encoded,
        topology: Topology,
        scope: Scope,
        *,
        predicted: NDArray[np.int32] | None = None,
        beam: float | None = None,
        temperature: float = 1.0,
    ) -> None:
        lattice = potential.lattice(encoded, topology, beam=beam, temperature=temperature)
        self.messages = Messages(lattice if predicted is None else lattice.keeping(predicted))
        self._attributions = attributions(potential, encoded, scope)
        self._temperature = temperature
        self.note = None if beam is None else BEAM_NOTE

    def log_probabilities(self, position: int) -> Floats64:
        """log P(label) of a position."""
        node = self.messages.at(position)
        sums: Floats64 = log_sum(node.before[:, None] + node.local + node.after, axis=0)
        return sums - float(log_sum(sums))

    def runner_up(self, position: int, label: int) -> int:
        """The most probable other label."""
        return best_other(self.log_probabilities(position), label)

    def attributes(self, position: int, label: int, against: int) -> list[Part]:
        """What the attributes of a position add to the log-odds."""
        return self.split(position, [label], [against]).parts[0]

    def split(self, first: int, labels: Sequence[int], against: Sequence[int]) -> Split:
        """The log-odds of labels against others, at successive positions from `first` on."""
        one, other = self._path(first, labels), self._path(first, against)
        parts = [self._parts(first + i, *pair) for i, pair in enumerate(zip(one.labels, other.labels, strict=True))]
        of_first = parts[0] if len(parts) == 1 else self._parts(first, one.first, other.first)
        if one.whole == other.whole == -np.inf:
            raise impossible_labels()
        ended, log_odds = difference(one.ended, other.ended), one.whole - other.whole
        left = _rest(difference(one.first_sum, other.first_sum), _sum(of_first))
        inside = _rest(ended, sum(map(_sum, parts)), left) if len(parts) > 1 else 0.0
        return Split(log_odds, parts, left, inside, _rest(log_odds, ended))

    def _parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        found = self._attributions.parts(position, label, against)
        return [part._replace(amount=part.amount / self._temperature) for part in found]

    def _path(self, first: int, labels: Sequence[int]) -> _Path:
        contexts, sums = self.messages.before(first)
        visited, total = [], sums
        for position, label in enumerate(labels, first):
            visited.append(contexts)
            total = np.where(self.messages.keeps(position, contexts), total, -np.inf)
            total = total + self.messages.local(position, contexts)[:, label]
            if position == first:
                at_first = total
            contexts = self.messages.following(position, contexts)[:, label]
        after = self.messages.after(first + len(labels), contexts)
        shares = _shares(total)
        return _Path(
            [LabelInContext(label, where, shares) for label, where in zip(labels, visited, strict=True)],
            LabelInContext(labels[0], visited[0], _shares(at_first)),
            log_sum(at_first),
            log_sum(total),
            log_sum(total + after),
        )


def best_other(values: Floats64, label: int) -> int:
    """The label with the highest value besides this one."""
    others = np.delete(np.arange(len(values)), label)
    return int(others[np.argmax(values[others])])


def _shares(sums: Floats64) -> Floats64:
    """The probability of each context; equal ones if no path comes there."""
    total = log_sum(sums)
    return np.exp(sums - total) if np.isfinite(total) else np.full(len(sums), 1 / len(sums))


def impossible_labels() -> InputError:
    return InputError(
        "the predicted labels of these positions and the labels of against are both impossible next to each other, so "
        "that they have no log-odds; explain fewer positions, or leave out against"
    )


def _rest(total: float, *found: float) -> float:
    """What is left of the total; 0 if one of the summands already makes it infinite."""
    return 0.0 if np.isinf(total) and total in found else total - sum(found)


def _sum(parts: Sequence[Part]) -> float:
    return float(sum(part.amount for part in parts))
