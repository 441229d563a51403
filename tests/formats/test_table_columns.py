"""Columns of tables: kinds by layout or by values, markers for missing values, files without header, semicolons."""

from __future__ import annotations

import io

import pytest

import hedgerow as hr
from builders.formats import labels, read, rows
from hedgerow.errors import InputError


def kinds(corpus):
    return {column.name: column.kind for column in corpus.X.columns}


def test_the_layout_says_which_columns_hold_numbers():
    trained = read("mode,light,tag\n1,5,x\nA,6,y\n", format="csv").layout
    assert trained.numeric == ("light",)
    again = hr.formats.Layout.from_json(trained.to_json())
    new = "mode,light,tag\n1,,x\n2,,y\n"
    assert kinds(read(new, layout=again)) == {"mode": "categorical", "light": "numeric"}
    assert kinds(read(new, layout=again, label=False)) == {
        "mode": "categorical", "light": "numeric", "tag": "categorical",
    }  # fmt: skip
    assert read("mode,light,tag\n1,,\n2,,\n", layout=again).y is None
    assert rows(read(new, layout=again, columns=["mode"])) == [[{"mode": "1"}, {"mode": "2"}]]
    assert kinds(read("mode,tag\n1,x\n2,y\n", format="csv")) == {"mode": "numeric"}
    with pytest.raises(InputError, match=r"line 3: column 'light' holds numbers, as in the training .* is 'z'"):
        read("mode,light\n1,5\n2,z\n", layout=again)


@pytest.mark.parametrize("marker", ["NA", "N/A", "nan", "NaN", "null", "None", "?", " NA "])
def test_markers_for_missing_numbers(marker):
    corpus = read(f"light,tag\n5,x\n{marker},y\n,x\n", format="csv")
    assert rows(corpus) == [[{"light": 5.0}, {"light": None}, {"light": None}]]
    assert corpus.notes == (() if marker.lower() == "nan" else (f"column light: 1 value {marker!r} taken as missing",))


def test_a_column_with_few_values_that_are_no_numbers_gets_a_note():
    text = "light,tag\n" + "5,x\n" * 19 + "off,y\n" + "5,x\n" * 20
    assert read(text, format="csv").notes == (
        "column light is text, for 1 of its 40 values are no numbers, such as 'off' on line 21",
    )
    assert read("mode,tag\n1,x\nA,y\n", format="csv").notes == ()
    assert kinds(read("word,tag\nNA,x\n?,y\n", format="csv")) == {"word": "categorical"}
    assert kinds(read("word,tag\nNA,x\nWA,y\n", format="csv")) == {"word": "categorical"}


def test_a_table_without_header():
    text = "d1,0.5,1.2,on\nd1,0.6,NA,off\nd2,0.7,1.4,on\n"
    with pytest.raises(InputError, match=r"line 1: a header must hold names, but '0\.5' is a number; .* its 4 columns"):
        read(text, format="csv")
    corpus = read(text, format="csv", columns=["day", "a", "b", "state"], sequence="day")
    assert labels(corpus) == [["on", "off"], ["on"]]
    assert kinds(corpus) == {"a": "numeric", "b": "numeric"}
    assert corpus.lines.tolist() == [1, 2, 3]
    assert not corpus.layout.header
    new = "d1,0.5,1.2\nd2,0.6,1.3\n"
    (block,) = hr.formats.read_blocks(io.StringIO(new), layout=corpus.layout)
    assert block.y is None
    assert block.with_labels([["on"], ["off"]]).decode() == "d1,0.5,1.2,on\nd2,0.6,1.3,off\n"
    assert len(read("day,a,b\n" + new, layout=corpus.layout)) == 2  # this one has a header
    assert read("the,D\ncat,N\n", format="csv", columns=["word", "tag"]).lines.tolist() == [1, 2]


@pytest.mark.parametrize("header", [",0,1,2,tag", "1,2,3,4,tag", "0,1,2,3,4"])
def test_names_that_count_columns(header):
    assert read(f"{header}\n5,6,7,8,x\n", format="csv").layout.header


def test_semicolons():
    text = "a;b;tag\n1;x,y;B\n2;z;I\n"
    corpus = read(text)
    assert (corpus.layout.format, corpus.layout.separator) == ("csv", ";")
    assert rows(corpus) == [[{"a": 1.0, "b": "x,y"}, {"a": 2.0, "b": "z"}]]
    (block,) = hr.formats.read_blocks(io.StringIO(text))
    assert block.with_labels([["B", "I"]]).decode().splitlines()[1] == "1;x,y;B;B"
    target = io.StringIO()
    hr.formats.convert(io.StringIO(text), target)
    assert target.getvalue() == text


def test_another_format_than_that_of_training(tmp_path):
    conll = read("a x B\nb y I\n", columns=["word", "pos", "tag"]).layout
    with pytest.raises(InputError, match="looks like jsonl, but the training file was conll; give format='jsonl'"):
        read('{"word": ["play"]}', layout=conll)
    (tmp_path / "a.csv").write_text("word,pos\na,x\n")
    with pytest.raises(InputError, match=r"a\.csv looks like csv, but the training file was conll; give format='csv'"):
        list(hr.formats.read_blocks(tmp_path / "a.csv", layout=conll))
    csv = read("word,tag\na,x\nb,y\n").layout
    with pytest.raises(InputError, match="lacks 'word'; the file looks like conll, but the training file was csv"):
        read("a\nb\n", layout=csv)
    jsonl = read('{"word": ["a"], "labels": ["B"]}').layout
    with pytest.raises(InputError, match="the columns of the training file, 'word', but it has 'words'; rename"):
        read('{"words": ["play"]}', layout=jsonl)
    conllu = read("1\ta\t_\tX\t_\t_\t0\tx\t_\t_\n").layout
    cure = r"line 1: a line must have 10 columns, as conllu has, but this one has 1: 'a'; .* format='conll',"
    with pytest.raises(InputError, match=cure):
        read("a\nb\n", layout=conllu)


def test_the_encoding_is_remembered():
    layout = read("é B\n".encode("latin-1"), encoding="latin-1").layout
    assert layout.encoding == "iso8859-1"
    assert rows(read("ü\n".encode("latin-1"), layout=layout)) == [[{"column0": "ü"}]]
    (block,) = hr.formats.read_blocks(io.BytesIO("ü\n".encode("latin-1")), layout=layout)
    assert (block.text.decode(), block.layout.encoding) == ("ü\n", "iso8859-1")
    assert rows(read("ü\n", layout=layout, encoding="utf-8")) == [[{"column0": "ü"}]]


READERS = [hr.read, lambda path: next(hr.formats.read_blocks(path)), lambda path: hr.formats.convert(path, "-")]


@pytest.mark.parametrize("reader", READERS)
def test_a_model_is_no_data_file(tmp_path, reader):
    path = tmp_path / "m.hedgerow"
    hr.HMM().fit([["a"], ["b"]], [["x"], ["y"]]).save(path)
    with pytest.raises(InputError, match=r"m\.hedgerow must be a file of sequences, but it is a hedgerow model"):
        reader(path)


DAMAGED = {"numeric": "a", "header": 1, "encoding": None}


@pytest.mark.parametrize(("key", "value"), DAMAGED.items())
def test_a_damaged_layout_is_refused(key, value):
    layout = read("a B\n").layout.to_json()
    with pytest.raises(InputError, match=r"layout must be"):
        hr.formats.Layout.from_json({**layout, key: value})
