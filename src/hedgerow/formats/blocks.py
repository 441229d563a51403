"""Reading in constant memory: blocks of whole sequences from a stream, with the text of their lines."""

from __future__ import annotations

import codecs
import io
import os
import select
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.formats.column_text import Choice, ColumnRules, Parsed, parse
from hedgerow.formats.corpus import Layout
from hedgerow.formats.registry import COLUMN_FORMATS, check_format, detect
from hedgerow.formats.source import PathLike, Source, codec_name, encode, open_stream

SIZE = 1 << 20  # bytes of a block, unless one sequence is longer


@dataclass(frozen=True, eq=False)
class Block:
    """Whole sequences from a stream, and the text of their lines.

    Attributes
    ----------
    X
        The sequences. Only the last block may have none: what follows the last sequence.
    y
        The labels of each sequence; None if the stream has no labels.
    layout
        How the lines are arranged.
    lines
        The line of each position in the stream, counted from 1.
    text
        All lines of the block as UTF-8, with comments and blank lines. The texts of all blocks are the stream.
    """

    X: Sequences
    y: list[NDArray[Any]] | None
    layout: Layout
    lines: NDArray[np.int64]
    text: bytes
    _ends: NDArray[np.int64]

    def with_labels(self, labels: Sequence[Any]) -> bytes:
        r"""Return the text with a label behind the line of every position.

        Parameters
        ----------
        labels : list of 1-D arrays
            The labels of each sequence: what `predict(block.X)` returned.

        Returns
        -------
        bytes
            The text of the block as UTF-8. Comments and blank lines are as they were. Control characters of labels are
            written as escapes such as \\n.

        Examples
        --------
        >>> import hedgerow as hr, io
        >>> block = next(hr.formats.read_blocks(io.StringIO("the D\ncat N\n"), label=False))
        >>> block.with_labels([["B", "I"]])
        b'the D B\ncat N I\n'
        """
        if len(self.X) == 0:
            return self.text
        flat = read_labels(labels, self.X)
        if flat.alphabet is None:
            flat = read_labels([[str(label) for label in flat.tolist()]], None)
            assert flat.alphabet is not None
        blob, offsets = _joined(_printable(flat.alphabet))
        separator = (self.layout.separator or "\t").encode()
        return _core.with_labels(self.text, self._ends, separator, blob, offsets, flat.values)


def read_blocks(
    path: PathLike,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    encoding: str = "utf-8",
    layout: Layout | None = None,
) -> Iterator[Block]:
    """Read a stream block by block, in constant memory.

    A block is returned as soon as one whole sequence has arrived; it also has the sequences that can be read without
    waiting, up to about a megabyte. So a pipe is answered sequence by sequence, and a file is read in large blocks.

    Parameters
    ----------
    path : str, Path or file
        As in `hedgerow.read`.
    format, label, columns, encoding, layout
        As in `hedgerow.read`. The formats are those in which a blank line ends a sequence.

    Yields
    ------
    Block
        Sequences, labels and the text of the lines.

    Returns
    -------
    iterator of Block
        Reading starts with the first block that is asked for.

    Raises
    ------
    InputError
        If a line does not follow the rules of the format; blocks before it have been returned.
    OSError
        If the stream cannot be read.

    Examples
    --------
    >>> import hedgerow as hr, io
    >>> for block in hr.formats.read_blocks(io.BytesIO(b"the D\\ncat N\\n\\nit P\\n")):
    ...     print(block.X, [labels.tolist() for labels in block.y])
    Sequences(2 sequences, 3 positions; 'column0' categorical) [['D', 'N'], ['P']]
    """
    codec = codec_name(encoding)
    stream, name = open_stream(path)
    try:
        yield from _blocks(_Text(stream, name, codec), format, Choice(label, columns, None, layout))
    finally:
        if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-":
            stream.close()


def _blocks(text: _Text, format: str | None, choice: Choice) -> Iterator[Block]:  # noqa: A002
    rules: ColumnRules | None = None
    first_line, last = 1, False
    while not last:
        last = text.fill()
        if rules is None:
            name = choice.layout.format if choice.layout and format is None else format
            rules = COLUMN_FORMATS[check_format(name or detect(text.peek(), text.name))]
        source = Source(text.peek(), text.name)
        parsed = parse(source, rules, choice, first_line=first_line, partial=True)
        if len(parsed.corpus.X) == 0 and not last:
            continue  # only comments and blank lines so far
        yield _block(parsed, source.text)
        text.drop()
        first_line += parsed.n_lines
        tabs = parsed.corpus.layout.separator == "\t"
        rules = replace(rules, tabs=tabs, n_columns=len(parsed.corpus.layout.columns))


def _block(parsed: Parsed, text: bytes) -> Block:
    corpus = parsed.corpus
    assert corpus.lines is not None
    return Block(corpus.X, corpus.y, corpus.layout, corpus.lines, text, parsed.ends)


class _Text:
    """What was read from a stream, as UTF-8, and where its last whole sequence ends."""

    def __init__(self, stream: IO[Any], name: str, codec: str) -> None:
        self.name = name
        self._stream = stream
        self._read = getattr(stream, "read1", stream.read)  # read1 returns what is there, without waiting for more
        self._decoder = None if codec == "utf-8" else codecs.getincrementaldecoder(codec)()
        self._buffer = bytearray()
        self._end = 0  # behind the last whole sequence
        self._searched = 0  # begin of the line up to which blank lines were searched
        self._at_start = True

    def fill(self) -> bool:
        """Read until another whole sequence is there, or the stream ends: then True."""
        before = self._end
        while self._end == before or (len(self._buffer) < SIZE and _is_ready(self._stream)):
            if not self._append(self._read(SIZE)):
                self._end = len(self._buffer)
                return True
        return False

    def peek(self) -> bytes:
        """The text of the whole sequences."""
        return bytes(memoryview(self._buffer)[: self._end])

    def drop(self) -> None:
        """Forget the text of the whole sequences."""
        del self._buffer[: self._end]
        self._searched -= self._end
        self._end = 0

    def _append(self, chunk: bytes | str) -> bool:
        """Add what was read; False at the end of the stream."""
        self._buffer += self._to_utf8(chunk)
        if self._at_start and (len(self._buffer) >= len(codecs.BOM_UTF8) or not chunk):
            self._at_start = False
            if self._buffer.startswith(codecs.BOM_UTF8):
                del self._buffer[: len(codecs.BOM_UTF8)]
        end = _core.end_of_sequences(np.frombuffer(self._buffer, np.uint8), self._searched) if self._buffer else -1
        self._end = max(self._end, end)
        self._searched = self._buffer.rfind(b"\n", self._searched) + 1 or self._searched
        return bool(chunk)

    def _to_utf8(self, chunk: bytes | str) -> bytes:
        if isinstance(chunk, str):
            return encode(chunk, self.name)
        if self._decoder is None:
            return chunk
        try:
            return encode(self._decoder.decode(chunk, final=not chunk), self.name)
        except UnicodeDecodeError as error:
            Source(b"", self.name).fail_codec(self._buffer.count(b"\n") + 1, error)


def _is_ready(stream: IO[Any]) -> bool:
    """Whether reading would not wait; False if nobody can say."""
    if isinstance(stream, (io.BytesIO, io.StringIO)):
        return True
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (OSError, ValueError, AttributeError):
        return False


def _printable(alphabet: Alphabet) -> list[bytes]:
    return ["".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in text).encode() for text in alphabet]


def _joined(texts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return np.frombuffer(b"".join(texts), np.uint8), offsets
