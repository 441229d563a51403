"""Learn the columns that trees read: label statistics, and the scores of a linear model.

Trees must learn from numbers of the quality that they get in prediction. So the training sequences are divided into
folds, and the numbers of a fold are computed from the other folds. The model that is kept has seen all folds.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, Column, NumericColumn, ScoreColumn
from hedgerow.encoding import Window
from hedgerow.encoding.window import WindowSpec
from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, TrainingData
from hedgerow.learning.folds import draw_folds, n_units, subset
from hedgerow.learning.margin import MarginLearner, MarginRules
from hedgerow.learning.seeds import stream
from hedgerow.learning.temperature import with_temperature
from hedgerow.potentials.label_statistics import LabelStatistics
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.tree_columns import TreeColumns, TreeInput, log_marginals
from hedgerow.utilities import Floats32, Floats64

N_FOLDS = 5
MANY_VALUES = 50  # a column with more values is read through its statistics
MAX_LABELS = 160  # with more labels there would be too many statistics


@dataclass(frozen=True, kw_only=True)
class ColumnRules:
    """Which columns trees read besides those of the encoder."""

    window: WindowSpec
    statistics: bool  # label statistics of columns of many values
    linear: MarginRules | None  # the linear model whose scores are columns
    seed: int


class LearnedColumns(NamedTuple):
    """The columns, and the input of the trees for training and dev sequences."""

    columns: TreeColumns
    training: TreeInput
    dev: TreeInput | None


def draws_folds(training: TrainingData, rules: ColumnRules) -> bool:
    """Whether `learn_columns` divides the sequences into folds, which are drawn at random."""
    return bool(_replaced(training, rules)) or rules.linear is not None


def learn_columns(training: TrainingData, rules: ColumnRules) -> LearnedColumns | None:
    """The columns that trees read; None if they read those of the encoder as they are.

    Raises InputError if there is a linear model but only one sequence, or group, to learn it from.
    """
    # Columns are the same whatever constraints a prediction has, so they are learned and computed without any.
    training = replace(training, constraints=None)
    encoded, replaced = training.sequences, _replaced(training, rules)
    if not draws_folds(training, rules):
        return None
    if n_units(training) < 2:
        raise InputError(
            "a linear part needs at least two sequences, or groups, because each gets its scores from the others; "
            "set linear=False"
        )
    folds = draw_folds(training, N_FOLDS, stream(rules.seed, 5))
    statistics, numbers = None, list[ScoreColumn]()
    if replaced:
        statistics, numbers = LabelStatistics.fit(
            encoded,
            replaced,
            Window.of(rules.window),
            training.codes,
            len(training.labels),
            weights=_position_weights(training),
            folds=np.repeat(folds, encoded.lengths),
            n_folds=min(N_FOLDS, n_units(training)),
            n_threads=training.n_threads,
            group=training.group,
        )
    linear, scores = None, None
    if rules.linear is not None:
        linear, scores = _cross_fitted(training, rules.linear, folds)
    kept = tuple(column.name for column in encoded.columns if column.name not in replaced)
    columns = TreeColumns(kept=kept, statistics=statistics, linear=linear, topology=training.topology)
    dev = None if training.dev is None else columns.read(training.dev.sequences, training.n_threads)
    return LearnedColumns(columns, columns.joined(encoded, numbers, scores), dev)


def _replaced(training: TrainingData, rules: ColumnRules) -> list[str]:
    """The columns that are read through their statistics."""
    if not rules.statistics or len(training.labels) > MAX_LABELS or n_units(training) < 2:
        return []
    return [column.name for column in training.sequences.columns if _has_many_values(column)]


def _has_many_values(column: Column) -> bool:
    if isinstance(column, NumericColumn) or (isinstance(column, BagColumn) and column.weights is not None):
        return False
    return len(column.alphabet) > MANY_VALUES


def _position_weights(training: TrainingData) -> Floats64 | None:
    """The weights of positions, rounded so that their sums are exact; None if all are 1."""
    if (training.all_weights == 1).all():
        return None
    return np.repeat(training.limits.rounded_weights(training.weights), training.sequences.lengths)


def _cross_fitted(
    training: TrainingData, rules: MarginRules, folds: NDArray[np.int32]
) -> tuple[LinearPotential, Floats32]:
    """(the linear model of all sequences, the scores of each sequence by a model of the other folds)."""
    n_folds = int(folds.max()) + 1
    by_position = np.repeat(folds, training.sequences.lengths)
    scores = np.empty((training.sequences.n_positions, len(training.labels)), np.float32)

    def fit(fold: int) -> LinearPotential:
        chosen = folds != fold
        learner = MarginLearner(subset(training, chosen) if fold < n_folds else replace(training, dev=None), rules)
        return learner.learn_all()

    with ThreadPoolExecutor(training.n_threads) as pool:
        potentials = list(pool.map(fit, range(n_folds + 1)))
    # A margin is no probability: the first fold shows how sure a score of these models is.
    first = training.sequences[folds == 0]
    calibrated, _ = with_temperature(potentials[0], training, DevData(first, training.codes[by_position == 0]))
    for fold, potential in enumerate(potentials[:-1]):
        tempered = replace(potential, temperature=calibrated.temperature)
        own = training.sequences[folds == fold]
        scores[by_position == fold] = log_marginals(tempered, own, training.topology, training.n_threads)
    return replace(potentials[-1], temperature=calibrated.temperature), scores
