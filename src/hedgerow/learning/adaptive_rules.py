"""What TreeCRF chooses where a parameter is "auto": rules by the size of the data, its labels and its columns.

The constants were chosen on held-out parts of the training data of the tasks in benchmarks/practice.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Situation(NamedTuple):
    """What the rules depend on."""

    n_positions: int
    n_labels: int
    reads_scores: bool  # whether trees read label statistics or the scores of a linear model
    has_missing: bool = False  # whether trees read missing values, which trees for all labels cannot


FEW_LABELS = 10  # up to here trees test previous labels; above, a table of transitions is faster and as good
MANY_LABELS = 20  # above this one tree for all labels is better, unless it would read scores label by label
FEW_POSITIONS = 50_000  # up to here a fit is cheap enough to be repeated on all sequences
SMALL_SHARE = 0.1
MAX_ROUNDS = 1000


def adapted(situation: Situation, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters that can be "auto"; values that are `given` stay."""
    n_positions, n_labels, reads_scores, has_missing = situation
    shared = given["trees"] == "shared"
    if given["trees"] == "auto":
        by_example = "example" in (given["sample_by"], given["trim_by"])
        one_value = given["category_splits"] == "one-hot"
        can_share = given["transitions"] != "trees" and one_value and not has_missing and not by_example
        shared = n_labels > MANY_LABELS and not reads_scores and can_share
    small = n_positions < FEW_POSITIONS
    chosen: dict[str, Any] = {
        "trees": "shared" if shared else "per-label",
        "transitions": "table" if n_labels > FEW_LABELS or reads_scores or shared else "trees",
        "n_rounds": MAX_ROUNDS,
        "learning_rate": 0.1 if small and not reads_scores else 0.2,
        "max_leaves": 20 if reads_scores else 300 if shared or not small else 100,
        "min_leaf": 5 if reads_scores else 1,
        "max_features": 0.5 if shared and given["trees"] == "auto" else 1.0,
        "influence_trim": 0.02 if reads_scores else 0.0,
        "validation_fraction": 0.2 if small else SMALL_SHARE,
    }
    kept = {name: value if given[name] == "auto" else given[name] for name, value in chosen.items()}
    return kept | {"refit": small}
