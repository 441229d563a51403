"""Padded arrays: cut sequences back to their own lengths, and warn of labels that look like padding."""

from __future__ import annotations

from itertools import compress
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.read_y import FlatLabels
from hedgerow.errors import InputError, PaddingWarning, warn_user
from hedgerow.utilities import counted

# Labels that other libraries write where there is none: Keras users -1, PyTorch and transformers -100.
PADDING = -1
IGNORED = -100


@overload
def from_padded(
    X: Any, y: None = None, *, mask: ArrayLike | None = None, lengths: ArrayLike | None = None
) -> tuple[list[Any], None]: ...
@overload
def from_padded(
    X: Any, y: Any, *, mask: ArrayLike | None = None, lengths: ArrayLike | None = None
) -> tuple[list[Any], list[NDArray[Any]]]: ...
def from_padded(
    X: Any, y: Any = None, *, mask: ArrayLike | None = None, lengths: ArrayLike | None = None
) -> tuple[list[Any], list[NDArray[Any]] | None]:
    """Cut the padding off sequences that were filled up to one length.

    Parameters
    ----------
    X
        An array (sequences, positions, columns), or (sequences, positions) of text, of integer codes or of numbers.
        Integer codes are categories, and become text: token 17 becomes "17". Or a list of sequences of different
        lengths, with a list of masks.
    y
        An array (sequences, positions) of labels, if there are labels.
    mask
        An array (sequences, positions), true where a position is real. Padding may be at either end.
    lengths
        How many positions of each sequence are real; padding is at the end. Give either `mask` or `lengths`.

    Returns
    -------
    X
        A list with the real positions of each sequence.
    y
        A list with their labels, or None without `y`.

    Raises
    ------
    InputError
        If the shapes do not fit together, or a sequence has no real position.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = hr.from_padded([["a", "b", ""], ["c", "", ""]], [[1, 2, -1], [1, -1, -1]], lengths=[2, 1])
    >>> [labels.tolist() for labels in y]
    [[1, 2], [1]]
    """
    if _is_ragged(X):
        return _from_ragged(X, y, mask, lengths)
    array = np.asarray(X)
    if array.ndim not in (2, 3):
        raise InputError(
            "X must be an array (sequences, positions, columns) or (sequences, positions), "
            f"but it has {array.ndim} dimensions"
        )
    real = _real_positions(array.shape[:2], mask, lengths)
    if array.ndim == 2 and array.dtype.kind in "iu":
        array = array.astype(np.str_)
    cut = [sequence[kept] for sequence, kept in zip(array, real, strict=True)]
    if y is None:
        return cut, None
    labels = np.asarray(y)
    if labels.shape != real.shape:
        raise InputError(f"y must be an array of shape {real.shape}, as X, but its shape is {labels.shape}")
    return cut, [row[kept] for row, kept in zip(labels, real, strict=True)]


def _is_ragged(X: Any) -> bool:
    """Whether X is a list of sequences of different lengths."""
    return isinstance(X, (list, tuple)) and all(map(_has_length, X)) and len({len(sequence) for sequence in X}) > 1


def _has_length(sequence: Any) -> bool:
    return isinstance(sequence, (list, tuple)) or (isinstance(sequence, np.ndarray) and sequence.ndim > 0)


def _from_ragged(X: Any, y: Any, mask: Any, lengths: Any) -> tuple[list[Any], list[NDArray[Any]] | None]:
    if mask is None or lengths is not None:
        raise InputError("sequences of different lengths need a list of masks, and no lengths; give mask=")
    masks = _rows_like(X, mask, "mask")
    cut: list[Any] = []
    for i, (sequence, row) in enumerate(zip(X, masks, strict=True)):
        kept = row.astype(np.bool_)
        if not kept.any():
            raise InputError(f"sequence {i} has no real position; drop it")
        real = sequence[kept] if isinstance(sequence, np.ndarray) else list(compress(sequence, kept))
        codes = all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) for item in real)
        cut.append([str(item) for item in real] if codes else real)
    if y is None:
        return cut, None
    labels = _rows_like(X, y, "y")
    return cut, [row[kept.astype(np.bool_)] for row, kept in zip(labels, masks, strict=True)]


def _rows_like(X: Any, rows: Any, name: str) -> list[NDArray[Any]]:
    """An array for each sequence; raises InputError unless there is one entry for each position."""
    arrays = [np.asarray(row) for row in rows]
    if len(arrays) != len(X):
        raise InputError(
            f"{name} must have {counted(len(X), 'row')}, one for each sequence of X, but it has {len(arrays)}"
        )
    for i, (array, sequence) in enumerate(zip(arrays, X, strict=True)):
        if array.shape != (len(sequence),):
            raise InputError(
                f"sequence {i} has {counted(len(sequence), 'position')}, but row {i} of {name} has {array.size}"
            )
    return arrays


def _real_positions(shape: tuple[int, ...], mask: ArrayLike | None, lengths: ArrayLike | None) -> NDArray[np.bool_]:
    if (mask is None) == (lengths is None):
        raise InputError("padding is found by mask or by lengths; give exactly one of them")
    if mask is not None:
        real = np.asarray(mask).astype(np.bool_)
        if real.shape != shape:
            raise InputError(f"mask must be an array of shape {shape}, as X, but its shape is {real.shape}")
    else:
        counts = np.asarray(lengths)
        if counts.shape != shape[:1] or counts.dtype.kind not in "iu":
            raise InputError(f"lengths must be {shape[0]} integers, one for each sequence; got {counts.tolist()!r}")
        if (counts > shape[1]).any():
            i = int(np.flatnonzero(counts > shape[1])[0])
            raise InputError(
                f"sequence {i} has {counted(shape[1], 'position')}, but its length is given as {counts[i]}"
            )
        real = np.arange(shape[1]) < counts[:, None]
    empty = np.flatnonzero(~real.any(axis=1))
    if len(empty):
        raise InputError(f"sequence {empty[0]} has no real position; drop it")
    return real


def n_ignored(labels: FlatLabels) -> int:
    """Number of positions whose label is the one that other libraries ignore."""
    return int((labels.values == IGNORED).sum()) if labels.kind == "integers" else 0


def warn_of_ignored(n: int) -> None:
    """Warn if n positions have the label that other libraries ignore."""
    if n:
        warn_user(
            f"label {IGNORED} stands at {counted(n, 'position')}: other libraries ignore it, "
            "but here it is learned like any other label; leave these positions "
            "out with hedgerow.from_padded(X, y, mask=...)",
            PaddingWarning,
        )


def warn_of_padding(labels: FlatLabels) -> None:
    """Warn when labels look like padding: -100 anywhere, or -1 at an end of sequences that all have the same length.

    A label -1 that also stands between other labels is a class. One sequence, or sequences of one position, cannot be
    told from data without padding.
    """
    warn_of_ignored(n_ignored(labels))
    lengths = np.diff(labels.starts)
    if labels.kind != "integers" or len(lengths) < 2 or lengths[0] < 2 or (lengths != lengths[0]).any():
        return
    at = labels.values.reshape(len(lengths), -1) == PADDING
    ends = at[:, [0, -1]].any(axis=1)
    between = at & (np.cumsum(~at, axis=1) > 0) & (np.cumsum(~at[:, ::-1], axis=1)[:, ::-1] > 0)
    if ends.any() and not between.any():
        warn_user(
            f"label {PADDING} stands at the ends of {int(ends.sum())} of {len(lengths)} sequences, which all have "
            f"{lengths[0]} positions: it looks like padding, and is learned like any other label; "
            "remove padding with hedgerow.from_padded(X, y, mask=...)",
            PaddingWarning,
        )
