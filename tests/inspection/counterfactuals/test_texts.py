"""Which texts are tried, and how far from a position."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inspection import counterfactual
from hedgerow.inspection.counterfactuals import values
from hedgerow.inspection.counterfactuals.values import tried_texts

WORDS = [f"w{i:03}" for i in range(300)]
LABELS = ["A", "B", "C"]


def many_words():
    rng = np.random.default_rng(0)
    X = [rng.choice(WORDS, size=8).tolist() for _ in range(150)]
    y = [[LABELS[int(word[1:]) % 3] if rng.random() < 0.9 else "A" for word in x] for x in X]
    return X, y


@pytest.fixture(scope="module", params=["categorical", "bag"])
def large(request):
    X, y = many_words()
    if request.param == "bag":
        X = [[[word] for word in x] for x in X]
    return hr.LinearCRF(max_iter=20, n_jobs=1).fit(X, y)


def naive_texts(model, labels, to):
    (spec,) = [spec for spec in model.model_.encoder.raw_columns if spec.indicates is None]
    texts = list(spec.alphabet)
    one = [[text] if spec.kind == "bag" else text for text in texts]
    alone = np.array([p[0] for p in model.predict_proba([[text] for text in one])])
    ranked = [sorted(range(len(texts)), key=lambda i: -alone[i, label])[:100] for label in range(3)]
    chosen = ranked[to][:100] if to is not None else []
    for place in range(100):
        chosen += [ranked[label][place] for label in labels if ranked[label][place] not in chosen]
    return [texts[i] for i in dict.fromkeys(chosen)][:200]


@pytest.mark.parametrize("rows", [1, 17, 1024])
@pytest.mark.parametrize("to", [None, 0, 2])
def test_texts_of_a_large_alphabet_make_labels_probable(large, to, rows, monkeypatch):
    monkeypatch.setattr(values, "TABLE_ROWS", rows)
    large = pickle.loads(pickle.dumps(large))  # another model, because rankings are kept
    (found,) = tried_texts(large.model_, [1, 2, 0], to).values()
    assert found == naive_texts(large, [1, 2, 0], to)
    assert len(found) == 200


def test_with_very_many_cells_an_even_sample_is_ranked(monkeypatch):
    monkeypatch.setattr(values, "MOST_CELLS", 3 * 250)
    model = hr.HMM(order=0).fit(*many_words())
    (found,) = tried_texts(model.model_, [0, 1, 2], None).values()
    assert len(set(found)) == len(found) == 200
    texts = list(model.model_.encoder.raw_columns[0].alphabet)
    assert set(found) <= {texts[int(i)] for i in np.linspace(0, len(texts) - 1, 250)}
    assert counterfactual(model, ["w001"], 0).new_value in found


def test_texts_that_a_model_cannot_label_alone_come_last():
    X = [[f"a{i:03}", f"b{i:03}"] for i in range(150)]
    model = hr.HMM(smoothing=0).fit(X, [["A", "B"]] * 150)
    (found,) = tried_texts(model.model_, [0, 1], None).values()
    assert {text[0] for text in found[:100]} == {"a"}  # no sequence begins with B
    assert counterfactual(model, X[0], 0) is None


@pytest.mark.parametrize(
    "estimator", [hr.MEMM(n_rounds=2), hr.SearchTagger(epochs=1), hr.HMM(), hr.TreeCRF(n_rounds=2)]
)
def test_every_kind_of_estimator_ranks_texts(estimator):
    model = estimator.fit(*many_words())
    (found,) = tried_texts(model.model_, [0, 1, 2], 1).values()
    assert len(set(found)) == len(found) <= 200


def test_constraints_do_not_hide_the_texts_of_labels_inside_spans():
    X, y = many_words()
    bio = []
    for labels in y:
        names = [{"A": "O", "B": "B-X", "C": "I-X"}[label] for label in labels]
        bio.append(["O" if set(names[:t]) <= {"I-X"} and name == "I-X" else name for t, name in enumerate(names)])
        for t in range(1, len(names)):
            if bio[-1][t] == "I-X" and bio[-1][t - 1] == "O":
                bio[-1][t] = "O"
    model = hr.LinearCRF(constraints="IOB2", max_iter=20, n_jobs=1).fit(X, bio)
    (found,) = tried_texts(model.model_, [0, 1, 2], model.classes_.tolist().index("I-X")).values()
    assert sum(int(word[1:]) % 3 == 2 for word in found[:50]) > 40


def test_positions_are_tried_five_further_than_attributes_reach():
    X, y = [["a", *"zzzzzzzzz"], ["b", *"zzzzzzzzz"]], [["first A", *"AAAAAAAAA"], ["first B", *"BBBBBBBBB"]]
    pairs = [(None, "first A"), (None, "first B"), ("first A", "A"), ("first B", "B"), ("A", "A"), ("B", "B")]
    model = hr.HMM(smoothing=0.01, constraints=pairs).fit(X, y)
    found = [counterfactual(model, X[0], position) for position in range(10)]
    assert [None if one is None else one.offset for one in found] == [0, -1, -2, -3, -4, -5, None, None, None, None]
    assert {one.new_value for one in found[:6]} == {"b"}


def test_the_new_label_is_the_one_asked_for():
    model = hr.LinearCRF(order=0, max_iter=20, n_jobs=1).fit(*many_words())
    for to in ("B", "C"):
        result = counterfactual(model, ["w000", "w003"], 0, to=to)
        assert result.new_label == to
        assert model.predict_single([result.new_value, "w003"])[0] == to
