"""The fit of any estimator: check and encode the data, run the learner step by step, keep the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.callbacks import Callback, Progress, TrainingRecord
from hedgerow.constraints import Constraints
from hedgerow.data.padded import warn_of_padding
from hedgerow.data.ragged import starts_of
from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.data.sequences import Sequences, read_sequences
from hedgerow.data.value_reader import ValueReader
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import BeamWarning, InputError, StopTraining, first_few, warn_user
from hedgerow.estimators.allowed_labels import check_gold, constraints_of
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.checkpoint import EVERY, Checkpoint, check_unchanged
from hedgerow.estimators.dev_spans import span_f1_function
from hedgerow.estimators.encoded_input import check_recipe, missing_rates
from hedgerow.estimators.groups import group_codes
from hedgerow.estimators.label_codes import label_codes, read_named_labels
from hedgerow.estimators.missing_report import missing_report, warn_of_missing_columns
from hedgerow.estimators.parameters import LARGEST
from hedgerow.estimators.threads import n_threads
from hedgerow.group import ALONE, Group
from hedgerow.learning.base import DevData, Learner, Record, TrainingData
from hedgerow.learning.folds import draw_order, split_off_dev
from hedgerow.learning.seeds import fit_seeds
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.model import Model
from hedgerow.topology import Topology

# The parameter that bounds the number of steps, by what a step is.
STEPS_AT_MOST = {"round": "n_rounds", "iteration": "max_iter", "epoch": "epochs", "bit": "n_bits", "model": "_n_models"}


def checked_callbacks(callbacks: object, verbose: int) -> list[Callback]:
    """The callbacks of a fit; raises InputError unless all can be called."""
    functions = list(callbacks) if isinstance(callbacks, Iterable) else None
    if functions is None or not all(map(callable, functions)):
        raise InputError(
            f"callbacks must be a list of functions of one record, but it is {callbacks!r}; pass [function]"
        )
    for function in functions:
        if isinstance(function, type):
            name = function.__name__
            raise InputError(f"callbacks must be functions of one record; pass {name}(), not the class {name}")
    return [Progress(), *functions] if verbose else functions


def prepare(
    settings: Estimator,
    X: object,
    y: object,
    X_dev: object,
    y_dev: object,
    sample_weight: object,
    groups: object,
    earlier: Model | None,
) -> tuple[TrainingData, Record]:
    """(encoded data, fields of the first record); raises InputError if the data break a rule."""
    check_dev_pair(X_dev, y_dev)
    check_edge_columns(settings)
    raw = _read(settings, X)
    gold_labels = read_labels(y, raw)  # once, because y may be a generator
    warn_of_padding(gold_labels)
    labels = Labels.fit(gold_labels, raw) if earlier is None else earlier.labels
    if earlier is None:
        encoder = _fitted_encoder(settings, raw)
    else:
        check_continued(settings, earlier)
        encoder = earlier.encoder
    codes = labels.codes(gold_labels, raw)
    if (codes < 0).any():
        raise unknown_label(labels, gold_labels)
    constraints = constraints_of(settings.constraints, labels)
    check_gold(constraints, codes, raw.starts, labels, "y")
    training = training_data(
        settings,
        encoder=encoder,
        labels=labels,
        sequences=settings._encode_checked(encoder, raw, settings.get_params()),
        codes=codes,
        weights=checked_weights(sample_weight, len(raw), raw.n_positions),
        groups=None if groups is None else group_codes(groups, len(raw)),
        dev=None if X_dev is None else read_dev(settings, encoder, labels, X_dev, y_dev),
        constraints=constraints,
    )
    warn_of_wide_beam(training.beam, training.topology)
    report = missing_rates if isinstance(raw, Encoded) else missing_report
    return training, {"decode": training.decode, **report(raw, settings._missing)}  # type: ignore[arg-type]


def check_continued(settings: Estimator, earlier: Model) -> None:
    """Raise InputError if a fit has other features or constraints than the model from which it continues."""
    plain = settings._plain_params()
    check_unchanged({name: (earlier.parameters.get(name), plain[name]) for name in ("features", "constraints")})


def unknown_label(labels: Labels, gold: FlatLabels) -> InputError:
    """The error for a label that the model from which a fit continues does not have."""
    return InputError(
        f"label {labels.unseen(gold)[0]!r} was not among the labels of the warm-started model; set warm_start=False"
    )


def check_dev_pair(X_dev: object, y_dev: object) -> None:
    """Raise InputError if one is passed without the other."""
    if (X_dev is None) != (y_dev is None):
        passed, other = ("X_dev", "y_dev") if y_dev is None else ("y_dev", "X_dev")
        raise InputError(f"X_dev and y_dev must be passed together, but only {passed} was; pass {other} as well")


def read_dev(settings: Estimator, encoder: Encoder, labels: Labels, X_dev: object, y_dev: object) -> DevData:
    """The dev data; raises InputError if they do not fit the encoder or break the constraints."""
    encoded = settings._encode_checked(encoder, X_dev, settings.get_params(), "X_dev")
    read = read_named_labels(y_dev, encoded, "y_dev")
    gold = read.tolist()
    span_f1 = span_f1_function(labels.classes.tolist(), gold, encoded.starts)
    dev = DevData(encoded, label_codes(labels, read, encoded, "y_dev"), span_f1, gold=gold)
    check_gold(constraints_of(settings.constraints, labels), dev.codes, encoded.starts, labels, "y_dev")
    return dev


def training_data(
    settings: Estimator,
    *,
    encoder: Encoder,
    labels: Labels,
    sequences: Encoded,
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
    dev: DevData | None,
    constraints: Constraints | None,
    group: Group = ALONE,
) -> TrainingData:
    """What a learner learns from; without dev data, some sequences are split off if early stopping needs them."""
    training = TrainingData(
        encoder=encoder,
        labels=labels,
        sequences=sequences,
        codes=codes,
        weights=weights,
        groups=groups,
        order=settings._order,
        dev=dev,
        decode=settings._decoding(labels.classes.tolist(), settings.decode),
        n_threads=n_threads(settings.n_jobs),
        beam=settings._training_beam,
        constraints=constraints,
        group=group,
    )
    if dev is None and settings._validation_fraction is not None:
        return _with_random_dev_split(training, settings, settings._validation_fraction)
    return training


def _read(settings: Estimator, X: object) -> Sequences | Encoded:
    """The sequences of X; those of a corpus stay as they are."""
    if isinstance(X, Encoded):
        check_recipe(settings, X)
        return X
    raw = read_sequences(X, ValueReader(n_threads=n_threads(settings.n_jobs)))
    warn_of_missing_columns(raw)
    return raw


def _fitted_encoder(settings: Estimator, raw: Sequences | Encoded) -> Encoder:
    if isinstance(raw, Encoded):
        return raw.encoder
    return Encoder.fit(raw, settings._treatment, settings.features, n_threads(settings.n_jobs))


def _with_random_dev_split(training: TrainingData, settings: Estimator, fraction: float) -> TrainingData:
    """The training data with a share of the sequences as dev data; raises InputError if there is only one sequence."""
    if training.n_sequences < 2:
        raise InputError(
            "early_stopping needs dev data, but X has only one sequence to split; pass X_dev and y_dev to fit"
        )
    if getattr(settings, "checkpoint", None) is not None and settings.random_state is None:
        raise InputError(
            "checkpoint needs a random_state if early_stopping splits off dev data, but it is None; pass a seed"
        )
    draw = np.random.default_rng([fit_seeds(settings.random_state)[0], 3])
    return with_dev_split(training, fraction, draw_order(training, draw))


def with_dev_split(training: TrainingData, fraction: float, drawn: NDArray[np.integer[Any]]) -> TrainingData:
    """The training data with the first of the `drawn` sequences as dev data; see `split_off_dev`."""
    training = split_off_dev(training, fraction, drawn)
    dev = training.dev
    assert dev is not None
    gold = training.labels.decode(dev.group.concatenated(dev.codes)).tolist()
    starts = starts_of(dev.group.concatenated(dev.sequences.lengths))
    span_f1 = span_f1_function(training.labels.classes.tolist(), gold, starts)
    return replace(training, dev=replace(dev, span_f1=span_f1, gold=gold))


class Frame(NamedTuple):
    """What a model has besides its potential."""

    labels: Labels
    encoder: Encoder
    order: int
    constraints: Constraints | None

    @classmethod
    def of(cls, training: TrainingData) -> Frame:
        return cls(training.labels, training.encoder, training.order, training.constraints)


def run_learner(
    learner: Learner,
    settings: Estimator,
    frame: Frame,
    checkpoint: Checkpoint | None,
    callbacks: list[Callback],
    began: float,
    report: Record,
    keep: Callable[[Model], None],
) -> None:
    """Run a learner to its end, or until a callback ends it.

    `keep` gets the model of the steps done, whatever ended them. The first record of all also has the report.
    """
    training_log = learner.training_log
    began -= training_log[-1]["seconds"] if training_log else 0.0
    name, parameters = type(settings).__name__, settings._plain_params()
    origin = checkpoint.origin if checkpoint else None

    def model() -> Model:
        return Model(
            labels=frame.labels,
            encoder=frame.encoder,
            potential=learner.potential,
            order=frame.order,
            estimator=name,
            parameters=parameters,
            training_log=training_log,
            origin=origin,
            constraints=frame.constraints,
        )

    finished = False
    try:
        call_all(callbacks, "begin", name)
        for record in learner:
            record["seconds"] = time.perf_counter() - began
            if not training_log:
                record |= report
            training_log.append(record)
            total = _steps_at_most(settings, record)
            if _stops(callbacks, TrainingRecord(record, estimator=name, total=total, make_model=model)):
                break
            if checkpoint and len(training_log) % EVERY == 0:
                checkpoint.save(model())
        else:
            finished = True
    finally:
        try:
            if finished or training_log:
                learned = model()
                keep(learned)
                if checkpoint and not finished:
                    checkpoint.save(learned)
                if not finished:
                    settings._warn_if_stopped(learner)
        finally:
            call_all(callbacks, "close")


def _stops(callbacks: list[Callback], record: TrainingRecord) -> bool:
    """Show the record to all callbacks; whether one of them ends the fit."""
    try:
        replies = [callback(record) for callback in callbacks]
    except StopTraining:
        return True
    finally:
        record._expire()
    return any(isinstance(reply, (bool, np.bool_)) and bool(reply) for reply in replies)


def call_all(callbacks: list[Callback], name: str, *arguments: Any) -> None:
    """Call the method `name` of those callbacks that have it."""
    for callback in callbacks:
        method = getattr(callback, name, None)
        if callable(method):
            method(*arguments)


def _steps_at_most(settings: Estimator, record: Record) -> int | None:
    if record.get("fit") == "all":  # of TreeCRF, which has found the number of its rounds
        return int(record["n_rounds"])
    steps = getattr(settings, STEPS_AT_MOST[record["unit"]], None)
    return steps if isinstance(steps, int) else None


def check_edge_columns(settings: Estimator) -> None:
    """Raise InputError if the template has columns for two labels, and the estimator no weights for them."""
    template = settings.features
    if template is None or not template.edge_columns:
        return
    if not getattr(settings, "edge_features", False) or getattr(settings, "induce", None) is not None:
        raise InputError(
            f"{type(settings).__name__}: features has columns for weights of two labels, "
            f"{first_few(sorted(template.edge_columns))}, but these settings have no such weights; use "
            "LinearCRF(edge_features=True), or leave the columns out"
        )


def warn_of_wide_beam(beam: float | None, topology: Topology) -> None:
    """Warn if a beam keeps all label contexts."""
    if beam is not None and beam > topology.n_nodes:
        warn_user(
            f"beam is {beam}, but {topology.n_labels} labels and order {topology.order} have no more than "
            f"{topology.n_nodes} label contexts at a position: all are kept, and the results are exact; set beam=None",
            BeamWarning,
        )


def checked_weights(sample_weight: Any, n: int, n_positions: int) -> NDArray[np.float64]:
    """The weight of each of n sequences, 1 by default; raises InputError if there is not one valid weight for each.

    Weights are rounded so that every sum of weights of positions is exact, in any order.
    """
    if sample_weight is None:
        return np.ones(n)
    rule = f"sample_weight must hold one number for each of the {n} sequences"
    try:
        weights = np.ma.filled(np.ma.asarray(sample_weight, dtype=np.float64), np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{rule}; it is no array of numbers ({error})") from None
    if weights.shape != (n,):
        raise InputError(f"{rule}; its shape is {weights.shape}")
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST)))
    if wrong.size:
        raise InputError(
            f"sample_weight must be from 0 to {LARGEST:g}; the weight of sequence {wrong[0]} is {weights[wrong[0]]}"
        )
    if not weights.any():
        raise InputError(
            "sample_weight must not be 0 for every sequence, but it is: there is nothing to learn from; raise a weight"
        )
    return SumLimits(n_positions, float(weights.max())).rounded_weights(weights)
