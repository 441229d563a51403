"""Transition graphs against counts, weights by name and tables, and their drawings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import transition_graph
from hedgerow.inspection.graph_drawing import draw_graph
from hedgerow.inspection.transition_scores import strongest
from oracles.markup import NASTY, SVG, check_html, parsed_svg, texts
from oracles.transitions import means_of_table, relative_frequencies

RNG = np.random.default_rng(0)
X = ["".join(RNG.choice(list("abc"), size=n)) for n in (5, 4, 1, 6, 3, 2)]
Y = [[RNG.choice(["V", "C", "S"]) if c == "c" else "V" if c == "a" else "C" for c in x] for x in X]


def edges(graph):
    return {(edge.before, edge.after): edge.score for edge in graph.edges}


def check_equal(graph, expected):
    found = edges(graph)
    assert found.keys() == expected.keys()
    for pair, score in expected.items():
        assert found[pair] == pytest.approx(score, abs=1e-6)
    sizes = [abs(edge.score) for edge in graph.edges]
    assert sizes == sorted(sizes, reverse=True)


def test_an_hmm_has_relative_frequencies():
    graph = transition_graph(hr.HMM(smoothing=0.0).fit(X, Y), min_weight=1e-12)
    check_equal(graph, relative_frequencies(Y))
    assert graph.meaning == "probability"
    assert graph.nodes == ("C", "S", "V")


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("transitions", ["trees", "table"])
def test_a_treecrf_has_its_table(order, transitions):
    model = hr.TreeCRF(order=order, n_rounds=3, transitions=transitions, n_jobs=1).fit(X, Y)
    graph = transition_graph(model)
    check_equal(graph, means_of_table(model.transition_table_, model.classes_.tolist(), order))
    assert graph.meaning == "score"


def test_an_hmm_of_order_two_has_mean_probabilities():
    model = hr.HMM(order=2).fit(X, Y)
    table = np.exp(model.model_.potential.transitions)
    check_equal(transition_graph(model), means_of_table(table, model.classes_.tolist(), 2))


@pytest.mark.parametrize(
    "estimator",
    [
        hr.LinearCRF(max_iter=9, tol=1.0),
        hr.LinearCRF(order=2, max_iter=9, tol=1.0),
        hr.StructuredPerceptron(epochs=2, random_state=0),
        hr.StructuredSVM(epochs=2, random_state=0),
        hr.MEMM(learner="linear", max_iter=9),
        hr.SearchTagger(order=2, epochs=3, random_state=0),
        hr.SearchTagger(direction="right-to-left", epochs=3, random_state=0),
    ],
    ids=lambda e: f"{type(e).__name__}-{e.order}",
)
def test_linear_models_have_the_weights_of_pairs(estimator):
    model = estimator.fit(X, Y)
    graph = transition_graph(model, n=1000)
    check_equal(graph, {pair: w for pair, w in model.transition_features_.items() if len(pair) == 2})
    assert graph.meaning == "weight"
    parsed_svg(graph.to_svg())


def test_an_output_code_with_a_lattice_has_its_table():
    model = hr.OutputCode(base=hr.TreeCRF(n_rounds=2), distance="lattice", random_state=0).fit(X, Y)
    check_equal(transition_graph(model), means_of_table(model.model_.potential.table, model.classes_.tolist(), 1))


def test_only_the_strongest_edges_are_kept():
    model = hr.HMM().fit(X, Y)
    everything = transition_graph(model, n=10**9)
    assert everything.n_transitions == len(everything.edges) == 12
    some = transition_graph(model, n=3)
    assert some.edges == everything.edges[:3]
    assert str(some).splitlines()[-1] == "… 9 more"
    assert "… 9 more" in some._repr_html_()
    limit = everything.edges[4].score
    assert transition_graph(model, min_weight=limit).edges == everything.edges[:5]
    nothing = transition_graph(model, min_weight=2)
    assert nothing.edges == nothing.nodes == ()
    assert str(nothing) == "no transition is that strong; there are 12"
    parsed_svg(nothing.to_svg())
    assert transition_graph(model, n=3) == some


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (hr.LinearCRF(order=0), "LinearCRF has order 0, so no label depends on the one before it; fit it with order=1"),
        (hr.HMM(order=0), "HMM has order 0"),
        (hr.TreeCRF(order=0, n_rounds=2), "TreeCRF has order 0"),
        (hr.SearchTagger(order=0, epochs=1), "SearchTagger has no weights of pairs of labels"),
        (hr.StructuredPerceptron(averaging="vote", epochs=1), "many weight vectors vote"),
        (hr.OutputCode(base=hr.TreeCRF(n_rounds=1), distance="hamming"), 'only distance="lattice" with order=1'),
        (
            hr.OutputCode(base=hr.TreeCRF(n_rounds=1), distance="lattice", order=0),
            'only distance="lattice" with order=1',
        ),
        (hr.MEMM(n_rounds=2), "its trees test previous labels together with the input"),
        (hr.FutureMEMM(bag=2, random_state=0), "its trees test previous labels"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_models_without_transition_scores_say_why(estimator, message):
    with pytest.raises(InputError, match=message):
        transition_graph(estimator.fit(X, Y))


def test_bad_arguments_are_refused():
    model = hr.HMM().fit(X, Y)
    with pytest.raises(NotFittedError):
        transition_graph(hr.HMM())
    with pytest.raises(InputError, match="must be a fitted estimator, but got Model; pass the estimator itself"):
        transition_graph(model.model_)
    with pytest.raises(InputError, match="n must be an integer of at least 1; it is 0"):
        transition_graph(model, n=0)
    for wrong in (-1, float("nan"), float("inf"), "1", True):
        with pytest.raises(InputError, match="min_weight must be a number of at least 0"):
            transition_graph(model, min_weight=wrong)


def test_labels_are_escaped_everywhere():
    nasty = [[f'{NASTY}\\"{label}' for label in labels] for labels in Y]
    graph = transition_graph(hr.HMM().fit(X, nasty))
    root = parsed_svg(graph.to_svg())
    assert len(texts(root)) == 4
    assert len(list(root.iter(f"{SVG}path"))) == len(graph.edges)
    check_html(graph._repr_html_())
    assert len(str(graph).splitlines()) == 1 + len(graph.edges)
    lines = graph.to_dot().splitlines()
    assert len(lines) == 2 + 3 + 1 + len(graph.edges)
    assert r'\\\"C"];' in lines[1]
    assert lines[0] == "digraph transitions {"
    assert lines[-1] == "}"


def test_labels_that_are_numbers_or_named_start():
    y = [["start" if label == "V" else "end" for label in labels] for labels in Y]
    graph = transition_graph(hr.HMM().fit(X, y))
    assert sorted(texts(parsed_svg(graph.to_svg()))) == ["(start)", "end", "start"]
    assert {line.split()[0] for line in graph.to_dot().splitlines()[1:4]} == {"n1", "n2", "start"}
    assert transition_graph(hr.HMM().fit(X, [[label == "V" for label in labels] for labels in Y])).nodes == (
        False,
        True,
    )


@pytest.mark.parametrize(("n", "turned"), [(4, False), (40, True)])
def test_names_turn_where_they_would_overlap(n, turned):
    drawing = draw_graph([f"B-label{i}" for i in range(n)], [(0, 1, 1.0)], title="t", description="d")
    names = list(parsed_svg(drawing).iter(f"{SVG}text"))
    assert len(names) == n
    assert all(("transform" in element.attrib) is turned for element in names)


def test_short_names_stay_level():
    drawing = draw_graph([*(f"B-label{i}" for i in range(40)), "u", "n"], [(0, 1, 1.0)], title="t", description="d")
    names = {element.text: element.attrib for element in parsed_svg(drawing).iter(f"{SVG}text")}
    assert {name for name, attributes in names.items() if "transform" not in attributes} == {"u", "n"}


def test_names_leave_room_for_loops():
    drawing = draw_graph(["a", "b", "c", "d"], [(1, 1, 1.0)], title="t", description="d")
    across = {element.text: float(element.get("x")) for element in parsed_svg(drawing).iter(f"{SVG}text")}
    assert across["b"] - across["a"] > across["a"] - across["d"]


def test_thousands_of_labels_are_drawn_in_part():
    n = 2000
    x, y = [[f"w{i}" for i in range(n)]], [[f"L{i}" for i in range(n)]]
    for estimator in (hr.HMM(smoothing=0.0), hr.SearchTagger(epochs=1, random_state=0, n_jobs=1)):
        graph = transition_graph(estimator.fit(x, y), n=40)
        assert len(graph.edges) == 40
        assert graph.n_transitions > 40
        assert len(texts(parsed_svg(graph.to_svg()))) <= 81


@given(st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.5, -2.5, 1e-9]), max_size=30), st.integers(1, 12))
def test_the_strongest_scores_are_the_first_of_all_sorted(scores, n):
    by_hand = sorted((i for i, s in enumerate(scores) if abs(s) >= 1), key=lambda i: (-abs(scores[i]), i))[:n]
    assert strongest(np.array(scores), n, 1.0).tolist() == by_hand


def test_frames_have_a_row_for_each_edge():
    graph = transition_graph(hr.HMM().fit(X, Y))
    assert graph.to_frame()["score"].tolist() == [edge.score for edge in graph.edges]
