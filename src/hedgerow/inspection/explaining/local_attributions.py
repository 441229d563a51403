"""Attributions of locally normalised potentials: those of the scores before normalisation.

The normaliser of a position is the same for all labels. It depends on the label context, so that it is part of what the
labels before say.
"""

from __future__ import annotations

from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import Attributions, Scope, attributions
from hedgerow.potentials.local import LocalPotential


@attributions.register
def _local(potential: LocalPotential, encoded: Encoded, scope: Scope) -> Attributions:
    return attributions(potential.inner, encoded, scope)
