"""Labellings against the public methods of estimators, sequence by sequence, and spans against sets of spans."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError, UnseenLabelWarning
from hedgerow.inference import blocks
from hedgerow.inspection.labelling import MOST_LISTED, Labelling, most_probable, span_scheme
from oracles import trust

WORDS = ["Ann", "Lee", "York", "in", "saw", "left", "Rome"]
LABELS = {"Ann": "B-PER", "Lee": "I-PER", "York": "B-LOC", "Rome": "B-LOC"}


def sentences(seed, n=20):
    """Words with mostly the labels of a dictionary, and some at random."""
    rng = np.random.default_rng(seed)
    X = [[WORDS[i] for i in rng.integers(len(WORDS), size=rng.integers(1, 7))] for _ in range(n)]
    known = sorted({*LABELS.values(), "O"})
    y = [[LABELS.get(w, "O") if rng.random() < 0.8 else known[rng.integers(len(known))] for w in x] for x in X]
    return X, [as_iob2(labels) for labels in y]


def as_iob2(labels):
    """The labels, with B-PER for an I-PER that continues nothing."""
    before = ["O", *labels[:-1]]
    return ["B-PER" if b == "I-PER" and a[-3:] != "PER" else b for a, b in zip(before, labels, strict=True)]


X, Y = sentences(0)
X_TEST, Y_TEST = sentences(1)

ESTIMATORS = {
    "TreeCRF": hr.TreeCRF(n_rounds=4, n_jobs=1, random_state=0),
    "LinearCRF": hr.LinearCRF(n_jobs=1),
    "LinearCRF of order 2": hr.LinearCRF(order=2, n_jobs=1),
    "LinearCRF with constraints": hr.LinearCRF(n_jobs=1, decode="marginal", constraints="IOB2"),
    "LinearCRF by marginals": hr.LinearCRF(n_jobs=1, decode="marginal"),
    "LinearCRF with a beam": hr.LinearCRF(n_jobs=1),
    "HMM": hr.HMM(n_jobs=1),
    "MEMM": hr.MEMM(n_jobs=1, n_rounds=4),
    "voted perceptron": hr.StructuredPerceptron(averaging="vote", n_jobs=1, random_state=0),
    "SVM": hr.StructuredSVM(n_jobs=1, random_state=0),
    "SearchTagger": hr.SearchTagger(n_jobs=1, random_state=0),
    "OutputCode": hr.OutputCode(base=hr.HMM(), n_bits=3, n_jobs=1, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda name: name.replace(" ", "-"))
def fitted(request):
    model = copy.deepcopy(ESTIMATORS[request.param]).fit(X, Y)
    if request.param == "LinearCRF with a beam":
        model.set_params(beam=2)
    return model, Labelling.of(model, X_TEST, Y_TEST)


def by_sequence(labelling, values):
    return np.split(values, labelling.starts[1:-1])


def test_labels_and_probabilities_are_those_of_the_methods(fitted):
    model, found = fitted
    predicted = model.predict(X_TEST)
    table = model.predict_proba(X_TEST)
    for x, labels, codes, p, chances in zip(
        X_TEST,
        predicted,
        by_sequence(found, found.predicted),
        table,
        by_sequence(found, found.probability),
        strict=True,
    ):
        assert found.classes[codes].tolist() == labels.tolist()
        assert chances.tolist() == pytest.approx([float(p[t, codes[t]]) for t in range(len(x))], abs=1e-6)
    paths = model.log_likelihood(X_TEST, predicted)
    np.testing.assert_allclose(found.path_log_probability, np.minimum(paths, 0), atol=1e-5)


def test_the_most_probable_labels_are_listed(fitted):
    model, found = fitted
    table = np.concatenate(model.predict_proba(X_TEST))
    assert found.listed.shape == (len(table), min(MOST_LISTED, len(found.classes)))
    for row, codes, chances in zip(
        table.tolist(), found.listed.tolist(), found.listed_probability.tolist(), strict=True
    ):
        assert chances == pytest.approx(sorted(row, reverse=True)[: len(codes)], abs=1e-6)
        assert chances == pytest.approx([row[code] for code in codes], abs=1e-6)
        assert len(set(codes)) == len(codes)


def test_right_positions_and_spans_are_those_of_plain_loops(fitted):
    model, found = fitted
    predicted = model.predict(X_TEST)
    right = [a == b for labels, gold in zip(predicted, Y_TEST, strict=True) for a, b in zip(labels, gold, strict=True)]
    assert found.right.tolist() == right
    spans = [
        (tuple(span)[:3] in hr.metrics.spans(gold), span.probability)
        for spans, gold in zip(model.predict_spans(X_TEST), Y_TEST, strict=True)
        for span in spans
    ]
    assert found.right_spans.tolist() == [right for right, _ in spans]
    assert found.spans.probability.tolist() == pytest.approx([p for _, p in spans], abs=1e-6)
    assert any(found.right_spans)
    assert not all(found.right_spans)


def test_path_probabilities_are_those_of_enumeration():
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    x = ["Ann", "in", "Rome"]
    found = Labelling.of(model, [x])
    paths = trust.path_probabilities(model, x)
    best = max(paths, key=paths.get)
    assert found.classes[found.predicted].tolist() == list(best)
    assert np.exp(found.path_log_probability[0]) == pytest.approx(paths[best], rel=1e-5)
    marginals = trust.marginals(paths, model.classes_.tolist())
    assert found.probability.tolist() == pytest.approx([row[best[t]] for t, row in enumerate(marginals)], rel=1e-5)


def test_threads_and_the_order_of_sequences_change_nothing(fitted):
    model, found = fitted
    other = Labelling.of(copy.copy(model).set_params(n_jobs=2), X_TEST, Y_TEST)
    for field in ("predicted", "probability", "listed", "listed_probability", "path_log_probability"):
        assert (getattr(other, field) == getattr(found, field)).all()
    order = np.random.default_rng(0).permutation(len(X_TEST))
    permuted = Labelling.of(model, [X_TEST[i] for i in order], [Y_TEST[i] for i in order])
    assert (permuted.path_log_probability == found.path_log_probability[order]).all()
    for i, place in enumerate(order.tolist()):
        assert (by_sequence(permuted, permuted.probability)[i] == by_sequence(found, found.probability)[place]).all()


def test_blocks_change_nothing(fitted, monkeypatch):
    model, found = fitted
    monkeypatch.setattr(blocks, "MAX_BLOCK_SCORES", 1)
    other = Labelling.of(model, X_TEST, Y_TEST)
    for field in ("predicted", "listed"):
        assert (getattr(other, field) == getattr(found, field)).all()
    for field in ("probability", "gold_probability", "listed_probability", "path_log_probability"):
        np.testing.assert_allclose(getattr(other, field), getattr(found, field), atol=1e-6)
    assert all(map(np.array_equal, other.spans.coded, found.spans.coded))
    np.testing.assert_allclose(other.spans.probability, found.spans.probability, atol=1e-6)


def test_no_sequence_gives_empty_arrays(fitted):
    model, full = fitted
    for empty in ([], hr.Sequences(X_TEST)[:0], np.zeros((0, 2))):
        found = Labelling.of(model, empty, [])
        assert len(found.starts) == 1
        for field in ("predicted", "gold", "probability", "listed", "listed_probability", "path_log_probability"):
            assert len(getattr(found, field)) == 0
            assert getattr(found, field).dtype == getattr(full, field).dtype
        assert found.gold_labels == []
        assert found.right.tolist() == found.right_spans.tolist() == []
    with pytest.raises(InputError, match="X has no sequence, but y has 1"):
        Labelling.of(model, [], [["O"]])


def test_labels_that_training_never_saw_are_wrong():
    model = hr.HMM().fit(X, Y)
    x, gold = [["Ann", "in", "Rome"]], [["B-ORG", "strange", "B-LOC"]]
    with pytest.warns(UnseenLabelWarning):
        found = Labelling.of(model, x, gold)
    assert found.gold[:2].tolist() == [-1, -1]
    assert found.right[:2].tolist() == [False, False]
    spans = found.gold_spans()
    assert list(zip(spans.firsts.tolist(), spans.ends.tolist(), strict=True)) == [(0, 1), (2, 3)]
    assert spans.types[0] >= len(found.spans.rules.names)
    predicted = [tuple(span)[:3] for span in model.predict_spans(x)[0]]
    assert found.right_spans.tolist() == [span == (2, 3, "LOC") for span in predicted]


def test_gold_labels_may_be_iterators_and_corpora(tmp_path):
    model = hr.HMM().fit(X, Y)
    expected = Labelling.of(model, X_TEST, Y_TEST)
    corpus = hr.encode(list(zip(X_TEST, Y_TEST, strict=True)), tmp_path / "c")
    forms = [iter(Y_TEST), [np.array(labels) for labels in Y_TEST], corpus.y]
    for y in forms:
        found = Labelling.of(model, X_TEST, y)
        assert (found.gold == expected.gold).all()
        assert [labels.tolist() for labels in found.gold_labels] == Y_TEST
    of_corpus = hr.HMM().fit(corpus, corpus.y)
    found = Labelling.of(of_corpus, corpus, corpus.y)
    assert found.classes[found.predicted].tolist() == np.concatenate(of_corpus.predict(corpus)).tolist()


def test_views_without_gold_labels_or_spans_are_refused():
    found = Labelling.of(hr.HMM().fit(X, Y), X_TEST)
    assert found.gold is None
    with pytest.raises(InputError, match="there are none; pass y"):
        _ = found.right
    plain = Labelling.of(hr.HMM().fit(["ab"], [["x", "y"]]), ["ab"], [["x", "y"]])
    assert plain.spans is None
    with pytest.raises(InputError, match="the labels of the model mark none"):
        _ = plain.right_spans
    with pytest.raises(NotFittedError):
        Labelling.of(hr.HMM(), X)
    with pytest.raises(NotFittedError):
        Labelling.of(hr.HMM(), [])


@pytest.mark.parametrize(
    ("labels", "constraints", "scheme"),
    [
        (["B-A", "I-A", "B-B"], None, "IOB2"),
        (["I-A", "I-A", "O"], None, "IOB2"),
        (["I-A", "E-A", "O"], None, "IOE2"),
        (["I-A", "E-A", "O"], "IOE2", "IOE2"),
        (["B-A", "L-A", "U-A"], None, "BILOU"),
        (["B", "I", "O"], "IOB2", "IOB2"),
        (["B", "I", "O"], None, None),
        (["B-A", "L-A", "E-A"], None, None),
    ],
)
def test_labels_of_every_scheme_have_spans(labels, constraints, scheme):
    X, y = [["a", "b", "c"]] * 5, [labels] * 5
    model = hr.HMM(constraints=constraints).fit(X, y)
    assert span_scheme(model) == scheme
    assert (Labelling.of(model, X, y).spans is None) == (scheme is None)
    spans, score = hr.inspection.errors(model, X, y).spans, hr.inspection.compare(model, model, X, y).span_f1
    if scheme is None:
        assert spans is score is None
        return
    n = sum(map(len, model.predict_spans(X)))
    assert n > 0
    assert spans.predicted["right"] == spans.gold["right"] == n
    assert score.a == score.b == 1
    assert hr.inspection.reliability(model, X, y, spans=True).counts.sum() == n


def test_of_equally_probable_labels_the_first_come_first():
    codes, chances = most_probable(np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.1, 0.4]], np.float32), 3)
    assert codes.tolist() == [[0, 1, 2], [1, 3, 0]]
    assert chances[1].tolist() == pytest.approx([0.4, 0.4, 0.1])
    table = np.random.default_rng(0).integers(4, size=(50, 9)) / 10
    before = table.copy()
    codes, _ = most_probable(table, 5)
    assert codes.tolist() == [sorted(range(9), key=lambda k: (-row[k], k))[:5] for row in table.tolist()]
    assert (table == before).all()


def test_ten_thousand_labels():
    n = 10_000
    X = [[f"w{i}" for i in range(first, first + 20)] for first in range(0, n, 20)]
    y = [[word.upper() for word in x] for x in X]
    model = hr.SearchTagger(epochs=1, n_jobs=1, random_state=0).fit(X, y)
    found = Labelling.of(model, X[:30], y[:30])
    assert len(found.classes) == n
    assert found.listed.shape == (600, MOST_LISTED)
    table = np.concatenate(model.predict_proba(X[:30]))
    expected = np.argsort(-table, axis=1, kind="stable")[:, :MOST_LISTED]
    assert (found.listed == expected).all()
    assert found.classes[found.predicted].tolist() == np.concatenate(model.predict(X[:30])).tolist()


def test_iterators_without_sequences_are_empty():
    model = hr.HMM().fit(X, Y)
    assert len(Labelling.of(model, [], iter([])).predicted) == 0
    with pytest.raises(InputError, match="X has no sequence, but y has 1"):
        Labelling.of(model, [], iter([["A"]]))
