"""Folds of whole sequences: those of one group stay together, and folds have about the same number of positions."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import python_scalar
from hedgerow.utilities import counted, is_count

FOLDS = 5  # unless there are fewer sequences or groups
Index = NDArray[np.int64]


class Fold(NamedTuple):
    """Indices of sequences: those to learn from, in the order in which a share is chosen, and those to score."""

    train: Index
    test: Index


def make_folds(cv: Any, groups: Index, lengths: Index, seed: int, *, has_groups: bool = True) -> list[Fold]:
    """The folds that `cv` asks for: a number, a splitter of scikit-learn, or pairs of indices.

    Without groups of the caller each sequence is a group, which a splitter does not get to see. Raises InputError for
    more folds than groups, for a splitter that fails, and for pairs that are no indices of sequences.
    """
    n, n_groups = len(groups), int(groups.max()) + 1
    if n_groups < 2:
        found = f"all {n} are in one group; give more groups" if n > 1 else "there is only 1; cut it into several"
        raise InputError(f"cross-validation needs at least 2 sequences that may be separated, but {found}")
    cv = min(FOLDS, n_groups) if cv is None else python_scalar(cv)
    draw = np.random.default_rng([seed, 11])
    if is_count(cv):
        held_out = _assigned(int(cv), groups, lengths, draw.permutation(n_groups))
        pairs = [(np.flatnonzero(held_out != fold), np.flatnonzero(held_out == fold)) for fold in range(int(cv))]
    else:
        is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
        pairs = _given_pairs(_split(cv, groups, has_groups) if is_splitter else cv, groups)
    return [Fold(_shuffled(train, groups, draw), test) for train, test in pairs]


def _assigned(k: int, groups: Index, lengths: Index, order: Index) -> Index:
    """The fold of each sequence: groups from the largest to the smallest, each to the fold with fewest positions.

    Groups of one size come in random `order`; the first of several equally small folds gets the group.
    """
    n_groups = len(order)
    if k < 2 or k > n_groups:
        what = "groups" if n_groups < len(groups) else "sequences"
        cure = "pass more folds" if k < 2 else "pass fewer folds"
        raise InputError(f"cv must be from 2 to the number of {what}, which is {n_groups}; it is {k}; {cure}")
    size = np.bincount(groups, weights=lengths, minlength=n_groups).astype(np.int64)
    by_size = order[np.argsort(-size[order], kind="stable")]
    fold_of, filled = np.zeros(n_groups, np.int64), np.zeros(k, np.int64)
    for group in by_size:
        fold_of[group] = np.argmin(filled)
        filled[fold_of[group]] += size[group]
    return fold_of[groups]


def _split(splitter: Any, groups: Index, has_groups: bool) -> list[Any]:
    """The pairs of a splitter; raises InputError if it fails, with the cure if it lacks groups or labels."""
    X, y = np.zeros(len(groups)), np.zeros(len(groups), np.int64)
    found = _attempt(splitter, X, None, groups if has_groups else None)
    if not isinstance(found, Exception):
        return found
    if not isinstance(_attempt(splitter, X, None, groups), Exception):
        why, cure = "needs groups, but there are none", "pass groups, one value for each sequence"
    elif not isinstance(_attempt(splitter, X, y, groups), Exception):
        why = "needs one label for each sequence, but each has a list of labels"
        cure = "use KFold, GroupKFold with groups, or pairs (train, test) of indices"
    else:
        why, cure = f"cannot split {counted(len(groups), 'sequence')} ({found})", "use other folds"
    raise InputError(f"cv: {type(splitter).__name__} {why}; {cure}") from None


def _attempt(splitter: Any, X: Any, y: Any, groups: Any) -> list[Any] | Exception:
    """The pairs of a splitter, or why it fails."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # by splitters without groups
        try:
            return list(splitter.split(X, y, groups))
        except (TypeError, ValueError) as error:
            return error


def _given_pairs(cv: Any, groups: Index) -> list[tuple[Index, Index]]:
    rule = "cv must be a number of folds, a splitter with a method `split`, or pairs (train, test) of indices"
    try:
        checked = [tuple(_indices(part, len(groups), rule) for part in pair) for pair in cv]
    except TypeError:
        raise InputError(f"{rule}; it is {cv!r}") from None
    if not checked or any(len(pair) != 2 for pair in checked):
        raise InputError(f"{rule}; it is {cv!r}")
    for i, (train, test) in enumerate(checked):
        if np.intersect1d(groups[train], groups[test]).size:
            raise InputError(
                f"cv: fold {i} has sequences of one group in both of its parts; keep groups together"
                if np.intersect1d(train, test).size == 0
                else f"cv: fold {i} has a sequence in both of its parts; separate them"
            )
    return [(train, test) for train, test in checked]


def _indices(part: Any, n: int, rule: str) -> Index:
    array = np.asarray(part)
    if array.dtype == np.bool_ and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise InputError(f"{rule}; a part of it is {part!r}")
    if array.min() < 0 or array.max() >= n or len(np.unique(array)) < len(array):
        raise InputError(f"cv: indices must be distinct and from 0 to {n - 1}, as X has {counted(n, 'sequence')}")
    return array.astype(np.int64)


def _shuffled(train: Index, groups: Index, draw: np.random.Generator) -> Index:
    """The sequences with their groups in random order; the sequences of one group stay neighbours."""
    rank = draw.permutation(int(groups.max()) + 1)
    return train[np.argsort(rank[groups[train]], kind="stable")]


def share_of(train: Index, groups: Index, codes_of: list[set[int]], share: float) -> Index:
    """The first groups of a shuffled training part that hold at least `share` of its sequences and two labels."""
    if share >= 1:
        return np.sort(train)
    wanted = max(2, int(np.ceil(share * len(train))))
    labels: set[int] = set()
    for i, sequence in enumerate(train):
        new_group = i == 0 or groups[sequence] != groups[train[i - 1]]
        if new_group and i >= wanted and len(labels) > 1:
            return np.sort(train[:i])
        labels |= codes_of[int(sequence)]
    return np.sort(train)
