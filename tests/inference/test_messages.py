"""Messages against enumeration of all label sequences, and against the marginals of the lattice."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.lattice import PARTS, random_scores, small_cases, starts_of
from hedgerow.inference.lattice import Lattice
from hedgerow.inference.messages import Messages, log_sum
from hedgerow.potentials.base import Scores
from hedgerow.topology import Topology
from oracles import constraints as constrained
from oracles import lattice as oracles


def contexts_at(t, order, k):
    return list(product(range(k), repeat=min(t, order)))


def check_nodes(messages, paths, length, order, k, **scores):
    """The messages of every position against sums over these paths, {labels: score}."""

    def score(labels):
        return oracles.path_score(labels, order, n_labels=k, **scores)

    for t in range(length):
        node, contexts = messages.at(t), contexts_at(t, order, k)
        assert (np.diff(node.contexts) > 0).all()
        found = {(contexts[c], y): (row, y) for row, c in enumerate(node.contexts.tolist()) for y in range(k)}
        for context, y in product(contexts, range(k)):
            there = [path for path in paths if oracles.label_context(path, t, order) == context and path[t] == y]
            if (context, y) not in found:
                assert not there
                continue
            row, _ = found[context, y]
            before, local, after = node.before[row], node.local[row, y], node.after[row, y]
            close(before + local + after, oracles.log_sum(paths[path] for path in there))
            if there:
                begin = there[0][: t + 1]
                close(local, oracles.step_score(t, context, y, n_labels=k, **scores))
                close(before, oracles.log_sum(score(labels) for labels in {path[:t] for path in there}))
                close(after, oracles.log_sum(paths[path] - score(begin) for path in there if path[: t + 1] == begin))


def close(found, wanted):
    assert (found == wanted == -math.inf) or math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)


@given(small_cases())
def test_equal_enumeration(case):
    order, k, length, scores, _ = case
    messages = Messages(Lattice(Topology(k, order), starts_of(length), **scores))
    check_nodes(messages, oracles.all_paths(length, order, k, **scores), length, order, k, **scores)


@given(small_cases(max_order=2), st.floats(0.1, 10))
def test_temperature_divides_all_scores(case, temperature):
    order, k, length, scores, _ = case
    divided = Scores(**scores).divided(temperature)
    messages = Messages(Lattice(Topology(k, order), starts_of(length), **divided._asdict()))
    colder = {name: values / temperature for name, values in scores.items()}
    check_nodes(messages, oracles.all_paths(length, order, k, **colder), length, order, k, **colder)


@given(small_cases(max_order=2, forbid=(0.0,)), st.integers(0, 2**32))
def test_constraints_leave_the_allowed_paths(case, seed):
    order, k, length, scores, _ = case
    rng = np.random.default_rng(seed)
    pairs = {(a, b) for a in (None, *range(k)) for b in range(k) if rng.random() < 0.7}
    last = {y for y in range(k) if rng.random() < 0.7}
    topology = Topology(k, order).allowing(lambda a, b: (a, b) in pairs, lambda y: y in last)
    messages = Messages(Lattice(topology, starts_of(length), **scores))
    paths = constrained.allowed_paths(length, order, k, pairs, last, **scores)
    n_contexts = Topology(k, max(order, 1)).n_contexts
    for t in range(length):
        node = messages.at(t)
        joint = np.full((n_contexts, k), -np.inf)
        joint[node.contexts] = node.before[:, None] + node.local + node.after
        for number, context in enumerate(contexts_at(t, max(order, 1), k)):
            for y in range(k):
                there = [
                    score
                    for labels, score in paths.items()
                    if labels[t] == y and oracles.label_context(labels, t, max(order, 1)) == context
                ]
                close(joint[number, y], oracles.log_sum(there))


@st.composite
def beam_cases(draw):
    order, k, length, scores, _ = draw(small_cases())
    labels = st.lists(st.integers(-1, k - 1), min_size=length, max_size=length)
    keep = draw(st.none() | labels)
    beam = draw(st.integers(1, 5) | st.sampled_from([0.0123, 0.234, 0.89]))
    return order, k, length, scores, beam, None if keep is None else np.array(keep)


@given(beam_cases())
@settings(max_examples=200)
def test_a_beam_leaves_the_paths_through_its_nodes(case):
    order, k, length, scores, beam, keep = case
    truth = oracles.beam_answers(length, order, k, beam, keep=keep, **scores)
    messages = Messages(Lattice(Topology(k, order), starts_of(length), **scores, beam=beam, keep=keep))
    check_nodes(messages, truth["paths"], length, order, k, **scores)


@given(beam_cases())
def test_give_the_marginals_of_the_lattice(case):
    order, k, length, scores, beam, keep = case
    for options in ({}, {"beam": beam, "keep": keep}):
        lattice = Lattice(Topology(k, order), starts_of(length), **scores, **options)
        messages = Messages(lattice)
        sums = [label_sums(messages, t) for t in range(length)]
        if log_sum(sums[0]) == -np.inf:
            continue
        log_z, marginals = lattice.marginals()
        close(log_sum(sums[0]), log_z[0])
        for t in range(length):
            np.testing.assert_allclose(np.exp(sums[t] - log_z[0]), marginals[t], atol=1e-9)


def label_sums(messages, position):
    node = messages.at(position)
    return log_sum(node.before[:, None] + node.local + node.after, axis=0)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("parts", PARTS, ids="+".join)
def test_scores_of_ten_thousand_are_exact(order, parts):
    k, length = 2, 5
    scores = random_scores(np.random.default_rng(order), parts, length, order, k, scale=1e4)
    truth, paths = (
        oracles.exact_answers(length, order, k, **scores),
        oracles.all_paths(length, order, k, **scores),
    )
    messages = Messages(Lattice(Topology(k, order), starts_of(length), **scores))
    for t in range(length):
        sums = label_sums(messages, t)
        assert np.isfinite(sums).all()
        np.testing.assert_allclose(np.exp(sums - log_sum(sums)), truth["state"][t], atol=1e-6)
        for y in range(k):  # also of labels whose probability is 0 in double precision
            wanted = oracles.log_sum(score for labels, score in paths.items() if labels[t] == y)
            assert sums[y] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("order", "beam"), [(0, None), (1, None), (2, None), (2, 3)], ids=str)
def test_thousands_of_positions(order, beam):
    k, length = 3, 3000
    scores = random_scores(np.random.default_rng(order), ("state", "table"), length, order, k, scale=100.0)
    lattice = Lattice(Topology(k, order), starts_of(length), **scores, beam=beam)
    began = time.perf_counter()
    messages = Messages(lattice)
    found = np.array([label_sums(messages, t) for t in range(0, length, 100)])
    assert time.perf_counter() - began < 30  # linear in the length: a fraction of a second
    log_z, marginals = lattice.marginals()
    assert np.isfinite(found.max(axis=1)).all()
    np.testing.assert_allclose(np.exp(found - log_z[0]), marginals[::100], atol=1e-7)


@given(st.lists(st.sampled_from([-math.inf, -1e300, -1e4, -1.0, 0.0, 1.0, 1e4, 1e300]), min_size=1, max_size=5))
def test_log_sum(values):
    array = np.array(values)
    close(log_sum(array), oracles.log_sum(values))
    np.testing.assert_array_equal(log_sum(np.stack([array, array]), axis=1), [log_sum(array)] * 2)
