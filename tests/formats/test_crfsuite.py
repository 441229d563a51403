"""CRFsuite's items: the compiled reader against a slow one, escapes, weights, and labels written back."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hedgerow as hr
from builders.formats import labels, read, rows
from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BAG, BagColumn
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from oracles.formats import Fault, read_items

PIECES = [
    b"\n",
    b"\n\n",
    b"\t",
    b"\t",
    b"B",
    b"w=a",
    b":",
    b":2",
    b":-.5e1",
    b":x",
    b"\\:",
    b"\\\\",
    b"\\",
    b" ",
    b"\r\n",
]
PIECES += [b"\r\n", b"@weight:3\n", b"@weight", "é".encode(), b"\xe9", b"\r", b"\0", b":1e99", b":+1", b":nan"]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join)


@pytest.mark.kernel
@given(texts, st.booleans())
@example(b"", True)
@example(b"B\ta:2\ta:-2\tb\\:c\n", True)
@example(b"@weight:2\nB\tb\\\\c\n\nB\tb\\\\c", False)
def test_the_compiled_reader_is_the_slow_one(text, labelled):
    starts, lines, (codes, *names), (*bags, blob, offsets), weights, n_lines, fault = _core.read_items(text, labelled)
    assert n_lines <= text.count(b"\n") + 1
    if fault is not None:
        with pytest.raises(Fault) as error:
            read_items(text, labelled)
        assert error.value.args == fault[:2]
        return
    expected = read_items(text, labelled)
    assert weights.tolist() == [weight for weight, _ in expected]
    assert len(lines) == starts[-1]
    column = BagColumn(BAG, *bags, Alphabet(blob, offsets))  # checks that ids rise
    found = rows(Sequences.trusted(starts, (column,)))
    assert found == [[{BAG: pytest.approx(attributes)} for _, attributes in items] for _, items in expected]
    if labelled:
        alphabet = Alphabet(*names)
        assert [alphabet[c] for c in codes.tolist()] == [label for _, items in expected for label, _ in items]


def test_weights_escapes_and_labels():
    corpus = read("@weight:2\nB\tw=a\\:b:0.5\tw=\\\\\nI\n\nO\tw=x\tw=x\n", format="crfsuite")
    assert rows(corpus) == [[{BAG: {"w=a:b": 0.5, "w=\\": 1.0}}, {BAG: {}}], [{BAG: {"w=x": 2.0}}]]
    assert labels(corpus) == [["B", "I"], ["O"]]
    assert corpus.sample_weight.tolist() == [2.0, 1.0]
    assert corpus.lines.tolist() == [2, 3, 5]
    assert labels(read("w=a\tx\n", format="crfsuite", label=False)) is None
    assert read("B\tw=a\n").sample_weight is None


def test_a_model_reads_files_as_it_reads_lists():
    corpus = read("B\tw=a\nI\tw=b\n\nB\tw=c\n")
    model = hr.LinearCRF(max_iter=3).fit([[["w=a"], ["w=b"]], [["w=c"]]], [["B", "I"], ["B"]])
    assert [y.tolist() for y in model.predict(corpus.X)] == [["B", "I"], ["B"]]


def test_labels_are_written_in_front():
    (block,) = hr.formats.read_blocks(io.BytesIO(b"B\tw=a\\:b\r\n\tI\tw=b:2\n\n@weight:2\nO\tc\n"), format="crfsuite")
    assert block.with_labels([["x:y", "z"], ["u"]]) == b"x\\:y\tw=a\\:b\r\nz\tw=b:2\n\n@weight:2\nu\tc\n"
    (block,) = hr.formats.read_blocks(io.BytesIO(b"w=a\n"), format="crfsuite", label=False)
    assert block.with_labels([["B"]]) == b"B\tw=a\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B\ta\nB\ta:x\n", r"the file, line 2: what follows the colon in field 1 must be a finite number"),
        ("@weight:-1\nB\ta\n", r"line 1: what follows the colon in field 0"),
        (b"B\t\xe9\n", r"line 1: text must be UTF-8"),
        ("\n\n", "must hold at least one position, but it holds only blank lines"),
    ],
)
def test_bad_items(text, message):
    with pytest.raises(InputError, match=message):
        read(text, format="crfsuite")
    with pytest.raises(InputError, match="the crfsuite format has one label and one bag"):
        read("B\ta\n", format="crfsuite", label="tag")


def test_lines_of_labels_alone_are_no_items():
    layout = read("B\tw=a\n").layout
    with pytest.raises(InputError, match=r"the file, line 2: crfsuite items .* 'Ann NNP'; this is not a crfsuite file"):
        read("\nAnn NNP\nleft VBD\n", layout=layout)
    assert rows(read("Ann NNP\n", format="crfsuite", label=False)) == [[{BAG: {"Ann NNP": 1.0}}]]


def test_lines_of_different_lengths_may_be_items():
    with pytest.raises(InputError, match=r"line 2: a line must have 3 columns, .*; give format='crfsuite' for lines"):
        read("NN\ta\tb\nVB\ta\n")
    with pytest.raises(InputError, match=r"this one has 2: 'VB a'$"):
        read("NN a b\nVB a\n")
