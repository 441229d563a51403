"""The compiled reader of column files against a slow one, over any bytes; and the rules of CoNLL, CoNLL-U, CRF++."""

from __future__ import annotations

import io
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hedgerow as hr
from builders.formats import read, rows
from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.errors import InputError
from oracles.formats import Fault, read_columns

PIECES = [
    b"\n",
    b"\n\n",
    b"\r\n",
    b" ",
    b"\t",
    b"#",
    b"=",
    b"_",
    b"a",
    b"B-NP",
    b"-DOCSTART-",
    b"1-2",
    b"1.1",
    b"\r",
    b"\0",
]
PIECES += [b"\0", "é".encode(), "漢".encode(), "😀".encode(), b"\xe9", b"\xed\xa0\x80", b"\xff", b"\xf0\x9f"]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=40)
flags = st.fixed_dictionaries({"tabs": st.booleans(), "comments": st.booleans(), "documents": st.booleans()})


def values(columns, starts):
    """Sequences of positions of values, from what the compiled reader returned."""
    names = [list(Alphabet(blob, offsets)) for _, blob, offsets in columns]
    rows = [
        [None if code == -2 else names[c][code] for c, code in enumerate(codes)]
        for codes in zip(*(codes.tolist() for codes, _, _ in columns), strict=True)
    ]
    return [rows[begin:end] for begin, end in pairwise(starts)]


@pytest.mark.kernel
@given(texts, flags, st.booleans(), st.sampled_from([0, 1, 2, 99]))
@example(b"", {"tabs": False, "comments": False, "documents": False}, False, 0)
@example(b"\n\n", {"tabs": True, "comments": False, "documents": False}, False, 0)
@example(b"a B\n\n# #\n# c\n# = c\n# B\n\n# B\n#a B", {"tabs": False, "comments": True, "documents": True}, False, 99)
def test_the_compiled_reader_is_the_slow_one(text, flags, numbered, absent_from):
    rules = {**flags, "numbered": numbered, "absent_from": absent_from}
    starts, lines, ends, columns, n_lines, fault = _core.read_columns(text, **rules, n_columns=0)
    assert n_lines <= text.count(b"\n") + 1
    if fault is not None:
        with pytest.raises(Fault) as error:
            read_columns(text, **rules)
        assert error.value.args == fault[:2]
        return
    expected = read_columns(text, **rules)
    assert values(columns, starts) == expected
    content = text.split(b"\n")
    for line, end in zip(lines.tolist(), ends.tolist(), strict=True):
        assert text[:end].count(b"\n") == line - 1
        assert text[:end].split(b"\n")[-1] == content[line - 1].rstrip(b"\r")


@pytest.mark.kernel
@given(texts, st.data())
def test_the_end_of_sequences_is_behind_the_last_blank_line(text, data):
    begins = [0, *(i + 1 for i, byte in enumerate(text) if byte == 10)]
    begin = data.draw(st.sampled_from(begins))
    found = -1
    for first, last in pairwise(begins):
        if first >= begin and not text[first:last].strip(b" \t\r\n"):
            found = last
    assert _core.end_of_sequences(np.frombuffer(text, np.uint8), begin) == found


def test_columns_labels_and_layout():
    corpus = read("a x B\nb y I\n\nc z O")
    X, y = corpus
    assert rows(corpus) == [
        [{"column0": "a", "column1": "x"}, {"column0": "b", "column1": "y"}],
        [{"column0": "c", "column1": "z"}],
    ]
    assert [labels.tolist() for labels in y] == [["B", "I"], ["O"]]
    assert X is corpus.X
    assert corpus.lines.tolist() == [1, 2, 4]
    assert corpus.sample_weight is None
    assert corpus.layout == hr.formats.Layout(
        "conll", ("column0", "column1", "column2"), "column2", ("column0", "column1"), separator=" "
    )


@pytest.mark.parametrize(("label", "name"), [(None, "chunk"), (1, "pos"), (-2, "pos"), ("word", "word"), (False, None)])
def test_the_label_column_is_chosen(label, name):
    corpus = read("a x B\n", columns=["word", "pos", "chunk"], label=label)
    assert corpus.layout.label == name
    assert [column.name for column in corpus.X.columns] == [n for n in ("word", "pos", "chunk") if n != name]
    assert (corpus.y is None) == (name is None)


def test_a_hash_can_be_a_token_or_a_comment():
    text = "# document 7\na x B\n# # I\n# a comment of many words\n#tag x O\n\n# of y\n#tag x B\n\n# # B\n"
    assert [labels.tolist() for labels in read(text).y] == [["B", "I", "O"], ["B"], ["B"]]
    assert [labels.tolist() for labels in read("# # I\n", format="crf++").y] == [["I"]]
    assert [labels.tolist() for labels in read("a\tB\n#b c\tO\n# a comment\n\n#\tB\n").y] == [["B", "O"], ["B"]]


def test_tabs_of_the_first_line_decide():
    corpus = read("New York\tB\nit\tO\n")
    assert rows(corpus) == [[{"column0": "New York"}, {"column0": "it"}]]
    assert corpus.layout.separator == "\t"
    assert rows(read("a x\tB\n", format="crf++")) == [[{"column0": "a", "column1": "x"}]]


def test_an_empty_value_between_tabs_is_absent():
    assert rows(read("a\t\tB\nb\ty\tI\n")) == [[{"column0": "a"}, {"column0": "b", "column1": "y"}]]
    with pytest.raises(InputError, match=r"the file, line 2: column 'column1' is the label, but it is empty"):
        read("a\tB\nb\t\n")


def test_byte_order_mark_line_ends_and_documents():
    text = "\ufeff-DOCSTART- -X- O\r\n\r\na x B\r\n-DOCSTART- -X- O\r\nb y I\r\n \t\r\n\r\nc z O"
    assert [labels.tolist() for labels in read(text).y] == [["B"], ["I"], ["O"]]
    assert [labels.tolist() for labels in read(text.encode("utf-16"), encoding="utf-16").y] == [["B"], ["I"], ["O"]]


CONLLU = """\
# text = don't _
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\tA=b\t0\troot\t_\t_
2\tn't\tnot\tPART\t_\t_\t1\tadv\t_\t_
2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_
3\t_\t_\tPUNCT\t_\t_\t1\tp\t_\t_

"""


def test_conllu():
    corpus = read(CONLLU)
    assert corpus.layout.format == "conllu"
    assert rows(corpus) == [[{"form": "do"}, {"form": "n't"}, {"form": "_"}]]
    assert corpus.y[0].tolist() == ["AUX", "PART", "PUNCT"]
    more = read(CONLLU, columns=["form", "lemma", "feats"], label="deprel")
    assert rows(more) == [
        [{"form": "do", "lemma": "do", "feats": "A=b"}, {"form": "n't", "lemma": "not"}, {"form": "_"}]
    ]
    assert more.y[0].tolist() == ["root", "adv", "p"]
    assert read(CONLLU, label=False).y is None


def test_labels_of_conllu_go_into_their_column():
    layout = read(CONLLU, label="deprel", columns=["form", "upos"]).layout
    plain = CONLLU.replace("root", "_").replace("adv", "_").replace("\tp\t", "\t_\t")
    with pytest.raises(InputError, match="line 3: column 'deprel' is the label, but it is empty"):
        read(plain, label="deprel")
    assert read(plain, layout=layout).y is None
    (block,) = hr.formats.read_blocks(io.BytesIO(plain.encode()), layout=layout)
    assert block.y is None
    assert block.with_labels([["root", "adv", "p"]]).decode() == CONLLU
    (block,) = hr.formats.read_blocks(io.BytesIO(CONLLU.replace("adv", "_").encode()), layout=layout)
    assert block.y is None
    with pytest.raises(InputError, match="line 4: column 'deprel' is the label, but it is empty"):
        read(CONLLU.replace("adv", "_"), layout=layout)
    (block,) = hr.formats.read_blocks(io.BytesIO(CONLLU.encode()), label=False)
    assert b"1\tdo\tdo\tX\t_" in block.with_labels([["X", "Y", "Z"]])


BAD = {
    ("a x B\nb y\n", ()): r"the file, line 2: a line must have 3 columns, as the first has, but this one has 2: 'b y'",
    (b"a B\n\xe9 O\n", ()): r"the file, line 2: text must be UTF-8, but these .* \(value 1 of the line\); give `enc",
    (b"\xff\xfea\0 \0B\0\n\0", ()): r"line 1: text must not hold NUL bytes.* the file looks like UTF-16: give",
    (b"a B\n\n\0 O\n", ()): r"line 3: text must not hold NUL bytes",
    (b"a B\n# a \xe9\n", ()): r"line 2: text must be UTF-8",
    (b"a " * 70_000, ()): r"line 1: a line must have at most 65536 columns, but it has 70000; is it the right",
    (b"a B\rb C\r", ()): r"line 1: column 1 holds a carriage return; end lines with \\n or \\r\\n",
    (b"\xed\xa0\x80 B\n", ()): r"line 1: text must be UTF-8",
    ("", ()): r"the file must hold at least one position, but it holds nothing; is it the right file\?",
    (" \n\n", ()): r"but it holds only blank lines",
    ("# a\n# b\n", ()): r"but it holds only comments and blank lines",
    ("a\nb\n", ()): r"the file has one column, 'column0', which is the label by default, and none for X; give",
    ("a B\n", (("label", "tag"),)): r"the file has no column 'tag' for `label`; its columns are 'column0', 'column1'",
    ("a B\n", (("label", 2),)): r"the file has no column 2 for `label`; it has 2 columns",
    ("a B\n", (("label", True),)): r"label must be a name, a number or False, but got True",
    ("a B\n", (("columns", ("w",)),)): r"the file has 2 columns, but `columns` names 1; name each column",
    ("a B\n", (("columns", ("w", "w")),)): r"`columns` must be distinct names, but 'w' occurs twice",
    ("a B\n", (("columns", ("w", 3)),)): r"`columns` must be names, but got 'w', 3",
    ("a B\n", (("format", "connl"),)): r"format is 'connl'; choose one of conll, ",
    ("a B\n", (("encoding", "utf-9"),)): r"encoding is 'utf-9', which Python does not know",
    ("ä B\n", (("encoding", "ascii"),)): r"line 1: text must be ascii, but byte 0xc3 is not; give the right `encoding`",
    (CONLLU, (("columns", ("word",)),)): r"the file has no column 'word' for `columns`; its columns are id, form, ",
    (CONLLU, (("columns", ("upos",)),)): r"column 'upos' cannot be in `columns` and be the label",
    (CONLLU + "1\ta\n", ()): r"line 8: a line must have 10 columns",
}  # fmt: skip


@pytest.mark.parametrize(("case", "message"), BAD.items())
def test_bad_input(case, message):
    text, options = case
    with pytest.raises(InputError, match=message):
        read(text, **dict(options))


def test_huge_values_and_lines():
    word = "x" * 5_000_000
    assert rows(read(f"{word} B\n")) == [[{"column0": word}]]
    with pytest.raises(InputError) as error:
        read(f"a B\n{word}\n")
    assert len(str(error.value)) < 300


def test_bad_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        hr.read(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        hr.read(tmp_path)
    with pytest.raises(InputError, match="path must be a str, a Path, '-' or an open file, but got int"):
        hr.read(3)


def test_paths_and_files(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("a B\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a B\n")))
    with path.open() as text, path.open("rb") as binary:
        for source in (path, str(path), text, binary, io.StringIO("a B\n"), "-"):
            assert hr.read(source).y[0].tolist() == ["B"]
    with pytest.raises(InputError, match=r"line 2: text must be UTF-8, but it holds the lone surrogate '\\ud800'"):
        hr.read(io.StringIO("a B\n\ud800 B\n"))


def test_a_layout_of_training_names_the_columns():
    layout = read("a x B\n", columns=["word", "pos", "tag"]).layout
    assert hr.formats.Layout.from_json(layout.to_json()) == layout
    labelled, plain = read("b y I\n", layout=layout), read("b\ty\n", layout=layout)
    assert rows(labelled) == rows(plain) == [[{"word": "b", "pos": "y"}]]
    assert labelled.y[0].tolist() == ["I"]
    assert plain.y is None
    with pytest.raises(InputError, match=r"has 4 columns, but the training file had 3 \('word', 'pos', 'tag'\)"):
        read("a b c d\n", layout=layout)
    for bad in (None, {}, {**layout.to_json(), "columns": "word"}, {**layout.to_json(), "label": 3}):
        with pytest.raises(InputError, match="layout"):
            hr.formats.Layout.from_json(bad)


@pytest.mark.skipif("HEDGEROW_DATA" not in os.environ, reason="HEDGEROW_DATA is not set")
@pytest.mark.parametrize("split", ["train", "test"])
def test_conll2000(split):
    expected = hr.datasets.load("conll2000", split)
    X, y = hr.read(f"{os.environ['HEDGEROW_DATA']}/conll2000/{split}.txt", columns=["word", "pos", "chunk"])
    assert [labels.tolist() for labels in y] == [labels.tolist() for labels in expected.y]
    again = hr.Sequences(expected.X)
    for column, other in zip(X.columns, again.columns, strict=True):
        assert column.alphabet == other.alphabet
        assert np.array_equal(column.codes, other.codes)
