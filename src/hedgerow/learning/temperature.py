"""A temperature for scores that are no log-probabilities: what they are divided by before they are read as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData, dev_scores
from hedgerow.learning.minimise import minimise
from hedgerow.potentials.base import COLDEST, Scores
from hedgerow.potentials.linear import LinearPotential

WIDEST = 20.0  # temperatures from a twentieth to twenty times the spread of scores: dev data may be few and easy
PRECISION = 0.01  # of the temperature's logarithm


def tempered(potential: LinearPotential, training: TrainingData, held: DevData) -> tuple[LinearPotential, Record]:
    """The potential at the temperature where the held-out labels are most probable, and its held-out scores."""
    scores = potential.scores(held.sequences, training.n_threads)
    make = partial(Lattice, training.topology, held.sequences.starts, beam=training.beam, n_threads=training.n_threads)

    def at(temperature: float) -> Lattice:
        return make(**_divided(scores, temperature))

    spread = 0.0 if scores.state is None else float(scores.state.std(dtype=np.float64))
    temperature = 1.0
    if spread > 0 and _loss(at(1.0), held) != 0:
        temperature = best_temperature(at, held, spread, WIDEST)
    potential = replace(potential, temperature=temperature)
    lattice = make(**potential.scores(held.sequences, training.n_threads)._asdict())
    return potential, {**dev_scores(lattice, held, training.decode), "temperature": temperature}


def best_temperature(at: Callable[[float], Answers], held: DevData, around: float, widest: float) -> float:
    """Where the held-out labels are most probable, no further from `around` than that factor; 1 if none may be."""
    ends = np.log(np.clip([around / widest, around * widest], COLDEST, 1 / COLDEST))
    if not ends[0] < ends[1]:
        return 1.0
    log_temperature = minimise(lambda log: _loss(at(np.exp(log)), held), float(ends[0]), float(ends[1]), PRECISION)
    return float(np.clip(np.exp(log_temperature), COLDEST, 1 / COLDEST))


def _loss(lattice: Answers, held: DevData) -> float:
    """Minus the log-likelihood of the sequences without unseen labels."""
    values = log_likelihood(lattice, held.codes)
    return -float(values[values > -np.inf].sum())


def _divided(scores: Scores, temperature: float) -> dict[str, Any]:
    divisor = np.float32(temperature)
    parts = {"state": scores.state, "edge": scores.edge, "table": scores.table}
    return {name: None if part is None else part / divisor for name, part in parts.items()}
