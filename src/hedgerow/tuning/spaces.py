"""The settings that `estimators="auto"` and names of estimators stand for: the only place that declares them.

A space is a list of grids. A grid has a list of values for each parameter, and stands for all their combinations.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from hedgerow import templates
from hedgerow.estimators.parameters import parameters
from hedgerow.estimators.registry import REGISTRY
from hedgerow.tuning.traits import Traits

Grid: TypeAlias = dict[str, list[Any]]

# What a model reads, by kind of columns: windows of columns as they are, and templates of `hedgerow.templates`.
# Attributes in bags are usually templates that read the neighbours already.
_WINDOWS: dict[str, list[int]] = {"letters": [3, 5], "words": [1], "columns": [1, 2], "bags": [0, 1], "numbers": [1, 4]}
MOST_LABELS_FOR_HMM = 50
MOST_LABELS_FOR_MEMM = 20

# (lowest, highest) of the parameters that Optuna varies, on a logarithmic scale; integers stay integers.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "TreeCRF": {"learning_rate": (0.03, 0.3), "max_leaves": (8, 200), "min_leaf": (1, 30), "l2": (0.1, 10.0)},
    "LinearCRF": {"l1": (0.001, 2.0), "l2": (0.001, 10.0)},
    "StructuredSVM": {"C": (0.02, 10.0), "epochs": (10, 40)},
    "StructuredPerceptron": {"epochs": (5, 40), "min_freq": (1, 5)},
    "SearchTagger": {"order": (1, 5), "beam": (2, 20), "epochs": (5, 40)},
    "MEMM": {"l2": (0.01, 10.0)},
    "HMM": {"smoothing": (0.001, 1.0)},
}


def auto_estimators(traits: Traits) -> list[str]:
    """The estimators that are sensible for the data."""
    names = ["TreeCRF", "LinearCRF", "StructuredSVM", "StructuredPerceptron", "SearchTagger"]
    if traits.kind == "numbers" and traits.n_labels <= MOST_LABELS_FOR_MEMM:
        names.append("MEMM")
    one_column = traits.kind in ("letters", "words")
    if one_column and traits.n_labels <= MOST_LABELS_FOR_HMM and not traits.has_missing:
        names.append("HMM")
    return names


def space_of(name: str, traits: Traits) -> list[Grid]:
    """The space of an estimator; other estimators than those of `auto_estimators` have their defaults only."""
    inputs = _inputs(traits)
    spaces: dict[str, list[Grid]] = {
        "TreeCRF": _tree_space(traits),
        "LinearCRF": [
            inputs,
            {**inputs, "l2": [0.1]} if traits.kind == "numbers" else {**inputs, "l1": [0.1], "l2": [0.1]},
        ],
        "StructuredSVM": [{**inputs, "C": [0.5, 2.0]}],
        "StructuredPerceptron": [inputs],
        "SearchTagger": [inputs],
        "MEMM": [{"window": _windows(traits)}],
        "HMM": [{"order": [1, 2]}],
    }
    known = parameters(REGISTRY[name])
    return [grid for grid in spaces.get(name, [{}]) if known.keys() >= grid.keys()]


def _inputs(traits: Traits) -> Grid:
    """What linear models read: they need templates where there are any, because weights do not combine attributes."""
    found = _templates(traits)
    return {"features": found} if found else {"window": _windows(traits)}


def _tree_space(traits: Traits) -> list[Grid]:
    """Trees combine letters through a window themselves; words, numbers and a linear part profit from a template."""
    found, windows = _templates(traits), _windows(traits)
    derived: list[Grid] = [{"features": found[:1]}] if found and traits.kind != "letters" else []
    linear: Grid = {"features": found[:1]} if found else {"window": windows}
    return [{"window": windows}, *derived, {**linear, "linear": [True]}]


def _windows(traits: Traits) -> list[int]:
    return _WINDOWS[traits.kind] if traits.reads_windows else [0]


def _templates(traits: Traits) -> list[Any]:
    if traits.is_encoded:
        return []
    if traits.kind == "words":
        return [templates.words()]
    if traits.kind == "letters":
        return [templates.letters(3), templates.letters(5)]
    return [templates.numbers()] if traits.kind == "numbers" else []
