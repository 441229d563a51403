"""Codes of every kind obey the rules, and matrices that break them are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.codes import rng, sizes
from hedgerow.codes.code_words import least_bits, make_code_words, most_bits, separation
from hedgerow.errors import InputError
from oracles import codes as oracle


@given(sizes(), st.integers(0, 2**32))
@settings(max_examples=80)
def test_random_codes_keep_the_rules(size, seed):
    k, n = size
    words = make_code_words("random", k, n, rng(seed))
    assert words.shape == (k, n)
    assert oracle.broken_rules(words.tolist()) == []


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 16, 128])
def test_the_shortest_and_the_longest_code(k):
    shortest = make_code_words("random", k, least_bits(k), rng())
    assert oracle.broken_rules(shortest.tolist()) == []
    if k <= 8:
        longest = make_code_words("random", k, most_bits(k), rng())
        assert oracle.broken_rules(longest.tolist()) == []


def test_random_codes_differ_by_seed_and_bits_are_even():
    many = np.stack([make_code_words("random", 30, 40, rng(seed)) for seed in range(50)])
    assert len({words.tobytes() for words in many}) == 50
    np.testing.assert_allclose(many.mean(axis=(0, 2)), 0.5, atol=0.06)
    few = np.stack([make_code_words("random", 4, 3, rng(seed)) for seed in range(400)])
    np.testing.assert_allclose(few.mean(axis=0), 0.5, atol=0.1)


@pytest.mark.parametrize(("k", "n", "default"), [(2, 1, 1), (3, 3, 3), (5, 15, 15), (6, 30, 30), (100, 70, 70)])
def test_the_default_length(k, n, default):
    assert make_code_words("random", k, None, rng()).shape == (k, n)


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
        make_code_words(code, k, n, rng())


def test_separated_words_are_further_apart():
    gained = 0
    for seed in range(5):
        random, separated = (make_code_words(code, 20, 25, rng(seed)) for code in ("random", "separated"))
        assert oracle.broken_rules(separated.tolist()) == []
        assert separation(separated)[0] == oracle.least_distance(separated.tolist())
        assert separation(separated) >= separation(random)
        gained += oracle.least_distance(separated.tolist()) - oracle.least_distance(random.tolist())
    assert gained >= 5


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_exhaustive_code_has_every_partition(k):
    words = make_code_words("exhaustive", k, None, rng())
    assert words.shape == (k, 2 ** (k - 1) - 1)
    assert oracle.broken_rules(words.tolist()) == []
    with pytest.raises(InputError, match="is limited to 11 labels, but there are 12"):
        make_code_words("exhaustive", 12, None, rng())
    with pytest.raises(
        InputError, match=f"has {2 ** (k - 1) - 1} bits for {k} labels, but n_bits is 99; leave n_bits out"
    ):
        make_code_words("exhaustive", k, 99, rng())


def test_one_against_the_rest():
    assert make_code_words("one-vs-rest", 4, None, rng()).tolist() == np.eye(4).tolist()
    assert make_code_words("one-vs-rest", 2, None, rng()).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[0, 0], [0, 1], [1, 0]], None),
        (np.eye(3, dtype=bool), None),
        ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], None),
        ([[0, 0], [0, 1]], r"a row for each of the 3 labels.* its shape is \(2, 2\)"),
        ([0, 1, 1], r"its shape is \(3,\)"),
        (np.zeros((3, 0)), r"its shape is \(3, 0\)"),
        ([[0, 0], [0, 1], [1]], "its rows have different lengths"),
        ([[0, 0], [0, 1], [1, 2]], "holds other values, the first is 2"),
        ([[0, 0], [0, 1], [1, -1]], "holds other values, the first is -1"),
        ([["0", "0"], ["0", "1"], ["1", "0"]], "holds other values, the first is '0'"),
        ([[0, 0], [0, 1], [0, 0]], "no column of a code may be constant, but column 0 is all 0"),
        ([[0, 0, 0], [0, 1, 0], [1, 0, 1]], "but 0 and 2 are equal; drop one"),
        ([[0, 0, 1], [0, 1, 1], [1, 0, 0]], "but 0 and 2 are complementary; drop one"),
        ([[0], [1], [1]], "no two labels may have the same code word, but rows 1 and 2 are equal; add a column"),
    ],
)
def test_matrices_are_checked(matrix, said):
    if said is None:
        assert make_code_words(matrix, 3, None, rng()).tolist() == np.asarray(matrix).astype(int).tolist()
    else:
        with pytest.raises(InputError, match=said):
            make_code_words(matrix, 3, None, rng())
