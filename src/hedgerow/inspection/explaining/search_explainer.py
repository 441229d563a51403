"""Explanations of beam searches: the features of two paths.

A beam search chooses a whole path. The log-odds of a label against another are the score of the best path that has the
one, less that of the best path that has the other, divided by the temperature. They are split into the attributes of
the position, and what changes at the positions before it and after it. The weights of label n-grams at the position
itself belong to the side whose labels they read: the left one if the search goes from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ImpossibleLatticeError
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.lattice_explainer import Split, best_other, impossible_labels
from hedgerow.inspection.explaining.linear_attributions import biases, read_attributes, weight_of
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats64


class SearchAttributions:
    """Weights of (attribute, label), and biases; future features are attributes too."""

    def __init__(self, potential: SearchPotential, encoded: Encoded) -> None:
        self._potential, self._bias = potential, biases(potential)
        self._reader = AttributeReader(potential.with_future(encoded), potential.window, potential.scalings)

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        features, weights = self._potential.state_features, self._potential.state_weights

        def difference(i: int) -> float:
            return weight_of(features, weights, i, label.label) - weight_of(features, weights, i, against.label)

        temperature = self._potential.temperature
        found = [
            Part(*name, difference(i) * value / temperature)
            for i, value, name in read_attributes(self._reader, position)
        ]
        bias = self._bias[label.label] - self._bias[against.label]
        return [*found, Part(BIAS, 0, None, float(bias) / temperature)]


@attributions.register
def _search(potential: SearchPotential, encoded: Encoded, scope: Scope) -> SearchAttributions:
    return SearchAttributions(potential, encoded)


class SearchExplainer:
    """Splits log-odds of paths in the search of one sequence."""

    note: str | None = "the log-odds compare the best label sequences, not probabilities"

    def __init__(
        self,
        potential: SearchPotential,
        encoded: Encoded,
        topology: Topology,
        scope: Scope,
        *,
        predicted: NDArray[np.int32] | None = None,
        beam: float | None = None,
        temperature: float = 1.0,
    ) -> None:
        self._potential, self._encoded, self._topology, self._beam = potential, encoded, topology, beam
        self._attributions = attributions(potential, encoded, scope)
        self._temperature, self._predicted = temperature, predicted

    @cached_property
    def _probabilities(self) -> Floats64:
        answers = self._potential.answers(self._encoded, self._topology, beam=self._beam, temperature=self._temperature)
        return answers.marginals()[1].astype(np.float64)

    @cached_property
    def _state_scores(self) -> Floats64:
        return self._potential.state_scores(self._encoded).astype(np.float64)

    def log_probabilities(self, position: int) -> Floats64:
        """log P(label) of a position, over the paths that the beam kept."""
        with np.errstate(divide="ignore"):
            logarithms: Floats64 = np.log(self._probabilities[position])
        return logarithms

    def runner_up(self, position: int, label: int) -> int:
        """The most probable other label; if no path with another one was kept, that of the highest score alone."""
        probable = best_other(self._probabilities[position], label)
        return (
            probable if self._probabilities[position, probable] > 0 else best_other(self._state_scores[position], label)
        )

    def split(self, first: int, labels: Sequence[int], against: Sequence[int]) -> Split:
        """The log-odds of labels against others, at successive positions from `first` on."""
        parts = [
            [
                part._replace(amount=part.amount / self._temperature)
                for part in self._attributions.parts(first + i, LabelInContext.alone(a), LabelInContext.alone(b))
            ]
            for i, (a, b) in enumerate(zip(labels, against, strict=True))
        ]
        one, other = self._scores(first, labels), self._scores(first, against)
        if one is None and other is None:
            raise impossible_labels()
        if one is None or other is None:
            odds = np.inf if other is None else -np.inf
            inside = self._is_forbidden(against if other is None else labels)
            return Split(odds, parts, 0.0 if inside else odds, odds if inside else 0.0, 0.0)
        difference = (one - other) / (self._potential.temperature * self._temperature)
        own = [float(difference[first + i]) - sum(p.amount for p in parts[i]) for i in range(len(parts))]
        left, right = float(difference[:first].sum()), float(difference[first + len(labels) :].sum())
        if self._potential.direction == "left-to-right":
            return Split(float(difference.sum()), parts, left + own[0], sum(own[1:]), right)
        return Split(float(difference.sum()), parts, left, sum(own[:-1]), right + own[-1])

    def _is_forbidden(self, labels: Sequence[int]) -> bool:
        """Whether the constraints forbid two of these labels next to each other."""
        constraints = self._topology.constraints
        return constraints is not None and not constraints.follows[1:][labels[:-1], labels[1:]].all()

    def _scores(self, first: int, labels: Sequence[int]) -> Floats64 | None:
        """The score of each position along the best path that has these labels; None if the search finds none."""
        span = slice(first, first + len(labels))
        known = np.full(self._encoded.n_positions, -1, np.int32)
        known[span] = labels
        answers = self._potential.answers(self._encoded, self._topology, known=known, beam=self._beam)
        try:
            path = answers.viterbi()[1]
        except ImpossibleLatticeError:
            if self._predicted is None or self._predicted[span].tolist() != list(labels):
                return None
            path = self._predicted
        return self._state_scores[np.arange(len(path)), path] + n_gram_scores(self._potential, path)


def n_gram_scores(potential: SearchPotential, path: NDArray[np.int32]) -> Floats64:
    """The weights of the label n-grams that end at each position, in the direction of the search."""
    n_grams, weights = potential.n_grams, potential.n_gram_weights.astype(np.float64)
    k, bits = n_grams.n_labels, n_grams.n_labels.bit_length()
    labels = path[::-1] if potential.direction == "right-to-left" else path
    padded = np.concatenate([np.full(n_grams.order, k, np.int64), labels.astype(np.int64)])
    scores, at = np.zeros(len(labels)), np.arange(len(labels))
    digits = np.zeros(len(labels), np.int64)
    for length in range(n_grams.order + 1):
        if length:
            digits = (digits << bits) | padded[n_grams.order + at - length]
        cells = (digits + (1 << bits * length) - 1) * k + labels
        place = np.minimum(np.searchsorted(n_grams.cells, cells), max(len(n_grams.cells) - 1, 0))
        if len(n_grams.cells):
            scores += np.where(n_grams.cells[place] == cells, weights[place], 0.0)
    return scores[::-1] if potential.direction == "right-to-left" else scores
