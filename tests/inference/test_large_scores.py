"""Scores of any size: probabilities sum to one, and they equal the exact answer, computed in fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.lattice import PARTS, random_scores, starts_of
from hedgerow import _core
from hedgerow.errors import InputError
from hedgerow.inference.lattice import LARGEST_SCORE, Lattice
from hedgerow.topology import Topology
from oracles import lattice as oracles

pytestmark = pytest.mark.kernel

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-6}
LANES = st.fixed_dictionaries({"general": st.booleans(), "beam": st.sampled_from([None, 1, 2, 3])})


@st.composite
def shapes(draw, max_order=3):
    """(order, labels, length, parts, dtype, random generator)"""
    order = draw(st.integers(0, max_order))
    k = draw(st.integers(1, 3))
    length = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return order, k, length, draw(st.sampled_from(PARTS)), draw(st.sampled_from([np.float32, np.float64])), rng


@st.composite
def mixed_sizes(draw, largest=289):
    """Every score has a size of its own: 1 to 10^largest (10^37 in single precision); some are forbidden."""
    order, k, length, parts, dtype, rng = draw(shapes())
    decades = draw(st.integers(0, largest if dtype is np.float64 else min(37, largest)))
    scores = random_scores(rng, parts, length, order, k, scale=1.0, forbid=draw(st.sampled_from([0.0, 0.1])))
    for name, x in scores.items():
        sizes = 10.0 ** rng.integers(0, decades + 1, size=x.shape)
        scores[name] = (np.clip(x, -9, 9) * sizes * (rng.random(x.shape) < 0.8)).astype(dtype)
        scores[name][np.isneginf(x)] = -np.inf
    return order, k, length, scores, dtype


@st.composite
def one_size(draw):
    """Few values, all multiples of one power of two: many paths tie for the best, at any size."""
    order, k, length, parts, dtype, rng = draw(shapes())
    unit = dtype(2.0) ** draw(st.integers(0, 950 if dtype is np.float64 else 120))
    scores = random_scores(rng, parts, length, order, k)
    return order, k, length, {n: (rng.integers(-1, 2, x.shape) * unit).astype(dtype) for n, x in scores.items()}, dtype


@st.composite
def outlying_positions(draw):
    """Scores of ordinary size; at some positions one part is raised or lowered by the same large number."""
    order, k, length, _, dtype, rng = draw(shapes())
    parts = draw(st.sampled_from([("state", "table"), ("state", "edge"), ("state", "edge", "table")]))
    scores = {n: x.astype(dtype) for n, x in random_scores(rng, parts, length, order, k).items()}
    size = 10.0 ** draw(st.integers(3, 289 if dtype is np.float64 else 37))
    for t in range(length):
        if rng.random() < 0.5:
            scores["state"][t] = dtype(size * rng.choice([-1, 1]))
    return order, k, length, scores, dtype


def allowed_somewhere(order, k, length, scores):
    support = {n: np.where(np.isneginf(x), -np.inf, 0.0) for n, x in scores.items()}
    return bool(oracles.all_paths(length, order, k, **support))


@given(mixed_sizes() | one_size() | outlying_positions(), LANES)
@settings(max_examples=400)
def test_probabilities_sum_to_one(case, lane):
    order, k, length, scores, _ = case
    if not allowed_somewhere(order, k, length, scores):
        return
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, **lane)
    try:
        log_z, state, pair = lattice.pair_marginals()
    except hr.errors.ImpossibleLatticeError:
        assert lane["beam"]  # which may drop every path that constraints allow
        return
    assert np.isfinite(log_z).all()
    np.testing.assert_allclose(state.sum(axis=1, dtype=float), 1, atol=1e-6)
    np.testing.assert_allclose(pair.sum(axis=1, dtype=float), state, atol=1e-6)
    np.testing.assert_allclose(lattice.marginals()[1].sum(axis=1, dtype=float), 1, atol=1e-6)
    np.testing.assert_allclose(lattice.summed_pairs()[2].sum(), length, rtol=1e-6)
    assert -1e-9 <= lattice.entropy()[0] <= length * math.log(k) + 1e-6
    draws = lattice.sample(3, seed=1)
    assert np.isfinite([lattice.score(row) for row in draws]).all()


@pytest.mark.parametrize("general", [False, True])
def test_a_large_score_common_to_all_paths_costs_no_digits(general):
    """Order 0: the second position adds the same number to the paths of both labels of the first."""
    state = np.array([[1e48, -1e55], [6e82, 1e102]])
    edge = np.array([[[0.0, -3e8]], [[4e42, 1e96]]])
    table = np.array([[-1e65, 5e45]])
    lattice = Lattice(Topology(2, 0), starts_of(2), state=state, edge=edge, table=table, general=general)
    np.testing.assert_array_equal(lattice.marginals()[1], [[0, 1], [0, 1]])


@given(mixed_sizes(largest=20) | one_size() | outlying_positions(), st.booleans())
@settings(max_examples=400)
def test_answers_are_those_of_exact_arithmetic(case, general):
    order, k, length, scores, dtype = case
    if not allowed_somewhere(order, k, length, scores):
        return
    truth = oracles.exact_answers(length, order, k, **scores)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, general=general)
    log_z, state, pair = lattice.pair_marginals()
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(state, truth["state"], atol=tolerance)
    np.testing.assert_allclose(pair, truth["pair"], atol=tolerance)
    np.testing.assert_allclose(lattice.marginals()[1], truth["state"], atol=tolerance)
    np.testing.assert_allclose(lattice.entropy()[0], truth["entropy"], atol=1e-6)
    added = sum(np.abs(x[np.isfinite(x)]).sum(dtype=float) for x in scores.values())  # log Z is a sum in double
    assert math.isclose(log_z[0], float(truth["top"]) + truth["log_z"], rel_tol=1e-6, abs_tol=1e-5 + 1e-13 * added)


@pytest.mark.parametrize("instruction_set", _core.instruction_sets())
@pytest.mark.parametrize("k", [2, 3, 9, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_outlier_leaves_the_other_parts_their_say(instruction_set, k, dtype):
    """State scores of 1e9 that all labels share cancel; edge and table scores decide as without them."""
    before = _core.instruction_set()
    _core.use_instruction_set(instruction_set)
    rng = np.random.default_rng(k)
    scores = random_scores(rng, ("state", "edge", "table"), 20, 1, k, dtype=dtype)
    scores["state"][::3] = 0
    raised = scores | {"state": scores["state"].copy()}
    raised["state"][::3] = 1e9
    for beam in (None, k - 1):
        plain, large = (Lattice(Topology(k, 1), starts_of(12, 8), **s, beam=beam) for s in (scores, raised))
        for a, b in zip(plain.pair_marginals()[1:], large.pair_marginals()[1:], strict=True):
            np.testing.assert_allclose(a, b, atol=TOLERANCE[dtype])
    _core.use_instruction_set(before)


def test_samples_of_large_scores_follow_the_distribution():
    n = 20_000
    draws = Lattice(Topology(3, 2), starts_of(2), state=np.full((2, 3), 1e17)).sample(n, seed=3)
    counts = np.bincount(draws[:, 0] * 3 + draws[:, 1], minlength=9)
    assert np.abs(counts / n - 1 / 9).max() < 0.015


def test_entropy_of_equal_large_scores_is_that_of_a_uniform_choice():
    for size in (1.0, 1e9, 1e17, 1e200):
        lattice = Lattice(Topology(3, 2), starts_of(3), state=np.full((3, 3), size))
        assert math.isclose(lattice.entropy()[0], 3 * math.log(3), rel_tol=1e-9)


@pytest.mark.parametrize("part", ["state", "edge", "table"])
@pytest.mark.parametrize("size", [1e308, -1e308, 1.01 * LARGEST_SCORE])
def test_scores_whose_sums_could_overflow_are_refused(part, size):
    scores = random_scores(np.random.default_rng(0), (part,), 3, 1, 2)
    scores[part].flat[1] = size
    scores[part].flat[2] = -np.inf
    with pytest.raises(InputError, match=f"{part} scores must lie between"):
        Lattice(Topology(2, 1), starts_of(3), **scores)


def test_hmm_of_order_two_survives_an_outlier():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(30, 1)) for _ in range(20)]
    y = [np.where(x[:, 0] > 0, np.where(x[:, 0] > 1, "c", "b"), "a").tolist() for x in X]
    model = hr.HMM(order=2).fit(X, y)
    X[0][7] = 1e9
    for rows in model.predict_proba(X[:1]):
        np.testing.assert_allclose(np.asarray(rows).sum(axis=1), 1, atol=1e-6)


def test_linear_crf_with_edge_features_survives_an_outlier():
    rng = np.random.default_rng(0)
    X = [[{"v": float(v)} for v in rng.normal(size=10)] for _ in range(20)]
    y = [["a" if p["v"] > 0 else "b" if p["v"] > -1 else "c" for p in x] for x in X]
    model = hr.LinearCRF(edge_features=True, max_iter=20).fit(X, y)
    for size in (1e9, 1e30):
        X[0][4]["v"] = size
        (rows,) = model.predict_proba(X[:1])
        np.testing.assert_allclose(rows.sum(axis=1, dtype=float), 1, atol=1e-6)


def test_beam_search_lattice_of_large_scores_sums_to_one():
    rng = np.random.default_rng(1)
    X = [[{"v": float(v)} for v in rng.normal(size=8)] for _ in range(12)]
    y = [["a" if p["v"] > 0 else "b" if p["v"] > -1 else "c" for p in x] for x in X]
    model = hr.SearchTagger(random_state=0, epochs=2, beam=9).fit(X, y)
    for size in (1e9, 1e17, -1e17):
        for p in X[0]:
            p["v"] = size
        (rows,) = model.predict_proba(X[:1])
        np.testing.assert_allclose(rows.sum(axis=1, dtype=float), 1, atol=1e-6)
