"""JSON lines, CSV, TSV and Parquet: values with types, sequence columns, errors with their line."""

from __future__ import annotations

import io
import sys

import pytest

import hedgerow as hr
from builders.formats import labels, read, rows
from hedgerow.errors import InputError


def test_json_columns():
    text = '{"id": 7, "word": ["the", "cat"], "n": [3, null], "labels": ["D", "N"]}\n'
    text += '\n{"word": ["it"], "n": [2], "labels": ["P"]}'
    corpus = read(text)
    assert corpus.layout.format == "jsonl"
    assert rows(corpus) == [[{"word": "the", "n": 3.0}, {"word": "cat", "n": None}], [{"word": "it", "n": 2.0}]]
    assert labels(corpus) == [["D", "N"], ["P"]]
    assert corpus.lines.tolist() == [1, 1, 3]
    assert corpus.layout.columns == ("word", "n", "labels")
    only = read(text, columns=["word"], label=False)
    assert [column.name for column in only.X.columns] == ["word"]
    assert only.y is None
    assert labels(read(text, label="word")) == [["the", "cat"], ["it"]]


def test_json_positions_bags_and_weights():
    corpus = read('[{"bag": ["a", "b"], "label": 1}, {"bag": [], "w": "x", "label": 2}]\n')
    assert rows(corpus) == [[{"bag": {"a": 1.0, "b": 1.0}}, {"bag": {}, "w": "x"}]]
    assert labels(corpus) == [[1, 2]]
    weighted = read('{"f": [{"a": 0.5}], "labels": ["x"], "weight": 2}\n{"f": [{"b": 1}], "labels": ["y"]}\n')
    assert rows(weighted) == [[{"f": {"a": 0.5}}], [{"f": {"b": 1.0}}]]
    assert weighted.sample_weight.tolist() == [2.0, 1.0]


def test_json_lines_may_leave_columns_out():
    corpus = read('{"w": ["a"], "n": [true]}\n{"n": [0.5]}\n[{"w": "c"}]\n', label=False)
    assert rows(corpus) == [[{"w": "a", "n": 1.0}], [{"n": 0.5}], [{"w": "c", "n": 0.0}]]


def test_json_blocks():
    text = b'{"word": ["a"], "labels": ["B"]}\n\n{"word": ["b"], "labels": ["I"]}\n'
    blocks = list(hr.formats.read_blocks(io.BytesIO(text)))
    assert b"".join(block.text for block in blocks) == text
    written = b"".join(block.with_labels([["X"]] * len(block.X)) for block in blocks)
    assert labels(read(written, label="prediction")) == [["X"], ["X"]]
    (block,) = hr.formats.read_blocks(io.BytesIO(b'[{"w": "a"}, {"w": "b"}]'), "jsonl")
    assert rows(read(block.with_labels([[1, 2]]), label="prediction")) == [[{"w": "a"}, {"w": "b"}]]


CSV = 'sentence,word,n,tag\n1,"a, b",3,B\n1,"say ""it""",,I\n2,c,1.5,O\n1,d,2,B\n'


def test_csv():
    corpus = read(CSV, format="csv", sequence="sentence")
    assert rows(corpus) == [
        [{"word": "a, b", "n": 3.0}, {"word": 'say "it"', "n": None}, {"word": "d", "n": 2.0}],
        [{"word": "c", "n": 1.5}],
    ]
    assert labels(corpus) == [["B", "I", "B"], ["O"]]
    assert corpus.lines.tolist() == [2, 3, 5, 4]
    assert corpus.layout.sequence == ("sentence",)
    assert len(read(CSV, format="csv")) == 1
    assert len(read(CSV.replace("sentence", "sequence"), format="csv")) == 2
    assert len(read(CSV, format="csv", sequence=["sentence", "n"])) == 4
    assert labels(read(CSV, format="csv", sequence="sentence", label="word", columns=["n"])) == [
        ["a, b", 'say "it"', "d"], ["c"],
    ]  # fmt: skip
    again = read(CSV.replace(",tag", ",other").replace(",I", ","), layout=corpus.layout)
    assert again.y is None
    assert rows(again) == rows(corpus)


def test_a_column_without_a_name_gets_its_number():
    assert read("word,,tag\na,0,B\nb,1,I\n").layout.columns == ("word", "column1", "tag")


@pytest.mark.parametrize("header", [",word,tag", "word,tag"])
def test_names_of_rows_are_no_attribute(header):
    corpus = read(f"{header}\n0,a,B\n1,b,I\n")
    assert [column.name for column in corpus.X.columns] == ["word"]
    assert corpus.layout.columns == ("(row)", "word", "tag")
    assert read(f"{header}\n5,a,\n", layout=corpus.layout).y is None


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_text('"word",tag\na,B\n', encoding="utf-8-sig")
    for source in (path, io.BytesIO(path.read_bytes()), io.StringIO(path.read_text("utf-8"))):
        assert hr.read(source, "csv", encoding=encoding).layout.columns == ("word", "tag")


def test_csv_with_predictions():
    (block,) = hr.formats.read_blocks(io.BytesIO(CSV.encode()), "csv", sequence="sentence")
    written = block.with_labels([["x", "y", "z"], ["u"]]).decode().splitlines()
    assert written == [
        "sentence,word,n,tag,prediction",
        '1,"a, b",3,B,x',
        '1,"say ""it""",,I,y',
        "2,c,1.5,O,u",
        "1,d,2,B,z",
    ]


def frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame({"s": [1, 1, 2], "word": ["a", None, "c"], "n": [1, 2, 3], "tag": ["B", "I", "O"]})


def test_parquet(tmp_path):
    frame().write_parquet(tmp_path / "a.parquet")
    corpus = hr.read(tmp_path / "a.parquet", sequence="s")
    assert corpus.layout.format == "parquet"
    assert rows(corpus) == [[{"word": "a", "n": 1.0}, {"word": None, "n": 2.0}], [{"word": "c", "n": 3.0}]]
    assert labels(corpus) == [["B", "I"], ["O"]]
    assert len(hr.read(tmp_path / "a.parquet")) == 1
    (block,) = hr.formats.read_blocks(tmp_path / "a.parquet", sequence="s")
    written = hr.read(io.BytesIO(block.with_labels([["x", "y"], ["z"]])), sequence="s")
    assert labels(written) == [["x", "y"], ["z"]]


def test_parquet_without_a_library(tmp_path, monkeypatch):
    frame().write_parquet(tmp_path / "a.parquet")
    for name in ("polars", "pyarrow.parquet", "fastparquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"a\.parquet is a Parquet file, which needs polars or pyarrow; pip install"):
        hr.read(tmp_path / "a.parquet")


BAD = {
    ("jsonl", '{"w": ["a"]}\n{"w": \n'): r"line 2: a line must be JSON, but this one is not \(",
    ("jsonl", "3\n"): r"line 1: a line must be an object of columns or a list of positions, but it is int",
    ("jsonl", '{"w": ["a", "b"], "labels": ["B"]}'): r"line 1: the lists of a line must have the same length, but they",
    ("jsonl", '{"w": 3}'): r"line 1: an object must have a list for each column",
    ("jsonl", '{"w": []}'): r"line 1: a sequence must have at least one position",
    ("jsonl", "[]"): r"line 1: a list must hold an object for each position",
    ("jsonl", '{"w": [NaN]}'): r"line 1: NaN is not JSON; use null",
    ("jsonl", '{"w": ["a"], "weight": "x"}'): r"the weight of a sequence must be a number from 0, but it is 'x'",
    ("jsonl", '{"w": ["a"]}\n{"w": [1]}\n'): r"line 2: sequence 1, position 0, column 'w': a column has one kind",
    ("jsonl", '{"w": ["a"], "labels": ["a"]}\n{"w": ["b"]}\n'): r"line 2: there are positions without 'labels'; label",
    ("jsonl", '{"w": ["a"], "labels": [1.5]}\n'): r"line 1: sequence 0, position 0: labels must be strings, integers",
    ("jsonl", '{"w": ["a"], "labels": ["x\\u0000"]}'): r"labels must not end in a NUL character",
    ("jsonl", '{"w": ["a"], "weight": 1e999}'): r"must be a number from 0, but it is inf",
    ("jsonl", '[{"w": "a", "label": "B"}, {"w": "b"}]'): r"line 1: there are positions without 'label'",
    ("jsonl", '{"w": ["a"], "v": ["x"]}\n[{"w": 3}]'): r"line 2: sequence 1, position 0, column 'w': a column has one",
    ("jsonl", b'{"w": ["\xe9"]}'): r"line 1: text must be UTF-8",
    ("csv", "a,b\n1,2\n3\n"): r"line 3: a row must have 2 columns, as the first has, but this one has 1",
    ("csv", 'a,b\n"1,2\n'): r"line 2: a row must follow the rules of csv, but this one does not \(",
    ("csv", "a,a\n1,2\n"): r"the file must have distinct column names, but 'a' occurs twice",
    ("csv", "a,b\n"): r"line 1: there must be rows below the header, but there are none",
    ("csv", ""): r"must hold at least one position, but it holds nothing",
    ("csv", "a\nB\n"): r"the file has no column for X beside 'a'; add one",
    ("csv", "sequence\nB\n"): r"the file has no columns beside 'sequence'",
    ("csv", "a,b\n1,\n"): r"line 2: column 'b' is the label, but it is empty",
    ("csv", "a,b\n1,inf\ninf,x\n"): r"line 3: column 'a': numbers must be finite",
    ("csv", b"a,b\n\xe9,x\n"): r"line 2: text must be UTF-8",
    ("csv", b"a,b\n\0,x\n"): r"line 2: text must not hold NUL bytes",
    ("parquet", b"PAR1xx"): r"the file must be a Parquet file, but it cannot be read \(",
}  # fmt: skip


@pytest.mark.parametrize(("case", "message"), BAD.items())
def test_bad_tables(case, message):
    file_format, text = case
    with pytest.raises(InputError, match=message):
        read(text, format=file_format)


def test_bad_columns():
    with pytest.raises(InputError, match="the file has no column 'x' for `sequence`; its columns are 'sentence'"):
        read(CSV, format="csv", sequence="x")
    with pytest.raises(InputError, match="column 'sentence' cannot be in `columns`"):
        read(CSV, format="csv", sequence="sentence", columns=["sentence"])
    layout = read(CSV, format="csv", sequence="sentence").layout
    with pytest.raises(InputError, match="must have the columns of the training file, but it lacks 'n'"):
        read("sentence,word\n1,a\n", layout=layout)


DETECTED = {
    "a x B\n\n": "conll",
    "a\tx\tB\n\n": "conll",
    "# a comment\na B\n": "conll",
    "{ ( O\nx ) O\n": "conll",
    "1\ta\t_\tX\t_\t_\t0\tx\t_\t_\n": "conllu",
    "# text = a\n1-2\ta\t_\tX\t_\t_\t0\tx\t_\t_\n1\ta\t_\tX\t_\t_\t0\tx\t_\t_\n": "conllu",
    "B\tw=a\tpos=x:2\t__BOS__\n": "crfsuite",
    "B\tw=a\tx\n": "conll",
    "B-PER\tw=ann\ttitle\nO\tw=left\n\nO\tw=in\nB-LOC\tw=york\ttitle\n": "crfsuite",
    "NN\tbias\tw=a\nVB\tbias\tw=b\n": "crfsuite",
    "NN\tbias\tw=a\nVB\tbias\tw=b\nDT\tbias\tw=c\td=1\n": "crfsuite",
    "B-PER\tann\tcap\nO\tleft\tlow\n": "crfsuite",
    "B-PER\tB-PER\nO\tO\n": "conll",
    "@weight:2\nNN\ta\n": "crfsuite",
    "NN\ta\tb\nVB\tc\td\n": "conll",
    "a\tCase=Nom\tNN\nb\tCase=Acc\tVB\n": "conll",
    "O\tNN\tX\nthe\tDT\tY\n": "conll",
    "w,t\na,B\nb,I\n": "csv",
    ", , O\na b B\n": "conll",
    ",\tO\n,\tB\n": "conll",
    ", , O\n\n, , O\n": "conll",
    ", , O\n": "conll",
    '{"w": ["a"]}\n': "jsonl",
    '[{"w": "a"}]\n': "jsonl",
}


@pytest.mark.parametrize(("text", "name"), DETECTED.items())
def test_detection(text, name):
    assert read(text, label=False).layout.format == name


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.csv", "w,t\na,B\n", "csv"),
        ("a.csv", "a B\n", "conll"),
        ("a.tsv", "w\tt\na\tB\n", "tsv"),
        ("a.tsv", "a\tB\n\nb\tI\n", "conll"),
        ("a.crfpp", "# O\n", "crf++"),
        ("a.crfsuite", "B\tx\ty\n", "crfsuite"),
        ("a.jsonl", "a B\n", "conll"),
    ],
)
def test_detection_by_name(tmp_path, name, text, found):
    (tmp_path / name).write_text(text)
    assert hr.read(tmp_path / name).layout.format == found
