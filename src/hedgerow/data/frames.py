"""One long data frame, with a column that says which sequence a row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.frame_columns import is_frame, open_frame, read_frames
from hedgerow.data.ragged import starts_of
from hedgerow.data.read_y import as_int64, refuse_nul
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw


def from_frame(df: Any, *, sequence: str, label: str | None = None) -> tuple[Sequences, list[NDArray[Any]] | None]:
    """(X, y) of a frame whose rows are positions, grouped by the column `sequence`.

    Groups come in the order of first appearance and rows keep theirs; y is None without `label`. Raises
    InputError when a column is not there, a group or a label is null, or no other column is left.
    """
    if not is_frame(df):
        raise InputError(f"df must be a data frame, but {type(df).__name__} came")
    frame = open_frame(df, "df")
    for role, name in (("sequence", sequence), ("label", label)):
        if name not in frame.columns and not (role == "label" and name is None):
            raise InputError(f"df has no column {name!r} for `{role}`; its columns are {frame.columns}")
    attributes = [name for name in frame.columns if name not in (sequence, label)]
    if not attributes:
        raise InputError(f"df has no columns beside {frame.columns}; give at least one attribute")
    if len(frame) == 0:
        raise InputError("df must hold at least one row, but it is empty")
    _refuse_nulls(frame[sequence], "a row belongs to one sequence; fill or drop it")
    rows, starts = _grouped(frame[sequence].to_list())
    frame = frame[rows.tolist()]
    columns = read_frames([frame.select(attributes)], starts)
    X = Sequences.of_columns(starts, tuple(columns))
    if label is None:
        return X, None
    _refuse_nulls(frame[label], "partial labels are not supported yet; drop these sequences or label them")
    return X, np.split(_labels(frame[label]), starts[1:-1])


def _refuse_nulls(series: nw.Series[Any], cure: str) -> None:
    null = series.is_null()
    if series.dtype.is_float():
        null = null | series.is_nan()
    if null.any():
        raise InputError(f"column {series.name!r} must not hold nulls, but {null.sum()} came; {cure}")


def _grouped(groups: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows group by group, and where each group begins among them."""
    seen: dict[Any, int] = {}
    try:
        codes = np.array([seen.setdefault(group, len(seen)) for group in groups], np.int64)
    except TypeError as error:
        raise InputError(f"the column `sequence` must hold names or numbers ({error}); convert it") from None
    return np.argsort(codes, kind="stable"), starts_of(np.bincount(codes))


def _labels(series: nw.Series[Any]) -> NDArray[Any]:
    import narwhals

    if series.dtype in (narwhals.Categorical, narwhals.Enum):
        series = series.cast(narwhals.String)
    values = series.to_list()
    if all(isinstance(value, str) for value in values):
        refuse_nul(values)
        return np.array(values, dtype=np.str_)
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.bool_)
    if all(isinstance(value, int) for value in values):
        return as_int64(values)
    raise InputError(f"labels must be strings or integers, but column {series.name!r} holds {series.dtype}; convert it")
