"""What is written is read back; what a format cannot hold is refused, and no file is replaced unasked."""

from __future__ import annotations

import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hedgerow as hr
from builders.formats import labels, rows
from hedgerow.data.columns import BAG
from hedgerow.errors import InputError

# Characters on which formats stumble, and those that no text file of lines can hold.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r") | st.sampled_from(
    "# :=\\\"',_-é\u2028\x85\xa0"
)
texts = st.text(characters, min_size=1, max_size=6)
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=5)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


def written(X, y, file_format, **options):
    file = io.BytesIO()
    hr.write(file, X, y, file_format, **options)
    return file.getvalue()


def sequences(*columns):
    """Lists of sequences of positions with a value of each column and a label."""
    return st.lists(st.lists(st.tuples(*columns), min_size=1, max_size=4), min_size=1, max_size=4)


def taken(data, names):
    X = [[dict(zip(names, at, strict=False)) for at in sequence] for sequence in data]
    return X, [[at[-1] for at in sequence] for sequence in data]


@given(sequences(texts, texts, texts))
def test_conll(data):
    X, y = taken(data, ["a", "b"])
    first = [at["a"] for x in X for at in x]
    if first[0].startswith("\ufeff") or any(not "".join(at).strip(" ") for x in data for at in x):
        with pytest.raises(InputError, match=r"byte order mark|blank"):
            written(X, y, "conll")
        return
    text = written(X, y, "conll")
    corpus = hr.read(io.BytesIO(text), "conll", columns=["a", "b", "y"])
    assert rows(corpus) == X
    assert labels(corpus) == y


@given(sequences(words, words))
def test_crfpp_and_blanks(data):
    X, y = taken(data, ["a"])
    assume(not any(text.startswith("\ufeff") for text in data[0][0]))  # a file cannot begin with this text
    corpus = hr.read(io.BytesIO(written(X, y, "crf++")), "crf++", columns=["a", "y"])
    assert (rows(corpus), labels(corpus)) == (X, y)
    layout = hr.formats.Layout("conll", ("y", "a"), "y", ("a",), separator=" ")
    text = written(X, y, "conll", layout=layout, label="y")
    again = hr.read(io.BytesIO(text), "conll", columns=["y", "a"], label=0)
    assert (rows(again), labels(again)) == (X, y)


@given(sequences(texts, texts, texts.filter(lambda text: text != "_")))
def test_conllu(data):
    X, y = taken(data, ["form", "misc"])
    corpus = hr.read(io.BytesIO(written(X, y, "conllu")), "conllu", columns=["form", "misc"])
    assert rows(corpus) == [[{k: v for k, v in at.items() if k == "form" or v != "_"} for at in x] for x in X]
    assert labels(corpus) == y


bags = st.dictionaries(texts, numbers.filter(bool), max_size=3)


@given(sequences(bags, texts.filter(lambda text: text.strip(" \t\r") and text != "@weight")), st.data())
def test_crfsuite(data, draw):
    X, y = taken(data, [BAG])
    weights = draw.draw(st.lists(st.floats(0, 100), min_size=len(X), max_size=len(X)))
    text = written(X, y, "crfsuite", sample_weight=weights)
    corpus = hr.read(io.BytesIO(text), "crfsuite")
    assert rows(corpus) == X
    assert labels(corpus) == y
    assert ([1.0] * len(X) if corpus.sample_weight is None else corpus.sample_weight.tolist()) == weights


def test_crfsuite_of_columns_is_that_of_python_crfsuite():
    text = written([[{"w": "a:b", "n": 2, "bag": ["x", "y\\z"]}, {"w": "c"}]], [["B", "I"]], "crfsuite")
    assert text.decode() == "B\tw=a\\:b\tn:2\tx\ty\\\\z\nI\tw=c\tn:0\n\n"


@given(sequences(st.text(max_size=4) | st.none(), numbers | st.none(), st.integers(-(2**63), 2**63 - 1)))
def test_jsonl(data):
    X, y = taken(data, ["w", "n"])
    corpus = hr.read(io.BytesIO(written(X, y, "jsonl")), "jsonl")
    assert rows(corpus) == rows(hr.Sequences(X))
    assert labels(corpus) == y


def test_jsonl_with_absent_values_bags_and_weights():
    X = [[{"w": "a", "bag": ["x"]}, {"bag": []}]]
    corpus = hr.read(io.BytesIO(written(X, [["B", "I"]], "jsonl")))
    assert rows(corpus) == [[{"w": "a", "bag": {"x": 1.0}}, {"bag": {}}]]
    assert labels(corpus) == [["B", "I"]]
    weighted = hr.read(io.BytesIO(written([[{"f": {"a": 0.1}}]], [["B"]], "jsonl", sample_weight=[0.5])))
    assert rows(weighted) == [[{"f": {"a": pytest.approx(0.1)}}]]
    assert weighted.sample_weight.tolist() == [0.5]
    with pytest.raises(InputError, match="cannot hold weights of sequences"):
        written(X, None, "jsonl", sample_weight=[2])


@given(
    sequences(st.text(characters | st.just("\t"), min_size=1, max_size=5).map("x".__add__), numbers | st.none(), texts)
)
@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_csv(name, data):
    X, y = taken(data, ["w", "n"])
    corpus = hr.read(io.BytesIO(written(X, y, name)), name)
    expected = rows(hr.Sequences(X))
    if all(at["n"] is None for x in X for at in x):
        assert [[at["w"] for at in x] for x in rows(corpus)] == [[at["w"] for at in x] for x in X]
    else:
        assert rows(corpus) == expected
    assert labels(corpus) == y


def test_parquet():
    pytest.importorskip("polars")
    X = [[{"w": "a", "n": 1, "bag": ["x"]}, {"w": None, "n": None, "bag": []}], [{"w": "c", "n": 3, "bag": ["y", "z"]}]]
    corpus = hr.read(io.BytesIO(written(X, [[1, 2], [3]], "parquet")))
    assert rows(corpus) == rows(hr.Sequences(X))
    assert labels(corpus) == [[1, 2], [3]]


def test_a_corpus_is_written_as_it_was_read():
    text = "a x B\n# # I\n\nc z O\n\n"
    corpus = hr.read(io.StringIO(text))
    assert written(corpus, None, None).decode() == text
    middle = hr.read(io.StringIO(text), label=1)
    assert written(middle, None, None).decode() == text


def test_labels_of_a_corpus_in_other_formats():
    corpus = hr.read(io.StringIO("a x B\nb y I\n"), columns=["word", "pos", "chunk"])
    for file_format in ("jsonl", "csv", "parquet", "crfsuite"):
        again = hr.read(io.BytesIO(written(corpus, None, file_format)), file_format)
        assert labels(again) == [["B", "I"]]


def test_formats_by_name_and_files(tmp_path, capsysbinary):
    path = tmp_path / "a.jsonl"
    hr.write(path, [["a"]], [["B"]])
    assert path.read_text() == '{"symbol": ["a"], "labels": ["B"]}\n'
    with pytest.raises(InputError, match=r"a\.jsonl exists already; choose another name, or give overwrite=True"):
        hr.write(path, [["a"]], [["B"]])
    hr.write(path, [["b"]], overwrite=True)
    assert path.read_text() == '{"symbol": ["b"]}\n'
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        hr.write(tmp_path / "none" / "a.txt", [["a"]])
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        hr.write(tmp_path, [["a"]])
    hr.write("-", [["a"]], [["B"]])
    assert capsysbinary.readouterr().out == b"a\tB\n\n"
    text = io.StringIO()
    hr.write(text, [["a"]], [["B"]])
    assert text.getvalue() == "a\tB\n\n"


BAD = [
    ([["a\tb"]], "conll", r"column 'symbol' must hold no tab, line break or NUL, but one is 'a\\tb'"),
    ([["a b"]], "crf++", r"column 'symbol' must hold values without blanks, but one is 'a b'"),
    ([[""]], "crf++", r"column 'symbol' must hold values without blanks, but one is ''"),
    ([["\ud800"]], "conll", r"column 'symbol' must hold text, but '\\ud800' holds a lone surrogate"),
    ([["\ud800"]], "jsonl", r"a value holds a lone surrogate"),
    ([["-DOCSTART-"]], "conll", r"sequence 0, position 0: '-DOCSTART-\\tB' begins with -DOCSTART-, which conll drops"),
    ([["\ufeffa"]], "conll", r"sequence 0, position 0: a file cannot begin with a byte order mark"),
    ([[["x", "y"]]], "conll", r"column 'bag' is a bag, which conll cannot hold; write crfsuite or jsonl"),
    ([[["x\ty"]]], "crfsuite", r"crfsuite needs names that are not empty, without tab"),
    ([[{"word": "a"}]], "conllu", r"conllu has no column 'word'; rename it to one of id, form, "),
    ([[{"lemma": "a"}]], "conllu", r"a word of conllu must have a form, but X has none"),
    ([[{"form": "a", "id": "1-2"}]], "conllu", r"column 'id' must hold numbers, but one is '1-2'"),
    ([[{"sequence": "a"}]], "csv", r"the column of sequences is called 'sequence', but X has such a column too"),
    ([[{"label": "a"}]], "csv", r"the label column must have a name of its own, but X has 'label'"),
    ([[{"f": {"a": 2}}]], "parquet", r"parquet cannot hold column 'f'"),
    ([["a"]], "word", r"format is 'word'; choose one of conll"),
]  # fmt: skip


@pytest.mark.parametrize(("X", "file_format", "message"), BAD)
def test_what_a_format_cannot_hold(X, file_format, message, tmp_path):
    with pytest.raises(InputError, match=message):
        hr.write(tmp_path / "file", X, [["B"]], file_format)
    assert list(tmp_path.iterdir()) == []


def test_bad_arguments():
    with pytest.raises(InputError, match="every value is absent or blank"):
        written([[" "]], None, "conll")
    with pytest.raises(InputError, match="is a comment or several columns in conll"):
        written([["a b"]], None, "conll")
    with pytest.raises(InputError, match="without label and attributes is the end of a sequence"):
        written([[[], ["a"]]], None, "crfsuite")
    with pytest.raises(InputError, match="sample_weight must hold a number from 0 for each of the 1 sequences"):
        written([["a"]], None, "crfsuite", sample_weight=[1, 2])
    with pytest.raises(InputError, match="csv cannot hold weights of sequences"):
        written([["a"]], None, "csv", sample_weight=[2])
    with pytest.raises(InputError, match="sequence 0 has 1 position but 2 labels"):
        written([["a"]], [["B", "I"]], "csv")
    with pytest.raises(InputError, match="path must be a str, a Path, '-' or an open file, but got int"):
        hr.write(3, [["a"]])
