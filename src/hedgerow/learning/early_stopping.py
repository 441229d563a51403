"""Early stopping: end a fit when the dev score no longer improves, and keep the model of the best step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, Record

T = TypeVar("T")

StoppingScore = Literal["loss", "accuracy", "span_f1"]
PATIENCE = 20


@dataclass(frozen=True)
class Stopping:
    """Stop after `patience` steps without a better dev score.

    A score is better only if it gains more than `least_gain` times the first score. Of steps with equal scores the one
    with the lowest dev loss is kept, but it does not delay the end. A dev loss below `least_loss` ends the fit at once.
    Messages name the setting that `asks` for it.
    """

    by: StoppingScore
    patience: int = PATIENCE
    least_gain: float = 0.0
    least_loss: float = 0.0
    asks: str = "early_stopping"


class EarlyStopper:
    """Follows the dev score of each step; without a `stopping` rule it never stops.

    Attributes
    ----------
    best_step
        The number of the step with the best score so far, from 1; 0 before there is a score.
    """

    def __init__(self, stopping: Stopping | None, earlier: Iterable[Record] = ()) -> None:
        self._stopping = stopping
        self._best_score, self._least_gain, self._best_loss = -np.inf, 0.0, np.inf
        self.best_step = self._last_gain = self._n_steps = 0
        for record in earlier:
            self.see(record)

    def see(self, record: Record) -> None:
        """Count a step."""
        self._n_steps += 1
        score, loss = self._score(record), _dev_loss(record)
        if self._stopping is not None and self._best_score == -np.inf < score:
            self._least_gain = self._stopping.least_gain * abs(score)
        is_better = score > self._best_score + self._least_gain
        is_equal = score == self._best_score > -np.inf
        if is_better:
            self._best_score, self._last_gain = score, self._n_steps
        if is_better or (is_equal and loss < self._best_loss):
            self._best_loss, self.best_step = loss, self._n_steps

    def _score(self, record: Record) -> float:
        """The score to raise; -inf where the record has none."""
        value = None if self._stopping is None else record.get(f"dev_{self._stopping.by}")
        if self._stopping is None or value is None:
            return -np.inf
        return -float(value) if self._stopping.by == "loss" else float(value)

    @property
    def note(self) -> Record:
        """What a record says of early stopping: the best step so far; nothing without a rule."""
        return {} if self._stopping is None else {"best_step": self.best_step}

    @property
    def is_best(self) -> bool:
        """Whether the last step is the best so far."""
        return self._n_steps > 0 and self.best_step == self._n_steps

    @property
    def is_over(self) -> bool:
        """Whether there were `patience` steps since the score was last better, or nothing is left to gain."""
        rule = self._stopping
        if rule is None:
            return False
        return self._n_steps - self._last_gain >= rule.patience or self._best_loss < rule.least_loss


def _dev_loss(record: Record) -> float:
    loss = record.get("dev_loss")
    return np.inf if loss is None else float(loss)


def stop_early(
    records: Iterable[Record], stopping: Stopping | None, snapshot: Callable[[], T]
) -> Generator[Record, None, T | None]:
    """Yield records until the dev score no longer improves; return the snapshot taken at the best step.

    The records also have "best_step". Without early stopping all records are yielded and the result is None.
    """
    stopper = EarlyStopper(stopping)
    best: T | None = None
    for record in records:
        stopper.see(record)
        if stopper.is_best:
            best = snapshot()
        yield record | stopper.note
        if stopper.is_over:
            break
    return best


def check_dev_data(stopping: Stopping | None, dev: DevData | None) -> None:
    """Raises InputError if there is no dev data that early stopping can use."""
    if stopping is None:
        return
    if dev is None:
        raise InputError(f"{stopping.asks} needs dev data, but there are none; pass X_dev and y_dev to fit")
    if not dev.group.any(bool((dev.codes >= 0).any())):
        raise InputError(
            f"{stopping.asks} needs dev data with labels of y, but y_dev has no label in common with y; pass other "
            "dev data"
        )
    known = np.logical_and.reduceat(dev.codes >= 0, dev.sequences.starts[:-1])
    if stopping.by == "loss" and not dev.group.any(bool(known.any())):
        asks = 'early_stopping="loss"' if stopping.asks == "early_stopping" else stopping.asks
        raise InputError(
            f"{asks} needs a dev sequence whose labels all occur in y, but there is none; pass other dev data, or use "
            'early_stopping="accuracy"'
        )
    if stopping.by == "span_f1" and dev.span_f1 is None:
        raise InputError(
            'early_stopping="span_f1" needs labels that mark spans, such as B-NP, I-NP and O; use "accuracy"'
        )
