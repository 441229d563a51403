"""Attributions of opinion pools: the mean of those of the models.

With pool="sequence" the score of a path is the mean of its scores in the models, so attributes add the mean of what
they add there. With pool="position" the log-odds of a label are the mean of those in the models. Each is split apart
from the others, and what the labels around a position say in the models is one part.
"""

from __future__ import annotations

from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import (
    Attributions,
    LabelInContext,
    Part,
    Scope,
    attributions,
    merged,
)
from hedgerow.inspection.explaining.sequence_explainer import SequenceExplainer, explainer_of
from hedgerow.pooling.potential import PooledModel, PoolPotential
from hedgerow.topology import Topology

AROUND = ("labels around", 0, None)  # what the models say by the labels of other positions


class SequencePoolAttributions:
    """The mean over the models of what an attribute adds to the score of a label in its context."""

    def __init__(self, potential: PoolPotential, encoded: Encoded, scope: Scope) -> None:
        self._models = [
            attributions(model.potential, model.read(encoded), _scope(model, scope, i))
            for i, model in enumerate(potential.models)
        ]

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        found = [part for model in self._models for part in model.parts(position, label, against)]
        return [part._replace(amount=part.amount / len(self._models)) for part in merged(found)]


class PositionPoolAttributions:
    """The mean over the models of the parts of the log-odds of a label."""

    def __init__(self, potential: PoolPotential, encoded: Encoded, scope: Scope) -> None:
        self._potential, self._encoded, self._scope = potential, encoded, scope
        self._explainers = dict[tuple[int, int], SequenceExplainer]()  # by model and sequence

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        starts, n = self._encoded.starts, len(self._potential.models)
        sequence, found = sequence_of(starts, position), list[Part]()
        for number in range(n):
            explainer = self._explainer(number, sequence)
            split = explainer.split(position - int(starts[sequence]), [label.label], [against.label])
            found += [*split.parts[0], Part(*AROUND, split.left + split.right)]
        return [part._replace(amount=part.amount / n) for part in merged(found)]

    def _explainer(self, number: int, sequence: int) -> SequenceExplainer:
        if (number, sequence) not in self._explainers:
            pool, model = self._potential, self._potential.models[number]
            self._explainers[number, sequence] = explainer_of(
                model.potential,
                model.read(self._encoded[sequence : sequence + 1]),
                Topology(pool.n_labels, pool.order),
                _scope(model, self._scope, number),
            )
        return self._explainers[number, sequence]


def _scope(model: PooledModel, scope: Scope, number: int) -> Scope:
    """The scope of one model, whose future features, if there are any, are its own."""
    return Scope(model.encoder(scope.encoder), owner=f"{scope.owner}model {number + 1}: ", raw=scope.raw)


@attributions.register
def _pool(potential: PoolPotential, encoded: Encoded, scope: Scope) -> Attributions:
    explained = SequencePoolAttributions if potential.pool == "sequence" else PositionPoolAttributions
    return explained(potential, encoded, scope)
