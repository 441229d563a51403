"""Reads X, in any of its forms, into columns. The first sequence decides the form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BAG, FOLDED, SYMBOL, BagColumn, CharacterColumn, Column, FoldedBag
from hedgerow.data.frame_columns import is_frame, numeric_column, open_frame, read_frames
from hedgerow.data.ragged import place, starts_of
from hedgerow.data.value_reader import ValueReader
from hedgerow.errors import InputError, type_name
from hedgerow.utilities import counted, is_masked


class Ragged(NamedTuple):
    """Sequences as they were read."""

    starts: NDArray[np.int64]  # the first position of each sequence, and the end of the last
    columns: list[Column]
    optional_columns: bool = False  # whether a column may be absent from some sequences


FORMS = (
    "a sequence is a str; a list of str, of dicts, of tuples or of bags (lists or sets of str); "
    "an array; a data frame; or a sparse matrix"
)


def read(X: object, reader: ValueReader) -> Ragged:
    """The columns of all sequences of X, end to end; raises InputError if X is not valid."""
    sequences = _listed(X)
    if not sequences:
        return Ragged(np.zeros(1, np.int64), [])
    if set(map(type, sequences)) <= {list, tuple}:
        return _read_lists(sequences, reader)
    sequences = [_plain(sequence, i) for i, sequence in enumerate(sequences)]
    form = _form(sequences[0])
    for i, sequence in enumerate(sequences):
        if _form(sequence) != form:
            raise InputError(
                f"sequences must all have one form, but sequence 0 is a {form} and sequence {i} a {_form(sequence)}"
            )
    return _READERS[form](sequences, reader)


def _listed(X: object) -> list[Any]:
    """The sequences of X as a list; raises InputError if X is a single sequence."""
    if isinstance(X, np.ndarray):
        lone = X.ndim != 3 and (X.ndim != 1 or X.dtype != object)
    else:
        lone = isinstance(X, (str, bytes, bytearray, Mapping, set, frozenset)) or is_frame(X) or _is_sparse(X)
    if lone:
        cure = "; or use hedgerow.from_frame" if is_frame(X) else ""
        raise InputError(
            f"X must be a list of sequences, but got one {type_name(X)}; wrap it in a list if it is one sequence{cure}"
        )
    if not isinstance(X, Iterable):
        raise InputError(f"X must be a list of sequences, but got {type_name(X)}")
    return list(X)


def _plain(sequence: Any, i: int) -> Any:
    """The sequence itself if its type decides how it is read; otherwise the list of its positions."""
    if isinstance(sequence, (str, list, tuple)) or is_frame(sequence) or _is_sparse(sequence):
        return sequence
    if isinstance(sequence, np.ndarray):
        sequence = _unmasked(sequence)
        return sequence.tolist() if sequence.ndim == 1 and sequence.dtype.kind in "OUT" else sequence
    if isinstance(sequence, Mapping):
        raise InputError(
            f"sequence {i} must be a list of positions, but it is a {type(sequence).__name__}, which is one position; "
            "wrap X in a list if it is one sequence"
        )
    unordered = isinstance(sequence, (bytes, bytearray, set, frozenset, np.generic))
    if unordered or not isinstance(sequence, Iterable):
        raise InputError(f"sequence {i} is of type {type_name(sequence)}; {FORMS}")
    return list(sequence)


def _unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """The array as a plain one, with masked entries as NaN or None."""
    if not is_masked(array):
        return np.asarray(array)  # a subclass, such as np.matrix, may index differently
    numbers = array.dtype.kind in "biuf"
    data = np.asarray(array.data).astype(np.float64 if numbers else object)
    data[np.ma.getmaskarray(array)] = np.nan if numbers else None
    return data


def _form(sequence: Any) -> str:
    if isinstance(sequence, str):
        return "str"
    if isinstance(sequence, (list, tuple)):
        return "list"
    if isinstance(sequence, np.ndarray):
        return "array"
    return "data frame" if is_frame(sequence) else "sparse matrix"


def _is_sparse(value: object) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # a sparse matrix exists only if scipy.sparse is imported
    return sparse is not None and bool(sparse.issparse(value))


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    starts = starts_of(lengths)
    if 0 in lengths:
        raise InputError(f"sequence {lengths.index(0)} is empty; drop it, and its labels")
    return starts


def _read_text(sequences: list[str], reader: ValueReader) -> Ragged:
    starts = _starts([len(sequence) for sequence in sequences])
    encoded = "".join(sequences).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, "<u4").astype(np.int64)
    if points.max() > len(points):  # for a short text, sorting costs less than a table of all code points
        distinct, codes = np.unique(points, return_inverse=True)
    else:
        seen = np.bincount(points) > 0
        distinct, codes = np.flatnonzero(seen), (np.cumsum(seen) - 1)[points]
    alphabet = Alphabet.of(map(chr, distinct.tolist()))
    return Ragged(starts, [CharacterColumn(SYMBOL, codes.reshape(-1).astype(np.int32), alphabet)])


def _read_lists(sequences: list[Any], reader: ValueReader) -> Ragged:
    # a subclass may have an iterator of its own
    sequences = [sequence if type(sequence) in (list, tuple) else list(sequence) for sequence in sequences]
    starts = _starts(list(map(len, sequences)))
    at, first = next(
        ((t, item) for t, item in enumerate(chain.from_iterable(sequences)) if item is not None), (-1, None)
    )
    if first is None:
        raise InputError("X holds nothing but None; give at least one value")
    if isinstance(first, dict):
        columns = reader.dicts(sequences, starts)
        if columns and isinstance(columns[-1], FoldedBag) and FOLDED in (column.name for column in columns[:-1]):
            raise InputError(
                f"X has many numeric keys that are mostly absent, and they become one bag called {FOLDED!r}, "
                "but there is a key of that name; rename it"
            )
        return Ragged(starts, columns, optional_columns=True)
    if isinstance(first, str):
        return Ragged(starts, [reader.values(sequences, starts, SYMBOL)])
    if isinstance(first, tuple):
        return Ragged(starts, _read_tuples(list(chain.from_iterable(sequences)), starts, reader))
    if isinstance(first, (list, set, frozenset)):
        return Ragged(starts, [reader.values(sequences, starts, BAG)])
    sequence, position = place(starts, at)
    raise InputError(
        f"sequence {sequence}, position {position}: a position of a list is a str, a dict, a tuple, or a list or set "
        f"of str, but got {type_name(first)}; {_cure(first)}"
    )


def _read_tuples(positions: list[Any], starts: NDArray[np.int64], reader: ValueReader) -> list[Column]:
    """One column for each item of the tuples; None instead of a tuple is missing in all columns.

    Named tuples name the columns. Otherwise the names are x0, x1, ...
    """
    first = next(position for position in positions if position is not None)
    width = len(first)
    names = getattr(first, "_fields", None) or [f"x{c}" for c in range(width)]
    if width == 0:
        raise InputError("the tuples of X must have at least one item, but the first is empty")
    for t, position in enumerate(positions):
        if position is not None and (not isinstance(position, tuple) or len(position) != width):
            sequence, offset = place(starts, t)
            got = f"a tuple of {len(position)}" if isinstance(position, tuple) else f"a {type(position).__name__}"
            raise InputError(
                f"sequence {sequence}, position {offset}: every position must be a tuple of {counted(width, 'item')}, "
                f"like the first one, but this one is {got}; fill items that are missing with None"
            )
    missing = (None,) * width
    items = zip(*(missing if position is None else position for position in positions), strict=True)
    return [reader.values([values], starts, name) for name, values in zip(names, items, strict=True)]


def _cure(position: object) -> str:
    if isinstance(position, (bytes, bytearray)):
        return "decode it"
    if isinstance(position, Mapping):
        return "make it a dict"
    from hedgerow.data.sequences import Sequences  # which imports this module

    if isinstance(position, Sequences):
        return "if X is what hr.read returns, write X, y = hr.read(path)"
    return "give numbers as an array with a row for each position, or as dicts"


def _read_arrays(arrays: list[NDArray[Any]], reader: ValueReader) -> Ragged:
    for i, array in enumerate(arrays):
        if array.ndim not in (1, 2):
            raise InputError(
                f"sequence {i} must be an array of 2 dimensions, positions and columns, but it has {array.ndim}; "
                "reshape it"
            )
        if array.dtype.kind not in "biufOUT":
            raise InputError(f"sequence {i} must be an array of numbers or text, but got {array.dtype}; convert it")
    arrays = [array.reshape(len(array), -1) if array.ndim == 1 else array for array in arrays]
    starts = _starts([len(array) for array in arrays])
    _check_widths([array.shape[1] for array in arrays])
    names = [f"x{c}" for c in range(arrays[0].shape[1])]
    if all(array.dtype.kind in "biuf" for array in arrays):
        return Ragged(
            starts,
            [
                numeric_column(name, np.concatenate([array[:, c] for array in arrays]), starts)
                for c, name in enumerate(names)
            ],
        )
    return Ragged(
        starts,
        [reader.values([a[:, c].tolist() for a in arrays], starts, name) for c, name in enumerate(names)],
    )


def _check_widths(widths: list[int]) -> None:
    if widths[0] == 0:
        raise InputError("sequences must have at least one column, but sequence 0 has none")
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise InputError(
                f"sequences must have the same number of columns, but sequence 0 has {widths[0]} "
                f"and sequence {i} has {width}"
            )


def _read_frames(frames: list[Any], reader: ValueReader) -> Ragged:
    opened = [open_frame(frame, f"sequence {i}") for i, frame in enumerate(frames)]
    _check_widths([len(frame.columns) for frame in opened])
    starts = _starts([len(frame) for frame in opened])
    return Ragged(starts, read_frames(opened, starts))


def _read_sparse(matrices: list[Any], reader: ValueReader) -> Ragged:
    import scipy.sparse

    for i, matrix in enumerate(matrices):
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise InputError(
                f"sequence {i} must be a sparse matrix of 2 dimensions and of numbers, "
                f"but got one of {matrix.ndim} dimensions of {matrix.dtype}"
            )
    _check_widths([matrix.shape[1] for matrix in matrices])
    starts = _starts([matrix.shape[0] for matrix in matrices])
    csr = scipy.sparse.vstack(matrices, format="csr", dtype=np.float64)
    csr.sum_duplicates()
    with np.errstate(over="ignore"):
        csr = csr.astype(np.float32)
    csr.eliminate_zeros()
    infinite = np.flatnonzero(~np.isfinite(csr.data))
    if len(infinite):
        sequence, position = place(starts, int(np.searchsorted(csr.indptr, infinite[0], side="right")) - 1)
        raise InputError(
            f"sequence {sequence}, position {position}: the weights of a bag must be finite "
            f"as 32-bit floats, but got {csr.data[infinite[0]]}"
        )
    used, indices = np.unique(csr.indices, return_inverse=True)
    names = [str(index) for index in used.tolist()]
    alphabet = Alphabet.of(names)
    ids = alphabet.ids(names)[indices.reshape(-1)]  # code-point order puts "10" before "2"
    bag_starts = csr.indptr.astype(np.int64)
    order = np.lexsort((ids, np.repeat(np.arange(len(bag_starts) - 1), np.diff(bag_starts))))
    return Ragged(starts, [BagColumn(BAG, bag_starts, ids[order], csr.data[order], alphabet)])


_READERS: dict[str, Callable[[list[Any], ValueReader], Ragged]] = {
    "str": _read_text,
    "list": _read_lists,
    "array": _read_arrays,
    "data frame": _read_frames,
    "sparse matrix": _read_sparse,
}
