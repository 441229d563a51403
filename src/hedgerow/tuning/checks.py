"""Checks of arguments that `tune` and `cross_val_predict` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import CountOrAll, python_scalar
from hedgerow.estimators.value_types import SEED
from hedgerow.tuning.cross_validation import Fold
from hedgerow.tuning.data import RaceData
from hedgerow.utilities import is_count


def checked_jobs(n_jobs: Any) -> int | None:
    """The number of jobs; raises InputError if it is none."""
    n_jobs = python_scalar(n_jobs)
    if n_jobs is not None and not (is_count(n_jobs) and CountOrAll().holds(n_jobs)):
        raise InputError(f"n_jobs must be an integer {CountOrAll()}; it is {n_jobs!r}")
    return None if n_jobs is None else int(n_jobs)


def checked_seed(random_state: Any) -> int:
    """The seed, drawn if it is None or a generator; raises InputError if it is no seed."""
    value = python_scalar(random_state)
    if not SEED.holds(value):
        raise InputError(f"random_state must be {SEED.words}; it is {random_state!r}")
    seed = SEED.convert(value)
    return int(np.random.default_rng().integers(2**31)) if seed is None else int(seed)


def check_training_parts(data: RaceData, folds: Sequence[Fold]) -> list[Any]:
    """The labels that the training part of some fold lacks; raises InputError if one has a single label."""
    of_sequence = data.labels_of_sequences()
    lacking: set[int] = set()
    for number, fold in enumerate(folds):
        there = set().union(*(of_sequence[i] for i in fold.train))
        if len(there) < 2:
            raise InputError(
                f"cv: the training part of fold {number} must hold at least 2 distinct labels, but it holds only "
                f"{data.labels.classes[list(there)].tolist()}; use other folds"
            )
        lacking |= set().union(*(of_sequence[i] for i in fold.test)) - there
    names: list[Any] = data.labels.classes[sorted(lacking)].tolist()
    return names
