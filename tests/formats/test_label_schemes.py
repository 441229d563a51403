"""Labels in six schemes: every small labelling against the oracle, and against seqeval's strict reading."""

from __future__ import annotations

import io
import itertools

import pytest
import seqeval.scheme
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from builders.formats import labels as labels_of
from hedgerow.errors import InputError
from hedgerow.formats import convert_labels, detect_scheme
from oracles import metrics as oracle

SCHEMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]
# A piece is (length, type); "" lies outside of spans.
PIECES = [*itertools.product([1, 2, 3], ["X", "Y"]), (1, "")]
ALL = [list(pieces) for n in range(1, 4) for pieces in itertools.product(PIECES, repeat=n)]


def converted(y, to, scheme=None):
    return [sequence.tolist() for sequence in convert_labels(y, to, scheme)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("to", SCHEMES)
def test_every_small_labelling(scheme, to):
    assert converted([oracle.write(p, scheme) for p in ALL], to, scheme) == [oracle.write(p, to) for p in ALL]


def one_position_before_another(pieces):
    return any(a == (1, b[1]) and a[1] for a, b in itertools.pairwise(pieces))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_seqeval_reads_the_same_spans(scheme):
    # In IOE1 seqeval does not find the first of two neighbours of one type if it has one position: E-X I-X.
    some = [pieces for pieces in ALL if scheme != "IOE1" or not one_position_before_another(pieces)]
    y = converted([oracle.write(pieces, "IOB2") for pieces in some], scheme, "IOB2")
    found = seqeval.scheme.Entities(y, getattr(seqeval.scheme, scheme))
    spans = [[(e.start, e.end, e.tag) for e in entities] for entities in found.entities]
    assert spans == [oracle.spans(oracle.write(pieces, "IOB2"), "IOB2") for pieces in some]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_detection(scheme):
    y = [oracle.write(pieces, scheme) for pieces in ALL]
    assert detect_scheme(y) == scheme
    assert converted(y, "IOB2") == [oracle.write(pieces, "IOB2") for pieces in ALL]


def test_detection_of_doubtful_labels():
    assert detect_scheme([["O", "O"]]) == "IOB2"
    assert detect_scheme([["I-X", "O"]]) == "IOB1"
    assert detect_scheme([["B-X"], ["B-Y"]]) == "IOB2"
    assert detect_scheme([["B", "I", "O"]]) == "IOB2"
    for bad in ([["B-X", "O", "I-X"]], [["NN", "VB"]], [["B-X", "U-X"], ["S-X"]], [[1, 2]]):
        with pytest.raises(InputError, match=r"well-formed in one of|labels are integers"):
            detect_scheme(bad)


label = st.builds(lambda c, t: c if c == "O" else f"{c}-{t}", st.sampled_from("BIESO"), st.sampled_from(["X", "Y-Z"]))


@given(st.lists(st.lists(label, min_size=1, max_size=8), min_size=1, max_size=3), st.sampled_from(SCHEMES))
def test_ill_formed_labels_keep_the_spans_of_conlleval(y, to):
    assert [oracle.spans(labels, to) for labels in converted(y, to, "IOBES")] == [oracle.spans(a, "IOBES") for a in y]
    plain = [[label.replace("S", "B") for label in labels] for labels in y]
    assert [hr.metrics.spans(a, to) for a in converted(plain, to, "IOB1")] == [
        hr.metrics.spans(labels, "IOB1") for labels in plain
    ]


def test_bad_schemes():
    with pytest.raises(InputError, match="scheme is 'IOB'; choose one of IOB1"):
        convert_labels([["O"]], "IOB")
    with pytest.raises(InputError, match="y: sequence 0, position 1: label 'S-X' does not begin with a letter of IOB2"):
        convert_labels([["O", "S-X"]], "IOBES", "IOB2")
    assert convert_labels([], "IOBES") == []


def test_files_are_converted(tmp_path):
    source = tmp_path / "a.conll"
    source.write_text("the DT B-NP\ncat NN I-NP\n\nit PRP B-NP\n")
    corpus = hr.formats.convert(source, tmp_path / "b.conll", to_scheme="IOBES")
    assert (tmp_path / "b.conll").read_text() == "the DT B-NP\ncat NN E-NP\n\nit PRP S-NP\n\n"
    assert labels_of(corpus) == [["B-NP", "E-NP"], ["S-NP"]]
    hr.formats.convert(tmp_path / "b.conll", tmp_path / "c.jsonl", columns=["word", "pos", "chunk"], to_scheme="IOB2")
    assert labels_of(hr.read(tmp_path / "c.jsonl")) == [["B-NP", "I-NP"], ["B-NP"]]
    with pytest.raises(InputError, match="exists already"):
        hr.formats.convert(source, tmp_path / "c.jsonl")
    hr.formats.convert(source, tmp_path / "c.jsonl", overwrite=True)
    with pytest.raises(InputError, match="only where there are labels"):
        hr.formats.convert(source, io.BytesIO(), label=False, to_scheme="IOB2")
    with pytest.raises(InputError, match="give `to_scheme` too"):
        hr.formats.convert(source, io.BytesIO(), scheme="IOB2")


def test_all_columns_of_conllu_are_converted():
    text = "1\ta\tA\tX\t_\tF=1\t0\troot\t_\t_\n2\tb\t_\tY\t_\t_\t1\tdep\t_\t_\n\n"
    same, columns = io.BytesIO(), io.BytesIO()
    hr.formats.convert(io.BytesIO(text.encode()), same)
    assert same.getvalue().decode() == text
    hr.formats.convert(io.BytesIO(text.encode()), columns, to="conll", label="deprel")
    assert columns.getvalue().decode() == "a\tA\tX\tF=1\t0\troot\nb\t\tY\t\t1\tdep\n\n"
