"""The temperature of scores that are not log-probabilities: scores are divided by it before they are used as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.group import Group
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.evaluation import NO_LIKELIHOODS, Evaluator
from hedgerow.learning.minimise import minimise
from hedgerow.potentials.base import MIN_TEMPERATURE, Scores
from hedgerow.potentials.linear import LinearPotential
from hedgerow.utilities import finite_deviation

MAX_FACTOR = 20.0  # between the temperature and the spread of the scores: dev data may be few and easy
PRECISION = 0.01  # of the temperature's logarithm


def with_temperature(
    potential: LinearPotential, training: TrainingData, dev: DevData
) -> tuple[LinearPotential, Record]:
    """(the potential with the temperature that makes the dev labels most probable, its dev scores).

    In a group all processes get the same temperature.
    """
    scores = potential.scores(dev.sequences, training.n_threads)
    settings: dict[str, Any] = {"beam": training.beam, "n_threads": training.n_threads}
    lattice = partial(Lattice, training.topology, dev.sequences.starts, **settings)
    is_empty = len(dev.sequences) == 0  # this process may have none of the dev sequences

    def answers_at(temperature: float) -> Lattice | None:
        return None if is_empty else lattice(**_divided(scores, temperature))

    own = [array for array in (scores.state, scores.edge) if array is not None]
    spread = max([finite_deviation(scores.table), *(standard_deviation(array, dev.group) for array in own)])
    temperature = 1.0
    if spread > 0 and _loss(answers_at(1.0), dev) != 0:
        temperature = best_temperature(answers_at, dev, spread, MAX_FACTOR)
    potential = replace(potential, temperature=temperature)
    answers = [] if is_empty else [lattice(**potential.scores(dev.sequences, training.n_threads)._asdict())]
    record = Evaluator(replace(training, dev=dev)).of_answers(answers)  # dev may be other data than that of the fit
    return potential, {**record, "temperature": temperature}


def standard_deviation(values: NDArray[np.float32], group: Group) -> float:
    """The standard deviation of the values of all processes, the same in each of them; 0 if there are no values."""
    n, total = group.sum(np.array([values.size, values.sum(dtype=np.float64)]))
    differences = np.subtract(values, total / max(n, 1), dtype=np.float64)
    return float(np.sqrt(group.sum(np.array([np.square(differences).sum()]))[0] / max(n, 1)))


def best_temperature(
    answers_at: Callable[[float], Answers | None], dev: DevData, centre: float, max_factor: float
) -> float:
    """The temperature that makes the dev labels most probable, between centre / max_factor and centre * max_factor.

    `answers_at` returns None if this process has no dev sequences.
    """
    bounds = np.clip([centre / max_factor, centre * max_factor], MIN_TEMPERATURE, 1 / MIN_TEMPERATURE)
    low, high = (float(bound) for bound in np.log(bounds))
    if not low < high:
        return 1.0
    log_temperature = minimise(lambda log: _loss(answers_at(np.exp(log)), dev), low, high, PRECISION)
    return float(np.clip(np.exp(log_temperature), MIN_TEMPERATURE, 1 / MIN_TEMPERATURE))


def _loss(answers: Answers | None, dev: DevData) -> float:
    """Minus the log-likelihood of the sequences without unseen labels."""
    values = dev.group.concatenated(NO_LIKELIHOODS if answers is None else log_likelihood(answers, dev.codes))
    return -float(values[values > -np.inf].sum())


def _divided(scores: Scores, temperature: float) -> dict[str, Any]:
    divisor = np.float32(temperature)
    arrays = {"state": scores.state, "edge": scores.edge, "table": scores.table}
    return {name: None if array is None else array / divisor for name, array in arrays.items()}
