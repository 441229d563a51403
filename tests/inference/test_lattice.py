"""Lattices against enumeration of all paths, and the fast lane against the general sweep."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.lattice import PARTS, random_scores, small_cases, starts_of
from hedgerow import _core
from hedgerow.errors import ImpossibleLatticeError, InputError
from hedgerow.inference.lattice import Lattice, fixed_labels
from hedgerow.topology import Topology
from oracles import lattice as oracles

pytestmark = pytest.mark.kernel


@given(small_cases())
@settings(max_examples=200)
def test_every_answer_equals_enumeration(case):
    order, k, length, scores, general = case
    truth = oracles.enumerate_answers(length, order, k, **scores)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, general=general)
    count = lattice.log_path_count()[0]
    if not truth["paths"]:
        assert count == -np.inf
        for ask in (lattice.log_partition, lattice.viterbi, lattice.entropy, lambda: lattice.nbest(2)):
            with pytest.raises(ImpossibleLatticeError, match="sequence 0 has no allowed path"):
                ask()
        return
    assert math.isclose(count, math.log(truth["count"]), abs_tol=1e-9)
    log_z, state, pair = lattice.pair_marginals()
    assert math.isclose(log_z[0], truth["log_z"], rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(lattice.log_partition()[0], truth["log_z"], rel_tol=1e-9, abs_tol=1e-9)
    np.testing.assert_allclose(state, truth["state"], atol=1e-9)
    np.testing.assert_allclose(pair, truth["pair"], atol=1e-9)
    np.testing.assert_allclose(lattice.marginals()[1], truth["state"], atol=1e-9)
    assert math.isclose(lattice.entropy()[0], truth["entropy"], abs_tol=1e-9)
    score, best = lattice.viterbi()
    assert math.isclose(score[0], truth["ranked"][0][1], abs_tol=1e-9)
    assert math.isclose(truth["paths"][tuple(best.tolist())], score[0], abs_tol=1e-9)
    assert math.isclose(lattice.score(best)[0], score[0], abs_tol=1e-9)


@given(small_cases(), st.integers(1, 7))
@settings(max_examples=100)
def test_n_best_are_distinct_and_in_order(case, n):
    order, k, length, scores, general = case
    truth = oracles.enumerate_answers(length, order, k, **scores)
    if not truth["paths"]:
        return
    values, labels = Lattice(Topology(k, order), starts_of(length), **scores, general=general).nbest(n)
    there = min(n, truth["count"])
    np.testing.assert_allclose(values[0, :there], [s for _, s in truth["ranked"][:there]], atol=1e-9)
    assert np.isneginf(values[0, there:]).all()
    paths = [tuple(row.tolist()) for row in labels[:there]]
    assert len(set(paths)) == there
    np.testing.assert_allclose([truth["paths"][p] for p in paths], values[0, :there], atol=1e-9)


@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_summed_pairs_are_pair_marginals_summed(order, parts, dtype):
    rng = np.random.default_rng(order)
    k, lengths = 3, [1, 2, 700, 5]
    scores = random_scores(rng, parts, sum(lengths), order, k, dtype=dtype)
    weights = np.array([1.0, 0.5, 2.0, 0.0])
    expected = np.zeros((Topology(k, order).n_rows, k))
    lattice = Lattice(Topology(k, order), starts_of(*lengths), **scores, n_threads=2)
    log_z, state, pair = lattice.pair_marginals()
    for begin, end, weight in zip(lattice.starts[:-1], lattice.starts[1:], weights, strict=True):
        for t in range(begin, end):
            m = min(t - begin, order)
            first = sum(k**j for j in range(m))
            expected[first : first + k**m] += weight * pair[t, : k**m]
    got = lattice.summed_pairs(weights)
    np.testing.assert_allclose(got[0], log_z, rtol=1e-6)
    np.testing.assert_allclose(got[1], state, atol=1e-6)
    np.testing.assert_allclose(got[2], expected, rtol=1e-5 if dtype is np.float32 else 1e-9, atol=1e-6)
    np.testing.assert_allclose(lattice.summed_pairs()[2].sum(), sum(lengths), rtol=1e-5)


@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"beam": 2}, {"general": True}], ids=str)
def test_rounded_counts_of_groups_add_up_to_the_same_bits(order, parts, dtype, options):
    rng = np.random.default_rng(order)
    topology, lengths, unit = Topology(3, order), rng.integers(1, 9, 20), 2.0**-30
    scores = random_scores(rng, parts, int(lengths.sum()), order, 3, dtype=dtype)
    weights, starts = rng.uniform(0, 2, 20), starts_of(*lengths)

    def counts(first, last, unit):
        there = slice(starts[first], starts[last])
        own = {name: values if name == "table" else values[there] for name, values in scores.items()}
        lattice = Lattice(topology, starts[first : last + 1] - starts[first], **own, **options, n_threads=2)
        return lattice.summed_pairs(weights[first:last], unit)[2]

    whole = counts(0, 20, unit)
    assert (whole / unit % 1 == 0).all()
    np.testing.assert_allclose(whole, counts(0, 20, 0.0), rtol=1e-5, atol=1e-6)
    for cuts in ([0, 20], [0, 1, 20], [0, 7, 8, 15, 20], list(range(21))):
        groups = [counts(first, last, unit) for first, last in pairwise(cuts)]
        np.testing.assert_array_equal(sum(groups[::-1]), whole)


def test_samples_follow_the_distribution():
    rng = np.random.default_rng(0)
    scores = random_scores(rng, ("state", "table"), 4, 2, 2)
    truth = oracles.enumerate_answers(4, 2, 2, **scores)
    n = 40_000
    draws = Lattice(Topology(2, 2), starts_of(4), **scores).sample(n, seed=5)
    seen = dict.fromkeys(truth["paths"], 0)
    for row in map(tuple, draws.tolist()):
        seen[row] += 1
    for path, score in truth["paths"].items():
        p = math.exp(score - truth["log_z"])
        assert abs(seen[path] / n - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9


def test_samples_are_independent_of_each_other_and_fixed_by_the_seed():
    state = np.zeros((40, 2))
    lattice = Lattice(Topology(2, 1), starts_of(20, 20), state=state)
    first, again, other = lattice.sample(3, seed=1), lattice.sample(3, seed=1), lattice.sample(3, seed=2)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert (first[0] != first[1]).any()
    assert (first[0, :20] != first[0, 20:]).any()


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    before = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(before)


@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("k", [*range(2, 10), 16, 17, 33, 70])
def test_fast_lane_equals_the_general_sweep(instruction_set, k, order, parts):
    rng = np.random.default_rng(k)
    lengths = [1, 2, 7, 30]
    scores = random_scores(rng, parts, sum(lengths), order, k, forbid=0.05 if order and k > 3 else 0.0)
    starts = starts_of(*lengths)
    fast = Lattice(Topology(k, order), starts, **scores)
    slow = Lattice(Topology(k, order), starts, **scores, general=True)
    for a, b in zip(fast.pair_marginals(), slow.pair_marginals(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.log_partition(), slow.log_partition(), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(fast.viterbi()[1], slow.viterbi()[1])
    np.testing.assert_array_equal(fast.viterbi()[0], slow.viterbi()[0])
    single = {name: x.astype(np.float32) for name, x in scores.items()}
    fast = Lattice(Topology(k, order), starts, **single)
    truth = Lattice(Topology(k, order), starts, **{n: x.astype(np.float64) for n, x in single.items()}, general=True)
    a, b = fast.pair_marginals(), truth.pair_marginals()
    np.testing.assert_allclose(a[0], b[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(a[1], b[1], atol=1e-5)
    np.testing.assert_allclose(a[2], b[2], atol=1e-5)
    assert a[1].dtype == a[2].dtype == np.float32
    np.testing.assert_allclose(fast.log_partition(), b[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(fast.viterbi()[1], truth.viterbi()[1])


@pytest.mark.parametrize("k", [2, 5, 9, 22, 40, 130])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sequence_is_summed_alike_alone_and_among_others(instruction_set, k, dtype):
    rng = np.random.default_rng(k)
    lengths = rng.integers(1, 15, size=20)
    starts = starts_of(*lengths)
    scores = random_scores(rng, ("state", "table"), int(lengths.sum()), 1, k, dtype=dtype)
    scores["state"][starts[4] : starts[5]] *= 1000  # the fast lane does not certify this one
    together = Lattice(Topology(k), starts, **scores)
    sums, table = together.pair_marginals(), np.zeros((k + 1, k))
    for i, (begin, end) in enumerate(pairwise(starts)):
        alone = Lattice(Topology(k), starts_of(end - begin), state=scores["state"][begin:end], table=scores["table"])
        log_z, state, pair = alone.pair_marginals()
        assert sums[0][i] == log_z[0] == together.log_partition()[i]
        np.testing.assert_array_equal(sums[1][begin:end], state)
        np.testing.assert_array_equal(sums[2][begin:end], pair)
        table += alone.summed_pairs()[2]
    np.testing.assert_allclose(together.summed_pairs()[2], table, rtol=1e-12)


@pytest.mark.parametrize("parts", [("edge",), ("edge", "table")], ids="+".join)
@pytest.mark.parametrize("k", [2, 3, 5, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edge_scores_of_a_sequence_are_summed_alike_alone_and_among_others(instruction_set, k, parts, dtype):
    rng = np.random.default_rng(k)
    lengths = rng.integers(1, 15, size=20)
    starts = starts_of(*lengths)
    scores = random_scores(rng, parts, int(lengths.sum()), 1, k, dtype=dtype)
    scores["edge"][starts[:-1], 1:] = 1e30  # label contexts that a first position does not have
    scores["edge"][starts[6] : starts[8]] /= 4  # no shift is needed here
    scores["edge"][starts[14] : starts[15]] *= 1000  # and the fast lane does not certify this one
    sums = Lattice(Topology(k), starts, **scores).pair_marginals()
    for i, (begin, end) in enumerate(pairwise(starts)):
        own = {name: x if name == "table" else x[begin:end] for name, x in scores.items()}
        log_z, state, pair = Lattice(Topology(k), starts_of(end - begin), **own).pair_marginals()
        assert sums[0][i] == log_z[0]
        np.testing.assert_array_equal(sums[1][begin:end], state)
        np.testing.assert_array_equal(sums[2][begin:end], pair)


@pytest.mark.parametrize("whole", [False, True])  # whole numbers: there are many equally good paths
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 1e6])
def test_leaving_out_label_contexts_changes_no_path(instruction_set, scale, whole):
    rng = np.random.default_rng(3)
    k, lengths = 200, [1, 2, 3, 9]
    scores = random_scores(rng, ("state", "table"), sum(lengths), 1, k, scale=scale, forbid=0.2, dtype=np.float32)
    if whole:
        scores = {name: np.round(x) for name, x in scores.items()}
    scores["table"][1:, 7] = -np.inf
    scores["state"][4, 20:] = -np.inf
    starts = starts_of(*lengths)
    fast, slow = (Lattice(Topology(k), starts, **scores, general=general) for general in (False, True))
    for a, b in zip(fast.viterbi(), slow.viterbi(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@pytest.mark.parametrize("scale", [50.0, 700.0])
def test_large_scores_keep_their_marginals(instruction_set, parts, scale, dtype):
    rng = np.random.default_rng(3)
    k, lengths = 4, [40, 3, 1]
    scores = random_scores(rng, parts, sum(lengths), 1, k, forbid=0.1, dtype=dtype)
    scores = {name: np.where(np.isneginf(x), x, np.sign(x) * dtype(scale)) for name, x in scores.items()}
    fast = Lattice(Topology(k, 1), starts_of(*lengths), **scores)
    wide = {n: x.astype(np.float64) for n, x in scores.items()}
    slow = Lattice(Topology(k, 1), starts_of(*lengths), **wide, general=True)
    tolerance = 1e-9 if dtype is np.float64 else 1e-5
    for a, b in zip(fast.pair_marginals(), slow.pair_marginals(), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(fast.log_partition(), slow.log_partition(), rtol=1e-6, atol=tolerance)


@pytest.mark.parametrize(
    ("dtype", "deep"),
    [(np.float32, d) for d in (10, 20, 25, 30, 40, 60)] + [(np.float64, d) for d in (150, 200, 250, 400, 700)],
)
def test_a_path_that_dives_and_comes_back_is_not_lost(dtype, deep):
    """Label 1 falls far behind, then makes up for it exactly: scaled sums underflow on the way."""
    state = np.zeros((8, 2), dtype=dtype)
    state[:4, 1], state[4:, 1] = -deep, deep
    table = np.array([[0, 0], [0, -np.inf], [-np.inf, 0]], dtype=dtype)
    lattice = Lattice(Topology(2, 1), starts_of(8), state=state, table=table)
    log_z, marginals = lattice.marginals()
    assert math.isclose(log_z[0], math.log(2), rel_tol=1e-6)
    np.testing.assert_allclose(marginals, 0.5, atol=1e-5)
    assert math.isclose(lattice.log_partition()[0], math.log(2), rel_tol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("per_position", [False, True])
def test_a_million_positions(dtype, per_position):
    rng = np.random.default_rng(0)
    n, k = 1_000_000, 2
    scores = random_scores(rng, ("state", "table"), n, 1, k, scale=3.0, dtype=dtype)
    scores["state"][::1000] *= 200
    if per_position:
        block = np.broadcast_to(scores.pop("table")[1:], (n, k, k))
        scores["edge"] = np.ascontiguousarray(block)
    lattice = Lattice(Topology(k, 1), starts_of(n), **scores)
    log_z, marginals = lattice.marginals()
    score, labels = lattice.viterbi()
    assert np.isfinite(log_z).all()
    assert score[0] <= log_z[0]
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-5)
    assert (marginals[np.arange(n), labels] > 0.5).mean() > 0.95


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("general", [False, True])
def test_results_do_not_depend_on_threads(order, general):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 60, size=300)
    scores = random_scores(rng, ("state", "table"), int(lengths.sum()), order, 6, dtype=np.float32)
    one, three = (
        Lattice(Topology(6, order), starts_of(*lengths), **scores, general=general, n_threads=n) for n in (1, 3)
    )
    for a, b in zip(one.pair_marginals(), three.pair_marginals(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.viterbi()[1], three.viterbi()[1])
    np.testing.assert_array_equal(one.sample(2, seed=3), three.sample(2, seed=3))
    np.testing.assert_array_equal(one.nbest(2)[0], three.nbest(2)[0])


def test_constraints_forbid_edges_and_fix_labels():
    k, length = 3, 4
    rng = np.random.default_rng(2)
    scores = random_scores(rng, ("state", "edge"), length, 1, k)
    topology = Topology(k, 1).allowing(lambda before, label: label != 2 or before in (1, 2))
    allowed = fixed_labels([None, None, 2, None], k)
    lattice = Lattice(topology, starts_of(length), **scores, allowed=allowed)
    paths = oracles.all_paths(length, 1, k, **scores)
    legal = {
        p: s
        for p, s in paths.items()
        if p[2] == 2 and all(y != 2 or (t > 0 and p[t - 1] in (1, 2)) for t, y in enumerate(p))
    }
    assert round(math.exp(lattice.log_path_count()[0])) == len(legal)
    assert math.isclose(lattice.log_partition()[0], oracles.log_sum(legal.values()), rel_tol=1e-9)
    assert tuple(lattice.viterbi()[1].tolist()) == max(legal, key=lambda p: legal[p])


def test_loss_augmented_viterbi_equals_enumeration():
    rng = np.random.default_rng(4)
    scores = random_scores(rng, ("state", "table"), 5, 1, 3)
    gold = np.array([0, 2, 1, 1, 0], dtype=np.int32)
    score, labels = Lattice(Topology(3, 1), starts_of(5), **scores).loss_augmented(gold, margin=0.7)
    paths = oracles.all_paths(5, 1, 3, **scores)
    raised = {p: s + 0.7 * sum(a != b for a, b in zip(p, gold, strict=True)) for p, s in paths.items()}
    best = max(raised, key=lambda p: raised[p])
    assert tuple(labels.tolist()) == best
    assert math.isclose(score[0], raised[best], rel_tol=1e-9)


def test_the_impossible_sequence_is_named():
    state = np.zeros((6, 2))
    state[4] = -np.inf
    lattice = Lattice(Topology(2, 1), starts_of(2, 2, 2), state=state)
    with pytest.raises(ImpossibleLatticeError, match="sequence 2 has no allowed path"):
        lattice.marginals()
    with pytest.raises(ImpossibleLatticeError, match="sequence 2 has no allowed path"):
        lattice.sample(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": np.zeros((4, 2))}, "do not fit the lattice: state is"),
        ({"state": np.full((3, 2), np.nan)}, "state scores must be numbers below infinity; they hold nan"),
        ({"state": np.full((3, 2), np.inf)}, "they hold inf"),
        ({"table": np.zeros((2, 2))}, "table is"),
        ({"edge": np.zeros((3, 3, 2))}, "edge is"),
        ({"beam": 0}, "beam must be an integer of at least 1"),
        ({"allowed": np.ones((2, 2), dtype=bool)}, "allowed must have shape"),
        ({"starts": np.array([0, 0, 3])}, "every sequence has a position"),
        ({"starts": np.array([1, 3])}, "starts begins with 0"),
        ({"starts": np.array([0, 4, 3])}, "every sequence has a position"),
    ],
)
def test_scores_that_do_not_fit_are_refused(change, message):
    arguments = {"starts": starts_of(3), "state": np.zeros((3, 2))} | change
    with pytest.raises(InputError, match=message):
        Lattice(Topology(2, 1), **arguments)


def test_topologies_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="n_labels >= 1"):
        Topology(0, 1)
    with pytest.raises(InputError, match="order 9 with 50 labels needs"):
        Topology(50, 9)
    lattice = Lattice(Topology(2, 1), starts_of(1), state=np.zeros((1, 2)))
    with pytest.raises(InputError, match="n must be an integer of at least 1"):
        lattice.nbest(0)
    with pytest.raises(InputError, match="n must be an integer of at least 1"):
        lattice.sample(0)
    with pytest.raises(ValueError, match="labels are below n_labels"):
        lattice.score(np.array([2]))


@pytest.mark.parametrize("k", [2, 3, 5, 9, 22])
@pytest.mark.parametrize("parts", [("state", "table"), ("edge",)])
@pytest.mark.parametrize(
    ("dtype", "scales"), [(np.float32, (15, 25, 60, 300)), (np.float64, (25, 80, 200, 400))], ids=["single", "double"]
)
def test_steep_scores_overflow_nowhere(dtype, scales, parts, k):
    """Steps whose growth is near the end of the range, where products of two inverses are beyond it."""
    topology = Topology(k, 1)
    lengths = [2, 9, 30, 600 if k < 9 else 300]
    starts = np.cumsum([0, *lengths])
    for seed, scale in enumerate(scales):
        rng = np.random.default_rng([seed, k])
        scores = random_scores(rng, parts, int(starts[-1]), 1, k, scale=scale, dtype=dtype)
        fast, sure = (Lattice(topology, starts, **scores, general=general) for general in (False, True))
        weights = np.ones(len(lengths))
        np.testing.assert_allclose(fast.log_partition(), sure.log_partition(), rtol=1e-5)
        for one, other in zip(fast.pair_marginals()[1:], sure.pair_marginals()[1:], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-3)
        if "table" in parts:
            log_z, state, table = fast.summed_pairs(weights)
            np.testing.assert_allclose(log_z, sure.log_partition(), rtol=1e-5)
            np.testing.assert_allclose(state, sure.marginals()[1], atol=1e-3)
            np.testing.assert_allclose(table, sure.summed_pairs(weights)[2], atol=1e-3 * starts[-1])


def test_states_against_transitions():
    """Transitions that want labels to change, states that want them to stay: every step is a large loss."""
    table = np.array([[15, -15], [-19.047619, 25], [25, -19.047619]], np.float32)
    wanted = np.array([22.22] * 5 + [0.0], np.float32)
    state, starts = np.stack([wanted, -wanted], axis=1), np.array([0, 6])
    found, sure = (
        Lattice(Topology(2, 1), starts, state=state, table=table, general=general).summed_pairs(np.ones(1))
        for general in (False, True)
    )
    for one, other in zip(found, sure, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("beam", [None, 2])
@pytest.mark.parametrize("form", ["state", "edge"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_lattice_without_sequences_answers_with_empty_arrays(order, form, beam):
    """A process of a group may have none."""
    topology = Topology(3, order)
    scores = {"edge": np.zeros((0, 3**order, 3), np.float32)}
    if form == "state":
        scores = {"state": np.zeros((0, 3), np.float32), "table": np.zeros((topology.n_rows, 3), np.float32)}
    keep = None if beam is None else np.zeros(0, np.int32)
    lattice = Lattice(topology, np.zeros(1, np.int64), **scores, beam=beam, keep=keep, n_threads=2)
    log_z, marginals, counts = lattice.summed_pairs(np.zeros(0), 2.0**-20)
    assert log_z.shape == (0,)
    assert marginals.shape == (0, 3)
    assert not counts.any()
    assert [part.shape[0] for part in (*lattice.pair_marginals(), *lattice.viterbi())] == [0] * 5
    assert (
        lattice.log_partition().shape == lattice.entropy().shape == lattice.score(np.zeros(0, np.int32)).shape == (0,)
    )
    assert lattice.nbest(2)[0].shape == (0, 2)
    assert lattice.sample(2).shape == (2, 0)
