"""The candidates of a race: estimators with all their parameters."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.parameters import parameters, unknown_parameter
from hedgerow.estimators.registry import REGISTRY
from hedgerow.tuning.spaces import Grid, auto_estimators, space_of
from hedgerow.tuning.traits import Traits

_RULE = (
    'estimators must be "auto", a list of names or estimators, or a dict of such with the values of their parameters'
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """An estimator for trials, with the seed of the race and one thread.

    `setting` shows the parameters that were chosen; `key` identifies the candidate in a file of results.
    """

    estimator: Estimator
    setting: str
    key: str

    @classmethod
    def of(cls, estimator: Estimator, seed: int) -> Candidate:
        """Raises InputError if a parameter breaks its rule."""
        own = {"n_jobs": 1, "verbose": 0, "checkpoint": None, "warm_start": False}
        fixed: dict[str, Any] = {name: value for name, value in own.items() if _has(estimator, name)}
        shown = with_parameters_of(estimator, {name: estimator._parameters[name].default for name in fixed})
        if estimator.random_state is None:
            fixed["random_state"] = seed
        trial = with_parameters_of(estimator, fixed)
        trial.check_parameters()
        plain = {name: value for name, value in trial._converted()._plain_params().items() if name not in own}
        return cls(trial, repr(shown), json.dumps([type(trial).__name__, plain], sort_keys=True, default=repr))

    def fresh(self, **values: Any) -> Estimator:
        """An unfitted estimator of this setting."""
        return with_parameters_of(self.estimator, values)


def with_parameters_of(estimator: Estimator, values: Mapping[str, Any]) -> Estimator:
    """A new unfitted estimator with the parameters of another, and these values instead of its own."""
    return type(estimator)(**{**estimator.get_params(deep=False), **values})


def _has(estimator: Estimator, name: str) -> bool:
    return name in parameters(type(estimator))


def candidates_of(
    estimators: Any, traits: Traits, seed: int, fixed: Mapping[str, Any] | None = None
) -> list[Candidate]:
    """The candidates that `estimators` stands for, each once, all with the `fixed` parameters.

    Raises InputError if one is invalid.
    """
    found: dict[str, Candidate] = {}
    for estimator, space in _entries(estimators, traits):
        for grid in space:
            for values in product(*grid.values()):
                chosen = dict(zip(grid, values, strict=True)) | dict(fixed or {})
                candidate = Candidate.of(with_parameters_of(estimator, chosen), seed)
                found.setdefault(candidate.key, candidate)
    return list(found.values())


def _entries(estimators: Any, traits: Traits) -> list[tuple[Estimator, list[Grid]]]:
    if isinstance(estimators, str) and estimators == "auto":
        estimators = auto_estimators(traits)
    if isinstance(estimators, Mapping):
        entries = [(_estimator(one), _given_space(_estimator(one), space)) for one, space in estimators.items()]
    elif isinstance(estimators, Iterable) and not isinstance(estimators, str):
        entries = [(_estimator(one), space_of(one, traits) if isinstance(one, str) else [{}]) for one in estimators]
    elif isinstance(estimators, Estimator):
        entries = [(estimators, [{}])]
    else:
        cure = f"; write [{estimators!r}]" if isinstance(estimators, str) and estimators in REGISTRY else ""
        raise InputError(f"{_RULE}; it is {estimators!r}{cure}")
    if not entries:
        raise InputError(f"{_RULE}; it is empty")
    return entries


def _estimator(one: Any) -> Estimator:
    if isinstance(one, Estimator):
        return one
    if isinstance(one, str):
        if one not in REGISTRY:
            near = difflib.get_close_matches(one, REGISTRY, n=1)
            cure = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(REGISTRY))}"
            raise InputError(f"estimators: there is no estimator {one!r}; {cure}")
        estimator: Estimator = REGISTRY[one]()
        return estimator
    cure = f"; pass {one.__name__}()" if isinstance(one, type) else ""
    raise InputError(f"estimators must be names or estimators of hedgerow, but one is {type_name(one)}{cure}")


def _given_space(estimator: Estimator, space: Any) -> list[Grid]:
    name = type(estimator).__name__
    grids = [space] if isinstance(space, Mapping) else space
    if isinstance(grids, (str, bytes)) or not isinstance(grids, Iterable):
        raise InputError(f"estimators: the space of {name} must be a dict, or a list of dicts; it is {space!r}")
    checked: list[Grid] = []
    for grid in grids:
        if not isinstance(grid, Mapping):
            raise InputError(f"estimators: the space of {name} must be a dict, or a list of dicts; it is {space!r}")
        for parameter in grid:
            if not _has(estimator, parameter):
                raise InputError(unknown_parameter(name, parameter, parameters(type(estimator))))
        checked.append({parameter: _values(name, parameter, values) for parameter, values in grid.items()})
    if not checked:
        raise InputError(f"estimators: the space of {name} is empty; pass {{}} for its own parameters alone")
    return checked


def _values(owner: str, parameter: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(
            f"estimators: the space of {owner} must have a list of values for each parameter, but {parameter} has "
            f"{values!r}; write {parameter}=[{values!r}]"
        )
    listed = list(values)
    if not listed:
        raise InputError(f"estimators: the space of {owner} has no value for {parameter}; give at least one")
    return listed
