"""Label statistics: equal to counting by hand, and never counted from a position's own fold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import _core
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import AttributeReader, Encoder, Labels, Window
from hedgerow.errors import InputError
from hedgerow.potentials.label_statistics import LEAST_PRIOR, MAX_FAMILIES, SMOOTHING, LabelStatistics
from oracles.label_statistics import log_ratios

LABELS = ["A", "B", "C"]


def random_sequences(seed, n=9, *, missing=0.1):
    rng = np.random.default_rng(seed)

    def position():
        word = None if rng.random() < missing else str(rng.integers(6))
        return {"word": word, "bag": [str(v) for v in np.unique(rng.integers(5, size=rng.integers(0, 4)))]}

    X = [[position() for _ in range(rng.integers(1, 6))] for _ in range(n)]
    y = [[LABELS[i] for i in rng.integers(3, size=len(x))] for x in X]
    y[0][0], y[1][0], y[2][0] = LABELS
    return X, y


def fitted(X, y, offsets, folds, weights=None, n_threads=1):
    raw = Sequences(X)
    encoder = Encoder.fit(raw)
    encoded = encoder.transform(raw)
    gold = read_labels(y, raw)
    codes = Labels.fit(gold, raw).codes(gold, raw)
    lengths = encoded.lengths
    by_position = None if weights is None else np.repeat(np.asarray(weights, float), lengths)
    statistics, numbers = LabelStatistics.fit(
        encoded,
        ["word", "bag"],
        Window.of(list(offsets)),
        codes,
        len(LABELS),
        weights=by_position,
        folds=np.repeat(np.asarray(folds, np.int32), lengths),
        n_folds=int(np.max(folds)) + 1,
        n_threads=n_threads,
    )
    return encoder, statistics, np.array([column.values for column in numbers])


def expected(X, y, X_new, offsets, statistics, *, folds=None, weights=None):
    weights = [1.0] * len(X) if weights is None else weights
    total = np.zeros(3)
    for gold, weight in zip(y, weights, strict=True):
        for label in gold:
            total[LABELS.index(label)] += weight
    prior = (total + LEAST_PRIOR) / (total + LEAST_PRIOR).sum()
    rules = {"columns": ["word", "bag"], "offsets": offsets, "families": statistics.families.tolist()}
    rules |= {"labels": LABELS, "prior": prior.tolist(), "smoothing": SMOOTHING}
    rows = []
    for i, x in enumerate(X_new):
        counted = [(X[j], y[j], weights[j]) for j in range(len(X)) if folds is None or folds[j] != folds[i]]
        rows += [np.concatenate(log_ratios(counted, x, t, **rules)) for t in range(len(x))]
    return np.array(rows).T


@pytest.mark.parametrize("offsets", [(0,), (-1, 0, 1), (2,)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_they_equal_counting_by_hand(seed, weighted, offsets):
    X, y = random_sequences(seed)
    rng = np.random.default_rng(seed)
    folds = rng.integers(3, size=len(X))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=len(X)).tolist() if weighted else None
    encoder, statistics, numbers = fitted(X, y, offsets, folds, weights)
    np.testing.assert_allclose(
        numbers, expected(X, y, X, offsets, statistics, folds=folds, weights=weights), rtol=1e-5, atol=1e-5
    )
    new, _ = random_sequences(seed + 100)
    read = encoder.transform(Sequences(new))
    got = np.array([column.values for column in statistics.numbers(read, 1)])
    np.testing.assert_allclose(got, expected(X, y, new, offsets, statistics, weights=weights), rtol=1e-5, atol=1e-5)


def test_a_label_changes_no_number_of_its_own_fold():
    X, y = random_sequences(5)
    folds = np.arange(len(X)) % 3
    _, _, before = fitted(X, y, (-1, 0, 1), folds)
    y[3] = [LABELS[(LABELS.index(label) + 1) % 3] for label in y[3]]
    _, _, after = fitted(X, y, (-1, 0, 1), folds)
    lengths = [len(x) for x in X]
    of_position = np.repeat(folds, lengths)
    # The prior counts all sequences; log-ratios differ by no more than what it changes.
    own = np.abs(before - after)[:, of_position == folds[3]].max()
    others = np.abs(before - after)[:, of_position != folds[3]].max()
    assert own < 0.5 < others


def test_threads_change_nothing():
    X, y = random_sequences(1, n=700)
    folds = np.arange(len(X)) % 10
    (_, one, numbers), (_, three, others) = (fitted(X, y, (-1, 0), folds, n_threads=n) for n in (1, 3))
    assert one.equals(three)
    np.testing.assert_array_equal(numbers, others)


def test_what_was_read_before_changes_nothing():
    X, y = random_sequences(1, n=60)
    encoder, fresh, _ = fitted(X, y, (-1, 0, 1), np.arange(len(X)) % 3)
    _, used, _ = fitted(X, y, (-1, 0, 1), np.arange(len(X)) % 3)
    for x in X[::-1]:
        used.numbers(encoder.transform(Sequences([x])), 1)
    read = encoder.transform(Sequences(X))
    for one, other in zip(fresh.numbers(read, 1), used.numbers(read, 2), strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_columns_of_about_as_many_values_are_a_family():
    X = [[{f"c{i}": str((7 * t) % (i + 2)) for i in range(20)} for t in range(40)]]
    raw = Sequences(X * 2)
    encoded = Encoder.fit(raw).transform(raw)
    codes = np.arange(80, dtype=np.int32) % 2
    names = [column.name for column in encoded.columns]
    statistics, numbers = LabelStatistics.fit(
        encoded,
        names,
        Window.of(0),
        codes,
        2,
        weights=None,
        folds=np.repeat([0, 1], 40).astype(np.int32),
        n_folds=2,
        n_threads=1,
    )
    assert statistics.n_families == MAX_FAMILIES
    assert len(numbers) == MAX_FAMILIES * 3
    sizes = [len(encoded.column(name).alphabet) for name in names]
    by_family = [[n for n, of in zip(sizes, statistics.families, strict=True) if of == f] for f in range(MAX_FAMILIES)]
    assert all(max(one) <= min(next_) for one, next_ in pairwise(by_family))


def test_a_file_must_fit_the_columns():
    X, y = random_sequences(2)
    encoder, statistics, _ = fitted(X, y, (0,), np.arange(len(X)) % 3)
    metadata, arrays = statistics.to_arrays()
    again = LabelStatistics.from_arrays(metadata, arrays, encoder, 3)
    assert again.equals(statistics)
    for broken in (
        {"families": np.array([0, 2], np.int32)},
        {"families": np.array([0], np.int32)},
        {"counts": statistics.counts - 1e9},
        {"prior": statistics.prior[:2]},
    ):
        with pytest.raises(InputError):
            LabelStatistics.from_arrays(metadata, arrays | broken, encoder, 3)
    with pytest.raises(InputError):
        LabelStatistics.from_arrays(metadata | {"columns": ["nothing"]}, arrays, encoder, 3)


def test_the_core_refuses_what_it_cannot_read():
    reader = _core.AttributeReader(np.array([0, 3]), np.array([0]))
    reader.add_categorical(np.array([0, 1, 0], np.int32), 2)
    codes, folds = np.zeros(3, np.int32), np.zeros(3, np.int32)
    for changed in ({"labels": codes + 1}, {"folds": folds + 1}, {"labels": codes[:2]}, {"weights": np.ones(2)}):
        arguments = {
            "labels": codes,
            "n_labels": 1,
            "folds": folds,
            "n_folds": 1,
            "weights": None,
            "n_threads": 1,
        } | changed
        with pytest.raises(ValueError, match="must"):
            _core.count_labels(reader, **arguments)
    starts, labels, counts = _core.count_labels(reader, codes, 1, folds, 1, None, 1)
    np.testing.assert_array_equal(counts, [2.0, 1.0])
    good = {
        "starts": starts, "labels": labels, "counts": counts, "prior": np.ones(1), "smoothing": 1.0,
        "families": np.zeros(1, np.int32), "n_families": 1, "fold_counts": None, "folds": None, "n_folds": 0,
    }  # fmt: skip
    assert _core.LogRatios(**good).sum(reader, 1).shape == (1, 2, 3)
    for changed in (
        {"starts": starts[:-1]}, {"starts": starts[::-1].copy()}, {"labels": labels + 1}, {"counts": counts[:1]},
        {"prior": np.zeros(1)}, {"smoothing": 0.0}, {"families": np.ones(1, np.int32)}, {"n_families": 0},
        {"folds": folds}, {"fold_counts": counts, "folds": folds + 1, "n_folds": 1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"must|go together"):
            _core.LogRatios(**good | changed)
    others = (
        {"starts": np.array([0, 2])}, {"families": np.zeros(2, np.int32)},
        {"fold_counts": counts, "folds": folds[:2], "n_folds": 1},
    )  # fmt: skip
    for changed in others:
        with pytest.raises(ValueError, match="must"):
            _core.LogRatios(**good | changed).sum(reader, 1)
    with pytest.raises(ValueError, match="must"):
        _core.LogRatios(**good).sum(reader, 0)


def test_words_that_predict_in_training_predict_elsewhere():
    """Words of a telling last letter, each seen a few times: trees over values overfit rare ones."""
    rng = np.random.default_rng(0)
    words = [f"{i}{'xyz'[i % 3]}" for i in range(600)]
    X = [[words[i] for i in rng.integers(600, size=8)] for _ in range(150)]
    y = [[word[-1] for word in x] for x in X]
    model = hr.TreeCRF(n_rounds=20, n_jobs=1, random_state=0).fit(X[:110], y[:110])
    plain = hr.TreeCRF(n_rounds=20, label_statistics=False, n_jobs=1, random_state=0).fit(X[:110], y[:110])
    assert model.score(X[110:], y[110:]) > plain.score(X[110:], y[110:]) + 0.05


@pytest.mark.parametrize("linear", [False, True])
def test_matrices_give_trees_the_same_attributes_as_columns(linear):
    X, y = random_sequences(3, n=40, missing=0.0)
    model = hr.TreeCRF(n_rounds=2, window=1, label_statistics=True, linear=linear, random_state=0).fit(X, y).model_
    encoded = model.encode(random_sequences(4)[0])
    columns, offset = model.potential.read(encoded)
    expected = AttributeReader(columns, model.potential.window, model.potential.binnings)
    got, other_offset = model.potential._attributes(encoded, 2)
    assert got.n_ids == expected.n_ids
    for one, other in zip(got.ids(0, encoded.n_positions), expected.ids(0, encoded.n_positions), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (offset is not None) == linear
    np.testing.assert_array_equal(offset, other_offset)
