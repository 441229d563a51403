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

from hedgerow.data.sequences import Sequences
from hedgerow.formats.base import Choice, Format, Parsed, Probabilities
from hedgerow.formats.choosing import choose_format, hinting
from hedgerow.formats.corpus import Layout
from hedgerow.formats.source import PathLike, Source, chosen_encoding, codec_name, encode, open_stream, refuse_model
from hedgerow.utilities import Floats64

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
        The line of each position in the stream, counted from 1; for Parquet, its row.
    text
        All lines of the block as UTF-8, with comments and blank lines. The texts of all blocks are the stream.
    sample_weight
        The weight of each sequence; None if the stream has no weights.
    """

    X: Sequences
    y: list[NDArray[Any]] | None
    layout: Layout
    lines: NDArray[np.int64]
    text: bytes
    sample_weight: Floats64 | None
    _format: Format
    _parsed: Parsed

    def with_labels(self, labels: Sequence[Any], probabilities: Probabilities = None) -> bytes:
        r"""Return the text with a label added to every position.

        In CoNLL and CRF++ files the label is a new column at the end of the line. In CoNLL-U and CRFsuite files it
        takes the place of the label that was there. In tables and JSON lines it is the column "prediction".

        Parameters
        ----------
        labels : list of 1-D arrays
            The labels of each sequence: what `predict(block.X)` returned.
        probabilities : list of lists of float, optional
            The probability of each label. It stands behind the label in CoNLL and CRF++ files, as `Probability=0.98` in
            the column misc of CoNLL-U files, and as the column "probability" in tables and JSON lines.

        Returns
        -------
        bytes
            The text of the block as UTF-8. Comments and blank lines are as they were. Control characters of labels are
            written as escapes such as \\n.

        Raises
        ------
        InputError
            Unless there is a label for every position, or if the format cannot hold probabilities.

        Examples
        --------
        >>> import hedgerow as hr, io
        >>> block = next(hr.formats.read_blocks(io.StringIO("the D\ncat N\n"), label=False))
        >>> block.with_labels([["B", "I"]])
        b'the D B\ncat N I\n'
        """
        if len(self.X) == 0:
            return self.text
        return self._format.with_labels(self.text, self._parsed, labels, probabilities)


def read_blocks(
    path: PathLike,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    sequence: str | Sequence[str] | None = None,
    encoding: str | None = None,
    layout: Layout | None = None,
) -> Iterator[Block]:
    """Read a stream block by block, in constant memory.

    A block is returned as soon as one whole sequence has arrived; it also has the sequences that can be read without
    waiting, up to about a megabyte. So a pipe is answered sequence by sequence, and a file is read in large blocks.

    Parameters
    ----------
    path : str, Path or file
        As in `hedgerow.read`.
    format, label, columns, sequence, encoding, layout
        As in `hedgerow.read`. Tables (CSV, TSV and Parquet), whose sequences need not be in order, are one block.

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
    codec = codec_name(chosen_encoding(encoding, layout))
    stream, name = open_stream(path)
    try:
        yield from _blocks(_Text(stream, name, codec), format, Choice(label, columns, sequence).beside(layout, format))
    finally:
        if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-":
            stream.close()


def _blocks(text: _Text, format: str | None, choice: Choice) -> Iterator[Block]:  # noqa: A002
    head = text.head(sure=choice.layout is None)
    refuse_model(head, text.name)
    rules = choose_format(head, text.name, format, choice.layout)
    first_line, last = 1, False
    while not last:
        last = text.fill(rules)
        source = Source(text.peek(), text.name, text.codec)
        with hinting(head, text.name, format, choice.layout):
            parsed = rules.parse(source, choice, first_line=first_line, partial=True)
        if len(parsed.corpus.X) == 0 and not last:
            continue  # only comments and blank lines so far
        yield _block(rules, parsed, source.text, source.encoding)
        text.drop()
        first_line += parsed.n_lines
        rules = rules.settled(parsed)


def _block(rules: Format, parsed: Parsed, text: bytes, encoding: str) -> Block:
    corpus = parsed.corpus
    layout = replace(corpus.layout, encoding=encoding)
    return Block(corpus.X, corpus.y, layout, corpus.lines, text, corpus.sample_weight, rules, parsed)


class _Text:
    """What was read from a stream, as UTF-8, and where its last whole sequence ends."""

    def __init__(self, stream: IO[Any], name: str, codec: str) -> None:
        self.name, self.codec = name, codec
        self._stream = stream
        self._read = getattr(stream, "read1", stream.read)  # read1 returns what is there, without waiting for more
        self._decoder = None if codec == "utf-8" else codecs.getincrementaldecoder(codec)()
        self._buffer = bytearray()
        self._end = 0  # behind the last whole sequence
        self._searched = 0  # begin of the line up to which blank lines were searched
        self._at_start = True

    def head(self, *, sure: bool) -> bytes:
        """The beginning of the stream, with at least one line; if `sure`, with one that may be a position."""
        while not (self._has_position() if sure else b"\n" in self._buffer) and self._append(self._read(SIZE)):
            pass
        return bytes(self._buffer)

    def _has_position(self) -> bool:
        whole = self._buffer[: self._buffer.rfind(b"\n") + 1]
        return any(line.strip() and not line.startswith(b"#") for line in whole.splitlines())

    def fill(self, rules: Format) -> bool:
        """Read until another whole sequence is there, or the stream ends: then True."""
        before = self._end
        self._search(rules)
        while self._end == before or (len(self._buffer) < SIZE and _is_ready(self._stream)):
            if not self._append(self._read(SIZE)):
                self._end = len(self._buffer)
                return True
            self._search(rules)
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
        return bool(chunk)

    def _search(self, rules: Format) -> None:
        if self._buffer:
            self._end = max(self._end, rules.end_of_sequences(np.frombuffer(self._buffer, np.uint8), self._searched))
            self._searched = self._buffer.rfind(b"\n", self._searched) + 1 or self._searched

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
