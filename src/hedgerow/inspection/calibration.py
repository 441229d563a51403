"""Calibration: the temperature that makes gold labels of dev data most probable, for any fitted estimator.

P_T(labels) is proportional to exp(score(labels) / T). The log-likelihood of dev labels is concave in 1 / T, because
log Z is convex in it, so that it has one maximum.

With a beam, P_T is over the label sequences that the beam keeps at this temperature, and gold. This is so at T = 1 too,
where the scores of a MEMM add up to log-probabilities: otherwise the likelihood would jump there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.lazy import is_lazy
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ConvergenceWarning, InputError, warn_user
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.label_codes import label_codes
from hedgerow.estimators.threads import threads_to_label
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.potentials.base import MIN_TEMPERATURE, Scores
from hedgerow.search.beam_search import BeamSearch
from hedgerow.search.potential import SearchPotential
from hedgerow.utilities import finite_deviation

if TYPE_CHECKING:
    from hedgerow.typing import LabelsLike, SequencesLike

E = TypeVar("E", bound=Estimator)

MAX_KEPT_SCORES = 2**25  # 128 MB in single precision; further scores are computed again at each temperature
MAX_FACTOR = 20.0  # between the temperature and 1 or the spread of the scores: dev data may be few and easy
LEFT_OUT = "sequences with such a label are left out"
ALL_RIGHT = math.log(2)  # a lower loss of all sequences: each gold label sequence has more than half of the probability
PRECISION = 1e-3  # of the temperature's logarithm


def calibrate(model: E, X_dev: SequencesLike, y_dev: LabelsLike) -> E:
    """Fit the temperature of a model on dev data, so that its probabilities can be trusted.

    All scores of the model are divided by one number, the temperature, at which the labels of the dev data are most
    probable. A temperature above 1 makes probabilities softer, one below 1 sharper. The most probable label sequence
    stays the same, so that predictions with `decode="viterbi"` do not change, except where several label sequences are
    equally probable. The most probable label of a single position can change where it was nearly tied.

    Use sequences that the model was not fitted on. An earlier temperature of `calibrate` is replaced.

    Parameters
    ----------
    model : estimator
        A fitted estimator of any class. It is not changed.
    X_dev : list of sequences
        Read as in `fit`, and with the same columns.
    y_dev : list of lists of labels
        The gold labels. Sequences whose labels have the probability 0 at every temperature are left out: those with
        labels that training never saw, for which there is a warning, and those that the constraints forbid.

    Returns
    -------
    estimator
        A new fitted estimator of the same class. `model_.temperature` is what the scores are divided by, from 1/20 of
        the smaller to 20 times the larger of 1 and the standard deviation of the scores.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InputError
        If the data break a rule, there is no sequence, or every sequence is left out.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    >>> model = hr.StructuredPerceptron(random_state=0).fit(X, y)
    >>> calibrated = hr.calibrate(model, ["tac", "dot"], [["-", "a", "-"], ["o", "o", "-"]])
    >>> calibrated.model_.temperature < 1 == model.model_.temperature
    True
    """
    _, fitted = fitted_model(model, "calibrate")
    if is_lazy(X_dev):
        raise InputError("calibrate needs dev data in memory, but X_dev is a Dask collection; compute it first")
    encoded = model._encode_checked(fitted.encoder, X_dev, fitted.parameters, "X_dev")
    loss = _DevLoss(model, encoded, label_codes(fitted.labels, y_dev, encoded, "y_dev", LEFT_OUT))
    temperature = _most_likely(loss, *loss.bounds())
    if temperature < 1 and loss(temperature) < ALL_RIGHT:
        warn_user(
            f"the most probable labels of all {loss.n_sequences:,} dev sequences are the gold labels, and calibrate "
            f"made the model certain (temperature {temperature:.3g}): its probabilities are too sure; give more dev "
            "data, on which the model makes mistakes",
            ConvergenceWarning,
        )
    calibrated = copy(model)
    calibrated._set_model(replace(fitted, temperature=temperature))
    return calibrated


def uncalibrated(model: Estimator) -> str | None:
    """Why the probabilities of a model cannot be trusted; None if they were trained by likelihood or calibrated."""
    name = type(model).__name__
    if model._fitted().temperature != 1:
        return None
    if getattr(model, "averaging", None) == "vote":
        return f"the scores of {name} are shares of votes, not calibrated probabilities"
    if model._learns_paths and getattr(model, "temperature_", None) == 1.0:
        return f"the scores of {name} are not calibrated probabilities: it was trained without dev data"
    return None


class _DevLoss:
    """Minus the log-likelihood of gold labels at any temperature; sequences where it is infinite are left out.

    The scores are those of the potential: an earlier temperature of the model does not count.
    """

    def __init__(self, estimator: Estimator, encoded: Encoded, codes: NDArray[np.int32]) -> None:
        self._model, self._beam = estimator._fitted(), estimator._beam
        self._n_threads = threads_to_label(estimator._value("n_jobs"), encoded.n_positions)
        self._use(encoded, codes)
        finite = self._log_likelihoods(1.0) > -np.inf
        if not finite.any():
            raise InputError(
                "calibrate needs dev sequences with labels that the model can give, but each sequence of y_dev has a "
                "label that training never saw, or labels that the model excludes; use other dev data"
            )
        if not finite.all():
            self._use(encoded[np.flatnonzero(finite)], codes[np.repeat(finite, encoded.lengths)])

    def _use(self, encoded: Encoded, codes: NDArray[np.int32]) -> None:
        """Compute the scores of the first sequences, which are kept for all temperatures."""
        self._codes, self.n_sequences = codes, len(encoded)
        most = MAX_KEPT_SCORES // self._model.potential.scores_per_position(self._model.topology)
        n_kept = int(np.searchsorted(encoded.starts, most, side="right")) - 1
        self._kept = list(self._answers(encoded[:n_kept])) if n_kept else []
        self._others = encoded[n_kept:] if n_kept < len(encoded) else None

    def __call__(self, temperature: float) -> float:
        return -math.fsum(self._log_likelihoods(temperature).tolist())

    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest temperature to consider."""
        spread = max(map(_spread, self._kept or self._answers(self._first())))
        potential = self._model.potential
        if isinstance(potential, SearchPotential):
            spread = max(spread, potential.n_gram_spread / potential.temperature)
        ends = [min(1.0, spread) / MAX_FACTOR, max(1.0, spread) * MAX_FACTOR] if spread > 0 else [1.0, 1.0]
        low, high = np.clip(ends, MIN_TEMPERATURE, 1 / MIN_TEMPERATURE)
        return float(low), float(high)

    def _first(self) -> Encoded:
        assert self._others is not None
        return self._others[:1]

    def _answers(self, encoded: Encoded) -> Iterator[Answers]:
        model = self._model
        settings: dict[str, Any] = {"beam": self._beam, "n_threads": self._n_threads}
        return model.potential.answers_by_block(encoded, model.topology, **settings)

    def _log_likelihoods(self, temperature: float) -> NDArray[np.float64]:
        values, first = [], 0
        for answers in self._all_answers():
            codes = self._codes[first : first + int(answers.starts[-1])]
            values.append(log_likelihood(_divided(answers, temperature, self._n_threads), codes))
            first += len(codes)
        return np.concatenate(values)

    def _all_answers(self) -> Iterator[Answers]:
        yield from self._kept
        if self._others is not None:
            yield from self._answers(self._others)


def _divided(answers: Answers, temperature: float, n_threads: int) -> Answers:
    """The same inference with scores divided by the temperature."""
    if isinstance(answers, BeamSearch):
        return answers.at(answers.temperature * temperature)
    assert isinstance(answers, Lattice)
    scores = Scores(answers.state, answers.edge, answers.table).divided(temperature)
    return Lattice(answers.topology, answers.starts, **scores._asdict(), beam=answers.beam, n_threads=n_threads)


def _spread(answers: Answers) -> float:
    """The largest standard deviation of the finite scores of positions and of labels in their contexts."""
    if isinstance(answers, BeamSearch):
        return finite_deviation(answers.state) / answers.temperature
    assert isinstance(answers, Lattice)
    return max(map(finite_deviation, (answers.state, answers.edge, answers.table)))


def _most_likely(loss: Callable[[float], float], lowest: float, highest: float) -> float:
    """The temperature of the least loss, from the lowest to the highest."""
    from hedgerow.learning.minimise import minimise  # commands that only label import this module too

    if lowest == highest or loss(1.0) == 0:
        return 1.0  # all labellings are equally probable, or those of gold are certain
    at = cache(lambda log_temperature: loss(math.exp(log_temperature)))
    low, high = _interval(at, math.log(lowest), math.log(highest))
    return min(max(math.exp(minimise(at, low, high, PRECISION)), lowest), highest)


def _interval(function: Callable[[float], float], lowest: float, highest: float) -> tuple[float, float]:
    """An interval around the minimum of a function that first falls and then rises: steps from 0 that double."""
    for sign in (1.0, -1.0):
        before, here, step = 0.0, 0.0, 1.0
        while True:
            further = min(max(here + sign * step, lowest), highest)
            if function(further) >= function(here):
                break
            before, here, step = here, further, 2 * step
        if here != 0:
            return min(before, further), max(before, further)
    return max(-1.0, lowest), min(1.0, highest)
