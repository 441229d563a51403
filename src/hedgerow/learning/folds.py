"""Folds of whole sequences, and splits of training data along them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, TrainingData
from hedgerow.learning.epochs import by_content


def units(training: TrainingData) -> NDArray[np.int64]:
    """The number of each sequence's group, or of the sequence itself without groups; all numbers from 0 occur.

    In a group of processes, of the sequences of all of them.
    """
    if training.all_groups is None:
        return np.arange(training.n_sequences)
    return np.unique(training.all_groups, return_inverse=True)[1]


def n_units(training: TrainingData) -> int:
    """How many groups, or sequences without groups, there are."""
    return int(units(training).max()) + 1


def draw_order(training: TrainingData, draw: np.random.Generator) -> NDArray[np.int64]:
    """A random order of all sequences that depends on their content, not on their order in X."""
    return draw.permutation(by_content(training))


def draw_folds(training: TrainingData, n_folds: int, draw: np.random.Generator) -> NDArray[np.int32]:
    """The fold of each sequence of this process: folds are of about equal size, and a group lies in one of them.

    There are fewer folds than asked for if there are fewer sequences or groups.
    """
    unit = units(training)
    in_order = list(dict.fromkeys(unit[draw_order(training, draw)].tolist()))
    folds = np.empty(len(in_order), np.int32)
    folds[in_order] = np.arange(len(in_order)) % min(n_folds, len(in_order))
    return folds[unit][training.own]


def subset(training: TrainingData, chosen: NDArray[np.bool_]) -> TrainingData:
    """The training data of the chosen sequences, without dev data. If all their weights are 0, they become 1."""
    positions = np.repeat(chosen, training.sequences.lengths)
    weights = training.weights[chosen]
    if not training.group.any(bool(weights.any())):
        weights = np.ones(len(weights))
    return replace(
        training,
        sequences=training.sequences[chosen],
        codes=training.codes[positions],
        weights=weights,
        groups=None if training.groups is None else training.groups[chosen],
        allowed=None if training.allowed is None else training.allowed[positions],
        dev=None,
    )


def held_out(training: TrainingData, share: float, drawn: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which sequences to hold out: about a share of the groups, the first of `drawn`, a permutation of all sequences.

    A group without which a label would not occur any more is not held out, nor is the last group. So nothing at all may
    be held out.
    """
    groups, n_groups = units(training), n_units(training)
    counts = np.zeros((n_groups, len(training.labels)), np.int64)
    np.add.at(counts, (np.repeat(groups[training.own], training.sequences.lengths), training.codes), 1)
    counts = training.group.sum(counts)
    left, chosen = counts.sum(axis=0), np.zeros(n_groups, np.bool_)
    wanted = min(max(1, round(share * n_groups)), n_groups - 1)
    for group in dict.fromkeys(groups[drawn].tolist()):
        if np.count_nonzero(chosen) == wanted:
            break
        rest = left - counts[group]
        if ((rest > 0) == (left > 0)).all():
            chosen[group], left = True, rest
    out: NDArray[np.bool_] = chosen[groups][training.own]
    return out


def split_off_dev(training: TrainingData, share: float, drawn: NDArray[np.integer[Any]]) -> TrainingData:
    """The training data with the sequences of `held_out` as dev data; raises InputError if there are none."""
    out = held_out(training, share, drawn)
    if not training.group.any(bool(out.any())):
        what = "sequences" if training.groups is None else "groups"
        raise InputError(
            f"early_stopping needs dev data, but no {what} can be held out: training would lose a label that only they "
            "have; pass X_dev and y_dev to fit"
        )
    return divide(training, out)


def divide(training: TrainingData, out: NDArray[np.bool_]) -> TrainingData:
    """The training data with the sequences `out` as dev data."""
    positions = np.repeat(out, training.sequences.lengths)
    dev = DevData(training.sequences[out], training.codes[positions], group=training.group)
    return replace(subset(training, ~out), dev=dev)
