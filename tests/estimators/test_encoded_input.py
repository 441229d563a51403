"""Estimators on encoded corpora: the models of raw sequences, and refusals with a cure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.corpora import WORDS, labels_of
from hedgerow.errors import InputError

TRAIN, DEV = slice(0, 30), slice(30, 40)
Y = labels_of(WORDS)
FEATURES = hr.templates.words()


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> tuple[hr.Encoded, hr.Encoded]:
    """Training and dev data."""
    folder = tmp_path_factory.mktemp("corpora")
    pairs = list(zip(WORDS, Y, strict=True))
    train = hr.encode(pairs[TRAIN], folder / "train", features=FEATURES, shard_positions=40)
    return train, hr.encode(pairs[DEV], folder / "dev", like=train)


SETTINGS: list[Any] = [
    hr.TreeCRF(n_rounds=2, random_state=0),
    hr.TreeCRF(n_rounds=2, linear=True, random_state=0),
    hr.LinearCRF(max_iter=4),
    hr.StructuredPerceptron(epochs=2, random_state=0),
    hr.StructuredSVM(epochs=2, random_state=0),
    hr.SearchTagger(epochs=1, random_state=0),
    hr.MEMM(n_rounds=2),
    hr.FutureMEMM(n_rounds=2, max_future=1, random_state=0),
    hr.OutputCode(base=hr.TreeCRF(n_rounds=2), n_bits=1, random_state=0),
    hr.OpinionPool(base=hr.TreeCRF(n_rounds=2, window=1), random_state=0),
]


@pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda one: repr(one)[:40])
def test_the_model_is_that_of_raw_sequences(settings: Any, corpora: Any) -> None:
    train, dev = corpora
    raw = type(settings)(**{**settings.get_params(deep=False), "features": FEATURES})
    raw.fit(WORDS[TRAIN], Y[TRAIN], WORDS[DEV], Y[DEV])
    encoded = type(settings)(**settings.get_params(deep=False)).fit(train, train.y, dev, dev.y)
    assert [record["loss"] for record in encoded.training_log_] == [record["loss"] for record in raw.training_log_]
    assert encoded.score(dev, dev.y) == raw.score(WORDS[DEV], Y[DEV])
    for a, b, c in zip(encoded.predict(dev), raw.predict(WORDS[DEV]), encoded.predict(WORDS[DEV]), strict=True):
        assert a.tolist() == b.tolist() == c.tolist()
    for a, b in zip(encoded.predict_proba(dev[:3]), raw.predict_proba(WORDS[DEV][:3]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_saved_model_labels_the_corpus(corpora: Any, tmp_path: Path) -> None:
    train, dev = corpora
    model = hr.LinearCRF(max_iter=3).fit(train, train.y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.score(dev, dev.y) == model.score(dev, dev.y)
    assert loaded.predict_single(dev[0]).tolist() == model.predict(dev)[0].tolist()
    np.testing.assert_array_equal(loaded.log_likelihood(dev, dev.y), model.log_likelihood(WORDS[DEV], Y[DEV]))


def test_shards_and_slices_are_training_data_too(corpora: Any) -> None:
    train, _ = corpora
    part = train[:9]
    model = hr.LinearCRF(max_iter=3).fit(part, part.y)
    assert model.classes_.tolist() == ["A", "B"]
    chosen = train[np.arange(9)]
    again = hr.LinearCRF(max_iter=3).fit(chosen, chosen.y)
    assert again.training_log_[-1]["loss"] == model.training_log_[-1]["loss"]


def test_another_encoder_is_refused(corpora: Any, tmp_path: Path) -> None:
    train, _ = corpora
    other = hr.encode(list(zip(WORDS[DEV], Y[DEV], strict=True)), tmp_path / "other", features=FEATURES)
    model = hr.LinearCRF(max_iter=2).fit(train, train.y)
    with pytest.raises(InputError, match=r"X must be encoded with .* of the model.*like=model"):
        model.predict(other)
    with pytest.raises(InputError, match="X_dev must be encoded with"):
        hr.LinearCRF(max_iter=2).fit(train, train.y, other, other.y)


def test_other_features_are_refused(corpora: Any, tmp_path: Path) -> None:
    train, _ = corpora
    hr.LinearCRF(max_iter=1, features=FEATURES).fit(train, train.y)
    with pytest.raises(InputError, match=r"encoded with features=words\(\), and the estimator has features=tags\(\)"):
        hr.LinearCRF(features=hr.templates.tags()).fit(train, train.y)
    plain = hr.encode(list(zip(WORDS, Y, strict=True)), tmp_path / "plain")
    with pytest.raises(InputError, match="encoded without features"):
        hr.LinearCRF(features=FEATURES).fit(plain, plain.y)
    template = hr.templates.words() + hr.templates.edges({"end": {"from": "symbol", "part": "suffix2"}})
    edges = hr.encode(list(zip(WORDS, Y, strict=True)), tmp_path / "edges", features=template)
    with pytest.raises(InputError, match="the corpus has columns for weights of two labels, end"):
        hr.LinearCRF(max_iter=1).fit(edges, edges.y)
    hr.LinearCRF(max_iter=1, features=template, edge_features=True).fit(edges, edges.y)


def test_missing_values_must_be_treated_when_they_are_encoded(tmp_path: Path) -> None:
    X: Any = [[{"n": 1.0, "w": "a"}, {"n": None, "w": None}], [{"n": 3.0, "w": "b"}, {"n": 2.0, "w": "b"}]]
    pairs = list(zip(X, [["A", "B"], ["B", "A"]], strict=True))
    left = hr.encode(pairs, tmp_path / "left")
    with pytest.raises(InputError, match="missing='indicator' replaces missing values, but the corpus, which has some"):
        hr.LinearCRF(max_iter=1).fit(left, left.y)
    hr.TreeCRF(n_rounds=1).fit(left, left.y)
    filled = hr.encode(pairs, tmp_path / "filled", missing="indicator")
    model = hr.LinearCRF(max_iter=1).fit(filled, filled.y)
    raw = hr.LinearCRF(max_iter=1).fit(X, filled.y)  # type: ignore[arg-type]
    assert model.training_log_[0] | {"seconds": 0} == raw.training_log_[0] | {"seconds": 0}


def test_labels_must_be_given_and_fit(corpora: Any) -> None:
    train, dev = corpora
    with pytest.raises(InputError, match="y must"):
        hr.HMM().fit(train, dev.y)
    with pytest.raises(InputError, match="y must be a list"):
        hr.HMM().fit(train, None)  # type: ignore[arg-type]


def test_cross_validation_and_tuning(corpora: Any) -> None:
    train, _ = corpora
    found = hr.cross_val_predict(hr.LinearCRF(max_iter=2), train, train.y, cv=2, random_state=0, n_jobs=1)
    assert [len(labels) for labels in found] == train.lengths.tolist()
    result = hr.tune(train, train.y, estimators=["StructuredPerceptron"], cv=2, random_state=0, n_jobs=1, verbose=0)
    assert result.model.model_.encoder is train.encoder
    metrics = hr.metrics.accuracy(train.y, found), hr.metrics.accuracy(Y[TRAIN], found)
    assert metrics[0] == metrics[1]
