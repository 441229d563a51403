"""Sums with a transition table most of whose cells are equal, against the general sweep, and models that have one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hedgerow as hr
from builders.lattice import starts_of
from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology

pytestmark = pytest.mark.kernel

LENGTHS = [1, 9, 4, 2, 17, 3, 5, 8, 6, 6, 11]


def sparse_scores(rng, k, *, n_cells=5, usual=0.0, scale=1.0, forbid=0.0, dtype=np.float64):
    """(state, table, numbers of the cells that may differ from the usual score of their label)"""
    state = (scale * rng.normal(size=(sum(LENGTHS), k))).astype(dtype)
    state[rng.random(state.shape) < forbid] = -np.inf
    table = np.zeros((k + 1, k), dtype)
    table[1:] = usual
    cells = k + np.sort(rng.choice(k * k, size=n_cells * k, replace=False))
    own = rng.random(len(cells)) < 0.8  # other listed cells have the usual score
    table.flat[cells[own]] = scale * rng.normal(size=own.sum())
    table.flat[cells[rng.random(len(cells)) < forbid]] = -np.inf
    table[0] = rng.normal(size=k)
    return state, table, cells


def by_label(counts, cells):
    """The counts of the listed cells, and the sums of the others by label."""
    others = counts[1:].copy()
    others.flat[cells - counts.shape[1]] = 0
    return counts.flat[cells], others.sum(axis=0), counts[0]


USUAL = {
    "zero": lambda k: 0.0,
    "by label": lambda k: np.linspace(-3, 3, k),
    "high": lambda k: 20.0,
    "forbidden": lambda k: np.where(np.arange(k) % 3 == 0, -np.inf, 0.0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("usual", USUAL.values(), ids=USUAL)
@pytest.mark.parametrize("k", [96, 97, 130])
@pytest.mark.parametrize("has_state", [True, False])
def test_sums_equal_those_of_the_general_sweep(dtype, usual, k, has_state):
    rng = np.random.default_rng(k)
    state, table, cells = sparse_scores(rng, k, usual=usual(k), forbid=0.1, dtype=dtype)
    state[:, :2] = 0.0  # so that there is a path
    table[0, :2] = table[1:3, :2] = 0.0
    scores = {"table": table} | ({"state": state} if has_state else {})
    weights = rng.integers(0, 3, len(LENGTHS)).astype(np.float64)
    slow = Lattice(Topology(k), starts_of(*LENGTHS), **scores, general=True)
    tolerance = 1e-9 if dtype == np.float64 else 1e-5
    chosen = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            fast = Lattice(Topology(k), starts_of(*LENGTHS), **scores, n_threads=2)
            np.testing.assert_allclose(fast.log_partition(), slow.log_partition(), rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(fast.marginals()[1], slow.marginals()[1], atol=tolerance)
            _, state_marginals, counts = fast.summed_pairs(weights, cells=cells)
            np.testing.assert_allclose(state_marginals, slow.marginals()[1], atol=tolerance)
            for ours, theirs in zip(
                by_label(counts, cells), by_label(slow.summed_pairs(weights)[2], cells), strict=True
            ):
                np.testing.assert_allclose(ours, theirs, atol=100 * tolerance)
    finally:
        _core.use_instruction_set(chosen)


def test_a_sum_that_nearly_cancels_is_taken_again():
    """All mass comes from label contexts whose steps are much worse than usual: usual cells must not hide that."""
    k = 100
    state = np.full((sum(LENGTHS), k), -60.0)
    state[:, 0] = 0.0
    table = np.zeros((k + 1, k))
    table[1, :] = -np.arange(k) / 4.0
    table[1, 0] = -25.0
    exact = Lattice(Topology(k), starts_of(*LENGTHS), state=state, table=table, general=True)
    fast = Lattice(Topology(k), starts_of(*LENGTHS), state=state, table=table)
    np.testing.assert_allclose(fast.log_partition(), exact.log_partition(), rtol=1e-12)
    np.testing.assert_allclose(fast.marginals()[1], exact.marginals()[1], rtol=1e-7, atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [30.0, 300.0])
def test_scores_of_any_size_are_safe(dtype, scale):
    rng = np.random.default_rng(5)
    state, table, cells = sparse_scores(rng, 100, scale=scale, dtype=dtype)
    slow = Lattice(Topology(100), starts_of(*LENGTHS), state=state, table=table, general=True)
    fast = Lattice(Topology(100), starts_of(*LENGTHS), state=state, table=table)
    np.testing.assert_allclose(fast.log_partition(), slow.log_partition(), rtol=1e-6)
    np.testing.assert_allclose(fast.marginals()[1], slow.marginals()[1], atol=1e-5)
    _, _, counts = fast.summed_pairs(cells=cells)
    np.testing.assert_allclose(counts.sum(axis=0), slow.summed_pairs()[2].sum(axis=0), atol=1e-4)


def test_what_a_sequence_gets_depends_on_no_other_sequence_and_no_thread():
    rng = np.random.default_rng(2)
    k = 100
    state, table, cells = sparse_scores(rng, k, dtype=np.float32)
    starts = starts_of(*LENGTHS)
    together = Lattice(Topology(k), starts, state=state, table=table, n_threads=3)
    log_z, marginals, counts = together.summed_pairs(unit=2.0**-30, cells=cells)
    alone = np.zeros_like(counts)
    for i, (first, last) in enumerate(itertools.pairwise(starts)):
        own = Lattice(Topology(k), starts_of(last - first), state=state[first:last], table=table)
        z, p, c = own.summed_pairs(unit=2.0**-30, cells=cells)
        assert z[0] == log_z[i]
        np.testing.assert_array_equal(p, marginals[first:last])
        alone += c
    np.testing.assert_array_equal(alone, counts)


def test_a_sequence_without_a_path_has_none():
    table = np.zeros((101, 100))
    state = np.zeros((5, 100))
    state[3] = -np.inf
    log_z, marginals, _ = Lattice(Topology(100), starts_of(2, 3), state=state, table=table)._batch.sum_over_paths(
        True, False
    )
    assert np.isfinite(log_z[0])
    assert log_z[1] == -np.inf
    assert not marginals[2:].any()


def chain(n, k, seed=0):
    """Each label is followed by a few others only; letters hint at labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(k))]
        while len(labels) < rng.integers(2, 12):
            labels.append(int((3 * labels[-1] + rng.integers(1, 4)) % k))
        X.append([f"w{(label + int(rng.random() < 0.2)) % k}" for label in labels])
        y.append([f"L{label:03}" for label in labels])
    return X, y


def pairs_of(y):
    return {(a, b) for labels in y for a, b in itertools.pairwise(labels)}


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("numbers", [False, True])
def test_a_fitted_model_is_the_minimum_by_the_general_sweep(solver, constrained, numbers):
    """At the minimum, expected counts less gold counts of each pair are balanced by the penalty of its weight."""
    k = 100
    X, y = chain(260, k)
    if numbers:  # then each label has a bias, too
        X = [[{"word": word, "n": float(len(word))} for word in x] for x in X]
    constraints = None
    if constrained:
        constraints = sorted(pairs_of(y)) + [(None, f"L{label:03}") for label in range(k)]
    shared = {"solver": solver, "l2": 0.5, "tol": 1e-8, "constraints": constraints}
    one, two = (hr.LinearCRF(n_jobs=n, **shared).fit(X, y) for n in (1, 2))
    for name, array in one.model_.potential.to_arrays()[1].items():
        np.testing.assert_array_equal(array, two.model_.potential.to_arrays()[1][name])
    lattice = one.model_.answers(one.model_.encode(X))
    state, edge, table = lattice.masked_scores()
    general = Lattice(Topology(k), lattice.starts, state=state, edge=edge, table=table, general=True)
    np.testing.assert_allclose(lattice.marginals()[1], general.marginals()[1], atol=1e-5)
    change = general.summed_pairs()[2]
    code = {label: i for i, label in enumerate(one.classes_)}
    for labels in y:
        for a, b in itertools.pairwise([None, *labels]):
            change[0 if a is None else 1 + code[a], code[b]] -= 1
    for a, b in pairs_of(y):
        cell = 1 + code[a], code[b]
        weight = table[cell] - table[0, cell[1]]  # the bias applies to every label context
        assert abs(change[cell] + 2 * 0.5 * weight) < 0.1


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("beam", [None, 5, 0.1])
def test_trees_without_all_transitions_score_only_pairs_of_training(order, beam):
    k = 100 if order == 1 else 12
    X, y = chain(160, k)
    settings = {"n_rounds": 5, "transitions": "table", "order": order, "beam": beam, "all_transitions": False}
    model = hr.TreeCRF(**settings, n_jobs=2, random_state=0).fit(X, y)
    table = model.model_.potential.table
    code = {label: i for i, label in enumerate(model.classes_)}
    seen = {(code[a], code[b]) for a, b in pairs_of(y)}
    cells = {(row - 1, label) for row, label in np.argwhere(table).tolist() if 1 <= row <= k}
    if order == 1:
        assert cells == seen
    else:  # rows of one label are those of second positions
        assert cells < seen
    one = hr.TreeCRF(**settings, n_jobs=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.model_.potential.table, table)


def test_trees_learn_the_same_from_listed_counts_as_from_all():
    """With every pair in training, leaving out the others leaves out nothing."""
    k = 8
    X, y = chain(60, k)
    X += [[f"w{a}", f"w{b}"] for a in range(k) for b in range(k)]
    y += [[f"L{a:03}", f"L{b:03}"] for a in range(k) for b in range(k)]
    some, every = (
        hr.TreeCRF(n_rounds=4, transitions="table", all_transitions=all_of_them, random_state=0).fit(X, y)
        for all_of_them in (False, True)
    )
    np.testing.assert_array_equal(some.model_.potential.table, every.model_.potential.table)
