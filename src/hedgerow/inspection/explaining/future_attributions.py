"""Attributions of future features: the pattern, and the position where it matched best."""

from __future__ import annotations

import numpy as np

from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.future.features import feature_encoder, feature_name, with_features
from hedgerow.future.instance_bags import logistic
from hedgerow.future.potential import FuturePotential
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, merged
from hedgerow.inspection.explaining.shown_values import NoValue
from hedgerow.inspection.explaining.tree_attributions import TreeAttributions


class FutureAttributions:
    """Shapley values of the trees, plus the weight of each feature times the probability of its pattern."""

    def __init__(self, potential: FuturePotential, encoded: Encoded, scope: Scope) -> None:
        self._potential, self._encoded = potential, encoded
        self._values = potential.values(encoded)
        instances = potential.instances(encoded)
        self._matches = [logistic(one.log_odds(instances, potential.instance_bags)) for one in potential.features]
        own = scope._replace(encoder=feature_encoder(scope.encoder, len(potential.features)))
        self._trees = TreeAttributions(potential.trees, with_features(encoded, self._values), own)
        self._patterns = scope.patterns
        self._names = {feature_name(i): i for i in range(len(potential.features))}
        self._owner = scope.owner

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        found = [
            part if part.column not in self._names else self._match(self._names[part.column], position, part.amount)
            for part in self._trees.parts(position, label, against)
        ]
        for i, feature in enumerate(self._potential.features):
            weight = float(feature.weights[label.label]) - float(feature.weights[against.label])
            found.append(self._match(i, position, weight * float(self._values[i][position])))
        return merged(found)

    def _match(self, number: int, position: int, amount: float) -> Part:
        """A part that says where in the instance bag the pattern matched best, and how probable it is there."""
        starts, feature = self._encoded.starts, self._potential.features[number]
        sequence, size = sequence_of(starts, position), self._potential.instance_bags.size
        if feature.back:
            first, end = max(int(starts[sequence]), position - size), position
        else:
            first, end = position + 1, min(int(starts[sequence + 1]), position + 1 + size)
        name = self._owner + feature_name(number)
        if first >= end:
            return Part(name, 0, NoValue.OUTSIDE, amount)
        best = first + int(np.argmax(self._matches[number][first:end]))
        pattern = self._patterns[number] if self._patterns else "pattern"
        return Part(name, best - position, f"{self._matches[number][best]:.0%} {pattern}", amount)


@attributions.register
def _future(potential: FuturePotential, encoded: Encoded, scope: Scope) -> FutureAttributions:
    return FutureAttributions(potential, encoded, scope)
