"""Drawn trees against their text: one box for each line, all words there and escaped."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.data.html_repr import visible
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import draw_tree
from oracles.markup import NASTY, SVG, check_html, parsed_svg, texts

X = ["abcd", "badc", "cdab", "dcba"] * 3
Y = [["V" if c in "ab" else "C" for c in w] for w in X]


def words_by_line(text):
    """The words of each line of a tree as text: the test with "?", or the value."""
    lines = [line.strip().removeprefix("yes:").removeprefix("no:").strip() for line in text.splitlines()]
    return [line.rsplit("  (", 1)[0] for line in lines]


def is_short_form(shown, words):
    """Whether these are the words, or their beginning and end with "…" between them."""
    begin, cut, end = shown.partition("…")
    return words == shown or (cut and words.startswith(begin) and words.endswith(end))


def depth_first(drawing, at=0):
    node = drawing.nodes[at]
    return [node.words] + [words for child in node.children for words in depth_first(drawing, child)]


@pytest.mark.parametrize(
    "estimator",
    [
        hr.TreeCRF(window=1, n_rounds=3, transitions="trees", n_jobs=1),
        hr.TreeCRF(window=1, n_rounds=3, trees="shared", transitions="table", n_jobs=1),
        hr.MEMM(n_rounds=3, window=1, n_jobs=1),
        hr.FutureMEMM(bag=2, random_state=0, n_jobs=1),
    ],
    ids=lambda e: type(e).__name__,
)
def test_nodes_are_those_of_the_text(estimator):
    model = estimator.fit(X, Y)
    for label in ("C", "V"):
        drawing = draw_tree(model, 1, label)
        assert str(drawing) == drawing.text == model.tree(1, label)
        assert depth_first(drawing) == words_by_line(drawing.text)
        root = parsed_svg(drawing.to_svg())
        assert len(list(root.iter(f"{SVG}rect"))) == len(drawing.nodes)
        shown = texts(root)
        assert sum(text in ("yes", "no") for text in shown) == len(drawing.nodes) - 1
        for words in depth_first(drawing):
            assert any(is_short_form(text, visible(words)) for text in shown)


def test_boxes_do_not_overlap():
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(30, 3)) for _ in range(10)]
    y = [np.digitize(one[:, 0] * one[:, 1], [-0.5, 0, 0.5]) for one in x]
    drawing = draw_tree(hr.TreeCRF(n_rounds=1, max_leaves=40, n_jobs=1).fit(x, y), 1, 2)
    root = parsed_svg(drawing.to_svg())
    boxes = [[float(r.get(key)) for key in ("x", "y", "width", "height")] for r in root.iter(f"{SVG}rect")]
    assert len(boxes) > 20
    for i, (x1, y1, w1, h1) in enumerate(boxes):
        assert x1 >= 0
        assert x1 + w1 <= float(root.get("width"))
        assert y1 + h1 <= float(root.get("height"))
        for x2, y2, w2, h2 in boxes[:i]:
            assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def big_tree(name="x0"):
    rng = np.random.default_rng(0)
    x = [[{name: a, "other": b} for a, b in rng.normal(size=(30, 2)).tolist()] for _ in range(10)]
    y = [[int(np.digitize(p[name] * p["other"], [-0.5, 0, 0.5])) for p in one] for one in x]
    return hr.TreeCRF(n_rounds=1, max_leaves=40, n_jobs=1).fit(x, y)


def test_deep_subtrees_are_one_box():
    model = big_tree()
    whole = draw_tree(model, 1, 2)
    for levels in (1, 2, 3):
        drawing = draw_tree(model, 1, 2, max_depth=levels)
        assert drawing.nodes == whole.nodes
        shown = texts(parsed_svg(drawing.to_svg()))
        tests = [one for one in shown if one.endswith("?")]
        hidden = [int(one.split()[1]) for one in shown if one.startswith("… ")]
        leaves = [one for one in shown if one[0] in "+-"]
        assert 1 <= len(tests) < 2**levels
        assert sum(hidden) + len(leaves) == sum(not node.children for node in whole.nodes)
        assert all(n > 1 for n in hidden)
    drawn = [sorted(texts(parsed_svg(one.to_svg()))) for one in (draw_tree(model, 1, 2, max_depth=99), whole)]
    assert drawn[0] == drawn[1]
    with pytest.raises(InputError, match="max_depth must be an integer of at least 1; it is 0"):
        draw_tree(model, 1, 2, max_depth=0)


def test_a_wide_drawing_keeps_its_size():
    wide = draw_tree(big_tree(), 1, 2)
    small = draw_tree(hr.TreeCRF(n_rounds=1, max_leaves=2, n_jobs=1).fit(X, Y), 1, "V")
    width = parsed_svg(wide.to_svg()).get("width")
    assert float(width) > 600
    assert f"min-width:{width}px" in wide.to_svg()
    assert "max-width:100%" in small.to_svg()
    assert wide._repr_html_().startswith('<div style="overflow-x:auto">')


def test_thresholds_are_never_cut():
    name = "accelerometer_wrist_left_x_mean_of_ten_successive_readings"
    drawing = draw_tree(big_tree(name), 1, 2)
    shown = [one for one in texts(parsed_svg(drawing.to_svg())) if one.startswith("accel")]
    thresholds = [node.words.rpartition(" < ")[2] for node in drawing.nodes if node.words.startswith(name)]
    assert sorted(one.rpartition(" < ")[2] for one in shown) == sorted(thresholds)
    assert all("…" in one and len(one) <= 56 for one in shown)


def test_words_and_labels_are_escaped():
    words = [[NASTY, "b" * 200], ["b" * 200, NASTY]]
    model = hr.TreeCRF(n_rounds=1, order=0, l2=0.0, n_jobs=1).fit(words, [[NASTY, "O"], ["O", NASTY]])
    drawing = draw_tree(model, 1, NASTY)
    check_html(drawing._repr_html_())
    assert max(map(len, texts(parsed_svg(drawing.to_svg())))) <= 56


def test_a_tree_of_one_leaf_is_drawn():
    model = hr.TreeCRF(n_rounds=1, order=0, n_jobs=1).fit(["aa", "a"], [["A", "B"], ["A"]])
    drawing = draw_tree(model, 1, "A")
    assert len(drawing.nodes) == 1
    assert len(list(parsed_svg(drawing.to_svg()).iter(f"{SVG}rect"))) == 1


def test_bad_arguments_are_refused():
    model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(X, Y)
    with pytest.raises(NotFittedError):
        draw_tree(hr.TreeCRF(), 1, "V")
    with pytest.raises(InputError, match="must be a fitted estimator, but got Model"):
        draw_tree(model.model_, 1, "V")
    with pytest.raises(InputError, match="HMM has no trees; fit a TreeCRF"):
        draw_tree(hr.HMM().fit(X, Y), 1, "V")
    with pytest.raises(InputError, match="round must be an integer from 1 to 2; it is 3"):
        draw_tree(model, 3, "V")
    with pytest.raises(InputError, match=r"label must be a label of the model \('C', 'V'\), but it is 'Q'"):
        draw_tree(model, 1, "Q")
