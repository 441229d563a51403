"""One fit of a race: a candidate on a share of the training part of a fold, scored on the test part."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from hedgerow.errors import InputError
from hedgerow.tuning.candidates import Candidate
from hedgerow.tuning.cross_validation import Fold, share_of
from hedgerow.tuning.data import Part, RaceData
from hedgerow.tuning.results_file import Outcome
from hedgerow.tuning.scoring import Scoring


@dataclass(frozen=True)
class Task:
    """One fit: a candidate on a share of the training part of a fold."""

    candidate: Candidate
    fold: int
    share: float

    @property
    def key(self) -> str:
        return f"{self.candidate.key} fold {self.fold} share {self.share!r}"


@dataclass(frozen=True, eq=False)
class Fits:
    """What all fits of a race share. A worker process gets a copy, so that nothing here may depend on the clock."""

    data: RaceData
    folds: Sequence[Fold]
    scoring: Scoring

    def outcome(self, task: Task, is_due: Callable[[], bool]) -> Outcome | None:
        """What a fit comes to; None if it was told to stop before it ended."""
        began = time.perf_counter()
        train, test = self._parts_of(task)
        try:
            model = task.candidate.fresh().fit(train.X, train.y, callbacks=[lambda record: is_due()])
            evidence = None if is_due() else self.scoring(model, test)
            outcome = Outcome(time.perf_counter() - began, evidence)
        except InputError as error:
            outcome = Outcome(time.perf_counter() - began, failure=str(error))
        return None if is_due() else outcome

    def forget_parts(self) -> None:
        """Drop the parts of the data that fits so far have used."""
        self._parts.clear()

    def _parts_of(self, task: Task) -> tuple[Part, Part]:
        """(what to learn from, what to score) of a fold."""
        place = task.fold, task.share
        parts = self._parts.get(place)
        if parts is None:  # another thread may drop the parts at any time
            fold = self.folds[task.fold]
            train = share_of(fold.train, self.data.groups, self._labels, task.share)
            parts = self._parts[place] = self.data.part(train), self.data.part(fold.test)
        return parts

    @cached_property
    def _parts(self) -> dict[tuple[int, float], tuple[Part, Part]]:
        return {}

    @cached_property
    def _labels(self) -> list[set[int]]:
        return self.data.labels_of_sequences()


def outcome_on_worker(fits: Fits, task: Task, is_due: Callable[[], bool]) -> Outcome | None:
    """`Fits.outcome` for the workers of a cluster, which keep the parts of the latest share only."""
    if any(share != task.share for _, share in list(fits._parts)):
        fits.forget_parts()
    return fits.outcome(task, is_due)
