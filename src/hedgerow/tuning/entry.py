"""`tune`: check the arguments, plan the race, run it, fit the winner."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.callbacks import TrialRecord, can_draw
from hedgerow.errors import InputError, StopTraining
from hedgerow.estimators.allowed_labels import check_gold, constraints_of
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.fitting import call_all, checked_callbacks
from hedgerow.estimators.parameters import python_scalar
from hedgerow.estimators.threads import n_threads
from hedgerow.estimators.value_types import PATH
from hedgerow.tuning.budget import Stop, about, seconds_of
from hedgerow.tuning.candidates import Candidate, candidates_of
from hedgerow.tuning.checks import check_training_parts, checked_jobs, checked_seed
from hedgerow.tuning.costs import fit_seconds
from hedgerow.tuning.cross_validation import make_folds
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.fits import Fits
from hedgerow.tuning.plan import Rung, make_plan, too_slow
from hedgerow.tuning.race import Race, Trial, ranked
from hedgerow.tuning.refine import checked_count, refine
from hedgerow.tuning.result import TOO_SLOW, TuningResult
from hedgerow.tuning.results_file import Results, origin_of
from hedgerow.tuning.scoring import scoring_of
from hedgerow.tuning.standings import row_without_trial, table_of
from hedgerow.tuning.traits import Traits
from hedgerow.utilities import counted, is_count

if TYPE_CHECKING:
    from hedgerow.typing import ConstraintsLike, LabelsLike, SequencesLike


def tune(
    X: SequencesLike,
    y: LabelsLike,
    *,
    estimators: Any = "auto",
    scoring: str | Callable[[Any, Any], float] | None = None,
    budget: float | str = "5m",
    constraints: ConstraintsLike | None = None,
    cv: Any = None,
    groups: Iterable[Any] | None = None,
    optuna: int = 0,
    n_jobs: int | None = -1,
    random_state: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callbacks: Iterable[Callable[[TrialRecord], Any]] = (),
    verbose: int | None = None,
    client: Any = None,
) -> TuningResult:
    """Find the best estimator and setting by a race, and fit it on all data.

    The race is successive halving. On the first rung every setting learns from a part of the data and is scored on held
    out sequences. A third of the settings, the best ones, go on to the next rung, with more data and more folds. The
    last rung has at most four settings and all folds.

    The plan of the race depends on the data, the settings and the budget, never on the clock: the same call with a seed
    gives the same table. The clock can only cut the race off. The table says so, and the best setting so far wins.
    Ctrl-C does the same.

    Parameters
    ----------
    X : list of sequences
        Read as in `fit`.
    y : list of lists of labels
        The labels of each sequence.
    estimators : "auto", list or dict, default="auto"
        "auto" chooses estimators and settings by the kind of the columns and the number of labels. A list has names of
        estimators, which stand for several settings each, or estimators, which are raced as they are. A dict has a
        space for each name or estimator: a dict with a list of values for each parameter, or a list of such dicts.
    scoring : {"accuracy", "span_f1", "log_likelihood"}, callable or None, default=None
        What to maximise; a callable gets (y_true, y_pred). None is "span_f1" if the labels mark spans (O, B-...),
        otherwise "accuracy".
    budget : float or str, default="5m"
        Time for the race: seconds, or a text such as "90s", "10m", "1h". A larger budget admits slower
        settings, or races on more data. The final fit on all data is never cut off.
    constraints : str or list of pairs, optional
        Constraints of every estimator of the race, instead of its own; see the parameter `constraints` of estimators.
    cv : int, splitter or list of (train, test), default=None
        Number of folds, a splitter of scikit-learn, or pairs of indices of sequences. None is 5, or the number of
        sequences if there are fewer.
    groups : list, optional
        One value for each sequence; sequences of the same value are never separated.
    optuna : int, default=0
        Number of further settings of the finalists that Optuna proposes: needs `hedgerow[tune]`.
    n_jobs : int or None, default=-1
        Number of fits at the same time; -1 or None for all processors. Results do not depend on it.
    random_state : int, numpy generator or None, default=None
        Seed of the folds, and of every estimator that has no seed of its own.
    checkpoint : str or path, optional
        File to which finished fits are written. The same call continues from it to the same result, with a new budget.
        It needs a random_state.
    callbacks : list of callable
        Each is called with a `TrialRecord` after every trial. One that returns True or raises `hedgerow.StopTraining`
        ends the race.
    verbose : int or None, default=None
        1 shows progress, 0 does not; None shows a bar on a terminal or in a notebook only.
    client : distributed.Client, optional
        Runs the fits of the race on the workers of this Dask cluster, one in each of their threads, instead of threads
        of this process. The data are sent to every worker once. Results are the same. The final fit is made here.

    Returns
    -------
    TuningResult
        `model` is the winner, fitted on all data; `rows`, `to_frame()` and `str()` are the table; `summary()` says
        which settings are within noise of the winner.

    Raises
    ------
    InputError
        If an argument breaks a rule, the budget ends before one setting is scored, or every setting fails.

    Examples
    --------
    >>> import hedgerow as hr
    >>> data = hr.datasets.load("pronounce", "train")
    >>> X, y = data.X[:60], [["silent" if p == "_" else "heard" for p in labels] for labels in data.y[:60]]
    >>> result = hr.tune(X, y, estimators={"HMM": {"order": [1, 2]}, "LinearCRF": {"window": [2]}}, random_state=0)
    >>> result.model
    LinearCRF(window=2, random_state=0)
    >>> len(result.rows)
    3
    """
    stop = Stop(seconds_of(budget))
    n_workers, seed = n_threads(checked_jobs(n_jobs)), _checked_seed(random_state, checkpoint)
    functions = checked_callbacks(callbacks, int(can_draw()) if verbose is None else verbose)
    n_optuna = checked_count(optuna)
    data = RaceData.read(X, y, groups)
    folds = make_folds(cv, data.groups, data.X.lengths, seed, has_groups=groups is not None)
    notes = _label_notes(check_training_parts(data, folds))
    traits = Traits.of(data)
    fixed = _fixed(constraints, data)
    entrants = candidates_of(estimators, traits, seed, fixed)
    candidates, costs, left_out = _affordable(entrants, traits, seconds_of(budget))
    plan = make_plan(costs, len(folds), seconds_of(budget))
    name, score = scoring_of(scoring, data)
    results = Results(checkpoint, origin_of(data, folds, name, seed))
    race = Race(Fits(data, folds, score), results, stop, n_workers, client)
    total = sum(rung.n_candidates for rung in plan) + n_optuna
    teller = _Teller(functions, total, plan, stop)
    call_all(functions, "begin", "tune")
    try:
        race.run(candidates, plan, teller)
        if n_optuna and not race.unfinished:
            candidates += refine(race, plan, n_optuna, seed, teller)
    finally:
        call_all(functions, "close")
    best = _winner(race, stop, costs, budget)
    everything = data.part(np.arange(len(data.X)))
    model = best.candidate.fresh(n_jobs=n_jobs).fit(data.X, everything.y)
    assert best.evidence is not None
    stopped = stop.reason if race.unfinished else None
    return TuningResult(
        model=model,
        scoring=name,
        best_score=best.score,
        standard_error=best.evidence.standard_error,
        rows=[*table_of(race, candidates, plan, stopped), *left_out],
        stopped=stopped,
        notes=[*_plan_notes(plan[best.rung]), *notes],
    )


def _affordable(
    candidates: Sequence[Candidate], traits: Traits, budget: float
) -> tuple[list[Candidate], list[float], list[dict[str, Any]]]:
    """(candidates from the quickest to the slowest, their estimated seconds, rows of those that are too slow)."""
    cost = {one.key: fit_seconds(one.estimator, traits) for one in candidates}
    ordered = sorted(candidates, key=lambda one: cost[one.key])
    slow = too_slow([cost[one.key] for one in ordered], budget)
    raced = [one for one, is_slow in zip(ordered, slow, strict=True) if not is_slow]
    left_out = [
        row_without_trial(one, f"{TOO_SLOW} {about(cost[one.key])}")
        for one, is_slow in zip(ordered, slow, strict=True)
        if is_slow
    ]
    return raced, [cost[one.key] for one in raced], left_out


class _Teller:
    """Shows each trial to the callbacks; one that returns True or raises StopTraining ends the race."""

    def __init__(self, functions: Sequence[Any], total: int, plan: Sequence[Rung], stop: Stop) -> None:
        self._functions, self._total, self._plan, self._stop = functions, total, plan, stop
        self._step = 0
        self._best: dict[int, float] = {}

    def __call__(self, trial: Trial) -> None:
        self._step += 1
        record = TrialRecord(self._fields(trial), estimator="tune", total=self._total)
        try:
            replies = [function(record) for function in self._functions]
        except StopTraining:
            replies = [True]
        if any(isinstance(reply, (bool, np.bool_)) and bool(reply) for reply in replies):
            self._stop.because("stopped by a callback")

    def _fields(self, trial: Trial) -> dict[str, Any]:
        rung = self._plan[trial.rung]
        score = None if trial.evidence is None else trial.score
        if score is not None:
            self._best[trial.rung] = max(score, self._best.get(trial.rung, score))
        return {
            "unit": "trial",
            "step": self._step,
            "setting": trial.candidate.setting,
            "score": score,
            "standard_error": None if trial.evidence is None else trial.evidence.standard_error,
            "best_score": self._best.get(trial.rung),
            "rung": trial.rung + 1,
            "folds": rung.n_folds,
            "share": rung.share,
            "failure": trial.failure,
            "seconds": self._stop.seconds,
        }


def _winner(race: Race, stop: Stop, costs: Sequence[float], budget: Any) -> Trial:
    """The best trial of the last rung that has one; raises if there is none."""
    best = next(ranked(race.trials), None)
    if best is not None and best.evidence is not None:
        return best
    if best is not None:
        raise InputError(f"every setting failed; {best.candidate.setting}: {best.failure}")
    if stop.reason == "interrupted":
        raise KeyboardInterrupt
    if stop.reason == "out of time":
        quickest = f"; the quickest fit on all data takes about {about(min(costs))}"
        raise InputError(
            f"budget must be enough to read the data and score at least one setting, but {budget!r} ended before the "
            f"first was scored{quickest if min(costs) > seconds_of(budget) else ''}; raise budget"
        )
    raise InputError("a callback ended the race before a setting was scored; let at least one trial end")


def _fixed(constraints: Any, data: RaceData) -> dict[str, Any]:
    """The parameters that all candidates share; raises InputError if the labels break the constraints."""
    if constraints is None:
        return {}
    parameter = Estimator._parameters["constraints"]
    parameter.check("tune", constraints)
    converted = parameter.convert(constraints)
    check_gold(constraints_of(converted, data.labels), data.codes, data.X.starts, data.labels, "y")
    return {"constraints": constraints}


def _checked_seed(random_state: Any, checkpoint: Any) -> int:
    if not PATH.holds(checkpoint):
        raise InputError(f"checkpoint must be {PATH.words}; it is {checkpoint!r}")
    if checkpoint is not None and not is_count(python_scalar(random_state)):
        raise InputError(f"checkpoint needs a random_state, but it is {random_state!r}; pass a seed, such as 0")
    return checked_seed(random_state)


def _plan_notes(rung: Rung) -> list[str]:
    if rung.share == 1:
        return []
    return [
        f"To keep within the budget, each fit behind this score learned from {rung.share:.0%} of its training part; "
        "a larger budget admits slower settings, or races on more data."
    ]


def _label_notes(lacking: list[Any]) -> list[str]:
    if not lacking:
        return []
    shown = ", ".join(map(str, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
    return [
        f"{counted(len(lacking), 'label')} absent from the training part of a fold, counted as wrong there: {shown}."
    ]
