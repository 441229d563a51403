"""The answers of a beam search, against all paths through the hypotheses it keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from builders.search import fitted, random_data
from builders.training import training_of
from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology
from oracles.linear import Problem
from oracles.search import SearchProblem, log_sum, paths_kept, weights_of

pytestmark = pytest.mark.kernel

NO_CELLS = np.zeros(0, np.int64)
DIRECTIONS = ["left-to-right", "right-to-left"]


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("n_labels", [2, 7, 19, 40])
@pytest.mark.parametrize("beam", [1, 3, 16, 17, 60])
def test_every_instruction_set_keeps_the_highest(name, n_labels, beam):
    """Order 1: what a beam over a lattice keeps, and so its best path."""
    rng = np.random.default_rng(n_labels)
    starts = np.array([0, 1, 4, 30], np.int64)
    state = rng.integers(-3, 4, size=(30, n_labels)).astype(np.float32) + rng.random((30, n_labels), np.float32)
    table = rng.normal(size=(1 + n_labels, n_labels)).astype(np.float32)
    bits = n_labels.bit_length()
    grams = (2**bits - 1 + np.array([n_labels, *range(n_labels)])).astype(np.int64)  # start, then each label
    cells = (grams[:, None] * n_labels + np.arange(n_labels)).ravel()
    model = _core.SparseNGramWeights(n_labels, 1, cells, np.ascontiguousarray(table.ravel()), NO_CELLS)
    before = _core.instruction_set()
    _core.use_instruction_set(name)
    try:
        score, labels = _core.SearchBatch(model, starts, state, beam, False, None, 1).best()
    finally:
        _core.use_instruction_set(before)
    lattice = Lattice(Topology(n_labels), starts, state=state, table=table, beam=beam, general=True)
    np.testing.assert_allclose(score, lattice.viterbi()[0], atol=1e-3)
    np.testing.assert_array_equal(labels, lattice.viterbi()[1])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("beam", [1, 2, 4, 30])
def test_answers_are_over_the_paths_that_the_search_kept(order, beam, direction):
    X, y = random_data(7)
    training = training_of(X, y, 0)
    learner, _ = fitted(training, order=order, beam=beam, direction=direction, averaged=True)
    potential, backward = learner.potential, direction == "right-to-left"
    problem = SearchProblem(Problem(training), order, beam, backward=backward)
    w = weights_of(potential)
    search = potential.answers(training.sequences, training.topology, beam=beam).at(0.5)
    turned = slice(None, None, -1 if backward else 1)
    (log_z, marginals), (scores, paths) = search.marginals(), search.nbest(5)
    kept_log_z = search.keeping(training.codes).log_partition()
    for i, x in enumerate(problem.inputs):
        own = slice(int(search.starts[i]), int(search.starts[i + 1]))
        kept = paths_kept(problem, x, w, 0.5)
        assert log_z[i] == pytest.approx(log_sum(kept.values()), abs=1e-3)
        expected = np.zeros((len(x), problem.k))
        for labels, score in kept.items():
            expected[range(len(x)), labels] += math.exp(score - log_sum(kept.values()))
        np.testing.assert_allclose(marginals[own], expected[turned], atol=1e-4)
        ranked = sorted(kept.values(), reverse=True)[:5]
        np.testing.assert_allclose(scores[i], ranked + [-np.inf] * (5 - len(ranked)), atol=1e-3)
        for r in range(len(ranked)):
            labels = tuple(paths[r, own][turned].tolist())
            assert kept[labels] == pytest.approx(ranked[r], abs=1e-3)
        assert len({tuple(p) for p in paths[: len(ranked), own].tolist()}) == len(ranked)
        with_gold = paths_kept(problem, x, w, 0.5, keep=problem.gold[i])
        assert kept_log_z[i] == pytest.approx(log_sum(with_gold.values()), abs=1e-3)
        assert search.score(training.codes)[i] == pytest.approx(with_gold[problem.gold[i]], abs=1e-3)
    np.testing.assert_array_equal(search.viterbi()[1], paths[0])


def test_kernels_refuse_what_does_not_fit():
    grams = _core.SparseNGramWeights(2, 1, NO_CELLS, np.zeros(0, np.float32), NO_CELLS)
    state, starts = np.zeros((2, 2), np.float32), np.array([0, 2])
    for change in (
        {"starts": np.array([0, 3])}, {"starts": np.array([1, 2])}, {"starts": np.array([0, 2, 2])},
        {"starts": np.zeros(0, np.int64)}, {"state": np.zeros((2, 3), np.float32)}, {"beam": 0}, {"n_threads": 0},
        {"keep": np.array([0], np.int32)}, {"keep": np.array([0, 2], np.int32)}, {"keep": np.array([0, -2], np.int32)},
    ):  # fmt: skip
        given = {"starts": starts, "state": state, "beam": 1, "backward": False, "keep": None, "n_threads": 1}
        with pytest.raises(ValueError, match=r"."):
            _core.SearchBatch(grams, **(given | change))
    for cells in ([-1], [2 * 7]):
        with pytest.raises(ValueError, match="cells are numbers of n-grams"):
            _core.SparseNGramWeights(2, 1, np.array(cells), np.zeros(1, np.float32), NO_CELLS)
    with pytest.raises(ValueError, match="order is too high"):
        _core.SparseNGramWeights(2, 1000, NO_CELLS, np.zeros(0, np.float32), NO_CELLS)


def test_without_a_beam_the_search_keeps_every_hypothesis():
    X, y = ["abca", "cab"], [["x", "y", "x", "z"], ["z", "y", "x"]]
    model = hr.SearchTagger(order=2, beam=1, random_state=0).fit(X, y)
    assert isinstance(model.model_.potential, SearchPotential)
    encoded = model.model_.encode(["abcabc"])
    exact = model.model_.answers(encoded)
    widest = model.model_.answers(encoded, beam=3**6)
    np.testing.assert_array_equal(exact.log_partition(), widest.log_partition())
    scores, _ = exact.nbest(3**6)
    assert np.logaddexp.reduce(scores[0]) == pytest.approx(exact.log_partition()[0])
