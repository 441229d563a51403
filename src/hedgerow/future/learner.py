"""The learner of FutureMEMM: two levels of boosting.

The top level grows trees on the columns of the window, on gold label contexts and on the future features found so far
(dissertation, proposition 5.1). When the score of the dev data no longer improves, the lower level searches for a new
feature (discovery.py). The feature enters as a column and as a linear term, and the top level continues. If a feature
does not improve the score even then, it is dropped and training ends.

Without dev data there is a trial run on training data from which a share of the sequences was split off. It decides how
far to go. Then a second run on all sequences repeats it, with the features of the trial and the same numbers of rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.future.features import check_names
from hedgerow.future.potential import FuturePotential
from hedgerow.future.run import FutureRules, TrainingRun
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping, check_dev_data
from hedgerow.potentials.local import LocalPotential


class FutureLearner:
    """The learner of FutureMEMM; `trial` is the training data with dev data split off, or the training data itself."""

    def __init__(self, training: TrainingData, trial: TrainingData, rules: FutureRules) -> None:
        check_names(training.sequences, rules.max_future)
        if rules.decided_by is not None:
            check_dev_data(Stopping(rules.decided_by), trial.dev)
        self.training, self.rules = training, rules
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
    """A pseudo-random order of all sequences that depends on the seed and their content, not on their order in X."""
    sequences, keys = training.sequences, list[int]()
    for i, (begin, end) in enumerate(pairwise(sequences.starts.tolist())):
        digest = hashlib.blake2b(f"{seed} {training.weights[i]!r}".encode(), digest_size=8)
        digest.update(training.codes[begin:end].tobytes())
        for column in sequences.columns:
            own = column.take(slice(begin, end))
            for field in own.__match_args__:
                values = getattr(own, field)
                if isinstance(values, np.ndarray):
                    digest.update(values.tobytes())
        keys.append(int.from_bytes(digest.digest(), "big"))
    return np.argsort(training.group.concatenated(np.array(keys, dtype=np.uint64)), kind="stable")
