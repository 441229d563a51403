"""The table of a race from its trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.tuning.candidates import Candidate
from hedgerow.tuning.evidence import difference, is_noise
from hedgerow.tuning.plan import Rung
from hedgerow.tuning.race import Race, Trial, ranked
from hedgerow.tuning.result import BEST, NOT_FINISHED, NOT_RUN, WITHIN_NOISE, WORSE


def table_of(
    race: Race, candidates: Sequence[Candidate], plan: Sequence[Rung], stopped: str | None
) -> list[dict[str, Any]]:
    """One row for each candidate, by its last trial; the winner first, and those without a trial last."""
    order = list(ranked(race.trials))
    best_of: dict[int, Trial] = {}
    for trial in sorted((t for t in race.trials if t.evidence is not None), key=lambda t: -t.score):
        best_of.setdefault(trial.rung, trial)
    unfinished = {candidate.key for candidate in race.unfinished}
    fits: dict[str, dict[str, float]] = {}  # a fit that two rungs share counts once
    for trial in race.trials:
        fits.setdefault(trial.candidate.key, {}).update(trial.seconds)
    rows = []
    for trial in order:
        key, best = trial.candidate.key, best_of.get(trial.rung)
        status = f"{NOT_FINISHED}: {stopped}" if key in unfinished else _status(trial, order[0], best)
        rows.append(_row(trial, best, plan[trial.rung], sum(fits[key].values()), status))
    never = [candidate for candidate in candidates if candidate.key not in fits]
    return rows + [row_without_trial(one, f"{NOT_RUN}: {stopped}") for one in never]


def row_without_trial(candidate: Candidate, status: str) -> dict[str, Any]:
    """The row of a candidate that was never run."""
    empty = dict.fromkeys(("score", "standard_error", "behind", "seconds", "rung", "folds", "share"))
    return {"setting": candidate.setting, **empty, "status": status}


def _row(trial: Trial, best: Trial | None, rung: Rung, seconds: float, status: str) -> dict[str, Any]:
    score = error = behind = None
    if trial.evidence is not None and best is not None and best.evidence is not None:
        score, error = trial.score, trial.evidence.standard_error
        behind = difference(best.evidence, trial.evidence)[0]
    return {
        "setting": trial.candidate.setting,
        "score": score,
        "standard_error": error,
        "behind": behind,
        "seconds": seconds,
        "rung": trial.rung + 1,
        "folds": rung.n_folds,
        "share": rung.share,
        "status": status,
    }


def _status(trial: Trial, winner: Trial, best: Trial | None) -> str:
    if trial.evidence is None or best is None or best.evidence is None:
        return f"failed: {trial.failure}"
    if trial is winner:
        return BEST
    noise = is_noise(best.evidence, trial.evidence)
    if trial.rung == winner.rung:
        return WITHIN_NOISE if noise else WORSE
    return "dropped, within noise" if noise else "dropped"
