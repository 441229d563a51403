"""Probabilities of spans against the sum over all label sequences that mark them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from builders.lattice import PARTS, random_scores, starts_of
from hedgerow import _core
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.inference.spans import CodedSpans, SpanRules
from hedgerow.metrics.span_schemes import span_joins
from hedgerow.topology import Topology
from oracles import constraints as oracles

CLASSES = {
    "IOB1": ["B-P", "I-P", "O"],
    "IOB2": ["B-P", "B-Q", "I-P", "O"],
    "IOE1": ["E-P", "I-P", "I-Q", "O"],
    "IOE2": ["E-P", "I-P", "O"],
    "IOBES": ["B-P", "E-P", "I-P", "O", "S-Q"],
    "BILOU": ["B-P", "I-P", "L-P", "U-P"],
}


def rules_of(scheme):
    return SpanRules(*span_joins(CLASSES[scheme], scheme))


def every_span(length, n_types):
    spans = [(s, e, y) for s in range(length) for e in range(s + 1, length + 1) for y in range(n_types)]
    firsts, ends, types = np.array(spans).T
    return CodedSpans(firsts.astype(np.int64), ends.astype(np.int64), types.astype(np.int32))


@given(
    st.sampled_from(sorted(CLASSES)), st.integers(0, 2), st.integers(1, 4), st.sampled_from(PARTS), st.booleans(),
    st.booleans(), st.integers(0, 2**32),
)  # fmt: skip
def test_probabilities_are_those_of_enumeration(scheme, order, length, parts, is_constrained, has_known, seed):
    classes, rng = CLASSES[scheme], np.random.default_rng(seed)
    k, rules = len(classes), rules_of(scheme)
    scores = random_scores(rng, parts, length, order, k)
    pairs = {(a, b) for a in (None, *range(k)) for b in range(k) if not is_constrained or rng.random() < 0.8}
    topology = Topology(k, order)
    if is_constrained:
        topology = topology.allowing(lambda a, b: (a, b) in pairs)
    known = np.where(rng.random(length) < 0.3, rng.integers(k, size=length), -1).astype(np.int32)
    known = known if has_known else np.full(length, -1, np.int32)
    paths = oracles.allowed_paths(length, order, k, pairs, range(k), known, **scores)
    if not paths:
        return
    lattice = Lattice(topology, starts_of(length), **scores, allowed=known_labels(known, k))
    spans = every_span(length, len(rules.names))
    found = lattice.span_probabilities(spans, rules)

    def read(labels):
        return hr.metrics.spans([classes[y] for y in labels], scheme)

    for (first, end, kind), p in zip(zip(*spans, strict=True), found, strict=True):
        expected = oracles.span_probability(paths, read, (int(first), int(end), rules.names[kind]))
        assert p == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scheme", sorted(CLASSES))
def test_spans_of_codes_are_those_of_the_metrics(scheme):
    classes, rules, rng = CLASSES[scheme], rules_of(scheme), np.random.default_rng(0)
    lengths = rng.integers(1, 9, size=40)
    codes, starts = rng.integers(len(classes), size=lengths.sum()).astype(np.int32), starts_of(*lengths)
    found = [(int(s), int(e), rules.names[y]) for s, e, y in zip(*rules.spans(codes, starts), strict=True)]
    expected = [
        (begin + s, begin + e, kind)
        for begin, end in pairwise(starts.tolist())
        for s, e, kind in hr.metrics.spans([classes[y] for y in codes[begin:end]], scheme)
    ]
    assert found == expected


@pytest.mark.parametrize("order", [0, 1, 2])
def test_several_sequences_in_single_precision_and_threads(order):
    rng, rules, lengths = np.random.default_rng(order), rules_of("IOB2"), [1, 5, 40, 2, 300]
    k, starts = 4, starts_of(*lengths)
    scores = random_scores(rng, ("state", "table"), int(starts[-1]), order, k, dtype=np.float32)
    topology = Topology(k, order)
    exact = Lattice(topology, starts, **{name: x.astype(np.float64) for name, x in scores.items()})
    spans = rules.spans(exact.viterbi()[1], starts)
    truth = exact.span_probabilities(spans, rules)
    one, three = (Lattice(topology, starts, **scores, n_threads=n).span_probabilities(spans, rules) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one, truth, atol=1e-5)
    assert ((truth > 0) & (truth <= 1)).all()
    for begin, end in pairwise(starts):  # each sequence as if it were alone
        inside = (spans.firsts >= begin) & (spans.firsts < end)
        own = {"state": scores["state"][begin:end].astype(np.float64), "table": scores["table"].astype(np.float64)}
        alone = CodedSpans(spans.firsts[inside] - begin, spans.ends[inside] - begin, spans.types[inside])
        lattice = Lattice(topology, starts_of(int(end - begin)), **own)
        np.testing.assert_allclose(lattice.span_probabilities(alone, rules), truth[inside], atol=1e-9)


def test_arrays_that_do_not_fit_are_refused():
    rules, pair = rules_of("IOB1"), np.full((4, 3, 3), 1 / 9)
    good = {
        "order": 1, "pair": pair, "starts": starts_of(1, 3), "joins": rules.joins, "types": rules.types,
        "firsts": np.array([0]), "ends": np.array([1]), "span_types": np.zeros(1, np.int32), "n_threads": 1,
    }  # fmt: skip
    assert _core.span_probabilities(**good).shape == (1,)
    for change in (
        {"order": 2}, {"order": -1}, {"pair": pair[:3]}, {"joins": rules.joins[:2]}, {"types": rules.types[:2]},
        {"ends": np.array([0])}, {"ends": np.array([5])}, {"firsts": np.array([-1])},
        {"starts": np.array([0, 2, 2, 4])}, {"span_types": np.zeros(2, np.int32)}, {"n_threads": 0},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"\w"):
            _core.span_probabilities(**good | change)
