"""Beams against the naive pruned sweep, the fast beam against the general one, and models that are trained with one."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.lattice import PARTS, random_scores, small_cases, starts_of
from hedgerow import _core
from hedgerow.errors import BeamWarning, ConvergenceWarning, ImpossibleLatticeError, InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
from oracles import lattice as oracles

pytestmark = pytest.mark.kernel


@st.composite
def beam_cases(draw):
    """A case, a beam, and perhaps a path to keep, some of whose labels may be left open."""
    case = draw(small_cases())
    _, k, length, _, _ = case
    labels = st.lists(st.integers(-1, k - 1), min_size=length, max_size=length)
    keep = draw(st.none() | labels)
    bounds = st.sampled_from([1e-9, 0.0123, 0.123, 0.56, 0.97])
    return case, draw(st.integers(1, 5) | bounds), None if keep is None else np.array(keep)


@given(beam_cases())
@settings(max_examples=300)
def test_sums_equal_the_naive_pruned_sweep(beam_case):
    (order, k, length, scores, general), beam, keep = beam_case
    truth = oracles.beam_answers(length, order, k, beam, keep=keep, **scores)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, beam=beam, keep=keep, general=general)
    if not truth["paths"]:
        with pytest.raises(ImpossibleLatticeError):
            lattice.pair_marginals()
        return
    log_z, state, pair = lattice.pair_marginals()
    assert math.isclose(log_z[0], truth["log_z"], rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(lattice.log_partition()[0], truth["log_z"], rel_tol=1e-9, abs_tol=1e-9)
    np.testing.assert_allclose(state, truth["state"], atol=1e-9)
    np.testing.assert_allclose(pair, truth["pair"], atol=1e-9)
    np.testing.assert_allclose(lattice.marginals()[1], truth["state"], atol=1e-9)
    assert math.isclose(lattice.entropy()[0], truth["entropy"], abs_tol=1e-9)
    _, state, taken = lattice.summed_pairs()
    np.testing.assert_allclose(state, truth["state"], atol=1e-9)
    np.testing.assert_allclose(taken, summed(truth["pair"], k, order), atol=1e-9)


def summed(pair, k, order):
    """Pair marginals of one sequence by row of the table."""
    blocks = [pair[t, : k**t] if t < len(pair) else np.zeros((k**t, k)) for t in range(order)]
    return np.concatenate([*blocks, pair[order:].sum(axis=0)])


@given(beam_cases(), st.integers(1, 4))
@settings(max_examples=200)
def test_best_paths_equal_the_naive_pruned_sweep(beam_case, n):
    (order, k, length, scores, general), beam, keep = beam_case
    truth = oracles.beam_answers(length, order, k, beam, keep=keep, combine=max, **scores)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, beam=beam, keep=keep, general=general)
    if not truth["paths"]:
        with pytest.raises(ImpossibleLatticeError):
            lattice.viterbi()
        return
    score, best = lattice.viterbi()
    assert math.isclose(score[0], truth["ranked"][0][1], abs_tol=1e-9)
    assert math.isclose(truth["paths"][tuple(best.tolist())], score[0], abs_tol=1e-9)
    values, labels = lattice.nbest(n)
    there = min(n, truth["count"])
    np.testing.assert_allclose(values[0, :there], [s for _, s in truth["ranked"][:there]], atol=1e-9)
    assert len({tuple(row) for row in labels[:there].tolist()}) == there


@given(beam_cases())
@settings(max_examples=100)
def test_the_path_to_keep_is_never_lost(beam_case):
    (order, k, length, scores, general), beam, keep = beam_case
    path = np.zeros(length, np.int32) if keep is None else np.maximum(keep, 0)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, beam=beam, general=general).keeping(path)
    if lattice.score(path)[0] > -np.inf:
        assert lattice.score(path)[0] <= lattice.log_partition()[0] + 1e-9


@given(small_cases(forbid=(0.0,)), st.booleans())
@settings(max_examples=60)
def test_a_beam_of_all_is_exact(case, single):
    order, k, length, scores, _ = case
    scores = {name: x.astype(np.float32 if single else np.float64) for name, x in scores.items()}
    exact = Lattice(Topology(k, order), starts_of(length), **scores)
    beam = Lattice(Topology(k, order), starts_of(length), **scores, beam=k ** max(order, 1))
    for a, b in zip(exact.pair_marginals(), beam.pair_marginals(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(exact.viterbi()[1], beam.viterbi()[1])


def test_a_beam_keeps_the_lower_of_equals():
    for general in (True, False):
        lattice = Lattice(Topology(3, 1), starts_of(4), state=np.zeros((4, 3)), beam=2, general=general)
        np.testing.assert_array_equal(lattice.marginals()[1], [[0.5, 0.5, 0]] * 4)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([0, 1], "keep has one label for each position; got .*keep \\(2,\\)"),
        ([0, 1, 3], "labels to keep are below n_labels"),
        ([0, 1, -2], "keep must hold label codes, or -1 for none; it goes from -2 to 1"),
        ([0.0, 1.0, 1.0], "keep must hold a label code, an integer, for each position; it has the type float64"),
        ([[0, 1, 1]], "the shape \\(1, 3\\)"),
        ([0, 1, 2**40], "it goes from 0 to"),
    ],
)
def test_paths_to_keep_that_do_not_fit_are_refused(keep, message):
    with pytest.raises(InputError, match=message):
        Lattice(Topology(3, 1), starts_of(3), state=np.zeros((3, 3)), beam=2, keep=np.array(keep))


@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("k", "beam"), [(5, 1), (5, 4), (5, 0.1), (17, 3), (40, 10), (40, 0.0123), (121, 20), (121, 120), (121, 0.3)]
)
@pytest.mark.parametrize("keeps", [False, True])
def test_the_fast_beam_equals_the_general_sweep(parts, dtype, k, beam, keeps):
    rng = np.random.default_rng(k + int(10 * beam))
    lengths = [1, 2, 7, 9] if k > 40 else [1, 40, 3, 25]
    n = sum(lengths)
    scores = random_scores(rng, parts, n, 1, k, dtype=dtype)
    keep = rng.integers(-1, k, n) if keeps else None
    shared = {"beam": beam, "keep": keep, **scores}
    weights = np.array([1.0, 2.0, 0.0, 0.5])
    general = Lattice(Topology(k, 1), starts_of(*lengths), **shared, general=True)
    truth = general.pair_marginals()
    taken = general.summed_pairs(weights)[2]
    tolerance = 1e-9 if dtype == np.float64 else 1e-5
    chosen = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            fast = Lattice(Topology(k, 1), starts_of(*lengths), **shared, n_threads=2)
            for a, b in zip(fast.pair_marginals(), truth, strict=True):
                np.testing.assert_allclose(a, b, atol=tolerance, rtol=tolerance)
            np.testing.assert_allclose(fast.log_partition(), truth[0], rtol=tolerance)
            np.testing.assert_allclose(fast.summed_pairs(weights)[2], taken, atol=10 * tolerance)
            for a, b in zip(fast.viterbi(), general.viterbi(), strict=True):
                np.testing.assert_array_equal(a, b)
    finally:
        _core.use_instruction_set(chosen)


def test_the_fast_beam_keeps_the_same_labels_where_many_are_tied():
    rng = np.random.default_rng(0)
    k, lengths = 30, [12] * 20
    state = rng.integers(0, 3, (sum(lengths), k)).astype(np.float64)
    table = rng.integers(0, 2, (k + 1, k)).astype(np.float64)
    keep = rng.integers(0, k, sum(lengths))
    for beam in (1, 2, 7, 29, 0.0123, 0.2345):
        fast, general = (
            Lattice(
                Topology(k, 1), starts_of(*lengths), state=state, table=table, beam=beam, keep=keep, general=general
            )
            for general in (False, True)
        )
        for a, b in zip(fast.viterbi(), general.viterbi(), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bound", [1e-12, 0.0123, 0.9])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_bound_keeps_the_labels_of_the_naive_sweep(order, bound):
    """The labels of non-zero marginals are those that are kept and on a path; scores are whole, so many are tied."""
    rng = np.random.default_rng(order)
    k, length = (6, 5) if order < 2 else (3, 6)
    for _ in range(20):
        state = rng.integers(-4, 5, (length, k)).astype(np.float64)
        state[rng.random(state.shape) < 0.2] = -np.inf
        state[:, 0] = 0.0
        keep = rng.integers(0, k, length)
        scores = {"state": state, "table": rng.integers(-2, 3, (Topology(k, order).n_rows, k)).astype(np.float64)}
        for combine, answer in ((oracles.log_sum, "sum"), (max, "max")):
            truth = oracles.beam_answers(length, order, k, bound, keep=keep, combine=combine, **scores)
            for general in (False, True):
                shared = {**scores, "beam": bound, "keep": keep, "general": general}
                lattice = Lattice(Topology(k, order), starts_of(length), **shared)
                if answer == "max":
                    assert math.isclose(lattice.viterbi()[0][0], truth["ranked"][0][1], abs_tol=1e-9)
                else:
                    np.testing.assert_array_equal(lattice.marginals()[1] > 0, truth["state"] > 0)


def test_a_bound_keeps_few_labels_where_the_scores_are_clear():
    state = np.where(np.arange(50) == 7, 9.0, np.linspace(0, 1, 50))[None].repeat(6, axis=0)
    kept = [
        int((Lattice(Topology(50), starts_of(6), state=state, beam=beam).marginals()[1][3] > 0).sum())
        for beam in (0.1, 0.01, 0.001, 1e-9)
    ]
    assert kept[0] == 1
    assert kept == sorted(kept)
    assert kept[-1] == 50


@pytest.mark.parametrize("scale", [60.0, 300.0])
@pytest.mark.parametrize("parts", [("state", "table"), ("edge",)], ids="+".join)
def test_scores_of_any_size_are_safe_under_a_bound(parts, scale):
    rng = np.random.default_rng(3)
    k, lengths = 25, [30, 1, 8, 50]
    scores = random_scores(rng, parts, sum(lengths), 1, k, scale=scale, forbid=0.1, dtype=np.float32)
    keep = rng.integers(0, k, sum(lengths))
    fast, general = (
        Lattice(Topology(k, 1), starts_of(*lengths), **scores, beam=0.0123, keep=keep, general=general)
        for general in (False, True)
    )
    for a, b in zip(fast.pair_marginals(), general.pair_marginals(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("scale", [60.0, 300.0])
@pytest.mark.parametrize("parts", [("state", "table"), ("edge",)], ids="+".join)
def test_scores_of_any_size_are_safe_under_a_beam(parts, scale):
    rng = np.random.default_rng(3)
    k, lengths = 25, [30, 1, 8, 50]
    scores = random_scores(rng, parts, sum(lengths), 1, k, scale=scale, forbid=0.1, dtype=np.float32)
    keep = rng.integers(0, k, sum(lengths))
    fast, general = (
        Lattice(Topology(k, 1), starts_of(*lengths), **scores, beam=6, keep=keep, general=general)
        for general in (False, True)
    )
    for a, b in zip(fast.pair_marginals(), general.pair_marginals(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5, rtol=1e-6)
    np.testing.assert_allclose(fast.summed_pairs()[2], general.summed_pairs()[2], atol=1e-4)


def test_long_sequences_neither_overflow_nor_lose_their_marginals():
    rng = np.random.default_rng(4)
    n, k = 200_000, 9
    state = (3 * rng.normal(size=(n, k))).astype(np.float32)
    table = rng.normal(size=(k + 1, k)).astype(np.float32)
    one = {"state": state, "table": table, "beam": 3}
    fast, general = (Lattice(Topology(k, 1), starts_of(n), **one, general=general) for general in (False, True))
    log_z, marginals = fast.marginals()
    expected_log_z, expected = general.marginals()
    np.testing.assert_allclose(log_z, expected_log_z, rtol=1e-6)
    differ = (np.abs(marginals - expected) > 1e-3).any(axis=1)
    assert differ.mean() < 1e-3  # rounding may decide between two labels that are nearly tied


def task(n, k, seed=0):
    """Noisy letters of a chain: a label tends to follow the one before, and shows as its letter most of the time."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(k))]
        for _ in range(int(rng.integers(1, 9))):
            labels.append(int((labels[-1] + rng.integers(1, 3)) % k))
        letters = [label if rng.random() < 0.7 else int(rng.integers(k)) for label in labels]
        X.append("".join(chr(ord("a") + letter) for letter in letters))
        y.append([f"L{label:02}" for label in labels])
    return X, y


MODELS = {
    "linear": lambda **more: hr.LinearCRF(max_iter=20, **more),
    "linear, edges": lambda **more: hr.LinearCRF(max_iter=20, edge_features=True, **more),
    "trees": lambda **more: hr.TreeCRF(n_rounds=8, transitions="trees", **more),
    "table": lambda **more: hr.TreeCRF(n_rounds=8, transitions="table", **more),
    "shared": lambda **more: hr.TreeCRF(n_rounds=8, trees="shared", **more),
    "pseudo": lambda **more: hr.TreeCRF(n_rounds=8, pseudo_rounds=2, line_search=True, **more),
}
by_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def answers(model, X, y):
    yield from model.predict_proba(X)
    yield from model.predict(X)
    yield model.log_likelihood(X, y)
    for best in model.predict_nbest(X, n=3):
        yield np.array([score for score, _ in best])


@by_model
@pytest.mark.parametrize("order", [1, 2])
def test_a_model_with_a_beam_of_all_is_the_exact_one(make, order):
    X, y = task(40, 4)
    exact = make(order=order).fit(X, y)
    beam = make(order=order, beam=4**order).fit(X, y)
    for name, array in exact.model_.potential.to_arrays()[1].items():
        np.testing.assert_array_equal(array, beam.model_.potential.to_arrays()[1][name])
    for a, b in zip(answers(exact, X, y), answers(beam, X, y), strict=True):
        np.testing.assert_array_equal(a, b)


@by_model
@pytest.mark.parametrize("order", [0, 1, 2])
def test_models_learn_under_a_beam(make, order):
    if order == 0 and make is MODELS["linear, edges"]:
        pytest.skip("there are no edges")
    X, y = task(120, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is kept changes with the weights
        model = make(order=order, beam=3).fit(X[:80], y[:80], X_dev=X[80:], y_dev=y[80:])
    log = model.training_log_
    assert (model.log_likelihood(X, y) <= 0).all()
    assert model.score(X[80:], y[80:]) > (0.6 if order == 0 else 0.7)
    assert all(record["dev_loss"] >= 0 for record in log)
    assert log[-1]["dev_accuracy"] == pytest.approx(model.score(X[80:], y[80:]))
    for proba in model.predict_proba(X[:5]):
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
        assert ((proba > 0).sum(axis=1) <= (3 if order < 2 else 8)).all()
    for best in model.predict_nbest(X[:5], n=4):
        scores = [score for score, _ in best]
        assert scores == sorted(scores, reverse=True)
        assert max(scores) <= 1e-5


@by_model
@pytest.mark.parametrize("order", [0, 1, 2])
def test_models_learn_under_a_bound(make, order, tmp_path):
    if order == 0 and make is MODELS["linear, edges"]:
        pytest.skip("there are no edges")
    X, y = task(120, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(order=order, beam=0.3).fit(X[:80], y[:80], X_dev=X[80:], y_dev=y[80:])
    assert model.score(X[80:], y[80:]) > (0.6 if order == 0 else 0.7)
    proba = np.concatenate(model.predict_proba(X[80:]))
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert (proba == 0).any()
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.beam == 0.3
    np.testing.assert_array_equal(np.concatenate(loaded.predict_proba(X[80:])), proba)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda **more: hr.StructuredPerceptron(epochs=3, random_state=0, **more),
        lambda **more: hr.StructuredPerceptron(epochs=3, averaging="vote", random_state=0, **more),
        lambda **more: hr.StructuredSVM(epochs=3, random_state=0, **more),
        hr.MEMM,
    ],
    ids=["perceptron", "voted", "svm", "memm"],
)
def test_other_models_take_a_bound(make, order):
    X, y = task(80, 8)
    fixed, bounded, exact = (make(order=order, **more) for more in ({"beam": 2}, {"beam": 0.05}, {}))
    for model in (fixed, bounded, exact):
        model.fit(X, y)
    assert bounded.score(X, y) > exact.score(X, y) - 0.1
    for best in bounded.predict_nbest(X[:3], n=2):
        assert best[0][0] <= 1e-5


@by_model
def test_the_gradient_of_training_never_loses_gold(make):
    """With a beam of one, gold and one other path are left at a position: what is learned still tells them apart."""
    X, y = task(60, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(beam=1).fit(X, y)
    assert model.score(X, y) > 0.4  # 0.17 by chance
    assert (model.log_likelihood(X, y) <= 0).all()


def test_a_fitted_model_can_predict_with_another_beam(tmp_path):
    X, y = task(60, 6)
    model = hr.TreeCRF(n_rounds=5, transitions="table").fit(X, y)
    exact = model.predict_proba(X)
    wide = model.set_params(beam=5).predict_proba(X)
    narrow = model.set_params(beam=1).predict_proba(X)
    assert all(((p > 0).sum(axis=1) == 1).all() for p in narrow)
    assert max(np.abs(a - b).max() for a, b in zip(exact, wide, strict=True)) < 0.2
    fitted = hr.TreeCRF(n_rounds=5, transitions="table", beam=2).fit(X, y)
    fitted.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.beam == 2
    for a, b in zip(fitted.predict_proba(X), loaded.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


@by_model
def test_a_beam_wider_than_the_lattice_is_said_once(make):
    X, y = task(20, 4)
    with pytest.warns(
        BeamWarning, match=r"beam is 9, but 4 labels and order 1 have no more than 4 label contexts"
    ) as said:
        wide = make(beam=9).fit(X, y)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = make().fit(X, y)
        for a, b in zip(answers(exact, X, y), answers(wide, X, y), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("beam", [0, -1, 2.5, 1.0, 0.0, float("nan"), True, "all"])
def test_beams_that_cannot_be_are_refused(beam):
    for make in (hr.LinearCRF, hr.TreeCRF):
        with pytest.raises(
            InputError, match='beam must be "kl", an integer of at least 1, a number between 0 and 1, or None'
        ):
            make(beam=beam).fit(["ab"], [["A", "B"]])


def test_threads_change_nothing_under_a_beam():
    X, y = task(100, 8)
    one, four = (hr.TreeCRF(n_rounds=4, beam=3, transitions="table", n_jobs=n).fit(X, y) for n in (1, 4))
    for a, b in zip(answers(one, X, y), answers(four, X, y), strict=True):
        np.testing.assert_array_equal(a, b)


@by_model
def test_ties_at_the_start_do_not_end_learning(make):
    """Before anything is learned all labels are tied, and a beam keeps the lowest: here the most frequent ones."""
    rng = np.random.default_rng(0)
    share = np.exp(-np.arange(9.0))
    y = [rng.choice(9, size=8, p=share / share.sum()) for _ in range(60)]
    X = ["".join(chr(ord("a") + label) for label in labels) for labels in y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(beam=2).fit(X, y)
    assert model.score(X, y) > 0.95
