"""Scores of one label after another, of every kind of model that has them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.potential import CodePotential
from hedgerow.errors import AbsentPartError
from hedgerow.inspection.tree_views import transition_table
from hedgerow.model import Model
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import unnormalised
from hedgerow.potentials.table import TablePotential
from hedgerow.potentials.trees import TreePotential
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology

OUTSIDE = -1  # code of `start`, the place before a sequence, or of its end

Meaning: TypeAlias = Literal["probability", "weight", "score"]


class TransitionScores(NamedTuple):
    """Pairs of labels that follow each other, as codes, and their scores."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    scores: NDArray[np.float64]
    meaning: Meaning


def transition_scores(model: Model) -> TransitionScores:
    """The scores of all pairs; raises AbsentPartError if the model has none.

    Where the order is above 1, a table has scores for longer label contexts: the score of a pair is then the mean over
    the older labels. Linear models have weights of the pairs themselves.
    """
    potential = unnormalised(model.potential)
    if isinstance(potential, SearchPotential):
        found = _search_pairs(potential)
    elif model.order == 0 and not isinstance(potential, CodePotential):
        raise AbsentPartError(
            f"this {model.estimator} has order 0, so no label depends on the one before it; fit it with order=1"
        )
    elif isinstance(potential, LinearPotential):
        found = _linear_pairs(potential)
    elif isinstance(potential, TablePotential):
        found = _of_table(np.exp(potential.transitions), model, "probability")
    elif isinstance(potential, TreePotential) and potential is model.potential:
        found = _of_table(transition_table(model), model, "score")
    elif isinstance(potential, CodePotential) and potential.table is not None and model.order > 0:
        found = _of_table(potential.table, model, "score")
    else:
        raise AbsentPartError(
            f"this {model.estimator} has no transition scores of its own: {_reason(potential)}; fit a TreeCRF, a "
            "LinearCRF or an HMM"
        )
    if not len(found.scores):
        raise AbsentPartError(
            f"this {model.estimator} has no weights of pairs of labels; fit it with order=1 or higher"
        )
    return found


def _reason(potential: object) -> str:
    if isinstance(potential, CodePotential):
        return 'only distance="lattice" with order=1 or higher has a table of labels'
    kind = getattr(potential, "kind", "")
    if kind == "pool":
        return "each of its models has its own"
    if kind in ("trees", "future"):
        return "its trees test previous labels together with the input"
    return "many weight vectors vote for each label" if kind == "votes" else "it is not a sum of local scores"


def _of_table(table: NDArray[np.floating], model: Model, meaning: Meaning) -> TransitionScores:
    """Pairs of a table whose rows are label contexts, most recent label first; minus infinity is left out."""
    k = len(model.labels)
    rows = Topology(k, model.order).split_rows(np.asarray(table, np.float64))
    with_label = rows[-1].reshape(k, -1, k).mean(axis=1)
    scores = np.concatenate([rows[0], with_label]).ravel()  # row 0 is `start`
    there = np.flatnonzero(np.isfinite(scores))
    return TransitionScores(there // k - 1, there % k, scores[there], meaning)


def _linear_pairs(potential: LinearPotential) -> TransitionScores:
    k, cells = potential.n_grams.n_labels, potential.n_grams.cells
    pairs = (cells >= k) & (cells < k + k * k)  # row 0 is the bias, the next k rows are contexts of one label
    there = cells[pairs]
    return TransitionScores(there // k - 1, there % k, potential.n_gram_weights[pairs].astype(np.float64), "weight")


def _search_pairs(potential: SearchPotential) -> TransitionScores:
    n_grams, k = potential.n_grams, potential.n_grams.n_labels
    first = (1 << k.bit_length()) - 1  # the numbers of n-grams of one label: see search/label_ngrams.py
    numbers, labels = n_grams.cells // k, n_grams.cells % k
    pairs = (numbers >= first) & (numbers <= first + k)
    searched_before, label = numbers[pairs] - first, labels[pairs]
    searched_before = np.where(searched_before == k, OUTSIDE, searched_before)
    both = (searched_before, label) if potential.direction == "left-to-right" else (label, searched_before)
    return TransitionScores(*both, potential.n_gram_weights[pairs].astype(np.float64), "weight")


def strongest(scores: NDArray[np.float64], n: int, least: float) -> NDArray[np.int64]:
    """Places of the n scores that are farthest from 0 and at least `least` away from it, the strongest first."""
    sizes = np.abs(scores)
    there = np.flatnonzero(sizes >= least)
    if len(there) > n:
        limit = np.partition(sizes[there], len(there) - n)[len(there) - n]
        there = there[sizes[there] >= limit]
    return there[np.argsort(-sizes[there], kind="stable")][:n]
