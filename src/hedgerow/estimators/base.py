"""The face every estimator shares: fit, the predictions, scores, save and load."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder, Labels
from hedgerow.errors import InputError, ModelFileError, NotFittedError, UnseenLabelWarning
from hedgerow.estimators.conventions import REGISTRY, Conventions, estimator
from hedgerow.estimators.parameters import AtLeast, CountOrAll, parameters
from hedgerow.lattice import Lattice
from hedgerow.model import Model
from hedgerow.potentials import Potential
from hedgerow.sequences import Sequences

Decode = Literal["viterbi", "marginal"]
Record = dict[str, Any]
Callback = Callable[[Record], None]

log = logging.getLogger("hedgerow")


@dataclass(frozen=True, eq=False)
class Training:
    """What a learner is given: encoded sequences, label codes and a weight for each sequence."""

    encoder: Encoder
    labels: Labels
    sequences: Sequences
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]

    @property
    def position_weights(self) -> NDArray[np.float64]:
        return np.repeat(self.weights, self.sequences.lengths)


@estimator
class Estimator(Conventions):
    """A labeller of sequences. Subclasses declare parameters as annotated fields and implement `_learn`."""

    order: Annotated[int, AtLeast(0), "how many previous labels a label depends on"] = 1
    decode: Annotated[
        Decode, "one coherent best sequence, or at each position the label that is most probable there"
    ] = "viterbi"
    n_jobs: Annotated[int, CountOrAll(), "threads to use; -1 for all that this process may use"] = -1
    random_state: Annotated[int | None, AtLeast(0), "seed of whatever is drawn at random"] = None
    verbose: Annotated[int, AtLeast(0), "1 logs a line for each record of `history_`"] = 0

    def fit(
        self,
        X: object,
        y: object,
        *,
        X_dev: object = None,
        y_dev: object = None,
        sample_weight: object = None,
        callbacks: Iterable[Callback] = (),
    ) -> Self:
        """Learn from sequences X and their labels y; weights are per sequence.

        Raises InputError, before any work, when the data or a parameter breaks a rule.
        """
        began = time.perf_counter()
        self.check_parameters()
        if (X_dev is None) != (y_dev is None):
            raise InputError("X_dev and y_dev belong together; one of them is missing")
        raw = Sequences(X)
        labels = Labels.fit(y, raw)
        encoder = Encoder.fit(raw)
        weights = _weights(sample_weight, len(raw))
        training = Training(encoder, labels, encoder.transform(raw), labels.codes(y, raw), weights)
        dev = None if X_dev is None else encoder.transform(Sequences(X_dev))
        if dev is not None:
            labels.codes(y_dev, dev)
        potential, record = self._learn(training)
        model = Model(labels, encoder, potential, self.order, type(self).__name__, self.get_params(), [record])
        self._adopt(model)
        if dev is not None:
            record |= self._dev_scores(dev, y_dev)
        record["seconds"] = time.perf_counter() - began
        if self.verbose:
            log.info("%s: %s", type(self).__name__, record)
        for callback in callbacks:
            callback(record)
        return self

    def _learn(self, training: Training) -> tuple[Potential, Record]:
        """The learned potential, and the record of how it went."""
        raise NotImplementedError

    def _adopt(self, model: Model) -> None:
        self.model_ = model
        self.classes_ = model.labels.classes
        self.history_ = model.history

    def _dev_scores(self, dev: Sequences, y_dev: object) -> Record:
        codes = self._codes(y_dev, dev)
        likelihood = self._log_likelihood(dev, codes)
        known = likelihood > -np.inf
        predicted = self._best(self._lattice(dev), self.decode)
        return {
            "dev_accuracy": float(np.mean(predicted == codes)),
            "dev_log_likelihood": float(likelihood[known].mean()) if known.any() else None,
        }

    def predict(self, X: object, *, decode: Decode | None = None) -> list[NDArray[Any]]:
        """The labels of each sequence, as 1-D arrays; `decode` overrides the estimator's."""
        decode = self.decode if decode is None else decode
        parameters(type(self))["decode"].check("predict", decode)
        lattice = self._lattice(self._encode(X))
        labels = self._fitted().labels.decode(self._best(lattice, decode))
        return _cut(labels, lattice.starts)

    def predict_single(self, x: object) -> NDArray[Any]:
        """The labels of one sequence."""
        return self.predict([x])[0]

    def predict_proba(self, X: object) -> list[NDArray[np.floating[Any]]]:
        """P(label at position | sequence): for each sequence an array (positions, labels), as `classes_`."""
        lattice = self._lattice(self._encode(X))
        return _cut(lattice.marginals()[1], lattice.starts)

    def predict_marginals(self, X: object) -> list[list[dict[Any, float]]]:
        """The same as `predict_proba`, as a dict for each position."""
        names = self._fitted().labels.classes.tolist()
        return [[dict(zip(names, row, strict=True)) for row in p.tolist()] for p in self.predict_proba(X)]

    def predict_nbest(self, X: object, n: int = 3) -> list[list[tuple[float, NDArray[Any]]]]:
        """The n most probable label sequences with their log-probabilities, best first; fewer if there are."""
        lattice = self._lattice(self._encode(X))
        scores, paths = lattice.nbest(n)
        log_z = lattice.log_partition()
        labels = self._fitted().labels
        return [
            [
                (float(scores[i, r] - log_z[i]), labels.decode(paths[r, begin:end]))
                for r in range(n)
                if scores[i, r] > -np.inf
            ]
            for i, (begin, end) in enumerate(zip(lattice.starts[:-1], lattice.starts[1:], strict=True))
        ]

    def score(self, X: object, y: object) -> float:
        """The share of positions labelled right."""
        sequences = self._encode(X)
        codes = self._codes(y, sequences)
        return float(np.mean(self._best(self._lattice(sequences), self.decode) == codes))

    def log_likelihood(self, X: object, y: object) -> NDArray[np.float64]:
        """log P(labels | sequence) for each sequence; -inf for labels that training never saw."""
        sequences = self._encode(X)
        return self._log_likelihood(sequences, self._codes(y, sequences))

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X, y) or hedgerow.load(path)")
        return model  # type: ignore[no-any-return]

    def _encode(self, X: object) -> Sequences:
        return self._fitted().encode(X)

    def _lattice(self, sequences: Sequences) -> Lattice:
        return self._fitted().lattice(sequences, n_threads(self.n_jobs))

    def _best(self, lattice: Lattice, decode: Decode) -> NDArray[np.int32]:
        if decode == "viterbi":
            return lattice.viterbi()[1]
        return lattice.marginals()[1].argmax(axis=1).astype(np.int32)

    def _codes(self, y: object, sequences: Sequences) -> NDArray[np.int32]:
        """Label codes, -1 for labels training never saw, which is said once."""
        labels = self._fitted().labels
        codes = labels.codes(y, sequences)
        if (codes < 0).any():
            unseen = labels.unseen(y)
            warnings.warn(
                f"{len(unseen)} of the given labels never occurred in training ({', '.join(map(repr, unseen[:5]))}"
                f"{', ...' if len(unseen) > 5 else ''}): they count as wrong, and their sequences have no likelihood",
                UnseenLabelWarning,
                stacklevel=3,
            )
        return codes

    def _log_likelihood(self, sequences: Sequences, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        lattice = self._lattice(sequences)
        known = np.logical_and.reduceat(codes >= 0, lattice.starts[:-1])
        values = lattice.score(np.maximum(codes, 0)) - lattice.log_partition()
        return np.where(known, np.minimum(values, 0.0), -np.inf)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as one file; `hedgerow.load` gives it back."""
        self._fitted().save(path)


def load(path: str | os.PathLike[str]) -> Estimator:
    """The fitted estimator that was saved; raises ModelFileError when the file is damaged, foreign or newer."""
    model = Model.load(path)
    make = REGISTRY.get(model.estimator)
    if make is None:
        raise ModelFileError(f"{path} holds a {model.estimator!r}, which this hedgerow does not have; upgrade it")
    try:
        fitted: Estimator = make(**model.parameters)
        fitted.check_parameters()
    except (TypeError, InputError) as error:
        raise ModelFileError(f"{path} holds parameters that {model.estimator} does not take ({error})") from error
    fitted._adopt(model)
    return fitted


def n_threads(n_jobs: int) -> int:
    """How many threads `n_jobs` asks for; -1 is every processor this process may run on."""
    if n_jobs > 0:
        return n_jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _weights(given: object, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n,):
        raise InputError(f"sample_weight must hold one weight for each of the {n} sequences; its shape is {weights.shape}")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InputError(
            f"sample_weight must be finite and not negative; the weight of sequence {wrong[0]} is {weights[wrong[0]]}"
        )
    if not weights.any():
        raise InputError("sample_weight must not be 0 for every sequence; there would be nothing to learn from")
    return weights


def _cut(rows: NDArray[Any], starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [rows[begin:end] for begin, end in zip(starts[:-1], starts[1:], strict=True)]

