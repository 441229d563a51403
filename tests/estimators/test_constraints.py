"""Constraints and known labels of every estimator: predictions, errors, files."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise, product

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import ImpossibleLatticeError, InputError, ModelFileError
from oracles import constraints as oracles
from oracles.lattice import log_sum

LABELS = ["B-L", "B-P", "I-L", "I-P", "O"]
IOB2 = {
    (a, b) for a in (None, *LABELS) for b in LABELS if b[0] != "I" or (a is not None and a[0] != "O" and a[1:] == b[1:])
}


def names_data(seed, n):
    """Labels in IOB2 and words that show some of them."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        labels, before = [], "O"
        for _ in range(rng.integers(1, 6)):
            choices = ["O", "B-P", "B-L"] + ([f"I{before[1:]}"] * 2 if before != "O" else [])
            before = str(rng.choice(choices))
            labels.append(before)
        X.append([label if rng.random() < 0.6 else "noise" for label in labels])
        y.append(labels)
    return X, y


X, Y = names_data(0, 40)
# Words that suggest labels out of place.
NEW = [["I-P", "I-L"], ["noise", "I-P", "I-P"], ["O", "I-L", "B-P", "I-L"], ["I-P"], ["B-P", "I-P", "noise", "I-L"]]
KNOWN = [[None, "B-L"], None, ["B-L", None, None, "I-P"], [None], [None, "I-P", None, "O"]]

ESTIMATORS = {
    "linear": hr.LinearCRF(max_iter=20),
    "linear order 0": hr.LinearCRF(max_iter=20, order=0),
    "linear order 2": hr.LinearCRF(max_iter=20, order=2),
    "linear beam": hr.LinearCRF(max_iter=20, beam=2),
    "sgd": hr.LinearCRF(solver="sgd", epochs=3),
    "trees": hr.TreeCRF(n_rounds=3, transitions="trees"),
    "tree table": hr.TreeCRF(n_rounds=3, transitions="table"),
    "trees order 0": hr.TreeCRF(n_rounds=3, order=0),
    "trees order 2": hr.TreeCRF(n_rounds=2, order=2, transitions="trees"),
    "pseudo-likelihood": hr.TreeCRF(n_rounds=3, pseudo_rounds=2, transitions="table"),
    "trees and linear": hr.TreeCRF(n_rounds=2, linear=True),
    "hmm": hr.HMM(),
    "hmm order 0": hr.HMM(order=0),
    "hmm order 2": hr.HMM(order=2),
    "memm": hr.MEMM(n_rounds=3),
    "memm order 0": hr.MEMM(n_rounds=3, order=0),
    "memm order 2": hr.MEMM(n_rounds=3, order=2),
    "linear memm": hr.MEMM(learner="linear", max_iter=20),
    "future": hr.FutureMEMM(n_rounds=2, max_future=1),
    "perceptron": hr.StructuredPerceptron(epochs=2),
    "perceptron beam": hr.StructuredPerceptron(epochs=2, order=2, beam=2),
    "votes": hr.StructuredPerceptron(epochs=2, averaging="vote"),
    "svm": hr.StructuredSVM(epochs=2),
    "code": hr.OutputCode(base=hr.TreeCRF(n_rounds=2, window=0)),
    "code lattice": hr.OutputCode(base=hr.TreeCRF(n_rounds=2, window=0), distance="lattice"),
    "search": hr.SearchTagger(epochs=2),
    "search backward": hr.SearchTagger(epochs=2, direction="right-to-left", beam=2),
}


@pytest.fixture(scope="module")
def fitted():
    """A model by name, fitted once; `constraints` of training."""
    models = {}

    def get(name, constraints):
        if (name, constraints) not in models:
            estimator = type(ESTIMATORS[name])(**ESTIMATORS[name].get_params(deep=False))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[name, constraints] = estimator.set_params(constraints=constraints, random_state=0).fit(X, Y)
        return models[name, constraints]

    return get


def is_iob2(labels):
    return oracles.is_allowed(tuple(labels), IOB2, LABELS)


@pytest.mark.parametrize("constraints", [None, "IOB2"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_predictions_keep_the_constraints(fitted, name, constraints):
    model = fitted(name, constraints)
    override = {} if constraints else {"constraints": "IOB2"}
    for decode in ("viterbi", "marginal"):
        assert all(is_iob2(labels.tolist()) for labels in model.predict(NEW, decode=decode, **override))
    for best in model.predict_nbest(NEW, 3, **override):
        assert all(is_iob2(labels.tolist()) for _, labels in best)
    for p in model.predict_proba(NEW, **override):
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
        assert not p[0, [2, 3]].any()  # no span begins with I
    wrong = [["I-P"] * len(x) for x in NEW]
    assert np.isneginf(model.log_likelihood(NEW, wrong, **override)).all()


@pytest.mark.parametrize("constraints", [None, "IOB2"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_known_labels_are_kept(fitted, name, constraints):
    model = fitted(name, constraints)
    predicted, probabilities = model.predict(NEW, known=KNOWN), model.predict_proba(NEW, known=KNOWN)
    nbest = [best[0][1] for best in model.predict_nbest(NEW, 1, known=KNOWN)]
    for i, known in enumerate(KNOWN):
        for t, label in enumerate(known or []):
            if label is not None:
                assert predicted[i][t] == nbest[i][t] == label
                assert probabilities[i][t, LABELS.index(label)] == pytest.approx(1)
        if constraints:
            assert is_iob2(predicted[i].tolist())
    nothing = [[None] * len(x) for x in NEW]
    for a, b in zip(model.predict_proba(NEW), model.predict_proba(NEW, known=nothing), strict=True):
        np.testing.assert_array_equal(a, b)


EXACT = ["linear", "linear order 0", "linear order 2", "trees", "trees order 0", "trees order 2", "tree table", "hmm"]


@pytest.mark.parametrize("name", [*EXACT, "hmm order 0", "svm", "code lattice"])
def test_probabilities_are_conditional(fitted, name):
    """Constraints and known labels condition the distribution over label sequences."""
    model = fitted(name, "IOB2")
    everything = [(a, b) for a in (None, *LABELS) for b in LABELS]
    x, known = NEW[2], [None, None, "B-P", None]
    paths = list(product(LABELS, repeat=len(x)))
    free = dict(zip(paths, model.log_likelihood([x] * len(paths), paths, constraints=everything).tolist(), strict=True))
    for constraints, pairs in ((None, IOB2), (everything, set(everything))):
        codes = [-1 if label is None else label for label in known]
        allowed = {path: p for path, p in free.items() if oracles.is_allowed(path, pairs, LABELS, codes)}
        log_z = log_sum(allowed.values())
        found = model.predict_proba([x], known=[known], constraints=constraints)[0]
        for t, row in enumerate(found):
            for label, p in zip(LABELS, row, strict=True):
                expected = sum(math.exp(s - log_z) for path, s in allowed.items() if path[t] == label)
                assert p == pytest.approx(expected, abs=1e-5)
        best = max(allowed, key=allowed.get)
        value = model.log_likelihood([x], [best], known=[known], constraints=constraints)[0]
        assert value == pytest.approx(allowed[best] - log_z, abs=1e-4)
        assert model.predict_marginals([x], known=[known], constraints=constraints)[0][2]["B-P"] == pytest.approx(1)


@pytest.mark.parametrize("name", ["memm", "memm order 0", "memm order 2", "linear memm", "future"])
def test_a_memm_is_normalised_over_the_labels_that_may_follow(fitted, name):
    model = fitted(name, "IOB2")
    x, k = NEW[4], len(LABELS)
    encoded = model.model_.encode([x])
    edge = model.model_.potential.scores(encoded).edge  # normalised over all labels: the same but for a constant
    order = model.model_.order
    pairs = {(None if a is None else LABELS.index(a), LABELS.index(b)) for a, b in IOB2}

    def score(t, context, label):
        number = 0
        for one in context:
            number = number * k + one
        return float(edge[t, number, label])

    expected = oracles.locally_normalised(score, len(x), order, k, pairs, range(k))
    found = model.log_likelihood([x] * len(expected), [[LABELS[y] for y in path] for path in expected])
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-4)


@pytest.mark.parametrize("name", [*EXACT[:-1], "memm", "memm order 2", "linear memm", "future"])
def test_the_loss_is_that_of_the_constrained_distribution(fitted, name):
    model = fitted(name, "IOB2")
    loss = -float(model.log_likelihood(X, Y).mean())
    if name.startswith("linear") and name != "linear memm":
        return  # the loss has a penalty
    if name == "linear memm":
        assert model.training_log_[-1]["loss"] >= loss - 1e-4
    else:
        assert model.training_log_[-1]["loss"] == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"])
def test_schemes_allow_what_they_write(scheme):
    """Of all label sequences exactly those are allowed that write the spans they mark."""
    letters = {"IOB1": "BI", "IOB2": "BI", "IOE1": "IE", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}[scheme]
    classes = sorted([*(f"{letter}-{kind}" for letter in letters for kind in "PQ"), "O"])
    model = hr.HMM(constraints=[(a, b) for a in (None, *classes) for b in classes])
    model.fit([["x"] * len(classes)], [classes])
    length = 3
    every = list(product(classes, repeat=length))
    found = model.log_likelihood([["x"] * length] * len(every), every, constraints=scheme)
    written = {written_spans(spans, length, scheme) for spans in all_spans(length)}
    assert {path for path, value in zip(every, found, strict=True) if value > -np.inf} == written


def all_spans(length, start=0):
    """Every set of spans (start, end, type) that do not overlap."""
    if start == length:
        yield ()
        return
    for rest in all_spans(length, start + 1):
        yield rest
    for end in range(start + 1, length + 1):
        for kind in "PQ":
            for rest in all_spans(length, end):
                yield ((start, end, kind), *rest)


def written_spans(spans, length, scheme):
    """The labels of spans by the definition of each scheme."""
    labels = ["O"] * length
    for start, end, kind in spans:
        for t in range(start, end):
            labels[t] = f"I-{kind}"
        before = any((s, k) == (end, kind) for s, _, k in spans)  # a span of this type follows at once
        after = any((e, k) == (start, kind) for _, e, k in spans)
        if scheme == "IOB2" or (scheme == "IOB1" and after):
            labels[start] = f"B-{kind}"
        if scheme == "IOE2" or (scheme == "IOE1" and before):
            labels[end - 1] = f"E-{kind}"
        if scheme in ("IOBES", "BILOU"):
            last, single = ("E", "S") if scheme == "IOBES" else ("L", "U")
            labels[start], labels[end - 1] = f"B-{kind}", f"{last}-{kind}"
            if end == start + 1:
                labels[start] = f"{single}-{kind}"
    return tuple(labels)


@pytest.mark.parametrize(
    ("labels", "constraints", "message"),
    [
        ([["O"], ["O", "I-P"]], "IOB2", r"y: sequence 1, position 1: label 'I-P' may not follow 'O' under the constr"),
        ([["I-P"], ["O", "O"]], "IOB2", r"y: sequence 0, position 0: label 'I-P' may not begin a sequence"),
        ([["O"], ["S-P", "B-P"]], "IOBES", r"y: sequence 1, position 1: label 'B-P' may not end a sequence"),
        ([["O"], ["O", "S-P"]], "IOB2", r"labels of training: .*label 'S-P' does not begin with a letter of IOB2"),
        ([["a"], ["b", "a"]], [(None, "a"), (None, "b")], r"sequence 1, position 1: label 'a' may not follow 'b'"),
        ([["a"], ["b", "a"]], [("b", "a")], r"sequence 0, position 0: label 'a' may not begin"),
        ([[1], [2, 1]], [(None, 1), (2, 1)], r"sequence 1, position 0: label 2 may not begin"),
        ([[1], [2, 1]], "IOB2", "labels of the scheme IOB2 must be strings"),
    ],
)
def test_gold_labels_that_break_the_constraints_are_refused(labels, constraints, message):
    for estimator in (hr.LinearCRF, hr.HMM, hr.SearchTagger):
        with pytest.raises(InputError, match=message):
            estimator(constraints=constraints).fit([["u"], ["v", "w"]], labels)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("BILOU", "no label with the letter B, such as 'B-P', can occur under 'BILOU' beside the other labels"),
        ("IOBES", "no label with the letter B, such as 'B-P', can occur under 'IOBES'"),
        ("IOE2", r"label 'B-P' does not begin with a letter of IOE2 \(I, E, O\) and a dash"),
        ("IOE1", r"label 'B-P' does not begin with a letter of IOE1"),
    ],
)
def test_a_scheme_of_other_labels_is_refused_in_predictions(scheme, message):
    model = hr.HMM().fit([["u", "v", "w"]], [["B-P", "I-P", "O"]])
    for ask in (model.predict, model.predict_proba, model.predict_nbest, model.predict_marginals, model.predict_spans):
        with pytest.raises(InputError, match=message):
            ask([["u"]], constraints=scheme)
    model.predict([["u"]], constraints="IOB2")


def test_a_single_label_that_cannot_occur_is_no_other_scheme():
    model = hr.HMM().fit([["u", "v", "w", "x"]], [["B-P", "I-P", "O", "I-Q"]])  # no B-Q: a fault of the data
    assert "I-Q" not in model.predict([["x", "u", "v"]], constraints="IOB2")[0]


def test_the_scheme_of_training_cannot_be_changed():
    model = hr.HMM(constraints="IOB2").fit([["u", "v", "w"]], [["B-P", "I-P", "O"]])
    with pytest.raises(InputError, match="the scheme of the labels, which was 'IOB2' in training, but got 'IOB1'"):
        model.predict([["u"]], constraints="IOB1")


def test_dev_labels_that_break_the_constraints_are_refused():
    with pytest.raises(InputError, match=r"y_dev: sequence 0, position 0: label 'I-P' may not begin"):
        hr.LinearCRF(constraints="IOB2").fit([["u", "w"], ["v"]], [["B-P", "I-P"], ["O"]], [["u"]], [["I-P"]])


@pytest.mark.parametrize(
    "value", ["iob2", "BIO", 3, [("a",)], [("a", "b", "c")], [("a", None)], {"a": "b"}, ["ab", 1.5]]
)
def test_constraints_of_no_known_form_are_refused(fitted, value):
    with pytest.raises(InputError, match=r"constraints must be one of IOB1, .* or None; it is"):
        hr.HMM(constraints=value).fit(X, Y)
    with pytest.raises(InputError, match=r"predict: constraints must be one of IOB1"):
        fitted("hmm", None).predict(NEW, constraints=value)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([["B-X", None]], r"known: sequence 0, position 0: label 'B-X' never occurred in training"),
        ([[None, 3]], r"known: sequence 0, position 1: label 3 never occurred"),
        ([[None]], r"known: sequence 0 has 2 positions but 1 label; give a label or None"),
        ([[None, None], [None]], r"X has 1 sequence and known has 2 lists"),
        ([["O", "I-P"]], r"known: sequence 0, position 1: label 'I-P' may not follow 'O' under the constraints"),
        ([["I-P", None]], r"known: sequence 0, position 0: label 'I-P' may not begin a sequence"),
        ("OO", "known must be a list with a list of labels or None for each sequence, but got str"),
        (["OO"], "known: sequence 0 must be a list of labels or None, but got str"),
        ([[["O"], None]], "known must hold labels or None, but it holds other values"),
        (3, "known must be a list .* got int"),
    ],
)
def test_known_labels_that_cannot_be_are_refused(fitted, known, message):
    for name in ("linear", "search"):
        model = fitted(name, "IOB2")
        for ask in (model.predict, model.predict_proba, model.predict_nbest, model.predict_marginals):
            with pytest.raises(InputError, match=message):
                ask([["noise", "noise"]], known=known)


def test_a_sequence_without_an_allowed_path_is_named(monkeypatch):
    pairs = [(None, "a"), ("a", "b"), ("b", "c")]  # c is a dead end
    model = hr.HMM(constraints=pairs).fit([["u", "v", "w"]], [["a", "b", "c"]])
    monkeypatch.setattr("hedgerow.inference.blocks.MAX_BLOCK_SCORES", 1)  # a block for each sequence
    for ask in (model.predict, model.predict_proba, model.predict_nbest):
        with pytest.raises(ImpossibleLatticeError, match="sequence 2 has no allowed path"):
            ask([["u"], ["v", "w"], ["u"] * 4])
    with pytest.raises(ImpossibleLatticeError, match="sequence 0 has no allowed path"):
        model.predict([["u", "v"]], known=[["c", None]], constraints=[(None, "c"), *pairs])
    with pytest.raises(InputError, match="pairs of labels of training, but 'd' never occurred there"):
        model.predict([["u", "v"]], constraints=[("a", "d")])


def test_beams_do_not_lose_known_labels(fitted):
    x, known = ["O", "O", "O", "O"], [None, None, None, "I-L"]
    for name in ("linear beam", "search", "search backward", "perceptron beam"):
        narrow = fitted(name, "IOB2")
        before = narrow.beam
        labels = narrow.set_params(beam=1).predict([x], known=[known])[0].tolist()
        narrow.set_params(beam=before)
        assert is_iob2(labels)
        assert labels[3] == "I-L"


def test_every_vote_keeps_known_labels(fitted):
    model = fitted("votes", "IOB2").model_
    known = np.array([LABELS.index("B-L"), -1, LABELS.index("B-P"), -1], np.int32)
    votes = model.potential.votes(model.encode([["I-P", "I-L", "O", "noise"]]), model.constraints, known)
    for t in (0, 2):
        assert votes[t, known[t]] == votes[t].sum() > 0
    assert not votes[1, LABELS.index("I-P")]


@pytest.mark.parametrize("name", ["linear", "trees order 0", "votes", "memm", "search", "svm"])
def test_threads_change_nothing(fitted, name):
    one, four = fitted(name, "IOB2"), type(ESTIMATORS[name])(**fitted(name, "IOB2").get_params(deep=False))
    four.set_params(n_jobs=4).fit(X, Y)
    for a, b in zip(one.predict_proba(NEW, known=KNOWN), four.predict_proba(NEW, known=KNOWN), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["linear", "memm", "votes", "search", "code", "tree table"])
def test_constraints_are_saved(fitted, name, tmp_path):
    model = fitted(name, "IOB2")
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.constraints == "IOB2"
    for a, b in zip(model.predict_proba(NEW), loaded.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(model.predict(NEW, known=KNOWN), loaded.predict(NEW, known=KNOWN), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("pairs", [sorted(IOB2, key=str), IOB2, tuple(IOB2), frozenset(IOB2), [list(p) for p in IOB2]])
def test_pairs_in_any_collection(fitted, pairs, tmp_path):
    model = hr.LinearCRF(max_iter=20, constraints=pairs, random_state=0).fit(X, Y)
    for a, b in zip(model.predict_proba(NEW), fitted("linear", "IOB2").predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert set(loaded.constraints) == IOB2
    assert loaded.predict(NEW)[0].tolist() == model.predict(NEW)[0].tolist()


def test_damaged_constraints_are_refused(fitted, tmp_path):
    from hedgerow import storage

    path = tmp_path / "m.hedgerow"
    fitted("linear", "IOB2").save(path)
    arrays, metadata = storage.read(path)
    damages = [
        ({"constraints.follows": np.ones((5, 5), bool)}, {}),
        ({"constraints.follows": np.ones((6, 5), np.uint8)}, {}),
        ({"constraints.last": np.ones(4, bool)}, {}),
        ({"constraints.last": np.full(5, 2, np.uint8).view(bool)}, {}),
        ({"constraints.more": np.ones(4, bool)}, {}),
        ({}, {"constraints": "IOB3"}),
        ({}, {"constraints": [["O"]]}),
        ({}, {"constraints": 7}),
    ]
    for arrays_change, parameters in damages:
        changed = {**metadata, "parameters": metadata["parameters"] | parameters}
        storage.write(path, arrays | arrays_change, changed)
        with pytest.raises(ModelFileError):
            hr.load(path)
    storage.write(path, {name: a for name, a in arrays.items() if name != "constraints.last"}, metadata)
    with pytest.raises(ModelFileError, match="'follows' and 'last'"):
        hr.load(path)


def test_constraints_of_inner_estimators_are_refused():
    with pytest.raises(InputError, match="base must not have constraints='IOB2'; the labels of a bit are 0 and 1"):
        hr.OutputCode(base=hr.TreeCRF(constraints="IOB2")).fit(X, Y)
    with pytest.raises(InputError, match="future must not have constraints"):
        hr.SearchTagger(future=hr.FutureMEMM(constraints="IOB2")).fit(X, Y)
    with pytest.raises(InputError, match="constraints need an order of at least 1"):
        hr.SearchTagger(order=0, constraints="IOB2").fit(X, Y)
    model = hr.TreeCRF(n_rounds=1, warm_start=True).fit(X, Y)
    with pytest.raises(InputError, match="constraints"):
        model.set_params(n_rounds=2, constraints="IOB2").fit(X, Y)


def test_a_search_of_order_0_keeps_the_constraints_of_a_prediction():
    model = hr.SearchTagger(order=0, epochs=2, random_state=0).fit(X, Y)
    assert not all(is_iob2(labels.tolist()) for labels in model.predict(NEW))
    assert all(is_iob2(labels.tolist()) for labels in model.predict(NEW, constraints="IOB2"))


def test_constraints_change_what_is_learned(fitted):
    free, bound = fitted("linear", None), fitted("linear", "IOB2")
    assert free.transition_features_ != bound.transition_features_
    assert all((None if a == "start" else a, b) in IOB2 for (a, b), w in bound.transition_features_.items() if w)


def test_pairs_of_neighbours_of_the_data():
    pairs = {pair for labels in Y for pair in pairwise([None, *labels])}
    assert pairs <= IOB2


@pytest.mark.parametrize("constraints", [None, "IOB2"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_spans_are_those_of_the_labels_with_probabilities(fitted, name, constraints):
    model = fitted(name, constraints)
    predicted, found = model.predict(NEW, known=KNOWN), model.predict_spans(NEW, known=KNOWN)
    for labels, spans in zip(predicted, found, strict=True):
        assert [span[:3] for span in spans] == hr.metrics.spans(labels.tolist())
        assert all(0 <= span.probability <= 1 for span in spans)
        assert all(type(span) is hr.Span for span in spans)


@pytest.mark.parametrize("name", [*EXACT, "memm order 2", "votes", "svm"])
def test_span_probabilities_are_sums_over_label_sequences(fitted, name):
    model = fitted(name, "IOB2")
    for x in NEW[1:3]:
        paths = list(product(LABELS, repeat=len(x)))
        likelihoods = dict(zip(paths, model.log_likelihood([x] * len(paths), paths).tolist(), strict=True))
        for span in model.predict_spans([x])[0]:
            expected = oracles.span_probability(likelihoods, hr.metrics.spans, span[:3])
            assert span.probability == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["search", "search backward"])
def test_span_probabilities_of_a_search_are_sums_over_what_it_kept(fitted, name):
    model = fitted(name, "IOB2")
    for spans, best in zip(model.predict_spans(NEW), model.predict_nbest(NEW, 100), strict=True):
        for span in spans:
            marked = [math.exp(p) for p, labels in best if span[:3] in hr.metrics.spans(labels.tolist())]
            assert span.probability == pytest.approx(sum(marked), abs=1e-6)


def test_spans_that_labels_do_not_mark_are_refused(fitted):
    model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    with pytest.raises(InputError, match="label '-' does not begin with a letter of IOB2"):
        model.predict_spans(["cat"])
    with pytest.raises(InputError, match="scheme is 'BIO'; write 'IOB2'"):
        fitted("hmm", None).predict_spans(NEW, scheme="BIO")
    with pytest.raises(InputError, match="labels of the scheme IOB2 must be strings"):
        hr.HMM().fit(["cat", "dog"], [[1, 2, 1], [1, 3, 1]]).predict_spans(["cat"])
    assert fitted("hmm", None).predict_spans([]) == []


def test_the_scheme_of_spans_is_that_of_the_letters():
    X, y = [["a", "b", "c", "d"]], [["B-P", "E-P", "S-P", "O"]]
    model = hr.LinearCRF(window=0, l2=0.01).fit(X * 5, y * 5)
    assert [span[:3] for span in model.predict_spans(X)[0]] == [(0, 2, "P"), (2, 3, "P")]
    other = [["B-P", "L-P", "U-P", "O"]]
    model = hr.LinearCRF(window=0, l2=0.01, constraints="BILOU").fit(X * 5, other * 5)
    assert [span[:3] for span in model.predict_spans(X)[0]] == [(0, 2, "P"), (2, 3, "P")]
    assert model.predict_spans(X)[0][0].probability > 0.9
