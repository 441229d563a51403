"""What holds for the explanations of every estimator: sums, probabilities, labels, and independence of all else."""

from __future__ import annotations

import gc
import math
import weakref
from bisect import bisect_right
from itertools import product

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import ALL, CONSTRAINED, SEARCH, data, fitted
from hedgerow.inspection.explaining.entry import explain_many
from oracles.lattice import beam_answers, log_sum

LATTICES = [name for name in ALL if "Search" not in name]
BEAMS = [name for name in ALL if "beam" in name and "voted" not in name]
EXACT = [name for name in LATTICES if name not in BEAMS and "voted" not in name]


def check_sum(explanation):
    """Contributions add up to the log-odds, in the order of their size."""
    amounts = [one.contribution for one in explanation.contributions]
    assert not any(map(math.isnan, amounts))
    total = math.fsum(amounts) if all(map(math.isfinite, amounts)) else sum(amounts)
    assert math.isclose(total, explanation.log_odds, rel_tol=1e-6, abs_tol=1e-6)
    assert amounts == sorted(amounts, key=abs, reverse=True)
    assert [c.column for c in explanation.contributions if c.column == "left context"] == ["left context"]
    assert len(explanation.labels) == len(explanation.against) == explanation.end - explanation.start


def same(one, other):
    assert (one.labels, one.against, one.start, one.end) == (other.labels, other.against, other.start, other.end)
    assert (one.log_odds, one.probability) == (other.log_odds, other.probability)
    assert one.contributions == other.contributions


def log_ratio(p, one, other):
    return math.log(p[one] / p[other]) if p[other] > 0 else math.inf


@pytest.mark.parametrize("name", ALL)
def test_contributions_add_up_at_all_positions(name):
    model, X = fitted(name)
    for x in X:
        explanations = model.explain(x)
        assert len(explanations) == len(x)
        for explanation in explanations:
            check_sum(explanation)


@pytest.mark.parametrize("name", ALL)
def test_contributions_add_up_for_spans(name):
    model, X = fitted(name)
    for x in X:
        for start in range(len(x) - 1):
            explanation = model.explain(x, (start, min(start + 2, len(x))))
            check_sum(explanation)
            assert explanation.labels != explanation.against
            assert "labels inside" in [one.column for one in explanation.contributions]


@pytest.mark.parametrize("name", LATTICES)
def test_log_odds_are_those_of_predict_proba(name):
    model, X = fitted(name)
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    for x, p in zip(X, model.predict_proba(X), strict=True):
        for t, row in enumerate(p.astype(np.float64)):
            label = model.explain(x, t).label
            for against in codes:
                if against == label:
                    continue
                wanted = log_ratio(row, codes[label], codes[against])
                found = model.explain(x, t, against).log_odds
                if row[codes[against]] > 1e-6 or math.isinf(wanted) is math.isinf(found) is True:
                    assert found == pytest.approx(wanted, abs=1e-4)
                else:  # predict_proba has single precision
                    assert found > 10


@pytest.mark.parametrize("name", [name for name in ALL if name not in BEAMS])
def test_label_probability_and_runner_up_are_those_of_predictions(name):
    model, X = fitted(name)
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    for x, p in zip(X, model.predict_proba(X), strict=True):
        labels = model.predict_single(x).tolist()
        for t, explanation in enumerate(model.explain(x)):
            assert explanation.label == labels[t]
            assert explanation.labels == (labels[t],)
            assert explanation.probability == pytest.approx(p[t, codes[labels[t]]], abs=1e-6)
            others = np.delete(p[t], codes[labels[t]])
            assert p[t, codes[explanation.against[0]]] == pytest.approx(others.max(), abs=1e-6)


def spans_of(x):
    return [(start, end) for start in range(len(x)) for end in range(start + 2, len(x) + 1)]


@pytest.mark.parametrize("name", EXACT)
def test_log_odds_of_spans_are_those_of_all_label_sequences(name):
    """With short sequences `predict_nbest` lists every label sequence."""
    model, X = fitted(name)
    classes = model.classes_.tolist()
    for x in [x[:4] for x in X if len(x) >= 2][:3]:
        every = [(tuple(labels.tolist()), p) for p, labels in model.predict_nbest([x], n=len(classes) ** len(x))[0]]
        for start, end in spans_of(x):
            by_labels = {}
            for labels, log_p in every:
                key = labels[start:end]
                by_labels[key] = np.logaddexp(by_labels.get(key, -np.inf), log_p)
            explanation = model.explain(x, (start, end))
            wanted = by_labels[explanation.labels] - by_labels[explanation.against]
            assert explanation.log_odds == pytest.approx(wanted, abs=1e-4)
            best_other = next(labels[start:end] for labels, _ in every if labels[start:end] != explanation.labels)
            assert explanation.against == best_other
            probabilities = model.predict_proba([x])[0]
            at = [probabilities[start + i, classes.index(y)] for i, y in enumerate(explanation.labels)]
            assert explanation.probability == pytest.approx(min(at), abs=1e-6)
            for against in list(product(classes, repeat=end - start))[::7]:
                if against != explanation.labels:
                    found = model.explain(x, (start, end), against=list(against))
                    wanted = by_labels[explanation.labels] - by_labels.get(against, -np.inf)
                    assert found.log_odds == pytest.approx(wanted, abs=1e-4)
                    check_sum(found)


@pytest.mark.parametrize("name", BEAMS)
def test_log_odds_under_a_beam_are_those_of_the_label_sequences_that_it_keeps(name):
    model, X = fitted(name)
    n, infinite = len(model.classes_), 0
    for x in [x[:4] for x in X if len(x) > 2][:3]:
        encoded = model.model_.encode([x])
        codes = model._predicted_codes(encoded)
        lattice = model.model_.potential.lattice(encoded, model.model_.topology, beam=model.beam)
        parts = zip(("state", "edge", "table"), lattice.masked_scores(), strict=True)
        scores = {name: values for name, values in parts if values is not None}
        kept = beam_answers(len(x), lattice.topology.lattice_order, n, model.beam, keep=codes, **scores)["paths"]
        for start, end in spans_of(x):

            def total(labels, start=start, end=end, kept=kept):
                return log_sum(score for path, score in kept.items() if path[start:end] == labels)

            own = tuple(codes[start:end].tolist())
            chances = [total((code,), at, at + 1) - total((), at, at) for at, code in enumerate(own, start)]
            shown = model.explain(x, (start, end))
            assert shown.probability == pytest.approx(math.exp(min(chances)), abs=1e-5)
            assert "that the beam keeps, and the predicted one" in shown.note
            for against in list(product(range(n), repeat=end - start))[::7]:
                if against == own:
                    continue
                wanted = total(own) - total(against)
                found = model.explain(x, (start, end), model.classes_[list(against)].tolist())
                assert found.log_odds == pytest.approx(wanted, abs=1e-4)
                check_sum(found)
                infinite += math.isinf(wanted)
    assert infinite > 0


@pytest.mark.parametrize("name", CONSTRAINED)
def test_impossible_labels_have_infinite_log_odds(name):
    model, X = fitted(name)
    x = next(x for x in X if len(x) > 2)
    n_impossible = 0
    first = model.explain(x, 0, "I-X")
    assert first.log_odds == math.inf
    assert "+inf" in str(first)
    check_sum(first)
    for against in product(model.classes_.tolist(), repeat=2):
        if against == tuple(model.predict_single(x)[1:3].tolist()):
            continue
        explanation = model.explain(x, (1, 3), against)
        forbidden = against[1].startswith("I-") and against[0] not in (against[1], "B-" + against[1][2:])
        assert math.isinf(explanation.log_odds) or not forbidden
        n_impossible += math.isinf(explanation.log_odds)
        check_sum(explanation)
        assert explanation.log_odds > -math.inf
    assert n_impossible > 0


@pytest.mark.parametrize("name", ALL)
def test_nothing_else_changes_an_explanation(name):
    model, X = fitted(name)
    x, other = max(X, key=len), min(X, key=len)
    everywhere = model.explain(x)
    for t in reversed(range(len(x))):
        model.explain(other, 0)
        same(model.explain(x, t), everywhere[t])
    threads = model.n_jobs
    try:
        same(model.set_params(n_jobs=2).explain(x, len(x) - 1), everywhere[-1])
    finally:
        model.set_params(n_jobs=threads)
    same(model.explain(hr.Sequences([x]), 0), everywhere[0])


@pytest.mark.parametrize("name", ["LinearCRF", "TreeCRF mixed", "TreeCRF linear", "OutputCode cascade", "SearchTagger"])
def test_many_explanations_are_those_of_single_ones(name):
    model, X = fitted(name)
    encoded = model.model_.encode(X)
    starts, codes = encoded.starts.tolist(), model._predicted_codes(encoded)
    positions = [p for p in range(starts[-1]) if p % 3]
    found = list(explain_many(model, encoded, codes, positions))
    assert len(found) == len(positions)
    for position, one in zip(positions, found, strict=True):
        number = bisect_right(starts, position) - 1
        wanted = model.explain(X[number], position - starts[number])
        assert (one.start, one.labels, one.against) == (wanted.start, wanted.labels, wanted.against)
        assert one.log_odds == pytest.approx(wanted.log_odds, abs=1e-6)
        assert {c[:3] for c in one.contributions} == {c[:3] for c in wanted.contributions}
        for c, other in zip(one.contributions, wanted.contributions, strict=True):
            assert c.contribution == pytest.approx(other.contribution, abs=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_a_model_that_was_saved_gives_the_same_explanations(name, tmp_path):
    model, X = fitted(name)
    model.save(tmp_path / "m")
    loaded = hr.load(tmp_path / "m")
    for x in X[:2]:
        for one, other in zip(model.explain(x), loaded.explain(x), strict=True):
            same(one, other)


CALIBRATED = [
    "LinearCRF mixed", "TreeCRF table", "TreeCRF mixed", "TreeCRF linear", "MEMM", "FutureMEMM", "HMM", "SVM",
    "OutputCode", "OutputCode lattice", "Perceptron voted", "SearchTagger backward",
]  # fmt: skip
WEIGHED_BY_CONTEXT = ("TreeCRF mixed", "MEMM", "FutureMEMM")  # a temperature changes how probable label contexts are


@pytest.mark.parametrize("name", CALIBRATED)
def test_calibration_divides_what_attributes_add(name):
    model, X = fitted(name)
    kinds = ALL[name][0]
    calibrated = hr.calibrate(model, *data(kinds, seed=5, n=20))
    temperature = calibrated.model_.temperature
    assert temperature != 1
    contexts = ("left context", "right context")
    for x in X:
        codes = calibrated.classes_.tolist()
        p = calibrated.predict_proba([x])[0]
        for t in range(len(x)):
            found = calibrated.explain(x, t)
            check_sum(found)
            if name not in SEARCH and p[t].min() > 1e-6:
                wanted = log_ratio(p[t], codes.index(found.label), codes.index(found.against[0]))
                assert found.log_odds == pytest.approx(wanted, abs=1e-4)
            plain = model.explain(x, t)
            if (found.labels, found.against) != (plain.labels, plain.against) or name in WEIGHED_BY_CONTEXT:
                continue
            cold, warm = (
                {c[:3]: c.contribution for c in one.contributions if c.column not in contexts} for one in (found, plain)
            )
            assert cold.keys() == warm.keys()
            for key, amount in cold.items():
                assert amount * temperature == pytest.approx(warm[key], abs=1e-6)


def test_spans_of_predict_spans():
    model, X = fitted("LinearCRF constrained")
    n = 0
    for x, spans in zip(X, model.predict_spans(X), strict=True):
        for span in spans:
            n += 1
            found = model.explain(x, span)
            same(found, model.explain(x, (span.start, span.end)))
            assert (found.start, found.end) == (span.start, span.end)
            assert found.labels[0] == f"B-{span.type}"
            check_sum(found)
    assert n > 3


def test_labels_are_those_of_training():
    X = ["ab", "ba", "aab"]
    for values in (["x", "y"], [3, 7], [False, True]):
        y = [[values[c == "a"] for c in x] for x in X]
        found = hr.HMM().fit(X, y).explain("ab", (0, 2))
        assert {type(label) for label in found.labels + found.against} == {type(values[0])}
        assert found.labels == (values[1], values[0])
        assert hr.HMM().fit(X, y).explain("ab", 0, values[0]).against == (values[0],)
        assert hr.HMM().fit(X, y).explain("ab", 0, np.array(values)[0]).against == (values[0],)


def test_against_a_label_everywhere_is_the_runner_up_where_it_is_predicted():
    model, X = fitted("HMM")
    x = max(X, key=len)
    labels = model.predict_single(x).tolist()
    assert len(set(labels)) > 1
    for explanation, runner_up in zip(model.explain(x, against=labels[0]), model.explain(x), strict=True):
        if explanation.label == labels[0]:
            same(explanation, runner_up)
        else:
            assert explanation.against == (labels[0],)


@pytest.mark.parametrize("name", ["LinearCRF", "LinearCRF constrained", "SearchTagger constrained"])
def test_the_runner_up_of_a_certain_span_is_possible(name):
    """All 128 best label sequences label the first two positions alike; so the least certain one is changed."""
    labels = ["B-X", "I-X", "O", "B-Y", "I-Y"]
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(20):
        rest = rng.choice(labels[2:4], 8).tolist()
        y.append(["B-X", "I-X", *rest])
        X.append([*"ab", *("z" for _ in rest)])
    y.append(["B-Y", "I-Y"])
    X.append(["c", "d"])
    constraints = "IOB2" if "constrained" in name else None
    if name.startswith("LinearCRF"):
        model = hr.LinearCRF(constraints=constraints, l2=1e-6, max_iter=200)
    else:
        model = hr.SearchTagger(constraints=constraints, beam=500, order=1, epochs=50, random_state=0)
    model.fit(X, y)
    x = [*"ab", *"z" * 9]
    best = [labels[:2].tolist() for _, labels in model.predict_nbest([x], n=128)[0]]
    found = model.explain(x, (0, 2))
    if name != "SearchTagger constrained":
        assert all(pair == ["B-X", "I-X"] for pair in best)
    assert found.labels == ("B-X", "I-X") != found.against
    assert math.isfinite(found.log_odds)
    check_sum(found)


def test_an_explained_model_can_be_freed():
    X, y = data(n=8)
    model = hr.TreeCRF(n_rounds=2, window=1, random_state=0).fit(X, y)
    model.explain(X[0], 0)
    potential = weakref.ref(model.model_.potential)
    del model
    gc.collect()
    assert potential() is None


def test_columns_may_have_the_names_of_derived_ones():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(20):
        words = [f"w{rng.integers(60)}" for _ in range(8)]
        X.append([{"word": w, "statistics.total": float(w[1:]), "linear.x": w[-1]} for w in words])
        y.append([("even", "odd")[int(w[1:]) % 2] for w in words])
    for linear in (False, True):
        model = hr.TreeCRF(n_rounds=3, window=1, linear=linear, random_state=0).fit(X, y)
        for explanation in model.explain(X[0]):
            check_sum(explanation)


def test_large_values_add_up_too():
    X = [[{"n": float(v)} for v in row] for row in np.random.default_rng(0).normal(size=(20, 4))]
    y = [["a" if row["n"] > 0 else "b" for row in x] for x in X]
    for make in (hr.HMM(), hr.LinearCRF(l2=1e-3), hr.StructuredPerceptron(random_state=0)):
        model = make.fit(X, y)
        for size in (1e3, 1e6):
            for explanation in model.explain([{"n": size}, {"n": -size}, {"n": 0.0}]):
                check_sum(explanation)
    assert abs(model.explain([{"n": 1e6}], 0).log_odds) > 1e4


def test_a_sequence_of_a_corpus_folder(tmp_path):
    X, y = data(n=10)
    model = hr.LinearCRF(window=1, max_iter=10).fit(X, y)
    encoded = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", like=model)
    same(model.explain(encoded[3:4], 0), model.explain(X[3], 0))
