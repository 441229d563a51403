"""The training log with the names of sklearn-crfsuite's, and its rules that end training."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.callbacks import TrainingRecord
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.inference.decoding import best_labels
from hedgerow.model import Model


class LabelScore(NamedTuple):
    """Scores of one label on the dev data; the ratios are None for a label that is neither gold nor predicted."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass
class TrainingLog:
    """What `training_log_` of sklearn-crfsuite offers about a fit.

    Attributes
    ----------
    iterations : list of dict
        One for each step: "num", "loss" (summed over all sequences, penalties included), "feature_norm",
        "active_features", "time" in seconds, and "scores". With algorithm="lbfgs" also "error_norm",
        "linesearch_step" and "linesearch_trials". With dev data also "avg_precision", "avg_recall", "avg_f1",
        "item_accuracy", "instance_accuracy" and their "_float"s, and in "scores" a `LabelScore` for each label.
    last_iteration : dict or None
        The last of them.
    featgen_num_features : int
        Number of weights before training.
    featgen_seconds, training_seconds : float
        Time to read the data and to find the features, and time of all steps.
    """

    iterations: list[dict[str, Any]] = field(default_factory=list)
    featgen_num_features: int = 0
    featgen_seconds: float = 0.0
    training_seconds: float = 0.0

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        """The last of `iterations`; None if there is none."""
        return self.iterations[-1] if self.iterations else None


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Encoded dev sequences with the codes of their gold labels; -1 for a label that training never saw."""

    encoded: Encoded
    codes: NDArray[np.int32]
    labels: Labels

    def scores(self, model: Model, n_threads: int) -> dict[str, Any]:
        """CRFsuite's scores of the best paths."""
        answers = model.answers_by_block(self.encoded, n_threads=n_threads)
        predicted = np.concatenate([best_labels(some, "viterbi") for some in answers])
        right = predicted == self.codes
        sequences = np.logical_and.reduceat(right, self.encoded.starts[:-1])
        k = len(self.labels)
        counts = [np.bincount(of[of >= 0], minlength=k) for of in (predicted[right], predicted, self.codes)]
        scores = {
            label: _label_score(*numbers)
            for label, *numbers in zip(self.labels.classes.tolist(), *(c.tolist() for c in counts), strict=True)
        }
        means = [sum(getattr(score, name) or 0.0 for score in scores.values()) / k for name in LabelScore._fields[3:]]
        accuracies = {
            "item_accuracy": Fraction(int(right.sum()), len(right)),
            "instance_accuracy": Fraction(int(sequences.sum()), len(sequences)),
        }
        return {
            "scores": scores,
            **dict(zip(("avg_precision", "avg_recall", "avg_f1"), means, strict=True)),
            **accuracies,
            **{f"{name}_float": float(share) for name, share in accuracies.items()},
        }


def _label_score(match: int, model: int, ref: int) -> LabelScore:
    if not model and not ref:
        return LabelScore(match, model, ref, None, None, None)
    precision, recall = match / model if model else 0.0, match / ref if ref else 0.0
    f1 = 2 * precision * recall / (precision + recall) if match else 0.0
    return LabelScore(match, model, ref, precision, recall, f1)


@dataclass(frozen=True)
class EndRules:
    """CRFsuite's rules: the last `period` steps lowered the loss by less than the share `delta`, or the gradient is at
    most `epsilon` times the weights.
    """

    period: int
    delta: float
    epsilon: float = 0.0

    def hold(self, iterations: list[dict[str, Any]]) -> bool:
        """Whether training ends after these steps."""
        last = iterations[-1]
        if last.get("error_norm", math.inf) <= self.epsilon * max(1.0, last["feature_norm"]):
            return True
        if len(iterations) <= self.period:
            return False
        return bool(iterations[-1 - self.period]["loss"] - last["loss"] < self.delta * abs(last["loss"]))


class LogWriter:
    """A callback that fills a `TrainingLog` from the records of a fit, and ends the fit by `rules`."""

    def __init__(self, log: TrainingLog, n_sequences: int, rules: EndRules | None, dev: LabelledData | None) -> None:
        self._log, self._n_sequences, self._rules, self._dev = log, n_sequences, rules, dev

    def __call__(self, record: TrainingRecord) -> bool:
        log, model = self._log, record.model()
        potential: Any = model.potential
        weights = [potential.state_weights, potential.n_gram_weights]
        seconds = record["seconds"] - log.featgen_seconds
        entry: dict[str, Any] = {
            "num": record["step"],
            "scores": {},
            "loss": record["loss"] * self._n_sequences,
            "feature_norm": math.sqrt(sum(float(np.square(w, dtype=np.float64).sum()) for w in weights)),
            "active_features": sum(map(len, weights)),
            "time": seconds - log.training_seconds,
        }
        if "gradient_norm" in record:
            step = record["step_size"]
            entry |= {"error_norm": record["gradient_norm"], "linesearch_step": step}
            # Each trial halves the step, which begins with 1 except in the first iteration.
            entry["linesearch_trials"] = 1 if record["step"] == 1 else 1 - round(math.log2(step))
        if self._dev is not None:
            entry |= self._dev.scores(model, n_threads=1)
            record["dev_accuracy"] = entry["item_accuracy_float"]  # for the callbacks that show progress
        log.training_seconds = seconds
        log.iterations.append(entry)
        return self._rules is not None and self._rules.hold(log.iterations)
