"""The face every estimator shares: fit, the predictions, scores, save and load."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.padded import warn_of_padding
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.imputation import Treatment
from hedgerow.encoding.missing_values import refuse_missing
from hedgerow.errors import (
    BeamWarning,
    InputError,
    ModelFileError,
    NotFittedError,
    UnseenLabelWarning,
    first_few,
)
from hedgerow.estimators.checkpoint import EVERY, Checkpoint
from hedgerow.estimators.conventions import REGISTRY, Conventions, with_parameters
from hedgerow.estimators.missing_report import missing_report, warn_of_missing_columns
from hedgerow.estimators.parameters import LARGEST, SEED, AtLeast, CountOrAll
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, best_labels, log_likelihood
from hedgerow.learning.base import DevData, Learner, Record, TrainingData
from hedgerow.model import Model

Callback = Callable[[Record], None]

MOST_THREADS = 256  # results do not depend on how many there are

log = logging.getLogger("hedgerow")


@with_parameters
class Estimator(Conventions):
    """The base class of all estimators. Subclasses declare parameters as annotated fields and implement `_learner`."""

    order: Annotated[int, AtLeast(0), "how many previous labels a label depends on"] = 1
    decode: Annotated[
        Decode, "one coherent best sequence, or at each position the label that is most probable there"
    ] = "viterbi"
    n_jobs: Annotated[
        int | None,
        CountOrAll(),
        "Number of threads; -1 or None for all processors that this process may use. Results do not depend on it.",
    ] = -1
    random_state: Annotated[
        Any,
        SEED,
        "Seed of everything that is drawn at random; None for another seed in every fit. A generator of numpy is asked "
        "for a seed by each `fit`.",
    ] = None
    verbose: Annotated[int, AtLeast(0), "1 logs a line for each record of `training_log_`"] = 0

    def fit(
        self,
        X: object,
        y: object,
        X_dev: object = None,
        y_dev: object = None,
        *,
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
        callbacks = _functions(callbacks)
        raw = Sequences(X)
        given = read_labels(y, raw)  # once, for y may be a generator
        warn_of_padding(given)
        warn_of_missing_columns(raw)
        settings = self._converted()
        earlier = getattr(self, "model_", None) if settings._continues else None
        labels = Labels.fit(given, raw) if earlier is None else earlier.labels
        encoder = Encoder.fit(raw, settings._treatment) if earlier is None else earlier.encoder
        codes = labels.codes(given, raw)
        if (codes < 0).any():
            raise InputError(
                f"label {labels.unseen(given)[0]!r} is none of the model that fit goes on from; set warm_start=False"
            )
        sequences, held = settings._encode_checked(encoder, raw, settings.get_params()), None
        if X_dev is not None:
            held_sequences = settings._encode_checked(encoder, X_dev, settings.get_params(), "X_dev")
            held = DevData(held_sequences, _codes(labels, y_dev, held_sequences))
        training = TrainingData(
            encoder, labels, sequences, codes, _weights(sample_weight, len(raw)), settings._order, held,
            settings.decode, n_threads(settings.n_jobs), settings._training_beam,
        )  # fmt: skip
        _warn_of_wide_beam(training)
        checkpoint = settings._checkpoint(training)
        earlier = (checkpoint.load() if checkpoint else None) or earlier
        report = missing_report(raw, settings._missing)
        learner = settings._learner(training, earlier)
        self._run_learner(learner, settings, training, checkpoint, callbacks, began, report)
        return self

    def _run_learner(
        self,
        learner: Learner,
        settings: Self,
        training: TrainingData,
        checkpoint: Checkpoint | None,
        callbacks: list[Callback],
        began: float,
        report: Record,
    ) -> None:
        """Lets the learner work, round by round; whatever ends it, the rounds done so far are kept.

        The first record of all also has the report.
        """
        history = learner.history
        began -= history[-1]["seconds"] if history else 0.0
        origin = checkpoint.origin if checkpoint else None

        def model() -> Model:
            potential = learner.potential
            name, given = type(self).__name__, settings._plain_params()
            return Model(training.labels, training.encoder, potential, training.order, name, given, history, origin)

        whole = False
        try:
            for record in learner:
                record["seconds"] = time.perf_counter() - began
                if not history:
                    record |= report
                history.append(record)
                if settings.verbose:
                    log.info("%s: %s", type(self).__name__, record)
                for callback in callbacks:
                    callback(record)
                if checkpoint and len(history) % EVERY == 0:
                    checkpoint.save(model())
            whole = True
        finally:
            if whole or history:
                self._set_model(model())
                if checkpoint and not whole:
                    checkpoint.save(self.model_)

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        """The loop that learns a potential; it goes on from an earlier model if there is one."""
        raise NotImplementedError

    @property
    def _order(self) -> int:
        """Of the lattice over labels."""
        return int(self._value("order"))

    @property
    def _beam(self) -> int | None:
        """Of those estimators that have one."""
        return self._value("beam") if "beam" in self._parameters else None

    @property
    def _training_beam(self) -> int | None:
        """The beam of the lattices over training data."""
        return self._beam

    @property
    def _missing(self) -> str:
        """What becomes of missing values; estimators without such a parameter sum them out."""
        return getattr(self, "missing", "summed out")

    @property
    def _treatment(self) -> Treatment | None:
        """What the encoder does about missing values."""
        return self._missing if self._missing in get_args(Treatment) else None  # type: ignore[return-value]

    @property
    def _takes_missing(self) -> bool:
        """Whether the model deals with missing values that the encoder leaves."""
        return False

    def _encode_checked(self, encoder: Encoder, X: object, made: Mapping[str, Any], data: str = "X") -> Encoded:
        """X in the terms of training; raises InputError where a value is missing and nothing deals with that.

        `made` are the parameters that the model is, or was, fitted with.
        """
        sequences = encoder.transform(Sequences(X))
        if not (encoder.fills or self._takes_missing):
            setting = f" with missing={made['missing']!r}" if "missing" in made else ""
            refuse_missing(sequences, data, f"this {type(self).__name__}{setting}")
        return sequences

    @property
    def _continues(self) -> bool:
        """Whether `fit` continues from the fitted model."""
        return bool(getattr(self, "warm_start", False))

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        """Where `fit` saves what it has so far."""
        return None

    def _set_model(self, model: Model) -> None:
        self.model_ = model
        self.classes_ = model.labels.classes
        self.training_log_ = model.history

    def predict(self, X: object, *, decode: Decode | None = None) -> list[NDArray[Any]]:
        """The labels of each sequence, as 1-D arrays; `decode` overrides the estimator's."""
        decode = self._value("decode", decode, "predict")
        sequences = self._encode(X)
        codes = self._best_labels(sequences, decode)
        return _cut(self._fitted().labels.decode(codes), sequences.starts)

    def predict_single(self, x: object) -> NDArray[Any]:
        """The labels of one sequence."""
        if isinstance(x, Sequences) and len(x) != 1:
            raise InputError(f"predict_single takes one sequence, but {len(x)} came; use predict")
        return self.predict(x if isinstance(x, Sequences) else [x])[0]

    def predict_proba(self, X: object) -> list[NDArray[np.floating[Any]]]:
        """P(label at position | sequence): for each sequence an array (positions, labels), as `classes_`."""
        return [p for answers in self._answers(self._encode(X)) for p in _cut(answers.marginals()[1], answers.starts)]

    def predict_marginals(self, X: object) -> list[list[dict[Any, float]]]:
        """The same as `predict_proba`, as a dict for each position."""
        names = self._fitted().labels.classes.tolist()
        return [[dict(zip(names, row, strict=True)) for row in p.tolist()] for p in self.predict_proba(X)]

    def predict_nbest(self, X: object, n: int = 3) -> list[list[tuple[float, NDArray[Any]]]]:
        """The n most probable label sequences with their log-probabilities, best first; fewer if there are."""
        labels = self._fitted().labels
        return [best for answers in self._answers(self._encode(X)) for best in _nbest(answers, n, labels)]

    def score(self, X: object, y: object) -> float:
        """The share of positions labelled right."""
        sequences = self._encode(X)
        codes = _codes(self._fitted().labels, y, sequences)
        return float(np.mean(self._best_labels(sequences, self._value("decode")) == codes))

    def log_likelihood(self, X: object, y: object) -> NDArray[np.float64]:
        """log P(labels | sequence) for each sequence; -inf for labels that training never saw."""
        sequences = self._encode(X)
        codes = _codes(self._fitted().labels, y, sequences)
        parts, first = [], 0
        for answers in self._answers(sequences):
            last = first + int(answers.starts[-1])
            parts.append(log_likelihood(answers, codes[first:last]))
            first = last
        return np.concatenate(parts)

    def _value(self, name: str, override: Any = None, owner: str | None = None) -> Any:
        """A parameter, or what overrides it, checked and converted."""
        parameter = self._parameters[name]
        value = getattr(self, name) if override is None else override
        parameter.check(owner or type(self).__name__, value)
        return parameter.convert(value)

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X, y) or hedgerow.load(path)")
        return model  # type: ignore[no-any-return]

    def _encode(self, X: object) -> Encoded:
        model = self._fitted()
        return self._encode_checked(model.encoder, X, model.parameters)

    def _answers(self, sequences: Encoded) -> Iterator[Answers]:
        """Inference over one block of sequences at a time, to bound memory."""
        return self._fitted().answers_by_block(sequences, beam=self._beam, n_threads=n_threads(self._value("n_jobs")))

    def _best_labels(self, sequences: Encoded, decode: Decode) -> NDArray[np.int32]:
        return np.concatenate([best_labels(answers, decode) for answers in self._answers(sequences)])

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
        fitted: Estimator = make._from_plain(model.parameters)
        fitted.check_parameters()
        if fitted._order != model.order:
            raise InputError(f"order is {fitted._order} there but {model.order} in the model")
    except (TypeError, InputError) as error:
        raise ModelFileError(f"{path} holds parameters that {model.estimator} does not take ({error})") from error
    fitted._set_model(model)
    return fitted


def _codes(labels: Labels, y: object, sequences: Encoded) -> NDArray[np.int32]:
    """Label codes, -1 for labels training never saw, which is said once."""
    given = read_labels(y, sequences)
    codes = labels.codes(given, sequences)
    if (codes < 0).any():
        unseen = labels.unseen(given)
        warnings.warn(
            f"{len(unseen)} of the given labels never occurred in training ({first_few(unseen)}): they count as wrong, "
            "and their sequences have no likelihood",
            UnseenLabelWarning,
            stacklevel=3,
        )
    return codes


def _warn_of_wide_beam(training: TrainingData) -> None:
    beam, n_nodes = training.beam, training.topology.n_nodes
    if beam is not None and beam > n_nodes:
        warnings.warn(
            f"beam is {beam}, but {len(training.labels)} labels and order {training.order} have no more than {n_nodes} "
            "nodes at a position: all are kept, and the answers are exact; set beam=None",
            BeamWarning,
            stacklevel=3,
        )


def _functions(callbacks: object) -> list[Callback]:
    functions = list(callbacks) if isinstance(callbacks, Iterable) else None
    if functions is None or not all(map(callable, functions)):
        raise InputError(f"callbacks must be a list of functions of one record, but {callbacks!r} came")
    return functions


def n_threads(n_jobs: int | None) -> int:
    """The number of threads; -1 and None stand for every processor this process may run on."""
    if n_jobs is not None and n_jobs > 0:
        return min(int(n_jobs), MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _weights(given: object, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n)
    rule = f"sample_weight must hold one number for each of the {n} sequences"
    try:
        weights = np.ma.filled(np.ma.asarray(given, dtype=np.float64), np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{rule}; what came is no array of numbers ({error})") from None
    if weights.shape != (n,):
        raise InputError(f"{rule}; its shape is {weights.shape}")
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST)))
    if wrong.size:
        raise InputError(
            f"sample_weight must be from 0 to {LARGEST:g}; the weight of sequence {wrong[0]} is {weights[wrong[0]]}"
        )
    if not weights.any():
        raise InputError("sample_weight must not be 0 for every sequence; there would be nothing to learn from")
    return weights


def _nbest(lattice: Answers, n: int, labels: Labels) -> Iterator[list[tuple[float, NDArray[Any]]]]:
    scores, paths = lattice.nbest(n)
    log_z = lattice.keeping(paths[0]).log_partition()  # a beam over sums may have lost what one over paths found
    for i, (begin, end) in enumerate(pairwise(lattice.starts.tolist())):
        there = [r for r in range(n) if scores[i, r] > -np.inf]
        yield [(float(scores[i, r] - log_z[i]), labels.decode(paths[r, begin:end])) for r in there]


def _cut(rows: NDArray[Any], starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [rows[begin:end] for begin, end in pairwise(starts.tolist())]
