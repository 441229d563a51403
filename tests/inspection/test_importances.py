"""Importances as a sequence: orders, sums over values, tables, frames and plots."""

from __future__ import annotations

import copy
import pickle

import matplotlib as mpl
import pytest

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.inspection import ColumnImportance, Importance, Importances
from oracles.markup import NASTY, check_html, parsed_svg, texts

mpl.use("Agg")

ROWS = [
    Importance("word", 0, "the", 3.0, 1),
    Importance("word", 0, "a", 2.0, 4),
    Importance("word", -1, "the", 1.5, 2),
    Importance("size", 0, "any value", 1.0, 5),
]


def sums_by_hand(rows):
    """[(column, gain, splits)], by a loop over all pairs."""
    return [
        (column, sum(r.gain for r in rows if r.column == column), sum(r.splits for r in rows if r.column == column))
        for column in sorted({row.column for row in rows})
    ]


def test_importances_are_a_sequence_that_equals_a_list():
    rows = Importances(ROWS)
    assert rows == ROWS
    assert rows == tuple(ROWS)
    assert rows != ROWS[:-1]
    assert rows != "rows"
    assert rows[0] is ROWS[0]
    assert rows[-1] is ROWS[-1]
    assert rows[1:3] == ROWS[1:3]
    assert isinstance(rows[1:3], Importances)
    assert list(rows) == ROWS
    assert ROWS[2] in rows
    assert rows.index(ROWS[1]) == 1
    assert not Importances([])
    assert len({rows, Importances(ROWS)}) == 1
    for same in (copy.copy(rows), copy.deepcopy(rows), pickle.loads(pickle.dumps(rows))):
        assert same == rows


def test_rows_are_sorted_by_gain_or_splits():
    rows = Importances(ROWS)
    assert [row.splits for row in rows.sort("splits")] == [5, 4, 2, 1]
    assert rows.sort("splits").sort(by="gain") == ROWS
    with pytest.raises(InputError, match='sorted by "gain" or "splits", but by is \'value\''):
        rows.sort("value")


def test_rows_of_a_column_are_summed():
    found = Importances(ROWS).by_column()
    assert sorted(found) == sums_by_hand(ROWS)
    assert found == [ColumnImportance("word", 6.5, 7), ColumnImportance("size", 1.0, 5)]
    assert found.by_column() == found
    assert found.sort("splits")[0].column == "word"
    assert list(found.to_frame().columns) == ["column", "gain", "splits"]
    assert str(found).splitlines()[0].split() == ["column", "gain", "splits"]
    check_html(found._repr_html_())
    assert texts(parsed_svg(found.to_svg()))[0::2] == ["word", "size"]
    assert [tick.get_text() for tick in found.plot().get_yticklabels()] == ["word", "size"]
    mpl.pyplot.close("all")


def test_columns_of_a_model_are_summed_over_values_and_offsets():
    words = [["the", "cat", "sat"], ["a", "dog", "ran"]]
    model = hr.TreeCRF(window=1, n_rounds=4, n_jobs=1).fit(words, [["D", "N", "V"]] * 2)
    rows = model.feature_importances_
    by_hand = {column: (pytest.approx(gain), splits) for column, gain, splits in sums_by_hand(rows)}
    assert {r.column: (r.gain, r.splits) for r in rows.by_column()} == by_hand


def test_the_text_is_a_table_of_the_first_rows():
    lines = str(Importances(ROWS)).splitlines()
    assert lines[0].split() == ["column", "offset", "value", "gain", "splits"]
    assert lines[1].split() == ["word", "0", "the", "3", "1"]
    assert len(lines) == 5
    many = Importances([Importance("word", 0, str(i), 1.0, 1) for i in range(50)])
    assert str(many).splitlines()[-1] == "… 30 more"
    assert "… 30 more" in many._repr_html_()
    assert "12,345" in str(Importances([Importance("word", 0, "the", 1.0, 12345)]))
    assert repr(Importances(ROWS[:1])) == f"Importances({ROWS[:1]!r})"


def test_frames_and_plots_have_a_row_for_each_test():
    frame = Importances(ROWS).to_frame()
    assert [tuple(row) for row in frame.itertuples(index=False)] == ROWS
    axes = Importances(ROWS).plot(n=2)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["word the", "word a"]
    assert [bar.get_width() for bar in axes.patches] == [3.0, 2.0]
    assert Importances(ROWS).plot(axes=axes) is axes
    with pytest.raises(InputError, match="n must be an integer of at least 1; it is 0"):
        Importances(ROWS).plot(n=0)
    with pytest.raises(InputError, match="n must be an integer of at least 1; it is -3"):
        Importances(ROWS).to_svg(n=-3)
    mpl.pyplot.close("all")


def test_long_names_keep_their_offsets():
    rows = Importances([Importance("accelerometer_" * 5, offset, "any value", 1.0, 1) for offset in (-1, 0, 1)])
    plotted = [tick.get_text() for tick in rows.plot().get_yticklabels()]
    for shown in (plotted, texts(parsed_svg(rows.to_svg()))[0::2]):
        assert [name[-4:] for name in shown] == ["[-1]", "ter_", "[+1]"]
        assert all(name.startswith("accelerometer_") and len(name) <= 60 for name in shown)
    mpl.pyplot.close("all")


def test_markup_is_escaped():
    rows = Importances([Importance(NASTY, 1, NASTY, 1.0, 1), Importance("$x$", 0, "a$b$", 1.0, 1)])
    check_html(rows._repr_html_())
    parsed_svg(rows.to_svg())
    parsed_svg(Importances([]).to_svg())
    assert len(str(rows).splitlines()) == 3
    rows.plot().figure.canvas.draw()
    mpl.pyplot.close("all")
