"""Constrained lattices against enumeration of the allowed label sequences."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.lattice import PARTS, random_scores, starts_of
from hedgerow.constraints import Constraints, Violation
from hedgerow.errors import ImpossibleLatticeError, InputError
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.potentials.local import local_lattice
from hedgerow.topology import Topology
from oracles import constraints as oracles
from oracles import lattice as plain


@st.composite
def constrained_cases(draw):
    """(order, labels, length, scores, allowed pairs, last labels, known labels)"""
    order, k, length = draw(st.integers(0, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = random_scores(rng, draw(st.sampled_from(PARTS)), length, order, k)
    every = [(a, b) for a in (None, *range(k)) for b in range(k)]
    pairs = {pair for pair in every if rng.random() < 0.7}
    last = {y for y in range(k) if rng.random() < 0.7}
    known = np.where(rng.random(length) < 0.3, rng.integers(k, size=length), -1).astype(np.int32)
    return order, k, length, scores, pairs, last, known if draw(st.booleans()) else None


def lattice_of(order, k, length, scores, pairs, last, known, **options):
    topology = Topology(k, order).allowing(lambda a, b: (a, b) in pairs, lambda y: y in last)
    allowed = None if known is None else known_labels(known, k)
    return Lattice(topology, starts_of(length), **scores, allowed=allowed, **options)


@given(constrained_cases(), st.booleans())
def test_every_answer_is_that_of_enumeration(case, general):
    order, k, length, scores, pairs, last, known = case
    lattice = lattice_of(*case, general=general)
    expected = oracles.enumerate_allowed(length, order, k, pairs, last, known, **scores)
    if not expected["paths"]:
        for ask in (lattice.viterbi, lattice.marginals, lattice.log_partition, lambda: lattice.nbest(2)):
            with pytest.raises(ImpossibleLatticeError, match="sequence 0 has no allowed path"):
                ask()
        return
    (_, score), *_ = expected["ranked"]  # paths may tie
    assert math.isclose(expected["paths"][tuple(lattice.viterbi()[1].tolist())], score, abs_tol=1e-9)
    assert math.isclose(lattice.viterbi()[0][0], score, abs_tol=1e-9)
    assert math.isclose(lattice.log_partition()[0], expected["log_z"], abs_tol=1e-9)
    assert round(math.exp(lattice.log_path_count()[0])) == expected["count"]
    assert math.isclose(lattice.entropy()[0], expected["entropy"], abs_tol=1e-9)
    _, state, pair = lattice.pair_marginals()
    np.testing.assert_allclose(state, expected["state"], atol=1e-9)
    np.testing.assert_allclose(pair, expected["pair"], atol=1e-9)
    counts = np.zeros((Topology(k, order).n_rows, k))
    for t in range(length):
        first = Topology(k, order).first_row(min(t, order))
        counts[first : first + k ** min(t, order)] += expected["pair"][t, : k ** min(t, order)]
    np.testing.assert_allclose(lattice.summed_pairs(np.array([2.0]))[2], 2 * counts, atol=1e-9)
    found, paths = lattice.nbest(4)
    for rank, (_, score) in enumerate(expected["ranked"][:4]):
        assert math.isclose(found[0, rank], score, abs_tol=1e-9)
        assert math.isclose(expected["paths"][tuple(paths[rank].tolist())], score, abs_tol=1e-9)
    n = min(expected["count"], 4)
    assert len(np.unique(paths[:n], axis=0)) == n
    assert np.isneginf(found[0, expected["count"] :]).all()
    assert {tuple(draw) for draw in lattice.sample(20).tolist()} <= set(expected["paths"])
    _, most = oracles.most_right(expected["paths"], length, k)
    labels = lattice.most_probable_labels()
    assert tuple(labels.tolist()) in {p for p in product(range(k), repeat=length) if oracles.is_allowed(p, pairs, last)}
    assert math.isclose(expected["state"][np.arange(length), labels].sum(), most, abs_tol=1e-9)


@given(constrained_cases())
def test_scores_of_labels_that_are_forbidden_are_minus_infinity(case):
    order, k, length, scores, pairs, last, known = case
    lattice = lattice_of(*case)
    for labels in product(range(k), repeat=length):
        score = lattice.score(np.array(labels, np.int32))[0]
        if oracles.is_allowed(labels, pairs, last, known):
            assert math.isclose(score, plain.path_score(labels, order, n_labels=k, **scores), abs_tol=1e-9)
        else:
            assert score == -np.inf


@given(constrained_cases(), st.integers(0, 2**32))
def test_the_loss_augmented_path_is_allowed(case, seed):
    order, k, length, scores, pairs, last, known = case
    paths = oracles.allowed_paths(length, order, k, pairs, last, known, **scores)
    if not paths:
        return
    gold = sorted(paths)[seed % len(paths)]
    raised = {z: score + 0.7 * sum(a != b for a, b in zip(z, gold, strict=True)) for z, score in paths.items()}
    score, labels = lattice_of(*case).loss_augmented(np.array(gold, np.int32), 0.7)
    assert math.isclose(score[0], max(raised.values()), abs_tol=1e-9)
    assert math.isclose(raised[tuple(labels.tolist())], score[0], abs_tol=1e-9)


@given(constrained_cases())
def test_local_models_are_normalised_over_the_labels_that_may_follow(case):
    order, k, length, _, pairs, last, known = case
    edge = random_scores(np.random.default_rng(length), ("edge",), length, order, k)["edge"]

    def score(t, context, label):
        return edge[t, plain.number(context, k), label]

    expected = oracles.locally_normalised(score, length, order, k, pairs, last)
    if known is not None:
        expected = {path: s for path, s in expected.items() if oracles.is_allowed(path, pairs, last, known)}
    topology = Topology(k, order).allowing(lambda a, b: (a, b) in pairs, lambda y: y in last)
    allowed = None if known is None else known_labels(known, k)
    lattice = local_lattice(edge.copy(), starts_of(length), topology, allowed=allowed)
    if not expected:
        with pytest.raises(ImpossibleLatticeError):
            lattice.viterbi()
        return
    total = plain.log_sum(expected.values())
    for path, value in expected.items():
        found = lattice.score(np.array(path, np.int32))[0] - lattice.log_partition()[0]
        assert math.isclose(found, value - total, abs_tol=1e-9)
    state = plain.answers(expected, length, order, k)["state"]
    np.testing.assert_allclose(lattice.marginals()[1], state, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_fast_lane_and_threads_change_nothing(order, dtype):
    rng, k, lengths = np.random.default_rng(order), 6, [3, 1, 40, 7, 200]
    scores = random_scores(rng, ("state", "table"), sum(lengths), order, k, dtype=dtype)
    rule = (lambda a, b: b % 2 == 0 or a in (b - 1, b)), (lambda y: y != 2)
    topology, starts = Topology(k, order).allowing(*rule), starts_of(*lengths)
    one, three, general = (
        Lattice(topology, starts, **scores, **options)
        for options in ({}, {"n_threads": 3}, {"general": True, "n_threads": 2})
    )
    for a, b in zip(one.summed_pairs(), three.summed_pairs(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.viterbi()[1], general.viterbi()[1])
    for a, b in zip(one.summed_pairs(), general.summed_pairs(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 if dtype == np.float64 else 2e-3)
    np.testing.assert_array_equal(one.most_probable_labels(), three.most_probable_labels())


def test_scores_that_change_in_place_are_read_again():
    state, table = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)
    lattice = Lattice(Topology(2).allowing(lambda a, b: (a, b) != (None, 1)), starts_of(3), state=state, table=table)
    assert lattice.state is state
    assert lattice.table is table
    state[0, 1], state[1, 1], table[2, 0] = 50, 5, 5
    assert lattice.viterbi()[1].tolist() == [0, 1, 0]
    assert table[0, 1] == 0


CONSTRAINTS = Constraints(np.array([[1, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 1]], bool), np.array([1, 1, 0], bool))


@given(st.lists(st.lists(st.integers(-1, 2), min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_first_violation_is_that_of_a_loop(rows):
    expected, at = None, 0
    for row in rows:
        for t, label in enumerate(row):
            before = row[t - 1] if t else None
            if expected is None and label >= 0 and before != -1:
                allowed = CONSTRAINTS.follows[0 if before is None else before + 1, label]
                if not allowed:
                    expected = Violation(at, -1 if before is None else before, label)
            if expected is None and label == 2 and t == len(row) - 1:
                expected = Violation(at, 2, -1)
            at += 1
    codes, starts = np.array([y for row in rows for y in row], np.int32), starts_of(*map(len, rows))
    assert CONSTRAINTS.first_violation(codes, starts) == expected


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=4))
def test_labels_beside_and_between_gold(rows):
    codes, starts = np.array([y for row in rows for y in row], np.int32), starts_of(*map(len, rows))
    beside, between, at = CONSTRAINTS.beside_gold(codes, starts), CONSTRAINTS.between_gold(codes, starts), 0
    for row in rows:
        for t in range(len(row)):
            for y in range(3):
                fits = CONSTRAINTS.follows[row[t - 1] + 1 if t else 0, y]
                is_last = t == len(row) - 1
                assert beside[at, y] == (fits and (not is_last or y != 2))
                after = y != 2 if is_last else CONSTRAINTS.follows[y + 1, row[t + 1]]
                assert between[at, y] == (fits and after)
            at += 1


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_rows_of_a_table_follow_the_last_label(order):
    table, contexts = CONSTRAINTS.table(order), Topology(3, order).contexts()
    assert len(table) == len(contexts)
    for row, labels in zip(table, contexts, strict=True):
        np.testing.assert_array_equal(row, CONSTRAINTS.follows[labels[0] + 1 if labels else 0])


def test_constraints_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"arrays of bool with the shapes \(4, 3\)"):
        Constraints(np.ones((3, 3), bool), np.ones(3, bool))
    with pytest.raises(InputError, match="arrays of bool"):
        Constraints(np.ones((4, 3)), np.ones(3, bool))
    with pytest.raises(InputError, match="about the 2 labels, but they are about 3"):
        Topology(2, 1, CONSTRAINTS)
    with pytest.raises(InputError, match="'follows' and 'last' for 2 labels"):
        Constraints.from_arrays(CONSTRAINTS.to_arrays(), 2)
    assert Constraints.from_arrays({}, 2) is None


@given(st.integers(0, 2**31))
def test_possible_labels_are_those_of_some_allowed_sequence(seed):
    rng = np.random.default_rng(seed)
    constraints = Constraints(rng.random((4, 3)) < 0.4, rng.random(3) < 0.5)
    allowed = {
        label
        for length in range(1, 7)  # a label needs at most two steps from the start, and as many to the end
        for path in product(range(3), repeat=length)
        if constraints.follows[0, path[0]] and constraints.last[path[-1]]
        if all(constraints.follows[a + 1, b] for a, b in pairwise(path))
        for label in path
    }
    assert np.flatnonzero(constraints.possible()).tolist() == sorted(allowed)
