"""The learner of FutureMEMM: two levels of boosting.

The top level grows trees on the columns of the window, on gold label contexts and on the future features found so far
(dissertation, proposition 5.1). When the dev likelihood no longer rises, the lower level searches for a new feature
(discovery.py). The feature enters as a column and as a linear term, and the top level continues. If a feature does not
raise the dev likelihood even then, it is dropped and training ends.

Without dev data a share of the training sequences is split off for a trial run, which decides how far to go. Then a
second run on all sequences repeats it, with the features of the trial and the same numbers of rounds. With very few
sequences nothing is split off, and the training likelihood decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.future.features import feature_name
from hedgerow.future.potential import FuturePotential
from hedgerow.future.run import FutureRules, TrainingRun
from hedgerow.learning.base import Record, TrainingData, split_off_dev
from hedgerow.potentials.local import LocalPotential

MIN_SPLIT = 5  # sequences; with fewer none is split off as dev data


class FutureLearner:
    """The learner of FutureMEMM."""

    def __init__(self, training: TrainingData, rules: FutureRules) -> None:
        names = {column.name for column in training.sequences.columns}
        for i in range(rules.max_future):
            if feature_name(i) in names:
                raise InputError(f"column {feature_name(i)!r} has the name of a future feature; rename the column")
        if training.dev is not None and not (training.dev.codes >= 0).any():
            raise InputError("FutureMEMM needs dev data with labels of y, but y_dev has no label in common with y")
        self.training, self.rules = training, rules
        trial = training
        if training.dev is None and len(training.sequences) >= MIN_SPLIT:
            trial = split_off_dev(training, rules.validation_fraction, content_order(training, rules.seed))
        self._run = TrainingRun(trial, rules)

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LocalPotential:
        """The potential of the run on all data once it is complete; until then that of the trial."""
        return self._run.potential

    @property
    def future_potential(self) -> FuturePotential | None:
        """The features found so far with the trees over them; None if there is no feature."""
        return self._run.future_potential

    def __iter__(self) -> Iterator[Record]:
        training, trial = self.training, self._run
        if trial.training is training:
            yield from trial.searched()
            return
        for record in trial.searched():
            yield {**record, "trial": True}
        whole = TrainingRun(training, self.rules, trial.n_records, trial.column_binnings)
        yield from whole.replayed(trial.phases)
        self._run = whole  # only now: half of a run is worse than the trial


def content_order(training: TrainingData, seed: int) -> NDArray[np.int64]:
    """A pseudo-random order of the sequences that depends on the seed and their content, not on their given order."""
    sequences, keys = training.sequences, []
    for i, (begin, end) in enumerate(pairwise(sequences.starts.tolist())):
        digest = hashlib.blake2b(f"{seed} {training.weights[i]!r}".encode(), digest_size=8)
        digest.update(training.codes[begin:end].tobytes())
        for column in sequences.columns:
            part = column.take(slice(begin, end))
            for field in part.__match_args__:
                values = getattr(part, field)
                if isinstance(values, np.ndarray):
                    digest.update(values.tobytes())
        keys.append(int.from_bytes(digest.digest(), "big"))
    return np.argsort(np.array(keys, dtype=np.uint64), kind="stable")
