"""Optuna for the finalists: further settings near theirs, proposed by what the settings before scored."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import parameters
from hedgerow.tuning.candidates import Candidate
from hedgerow.tuning.plan import Rung
from hedgerow.tuning.race import Race, Trial
from hedgerow.tuning.spaces import RANGES
from hedgerow.utilities import is_count


def checked_count(optuna: Any) -> int:
    """The number of settings that Optuna proposes; raises InputError unless it is one, and Optuna is installed."""
    if not is_count(optuna) or optuna < 0:
        raise InputError(f"optuna must be the number of settings that Optuna proposes, at least 0; it is {optuna!r}")
    if optuna and importlib.util.find_spec("optuna") is None:
        raise InputError(f"optuna={optuna} needs Optuna, which is not installed; pip install 'hedgerow[tune]'")
    return int(optuna)


def refine(
    race: Race, plan: Sequence[Rung], n_settings: int, seed: int, tell: Callable[[Trial], None]
) -> list[Candidate]:
    """Race settings that Optuna proposes as the last rung does; returns them. The sampler is seeded."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    last = len(plan) - 1
    finalists = [t.candidate for t in race.trials if t.rung == last and t.evidence is not None]
    finalists = [one for one in finalists if type(one.estimator).__name__ in RANGES]
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    proposed: list[Candidate] = []
    for _ in range(n_settings if finalists else 0):
        trial = study.ask()
        finalist = finalists[trial.suggest_categorical("finalist", list(range(len(finalists))))]
        candidate = _near(finalist, trial, seed)
        known = [one for one in race.trials if one.rung == last and one.candidate.key == candidate.key]
        if not known:
            proposed.append(candidate)
            race.run_rung([candidate], last, plan[last], tell)
            if race.unfinished:
                break
            known = race.trials[-1:]
        if known[0].evidence is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, known[0].score)
    return proposed


def _near(finalist: Candidate, trial: Any, seed: int) -> Candidate:
    """The finalist with other values of the parameters that have a range."""
    estimator = finalist.estimator
    values: dict[str, Any] = {}
    for name, (low, high) in RANGES[type(estimator).__name__].items():
        where = f"{finalist.setting} {name}"
        if parameters(type(estimator))[name].type is int:
            values[name] = trial.suggest_int(where, int(low), int(high), log=True)
        else:
            values[name] = float(f"{trial.suggest_float(where, low, high, log=True):.3g}")
    return Candidate.of(finalist.fresh(**values), seed)
