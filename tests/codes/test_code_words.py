"""Codes, distances and cascades, each against its naive twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Sequences
from hedgerow.codes.cascade import Cascade
from hedgerow.codes.code_words import least_bits, make_words, most_bits, separation
from hedgerow.codes.coupling import label_log_probabilities
from hedgerow.codes.distances import label_scores, natural_temperature
from hedgerow.codes.growth import confusion, next_column, urgency
from hedgerow.encoding import Encoder
from hedgerow.errors import InputError
from oracles import codes as oracle


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def sizes(draw):
    k = draw(st.integers(2, 40))
    n = draw(st.integers(least_bits(k), min(most_bits(k), 3 * least_bits(k) + 8)))
    return k, n


@given(sizes(), st.integers(0, 2**32))
@settings(max_examples=80)
def test_random_codes_keep_the_rules(size, seed):
    k, n = size
    words = make_words("random", k, n, rng(seed))
    assert words.shape == (k, n)
    assert oracle.broken_rules(words.tolist()) == []


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 16, 128])
def test_the_shortest_and_the_longest_code(k):
    shortest = make_words("random", k, least_bits(k), rng())
    assert oracle.broken_rules(shortest.tolist()) == []
    if k <= 8:
        longest = make_words("random", k, most_bits(k), rng())
        assert oracle.broken_rules(longest.tolist()) == []


def test_random_codes_differ_by_seed_and_bits_are_even():
    many = np.stack([make_words("random", 30, 40, rng(seed)) for seed in range(50)])
    assert len({words.tobytes() for words in many}) == 50
    np.testing.assert_allclose(many.mean(axis=(0, 2)), 0.5, atol=0.06)
    few = np.stack([make_words("random", 4, 3, rng(seed)) for seed in range(400)])
    np.testing.assert_allclose(few.mean(axis=0), 0.5, atol=0.1)


@pytest.mark.parametrize(("k", "n", "default"), [(2, 1, 1), (3, 3, 3), (5, 15, 15), (6, 30, 30), (100, 70, 70)])
def test_the_default_length(k, n, default):
    assert make_words("random", k, None, rng()).shape == (k, n)


@pytest.mark.parametrize(
    ("k", "n", "said"),
    [
        (5, 2, "n_bits must be from 3 to 15 for 5 labels: .* it is 2"),
        (5, 16, "n_bits must be from 3 to 15 for 5 labels: .* it is 16"),
        (2, 2, "n_bits must be from 1 to 1 for 2 labels"),
        (100, 6, r"n_bits must be from 7 to 2\^99 - 1 for 100 labels"),
    ],
)
@pytest.mark.parametrize("code", ["random", "separated"])
def test_lengths_that_cannot_be(code, k, n, said):
    with pytest.raises(InputError, match=said):
        make_words(code, k, n, rng())


def test_separated_words_are_further_apart():
    gained = 0
    for seed in range(5):
        random, separated = (make_words(code, 20, 25, rng(seed)) for code in ("random", "separated"))
        assert oracle.broken_rules(separated.tolist()) == []
        assert separation(separated)[0] == oracle.least_distance(separated.tolist())
        assert separation(separated) >= separation(random)
        gained += oracle.least_distance(separated.tolist()) - oracle.least_distance(random.tolist())
    assert gained >= 5


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_exhaustive_code_has_every_partition(k):
    words = make_words("exhaustive", k, None, rng())
    assert words.shape == (k, 2 ** (k - 1) - 1)
    assert oracle.broken_rules(words.tolist()) == []
    with pytest.raises(InputError, match="takes at most 11 labels, but there are 12"):
        make_words("exhaustive", 12, None, rng())
    with pytest.raises(InputError, match=f"has {2 ** (k - 1) - 1} bits for {k} labels, but n_bits is 99; leave it out"):
        make_words("exhaustive", k, 99, rng())


def test_one_against_the_rest():
    assert make_words("one-vs-rest", 4, None, rng()).tolist() == np.eye(4).tolist()
    assert make_words("one-vs-rest", 2, None, rng()).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[0, 0], [0, 1], [1, 0]], None),
        (np.eye(3, dtype=bool), None),
        ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], None),
        ([[0, 0], [0, 1]], r"a row for each of the 3 labels.* its shape is \(2, 2\)"),
        ([0, 1, 1], r"its shape is \(3,\)"),
        (np.zeros((3, 0)), r"its shape is \(3, 0\)"),
        ([[0, 0], [0, 1], [1]], "rows of different lengths"),
        ([[0, 0], [0, 1], [1, 2]], "holds other values, the first is 2"),
        ([[0, 0], [0, 1], [1, -1]], "holds other values, the first is -1"),
        ([["0", "0"], ["0", "1"], ["1", "0"]], "holds other values, the first is '0'"),
        ([[0, 0], [0, 1], [0, 0]], "no column of a code may be constant, but column 0 is all 0"),
        ([[0, 0, 0], [0, 1, 0], [1, 0, 1]], "but 0 and 2 are equal; drop one"),
        ([[0, 0, 1], [0, 1, 1], [1, 0, 0]], "but 0 and 2 are complementary; drop one"),
        ([[0], [1], [1]], "no two labels may have the same word, but rows 1 and 2 are equal; add a column"),
    ],
)
def test_matrices_are_checked(matrix, said):
    if said is None:
        assert make_words(matrix, 3, None, rng()).tolist() == np.asarray(matrix).astype(int).tolist()
    else:
        with pytest.raises(InputError, match=said):
            make_words(matrix, 3, None, rng())


@given(sizes(), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_grown_columns_keep_the_rules(size, seed):
    k, n = size
    draw = rng(seed)
    weights = draw.random((k, k)) * draw.integers(0, 2, (k, k))
    weights = weights + weights.T
    np.fill_diagonal(weights, 0)
    words = np.zeros((k, 0), np.uint8)
    for left in range(n, 0, -1):
        column = next_column(weights, words, left, draw)
        assert column is not None
        words = np.concatenate([words, column[:, None]], axis=1)
    assert oracle.broken_rules(words.tolist()) == []


def test_the_next_column_parts_the_confused():
    weights = np.zeros((6, 6))
    for a, b in [(0, 3), (1, 4), (2, 5)]:
        weights[a, b] = weights[b, a] = 1.0
    column = next_column(weights, np.zeros((6, 0), np.uint8), 10, rng())
    assert column is not None
    assert [column[a] != column[a + 3] for a in range(3)] == [True] * 3
    every = make_words("exhaustive", 4, None, rng())
    assert next_column(np.ones((4, 4)), every, 5, rng()) is None
    last = next_column(np.ones((4, 4)), every[:, 1:], 5, rng())
    assert last is not None
    assert oracle.broken_rules(np.concatenate([every[:, 1:], last[:, None]], axis=1).tolist()) == []


def test_the_next_column_cuts_most():
    partitions = make_words("exhaustive", 9, None, rng()).T
    for seed in range(20):
        weights = rng(seed).random((9, 9)) ** 3
        weights = weights + weights.T
        np.fill_diagonal(weights, 0)
        column = next_column(weights, np.zeros((9, 0), np.uint8), 10, rng(seed))
        assert column is not None
        cuts = [weights[one == 0][:, one == 1].sum() for one in [column, *partitions]]
        assert cuts[0] == pytest.approx(max(cuts))


def test_confusion_is_the_probability_given_to_other_labels():
    scores = np.log([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    found = confusion(scores, np.array([0, 1, -1], np.int32), np.zeros(3))
    np.testing.assert_allclose(found, [[0, 0.2 + 0.5, 0.1], [0.7, 0, 0.25], [0.1, 0.25, 0]], atol=1e-12)


def test_labels_that_are_parted_are_less_urgent():
    confused = np.array([[0.0, 4.0, 9.0], [4.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    words = np.array([[0, 0], [0, 1], [1, 1]], np.uint8)
    assert urgency(confused, words[:, :0]).tolist() == [[0, 2, 3], [2, 0, 1], [3, 1, 0]]
    assert urgency(confused, words).tolist() == [[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]]


@pytest.mark.parametrize("distance", ["l1", "hamming", "likelihood", "lattice"])
@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_scores_of_labels(distance, seed):
    draw = rng(seed)
    words = make_words("random", 6, 12, draw)
    p = draw.choice([0.0, 1.0, 0.5, 0.3, 1e-9, *draw.random(4)], size=(9, 12)).astype(np.float32)
    found = label_scores(p, words, distance)
    expected = [[oracle.score(row, word, distance) for word in words.tolist()] for row in p.tolist()]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert [row.tobytes() for row in found] == [label_scores(p[t : t + 1], words, distance).tobytes() for t in range(9)]
    if distance != "lattice":
        for row, scores in zip(p.tolist(), found, strict=True):
            best = oracle.nearest(row, words.tolist(), distance)
            assert scores[best] == pytest.approx(scores.max(), abs=1e-6)


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_probabilities_of_labels(seed):
    draw = rng(seed)
    words = make_words("random", 6, 12, draw)
    p = draw.choice([0.0, 1.0, 0.5, 0.3, 1e-9, *draw.random(4)], size=(9, 12)).astype(np.float32)
    found = label_log_probabilities(p, words)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-4)
    for row, logs in zip(p.tolist(), found, strict=True):
        q = (np.exp(logs) - 0.01 / 6) / 0.99  # a hundredth is for all labels alike
        best = oracle.divergence(row, oracle.coupled(row, words.tolist()), words.tolist())
        assert oracle.divergence(row, q.tolist(), words.tolist()) == pytest.approx(best, rel=0.03, abs=0.02)
    alone = [label_log_probabilities(p[t : t + 1], words).tobytes() for t in range(9)]
    assert [row.tobytes() for row in found] == alone


def test_labels_that_bits_waver_between_are_found():
    """Bits that speak of a distribution of labels are understood; the nearest word is one label at best."""
    words = make_words("random", 8, 100, rng(1))
    q = np.zeros((3, 8))
    q[0, 5] = 1
    q[1, [2, 3]] = 0.7, 0.3
    q[2, [0, 4, 7]] = 0.5, 0.25, 0.25
    found = np.exp(label_log_probabilities((q @ words).astype(np.float32), words))
    np.testing.assert_allclose(found, q, atol=0.02)


def test_the_natural_temperature_counts_repetitions():
    assert natural_temperature(np.array([[0], [1]], np.uint8)) == 1.0
    eye = np.eye(16, dtype=np.uint8)
    assert natural_temperature(eye) == 1.0  # 2 bits differ, and 4 would be needed
    assert natural_temperature(np.tile(eye, 10)) == pytest.approx(20 / 4)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**32))
@settings(max_examples=50)
def test_cascade_columns(left, right, seed):
    draw = rng(seed)
    lengths = draw.integers(1, 7, size=5)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    predicted = draw.random(starts[-1]) < 0.5
    cascade = Cascade(2, left, right)
    columns = cascade.columns(4, predicted, starts)
    found = [[column.alphabet[int(column.codes[t])] for column in columns] for t in range(starts[-1])]
    expected = []
    for begin, end in pairwise(starts.tolist()):
        one = predicted[begin:end].astype(int).tolist()
        expected += [oracle.around(one, t, left, right) for t in range(end - begin)]
    assert found == expected
    assert [cascade.seen_by(bit) for bit in (0, 1, 2, 3)] == [range(-1, -1, -1), range(0, -1, -1), range(1, -1, -1),
                                                              range(2, 0, -1)]  # fmt: skip
    base = Sequences(["abc"])
    specs = cascade.encoder(Encoder.fit(base), 3).columns[1:]
    names = [column.name for bit in (2, 1) for column in cascade.columns(bit, np.ones(1, bool), np.array([0, 1]))]
    assert [spec.name for spec in specs] == names
    assert all(spec.local for spec in specs)
