"""Calibration of a code: the weight of label transitions and the temperature of scores.

With distance="lattice" the transition table is `weight` * log P(label | context) / P(label), counted in training: what
the label context adds to label frequencies, which the bits have learned already. Dev data choose the weight by accuracy
and then the temperature by likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.potential import CodePotential
from hedgerow.inference.decoding import best_labels
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.counting import transition_probabilities
from hedgerow.learning.hmm_counts import TransitionCounts
from hedgerow.learning.temperature import best_temperature

TRANSITION_SMOOTHING = 0.1  # pseudo-count of each transition, as in an HMM
# For bits that read their neighbours, and so model transitions to some degree; chosen on dev data of three data sets.
DEFAULT_TRANSITION_WEIGHT = 0.4
TRANSITION_WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # the weights among which dev data choose
MAX_TEMPERATURE_FACTOR = 30.0  # a fitted temperature is at most this many times larger or smaller than the natural one


def transition_log_ratios(training: TrainingData) -> NDArray[np.float64]:
    """log P(label | context) / P(label), in the rows of a transition table."""
    probabilities = transition_probabilities(TransitionCounts.of(training), TRANSITION_SMOOTHING)
    frequencies = transition_probabilities(TransitionCounts.of(replace(training, order=0)), TRANSITION_SMOOTHING)
    ratios: NDArray[np.float64] = np.log(probabilities / frequencies)
    return ratios


@dataclass(frozen=True, eq=False)
class Calibration:
    """The temperature of the scores (None: the natural one), and the transitions with their weight if there are any."""

    log_ratios: NDArray[np.float64] | None
    transition_weight: float
    temperature: float | None = None

    @property
    def table(self) -> NDArray[np.float32] | None:
        """The weighted transition table."""
        return None if self.log_ratios is None else (self.transition_weight * self.log_ratios).astype(np.float32)

    @property
    def record(self) -> Record:
        """Fields of the training log about the calibration."""
        record: Record = {"temperature": self.temperature}
        return record if self.log_ratios is None else {**record, "transition_weight": self.transition_weight}

    def fitted(self, potential: CodePotential, natural: float, training: TrainingData, dev: DevData) -> Calibration:
        """The calibration that suits the dev data; the natural temperature if they have no known label."""
        if not (dev.codes >= 0).any():
            return replace(self, temperature=natural)
        scores = replace(potential, temperature=1.0).scores(dev.sequences, training.n_threads).state
        assert scores is not None
        lattice = partial(Lattice, training.topology, dev.sequences.starts, n_threads=training.n_threads)
        chosen = self
        if self.log_ratios is not None:

            def accuracy(weight: float) -> float:
                table = replace(self, transition_weight=weight).table
                return float(np.mean(best_labels(lattice(state=scores, table=table), training.decode) == dev.codes))

            best = max(TRANSITION_WEIGHTS, key=lambda one: (accuracy(one), -abs(one - self.transition_weight)))
            chosen = replace(self, transition_weight=best)
        table = chosen.table
        temperature = best_temperature(
            lambda t: lattice(state=scores / np.float32(t), table=table), dev, natural, MAX_TEMPERATURE_FACTOR
        )
        return replace(chosen, temperature=temperature)
