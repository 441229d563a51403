"""Attributions of voted perceptrons: the mean of the weight vectors, each as often as it voted.

The votes are no sum over attributes: every vector finds a best path of its own. The mean of the vectors shows what they
agree in; the difference between its scores and the shares of the votes is part of what the other labels say.
"""

from __future__ import annotations

import numpy as np

from hedgerow.encoding import AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.linear_attributions import read_attributes
from hedgerow.potentials.votes import VotedPotential


class VoteAttributions:
    """Mean weights of (attribute, label), and mean biases."""

    def __init__(self, potential: VotedPotential, encoded: Encoded) -> None:
        self._k = potential.n_labels
        self._reader = AttributeReader(encoded, potential.window, potential.scalings)
        # Change c counts in its own vector and in all later ones, so it has the votes of all of these.
        votes_from = np.cumsum(potential.survived[::-1])[::-1] / max(int(potential.survived.sum()), 1)
        vector = np.repeat(np.arange(len(potential.survived)), np.diff(potential.starts))
        features, where = np.unique(potential.features, return_inverse=True)
        means = np.bincount(where, potential.amounts * votes_from[vector], minlength=len(features))
        self._weights: dict[int, float] = dict(zip(features.tolist(), means.tolist(), strict=True))

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        def weight(attribute: int, one: LabelInContext) -> float:
            return self._weights.get(attribute * self._k + one.label, 0.0)

        bias = self._reader.n_ids  # the n-gram without labels follows the attributes
        return [
            *(
                Part(*name, (weight(i, label) - weight(i, against)) * value)
                for i, value, name in read_attributes(self._reader, position)
            ),
            Part(BIAS, 0, None, weight(bias, label) - weight(bias, against)),
        ]


@attributions.register
def _votes(potential: VotedPotential, encoded: Encoded, scope: Scope) -> VoteAttributions:
    return VoteAttributions(potential, encoded)
