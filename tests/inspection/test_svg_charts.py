"""Charts as SVG: where their parts are, and how much room they take."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from hedgerow.inspection.graph_drawing import draw_graph
from hedgerow.inspection.svg import text_width
from hedgerow.inspection.svg_charts import bar_chart, heat_map, line_chart, ticks

PHONE = 340  # CSS pixels of a chart on a phone


def elements(drawing: str, name: str) -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(drawing).iter() if one.tag.endswith("}" + name)]


def width(drawing: str) -> float:
    return float(ElementTree.fromstring(drawing).attrib["width"])


def lines(**names: int) -> str:
    series = {name: [(float(i), float(i * i)) for i in range(1, n + 1)] for name, n in names.items()}
    return line_chart(series, title="t", description="d", x_name="round", y_name="loss")


def test_the_legend_stays_inside_the_chart() -> None:
    drawing = lines(**{f"series_{i}" * 2: 4 for i in range(7)})
    names = [one for one in elements(drawing, "text") if (one.text or "").startswith("series")]
    assert len(names) == 7
    assert len({one.attrib["y"] for one in names}) > 1
    for one in names:
        assert float(one.attrib["x"]) + text_width(one.text) <= width(drawing)
        assert float(one.attrib["y"]) < float(ElementTree.fromstring(drawing).attrib["height"])


def test_counts_have_whole_numbers_at_the_axis() -> None:
    shown = {one.text for one in elements(lines(loss=3), "text") if one.attrib["text-anchor"] == "middle"}
    assert {"1", "2", "3"} <= shown
    assert not any(re.fullmatch(r"\d+\.\d+", text or "") for text in shown)
    assert ticks(1, 3, least_step=1.0) == [1.0, 2.0, 3.0]
    assert ticks(0, 0.5, least_step=1.0) == [0.0]


def test_long_names_of_bars_stand_above_them() -> None:
    short = bar_chart([("a", 1.0), ("b", -2.0)], title="t", description="d")
    long = bar_chart([("a" * 40, 1.0), ("b", -2.0)], title="t", description="d")
    for drawing, beside in ((short, True), (long, False)):
        name, bar = elements(drawing, "text")[0], elements(drawing, "rect")[0]
        assert (float(name.attrib["y"]) > float(bar.attrib["y"])) == beside
        assert width(drawing) <= PHONE


def test_names_of_axes_are_beside_those_of_rows_and_columns() -> None:
    names = ["B-ORGANIZATION_NAME_WWW", "I-ORGANIZATION_MMMMM", "a"]
    drawing = heat_map(
        np.ones((3, 3)), names, names, title="t", description="d", row_name="gold", column_name="predicted"
    )
    gold, predicted = (
        next(one for one in elements(drawing, "text") if one.text == name) for name in ("gold", "predicted")
    )
    longest = 12 * (0.7 * 19 + 3 * 1.0)  # what the longest name needs in DejaVu Sans, which is a wide font
    for one in elements(drawing, "text"):
        if one.text in names and "transform" in one.attrib:
            assert float(one.attrib["y"]) - longest > float(predicted.attrib["y"])
        elif one.text in names:
            assert float(one.attrib["x"]) - longest > float(gold.attrib["x"])


def test_weak_edges_can_be_seen() -> None:
    drawing = draw_graph(["a", "b"], [(0, 1, 1.0), (1, 0, 1e-9)], title="t", description="d")
    for one in elements(drawing, "path"):
        assert float(one.attrib["stroke-opacity"]) >= 0.6
        assert float(one.attrib["stroke-width"]) >= 1


def test_numbers_on_cells_can_be_read() -> None:
    values = np.array([[np.nan, 300.0], [-300.0, 1.0]])
    drawing = heat_map(values, ["a", "b"], ["a", "b"], title="t", description="d")
    assert max(float(one.attrib["fill-opacity"]) for one in elements(drawing, "rect")) <= 0.5
