"""The race: the rungs of the plan one after the other, each with the best candidates of the one before."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hedgerow import errors
from hedgerow.errors import InputError
from hedgerow.tuning.budget import Stop
from hedgerow.tuning.candidates import Candidate
from hedgerow.tuning.cross_validation import Fold, share_of
from hedgerow.tuning.data import Part, RaceData
from hedgerow.tuning.evidence import Evidence, pooled
from hedgerow.tuning.plan import Rung
from hedgerow.tuning.results_file import Outcome, Results
from hedgerow.tuning.scoring import Scoring
from hedgerow.tuning.workers import ordered_map

# Of a trial on a part of the data; the fit on all data warns.
_UNSEEN_WARNINGS = (
    errors.AbsentColumnWarning, errors.BagWarning, errors.BeamWarning, errors.CodeWarning, errors.ConvergenceWarning,
    errors.MissingColumnWarning, errors.PaddingWarning, errors.UnseenLabelWarning,
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A candidate on one rung: its fits with their seconds. `evidence` is None if a fit failed."""

    candidate: Candidate
    rung: int
    evidence: Evidence | None
    seconds: dict[str, float]
    failure: str | None = None

    @property
    def score(self) -> float:
        assert self.evidence is not None
        return self.evidence.score


@dataclass(frozen=True)
class Task:
    """One fit: a candidate on a share of the training part of a fold."""

    candidate: Candidate
    fold: int
    share: float

    @property
    def key(self) -> str:
        return f"{self.candidate.key} fold {self.fold} share {self.share!r}"


class Race:
    """Runs trials; `trials` holds those that ended, and `unfinished` the candidates that a stop left without one."""

    def __init__(
        self, data: RaceData, folds: Sequence[Fold], scoring: Scoring, results: Results, stop: Stop, n_workers: int
    ) -> None:
        self._data, self._folds, self._scoring = data, folds, scoring
        self._results, self._stop, self._n_workers = results, stop, n_workers
        self._labels = data.labels_of_sequences()
        self._parts: dict[tuple[int, float], tuple[Part, Part]] = {}
        self.trials: list[Trial] = []
        self.unfinished: list[Candidate] = []

    def run(self, candidates: Sequence[Candidate], plan: Sequence[Rung], tell: Callable[[Trial], None]) -> None:
        """Run the whole plan, unless the stop comes first. The best of a rung, and of equals the first, go on."""
        field = list(candidates)
        for number, rung in enumerate(plan):
            self.run_rung(field[: rung.n_candidates], number, rung, tell)
            if self.unfinished:
                return
            scored = [trial for trial in self.trials if trial.rung == number and trial.evidence is not None]
            field = [trial.candidate for trial in sorted(scored, key=lambda trial: -trial.score)]

    def run_rung(self, field: Sequence[Candidate], number: int, rung: Rung, tell: Callable[[Trial], None]) -> None:
        """Run each candidate on the folds of a rung, and tell of each trial as it ends."""
        self._parts.clear()
        tasks = [Task(candidate, fold, rung.share) for candidate in field for fold in range(rung.n_folds)]
        n_before = len(self.trials)
        try:
            with warnings.catch_warnings():
                for category in _UNSEEN_WARNINGS:
                    warnings.simplefilter("ignore", category)
                outcomes = ordered_map(self._outcome, tasks, self._n_workers, self._stop)
                for i in range(len(field)):
                    of_candidate = tasks[i * rung.n_folds : (i + 1) * rung.n_folds]
                    trial = _trial(of_candidate, number, list(islice(outcomes, rung.n_folds)))
                    if trial is not None:
                        self.trials.append(trial)
                        tell(trial)
        except KeyboardInterrupt:
            self._stop.because("interrupted")
        finally:
            self._results.save()
        ended = {trial.candidate.key for trial in self.trials[n_before:]}
        self.unfinished = [candidate for candidate in field if candidate.key not in ended]

    def _outcome(self, task: Task) -> Outcome:
        known = self._results.get(task.key)
        if known is not None:
            return known
        began = time.perf_counter()
        train, test = self._parts_of(task)
        try:
            model = task.candidate.fresh().fit(train.X, train.y, callbacks=[lambda record: self._stop.is_due()])
            evidence = None if self._stop.is_due() else self._scoring(model, test)
            outcome = Outcome(time.perf_counter() - began, evidence)
        except InputError as error:
            outcome = Outcome(time.perf_counter() - began, failure=str(error))
        if not self._stop.is_due():  # a fit that the stop cut short is no result
            self._results.add(task.key, outcome)
        return outcome

    def _parts_of(self, task: Task) -> tuple[Part, Part]:
        """(what to learn from, what to score) of a fold."""
        place = task.fold, task.share
        if place not in self._parts:
            fold = self._folds[task.fold]
            train = share_of(fold.train, self._data.groups, self._labels, task.share)
            self._parts[place] = self._data.part(train), self._data.part(fold.test)
        return self._parts[place]


def _trial(tasks: Sequence[Task], rung: int, outcomes: Sequence[Outcome | None]) -> Trial | None:
    """The trial of these fits; None if one of them did not end."""
    done = [outcome for outcome in outcomes if outcome is not None]
    if len(done) < len(outcomes):
        return None
    candidate = tasks[0].candidate
    seconds = {task.key: outcome.seconds for task, outcome in zip(tasks, done, strict=True)}
    failures = [outcome.failure for outcome in done if outcome.failure is not None]
    if failures:
        return Trial(candidate, rung, None, seconds, failures[0])
    return Trial(candidate, rung, pooled([o.evidence for o in done if o.evidence is not None]), seconds)


def ranked(trials: Sequence[Trial]) -> Iterator[Trial]:
    """The last trial of each candidate: those of later rungs first, then by score; failures last."""
    last = {trial.candidate.key: trial for trial in trials}

    def rank(trial: Trial) -> Any:
        return (trial.evidence is None, -trial.rung, -trial.score if trial.evidence else 0.0)

    return iter(sorted(last.values(), key=rank))
