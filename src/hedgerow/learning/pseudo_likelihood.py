"""The pseudo-likelihood: every label given its gold neighbours, sum over t of log P(y_t | all other labels, X).

Its derivative needs no sweep over the lattice (Dietterich, Ashenfelter & Bulatov 2004, section 3.4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData
from hedgerow.utilities import Floats32, Floats64


def pseudo_marginals(lattice: Lattice, training: TrainingData) -> tuple[Floats64, Floats32, Floats64 | None]:
    """(log pseudo-likelihood by sequence, the stand-ins for marginals, the stand-ins for expected counts).

    Labels that do not fit between their gold neighbours have the probability 0. Sums by row of the table are exact.
    """
    return lattice.pseudo_sums(
        training.codes, allowed_between_gold(training), training.weights, training.limits.count_unit
    )


def allowed_between_gold(training: TrainingData) -> NDArray[np.bool_] | None:
    """(positions, labels): whether a label is allowed where all other labels are gold; None if all are."""
    if training.constraints is None:
        return training.allowed
    allowed = training.constraints.between_gold(training.codes, training.sequences.starts)
    return allowed if training.allowed is None else allowed & training.allowed
