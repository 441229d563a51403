"""Blocks of whole sequences from what `encode` accepts: files, functions, iterables, sequences that were read."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, type_name
from hedgerow.formats import Corpus, Layout, read_blocks
from hedgerow.formats.source import check_file

POSITIONS = 1 << 16  # of a block from Python; a block of a file is about a megabyte of text


@dataclass(frozen=True, eq=False)
class RawBlock:
    """Some sequences as they were read, with their labels and weights if there are any."""

    X: Sequences
    y: FlatLabels | None
    sample_weight: NDArray[np.float64] | None
    layout: Layout | None = None

    def part(self, first: int, last: int) -> RawBlock:
        """Sequences first..last of the block."""
        X, y = self.X[first:last], self.y
        if y is not None:
            y = FlatLabels(y.kind, y.values[int(y.starts[first]) : int(y.starts[last])], X.starts, y.alphabet)
        weights = None if self.sample_weight is None else self.sample_weight[first:last]
        return RawBlock(X, y, weights, self.layout)

    def cut(self, most: int) -> Iterator[RawBlock]:
        """The block in parts of at most so many positions, unless one sequence is longer."""
        return (self.part(first, last) for first, last in _ranges(self.X, most))

    def checksum(self) -> int:
        """CRC-32 of all arrays, to recognise the block when the source is read again."""
        crc = zlib.crc32(repr([(type(c).__name__, c.name) for c in self.X.columns]).encode())
        for array in self.arrays().values():
            crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, crc)
        return crc

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the block, by name."""
        found: dict[str, NDArray[Any]] = {"starts": self.X.starts}
        for i, column in enumerate(self.X.columns):
            for name in column.__match_args__[1:]:
                value = getattr(column, name)
                if isinstance(value, np.ndarray):
                    found[f"{i}.{name}"] = value
                elif value is not None:
                    found |= {f"{i}.blob": value.blob, f"{i}.offsets": value.offsets}
        if self.y is not None:
            found["y"] = self.y.values
            if self.y.alphabet is not None:
                found |= {"y.blob": self.y.alphabet.blob, "y.offsets": self.y.alphabet.offsets}
        if self.sample_weight is not None:
            found["sample_weight"] = self.sample_weight
        return found


@dataclass(frozen=True)
class ReadOptions:
    """How files are read: the arguments of `hedgerow.read`."""

    format: str | None = None
    label: str | int | bool | None = None
    columns: tuple[str, ...] | None = None
    sequence: tuple[str, ...] | None = None
    encoding: str | None = None
    layout: Layout | None = None


@dataclass(frozen=True)
class BlockSource:
    """A source: `blocks` reads it from the beginning. `files` identify its content, None where nothing does."""

    blocks: Callable[[], Iterator[RawBlock]]
    files: list[Any] | None
    description: Mapping[str, Any] = field(default_factory=dict)


def source_of(source: Any, options: ReadOptions) -> BlockSource:
    """The blocks of a source; raises InputError for what cannot be one, and OSError for files that cannot be read."""
    paths = _paths(source)
    if paths is not None:
        identity = None if any(not isinstance(path, str) or path == "-" for path in paths) else _identity(paths)
        names = [path if isinstance(path, str) else getattr(path, "name", "a stream") for path in paths]
        return BlockSource(lambda: _file_blocks(paths, options), identity, {"files": [str(name) for name in names]})
    given = {name: value for name, value in vars(options).items() if value is not None}
    if given:
        raise InputError(
            f"{next(iter(given))} says how files are read, but the source is {type_name(source)}; leave it out"
        )
    if isinstance(source, Corpus):
        return BlockSource(lambda: _corpus_blocks(source), None)
    if isinstance(source, Sequences):
        return BlockSource(lambda: _slices(source), None)
    if isinstance(source, ColumnStore):
        raise InputError("source must be raw sequences, but it is encoded already; use it as X, or open its folder")
    if callable(source):
        return BlockSource(lambda: _item_blocks(_called(source)), None)
    if isinstance(source, (str, bytes, Mapping, set, frozenset)) or not isinstance(source, Iterable):
        raise InputError(
            "source must be a path, a list of paths, an open file, or an iterable of pairs (x, y), but got "
            f"{type_name(source)}; pass a function that returns an iterable"
        )
    return BlockSource(lambda: _item_blocks(source), None)


def _paths(source: Any) -> list[Any] | None:
    """The paths and open files that a source names; None if it is something else."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if hasattr(source, "read"):
        return [source]
    if isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, os.PathLike)) for one in source):
        return [os.fspath(one) for one in source]
    return None


def _identity(paths: list[str]) -> list[Any]:
    """Name, size and time of each file; raises FileNotFoundError for one that is absent."""
    found = []
    for path in paths:
        status = check_file(path).stat()
        found.append([os.path.abspath(path), status.st_size, status.st_mtime_ns])  # noqa: PTH100 - keeps links
    return found


def _file_blocks(paths: list[Any], options: ReadOptions) -> Iterator[RawBlock]:
    """The blocks of all files; the layout of the first file is that of the others."""
    layout = options.layout
    for path in paths:
        chosen = replace(options, layout=layout)
        if layout is not None and options.layout is None:
            chosen = ReadOptions(format=options.format, encoding=options.encoding, layout=layout)
        for block in read_blocks(path, **vars(chosen)):
            if len(block.X):
                layout = layout or block.layout
                y = None if block.y is None else read_labels(block.y, block.X)
                yield RawBlock(block.X, y, block.sample_weight, layout)


def _corpus_blocks(corpus: Corpus) -> Iterator[RawBlock]:
    labels, first = corpus.y, 0
    for block in _slices(corpus.X):
        last = first + len(block.X)
        y = None if labels is None else read_labels(labels[first:last], block.X)
        weights = None if corpus.sample_weight is None else corpus.sample_weight[first:last]
        yield RawBlock(block.X, y, weights, corpus.layout)
        first = last


def _slices(X: Sequences) -> Iterator[RawBlock]:
    return (RawBlock(X[first:last], None, None) for first, last in _ranges(X, POSITIONS))


def _ranges(X: Sequences, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of sequences that have at most so many positions, or are one sequence."""
    first = 0
    while first < len(X):
        last = int(np.searchsorted(X.starts, X.starts[first] + most, side="right")) - 1
        last = min(max(last, first + 1), len(X))
        yield first, last
        first = last


def _called(function: Callable[[], Any]) -> Iterable[Any]:
    items = function()
    if not isinstance(items, Iterable):
        raise InputError(
            f"the source, a function, must return an iterable of pairs (x, y), but it returned {type_name(items)}"
        )
    return items


def _item_blocks(items: Iterable[Any]) -> Iterator[RawBlock]:
    """Blocks of an iterable of pairs (x, y), or of sequences alone."""
    xs: list[Any] = []
    ys: list[Any] = []
    n_positions = first = 0
    has_labels: bool | None = None
    for i, item in enumerate(items):
        is_pair = isinstance(item, tuple) and len(item) == 2
        x, y = item if is_pair else (item, None)
        if has_labels is None:
            has_labels = y is not None
        if has_labels != (y is not None):
            raise InputError(
                f"sequence {i} of the source must {'have' if has_labels else 'have no'} labels, as those before it; "
                "give pairs (x, y) throughout, or none"
            )
        x = x if hasattr(x, "__len__") else list(x)
        xs.append(x)
        ys.append(y)
        n_positions += x.shape[0] if hasattr(x, "shape") else len(x)
        if n_positions >= POSITIONS:
            yield _block(xs, ys if has_labels else None, first)
            first, xs, ys, n_positions = i + 1, [], [], 0
    if xs:
        yield _block(xs, ys if has_labels else None, first)


def _block(xs: list[Any], ys: list[Any] | None, first: int) -> RawBlock:
    try:
        X = Sequences(xs)
        return RawBlock(X, None if ys is None else read_labels(ys, X), None)
    except InputError as error:
        if first == 0:
            raise
        raise InputError(f"{error} (sequences are counted from sequence {first} of the source)") from None
