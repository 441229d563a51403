"""Attributions of output codes, through their bits.

Bits in which the two code words differ decide between two labels. What such a bit adds to the log-odds is divided among
the attributes of the position in the proportions of the log-odds of the bit itself. A bit that is nearly undecided, so
that these proportions mean nothing, stays whole; so does what the labels around say about a bit.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from hedgerow.codes.cascade import Columns
from hedgerow.codes.distances import bit_terms
from hedgerow.codes.potential import CodePotential, bit_probabilities
from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, merged
from hedgerow.inspection.explaining.sequence_explainer import explainer_of
from hedgerow.topology import Topology

UNDECIDED = 0.1  # log-odds of a bit below which its parts are not told apart
MOST_FACTOR = 10.0  # by which the parts of a bit may exceed what the bit adds


class CodeAttributions:
    """Parts of the bits that tell two labels apart."""

    def __init__(self, potential: CodePotential, encoded: Encoded, scope: Scope) -> None:
        self._potential, self._scope, self._encoded = potential, scope, encoded
        self._read = list[Encoded]()  # by bit: its data
        p, columns = [], list[Columns]()
        for i, bit in enumerate(potential.bits):
            read = encoded.with_columns(chain.from_iterable(columns[j] for j in potential.cascade.read_by(i)))
            self._read.append(read)
            p.append(bit_probabilities(bit, potential.bit_order, read, 1))
            columns.append(potential.cascade.columns(i, p[i] > 0.5, encoded.starts))
        self._probabilities = np.array(p).T  # (positions, bits)

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        code = self._potential
        distance = "likelihood" if code.distance == "lattice" else code.distance
        if_zero, if_one = bit_terms(self._probabilities[position : position + 1].astype(np.float32), distance)
        words = code.code_words.astype(np.int64)
        signs = words[label.label] - words[against.label]
        found = []
        for bit in np.flatnonzero(signs).tolist():
            amount = float(signs[bit] * (if_one[0, bit] - if_zero[0, bit])) / code.temperature
            found += self._of_bit(bit, position, amount)
        return merged(found)

    def _of_bit(self, bit: int, position: int, amount: float) -> list[Part]:
        starts = self._encoded.starts
        sequence = sequence_of(starts, position)
        scope = Scope(self._potential.cascade.encoder(self._scope.encoder, bit))
        explainer = explainer_of(
            self._potential.bits[bit],
            self._read[bit][sequence : sequence + 1],
            Topology(2, self._potential.bit_order),
            scope,
        )
        split = explainer.split(position - int(starts[sequence]), [1], [0])
        whole = Part(f"bit {bit + 1}", 0, int(split.log_odds > 0), amount)
        largest = max((abs(part.amount) for part in split.parts[0]), default=0.0)
        if abs(split.log_odds) < max(UNDECIDED, largest / MOST_FACTOR) or not np.isfinite(split.log_odds):
            return [whole]
        parts = [part._replace(amount=part.amount / split.log_odds * amount) for part in split.parts[0]]
        return [*parts, whole._replace(amount=amount - sum(part.amount for part in parts))]


@attributions.register
def _code(potential: CodePotential, encoded: Encoded, scope: Scope) -> CodeAttributions:
    return CodeAttributions(potential, encoded, scope)
