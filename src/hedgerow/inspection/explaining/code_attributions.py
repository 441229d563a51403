"""Attributions of output codes, through their bits.

Bits in which the two code words differ decide between two labels. What such a bit adds to the log-odds is divided among
the attributes of the position in the proportions of the log-odds of the bit itself. A bit that is nearly undecided, so
that these proportions mean nothing, stays whole; so does what the labels around say about a bit.

With distance="lattice" the label probabilities are those that agree best with all bits. Bits are redundant, so these
probabilities differ less than the product of the bits. What the bits add is then divided by the same number for all.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.cascade import Columns
from hedgerow.codes.coupling import label_log_probabilities
from hedgerow.codes.distances import bit_terms
from hedgerow.codes.potential import CodePotential, bit_probabilities
from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, merged
from hedgerow.inspection.explaining.sequence_explainer import SequenceExplainer, explainer_of
from hedgerow.topology import Topology

UNDECIDED = 0.1  # log-odds of a bit below which its parts are not told apart
MOST_FACTOR = 10.0  # by which parts may exceed what they add up to
TOGETHER = ("bits", 0, "together")  # a part that belongs to no single bit


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
        self._probabilities = np.array(p, np.float32).T  # (positions, bits)
        self._explainers = dict[tuple[int, int], SequenceExplainer]()  # by bit and sequence

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        words = self._potential.code_words.astype(np.int64)
        signs = words[label.label] - words[against.label]
        amounts, rest = self._amounts(position, label.label, against.label, signs)
        found = [part for bit in np.flatnonzero(signs).tolist() for part in self._of_bit(bit, position, amounts[bit])]
        return merged([*found, Part(*TOGETHER, rest)])

    def _amounts(self, position: int, label: int, against: int, signs: NDArray[np.int64]) -> tuple[list[float], float]:
        """(what each bit adds to the log-odds, what is left); `signs` are the differences of the code words."""
        code, here = self._potential, self._probabilities[position : position + 1]
        if code.distance != "lattice":
            if_zero, if_one = bit_terms(here, code.distance)
            return (signs * (if_one - if_zero)[0] / code.temperature).tolist(), 0.0
        if_zero, if_one = bit_terms(here, "likelihood")
        amounts, log_q = signs * (if_one - if_zero)[0], label_log_probabilities(here, code.code_words)[0]
        alone, together = float(amounts.sum()), float(log_q[label] - log_q[against])
        factor = together / alone if together * alone > 0 and abs(together) < MOST_FACTOR * abs(alone) else 0.0
        return (amounts * factor / code.temperature).tolist(), (together - factor * alone) / code.temperature

    def _of_bit(self, bit: int, position: int, amount: float) -> list[Part]:
        starts = self._encoded.starts
        sequence = sequence_of(starts, position)
        if (bit, sequence) not in self._explainers:
            self._explainers[bit, sequence] = self._explainer(bit, sequence)
        split = self._explainers[bit, sequence].split(position - int(starts[sequence]), [1], [0])
        whole = Part(f"bit {bit + 1}", 0, int(split.log_odds > 0), amount)
        largest = max((abs(part.amount) for part in split.parts[0]), default=0.0)
        if abs(split.log_odds) < max(UNDECIDED, largest / MOST_FACTOR) or not np.isfinite(split.log_odds):
            return [whole]
        parts = [part._replace(amount=part.amount / split.log_odds * amount) for part in split.parts[0]]
        return [*parts, whole._replace(amount=amount - sum(part.amount for part in parts))]

    def _explainer(self, bit: int, sequence: int) -> SequenceExplainer:
        code = self._potential
        encoder = code.cascade.encoder(self._scope.encoder, bit)
        return explainer_of(
            code.bits[bit],
            self._read[bit][sequence : sequence + 1],
            Topology(2, code.bit_order),
            Scope(encoder, owner=f"bit {bit + 1}: ", raw=self._scope.raw),
        )


@attributions.register
def _code(potential: CodePotential, encoded: Encoded, scope: Scope) -> CodeAttributions:
    return CodeAttributions(potential, encoded, scope)
