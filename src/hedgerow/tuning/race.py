"""The race: the rungs of the plan one after the other, each with the best candidates of the one before."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hedgerow import errors
from hedgerow.distributed.tasks import WorkerTasks
from hedgerow.tuning.budget import Stop
from hedgerow.tuning.candidates import Candidate
from hedgerow.tuning.evidence import Evidence, pooled
from hedgerow.tuning.fits import Fits, Task, outcome_on_worker
from hedgerow.tuning.plan import Rung
from hedgerow.tuning.results_file import Outcome, Results
from hedgerow.tuning.workers import map_on_workers, ordered_map

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


class Race:
    """Runs trials; `trials` holds those that ended, and `unfinished` the candidates that a stop left without one."""

    def __init__(self, fits: Fits, results: Results, stop: Stop, n_workers: int, client: Any = None) -> None:
        self._fits, self._results, self._stop, self._n_workers = fits, results, stop, n_workers
        self._cluster = None if client is None else WorkerTasks(client, fits)
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
        self._fits.forget_parts()
        tasks = [Task(candidate, fold, rung.share) for candidate in field for fold in range(rung.n_folds)]
        n_before = len(self.trials)
        try:
            with warnings.catch_warnings():
                for category in _UNSEEN_WARNINGS:
                    warnings.simplefilter("ignore", category)
                outcomes = self._outcomes(tasks)
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

    def _outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """The outcome of each fit, in order; None for one that the stop cut short."""
        if self._cluster is None:
            yield from ordered_map(self._outcome, tasks, self._n_workers, self._stop)
            return
        known = [self._results.get(task.key) for task in tasks]
        new = [task for task, outcome in zip(tasks, known, strict=True) if outcome is None]
        computed = map_on_workers(self._cluster, outcome_on_worker, new, self._stop)
        for task, outcome in zip(tasks, known, strict=True):
            if outcome is None:
                outcome = next(computed)
                if outcome is not None:
                    self._results.add(task.key, outcome)
            yield outcome

    def _outcome(self, task: Task) -> Outcome | None:
        known = self._results.get(task.key)
        if known is not None:
            return known
        outcome = self._fits.outcome(task, self._stop.is_due)
        if outcome is not None:
            self._results.add(task.key, outcome)
        return outcome


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
