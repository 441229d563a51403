"""Blocks of a stream: the same as reading at once, without waiting, in constant memory."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.formats import read_blocks


class Chunks(io.RawIOBase):
    """A stream that returns the given chunks."""

    def __init__(self, chunks):
        self._chunks = [chunk for chunk in chunks if chunk]

    def read(self, n=-1):
        return self._chunks.pop(0) if self._chunks else b""


def read_all(blocks):
    return [(labels.tolist()) for block in blocks for labels in block.y or ()]


PIECES = ["a B\n", "é I\r\n", "# c\n", "\n", " \t\n", "-DOCSTART- O\n", "\r\n"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=20),
    st.lists(st.integers(0, 60), max_size=6),
    st.sampled_from(["", "b O"]),
)
def test_blocks_are_the_file(pieces, cuts, tail):
    text = "\ufeff" + "a B\n" + "".join(pieces) + tail
    content = text.encode()
    bounds = [0, *sorted(cut for cut in cuts if cut <= len(content)), len(content)]
    chunks = [content[a:b] for a, b in pairwise(bounds)]
    blocks = list(read_blocks(Chunks(chunks)))
    whole = hr.read(io.BytesIO(content))
    assert read_all(blocks) == [labels.tolist() for labels in whole.y]
    assert [line for block in blocks for line in block.lines.tolist()] == whole.lines.tolist()
    assert b"".join(block.text for block in blocks) == content.removeprefix("\ufeff".encode())
    assert all(len(block.X) for block in blocks[:-1])
    utf16 = text[1:].encode("utf-16")
    assert read_all(read_blocks(Chunks([utf16[:9], utf16[9:]]), encoding="utf-16")) == read_all(blocks)


CONLLU = "1\ta\t_\tX\t_\t_\t0\tx\t_\tA=b\r\n2\tb\t_\tX\t_\t_\t0\tx\t_\t_\r\n"
WITH_PROBABILITIES = {
    ("conll", "a x\nb y\r\n"): "a x B 0.5000\nb y I 0.9877\r\n",
    ("conllu", CONLLU): CONLLU.replace("X", "B", 1).replace("X", "I")
    .replace("A=b", "A=b|Probability=0.5000").replace("_\r\n", "Probability=0.9877\r\n"),
    ("csv", "w,n\na,1\nb,2\n"): "w,n,prediction,probability\na,1,B,0.5000\nb,2,I,0.9877\n",
    ("jsonl", '{"w": ["a", "b"]}\n'): '{"w": ["a", "b"], "prediction": ["B", "I"], "probability": [0.5, 0.9877]}\n',
    ("jsonl", '[{"w": "a"}, {}]\n'): '[{"w": "a", "prediction": "B", "probability": 0.5}, '
    '{"prediction": "I", "probability": 0.9877}]\n',
}  # fmt: skip


@pytest.mark.parametrize(("case", "expected"), WITH_PROBABILITIES.items())
def test_probabilities(case, expected):
    file_format, text = case
    (block,) = read_blocks(io.BytesIO(text.encode()), file_format, label=False)
    assert block.with_labels([["B", "I"]], [[0.5, 0.98765]]).decode() == expected
    if file_format == "conll":
        with pytest.raises(InputError, match="probabilities must have a number for each label"):
            block.with_labels([["B", "I"]], [[0.5]])


def test_probabilities_in_other_formats():
    (block,) = read_blocks(io.BytesIO(b"B\tw=a\n"), "crfsuite")
    with pytest.raises(InputError, match="crfsuite items cannot hold probabilities"):
        block.with_labels([["B"]], [[0.5]])
    pytest.importorskip("polars")
    file = io.BytesIO()
    hr.write(file, [["a", "b"]], [["B", "I"]], "parquet")
    (block,) = read_blocks(io.BytesIO(file.getvalue()))
    again = hr.read(io.BytesIO(block.with_labels([["B", "I"]], [[0.5, 0.25]])), label="label")
    assert again.layout.columns[-2:] == ("prediction", "probability")


def test_labels_go_behind_their_lines():
    text = "# c\na x\r\nb y\r\n\r\n# d\nc z"
    (block,) = read_blocks(io.BytesIO(text.encode()), label=False)
    assert block.y is None
    assert block.with_labels([["B", "I"], ["O"]]).decode() == "# c\na x B\r\nb y I\r\n\r\n# d\nc z O"
    assert block.with_labels([[1, 2], [3]]).decode() == "# c\na x 1\r\nb y 2\r\n\r\n# d\nc z 3"
    assert b"a x B\\n\r\n" in block.with_labels([["B\n", "I"], ["O"]])
    with pytest.raises(InputError, match="sequence 0 has 2 positions but 1 label"):
        block.with_labels([["B"], ["O"]])


def test_an_error_names_the_line_of_the_stream():
    blocks = read_blocks(Chunks([b"a B\n\n", b"b C\n\n", b"c\n\n"]))
    assert next(blocks).y[0].tolist() == ["B"]
    assert next(blocks).y[0].tolist() == ["C"]
    with pytest.raises(InputError, match="line 5: a line must have 2 columns, as the first has, but this one has 1"):
        next(blocks)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are not polled there")
def test_a_pipe_is_read_sequence_by_sequence():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream, os.fdopen(writer, "wb", buffering=0) as pipe:
        blocks = read_blocks(stream)
        for text, n in (("a B\n\nb", 1), (" C\n\nc D\n\n", 2), ("d E\r\n\r\n", 1)):
            pipe.write(text.encode())
            assert len(next(blocks).X) == n  # waiting for more would never end
        pipe.write(b"e F")
        pipe.close()
        assert len(next(blocks).X) == 1
        assert list(blocks) == []


MANY = """
import sys
import hedgerow as hr
n = sum(block.X.n_positions for block in hr.formats.read_blocks(sys.argv[1]))
status = open("/proc/self/status").read()
print(n, status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
def test_memory_is_constant(tmp_path):
    memory = []
    path = tmp_path / "many.txt"
    text = b"".join(b"w%d N B\n" % i + b"\n" * (i % 20 == 0) for i in range(50_000))
    for n in (20, 100):
        with path.open("wb") as file:
            file.writelines(text for _ in range(n))
        done = subprocess.run([sys.executable, "-c", MANY, path], capture_output=True, check=True)
        positions, peak = map(int, done.stdout.split())
        assert positions == 50_000 * n
        memory.append(peak)
    assert memory[1] < 1.1 * memory[0]
