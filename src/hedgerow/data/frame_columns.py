"""Reads data frames of any library that narwhals supports into columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import Column, NumericColumn, column_of
from hedgerow.data.ragged import first_duplicate, place
from hedgerow.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

FRAME_LIBRARIES = {"cudf", "modin", "narwhals", "pandas", "polars", "pyarrow"}


def is_frame(value: object) -> bool:
    """Whether the value is a data frame; does not import a data frame library."""
    homes = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return not homes.isdisjoint(FRAME_LIBRARIES) and hasattr(type(value), "columns")


def open_frame(frame: Any, subject: str) -> nw.DataFrame[Any]:
    """The frame as a narwhals frame; raises InputError unless its column names are distinct str."""
    try:
        import narwhals
    except ImportError as error:
        raise InputError(f"{subject} is a data frame, which needs narwhals; pip install hedgerow[frames]") from error
    if hasattr(type(frame), "collect"):
        raise InputError(f"{subject} must be a frame with rows, but it is a {type(frame).__name__}; collect it first")
    names = list(getattr(frame, "column_names", frame.columns))
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{subject} must have str as column names, but got {name!r}; rename the columns")
    twice = first_duplicate(names)
    if twice is not None:
        raise InputError(f"{subject} must have distinct column names, but {twice!r} occurs twice; rename one")
    return narwhals.from_native(frame, eager_only=True)


def read_frames(frames: list[nw.DataFrame[Any]], starts: NDArray[np.int64]) -> list[Column]:
    """The columns of all frames, end to end; raises InputError if the frames differ in columns or library."""
    import narwhals

    names = frames[0].columns
    if len({frame.implementation for frame in frames}) > 1:
        raise InputError("frames must all come from one library, but got several; convert them")
    for i, frame in enumerate(frames):
        if set(frame.columns) != set(names):
            raise InputError(
                f"frames must have the same columns, but sequence 0 has {sorted(names)} "
                f"and sequence {i} has {sorted(frame.columns)}; rename or add columns"
            )
    if all(frame.schema == frames[0].schema for frame in frames):
        frames = [narwhals.concat(frames) if len(frames) > 1 else frames[0]]
    return [_read_column(name, [frame[name] for frame in frames], starts) for name in names]


def _read_column(name: str, series: list[nw.Series[Any]], starts: NDArray[np.int64]) -> Column:
    values = [_numbers(one) if _is_numeric(one) else _objects(name, one) for one in series]
    if all(isinstance(value, np.ndarray) for value in values):
        return numeric_column(name, np.concatenate(values), starts)
    flat = [item for value in values for item in (value if isinstance(value, list) else value.tolist())]
    return column_of(_core.ingest_values([flat], starts, name))


def _is_numeric(series: nw.Series[Any]) -> bool:
    import narwhals

    return series.dtype.is_numeric() or series.dtype == narwhals.Boolean


def _numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    """The values as floats, NaN for null."""
    import narwhals

    numbers = series.cast(narwhals.Float64).to_numpy().astype(np.float64)
    numbers[series.is_null().to_numpy().astype(np.bool_)] = np.nan
    return numbers


def _objects(name: str, series: nw.Series[Any]) -> list[Any]:
    """The values as Python objects, None for null."""
    import narwhals

    if series.dtype in (narwhals.Categorical, narwhals.Enum):
        series = series.cast(narwhals.String)
    nulls = series.is_null().to_list()
    if series.dtype.is_temporal() or series.dtype in (narwhals.Binary, narwhals.Struct):
        raise InputError(
            f"column {name!r} must hold numbers, bools, text or lists of str, but got {series.dtype}; convert it"
        )
    return [None if null else value for value, null in zip(series.to_list(), nulls, strict=True)]


def numeric_column(name: str, values: NDArray[Any], starts: NDArray[np.int64]) -> NumericColumn:
    """A column of the values as float32; raises InputError, with the position, for one that is not finite."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    infinite = np.flatnonzero(np.isinf(single))
    if len(infinite):
        sequence, position = place(starts, int(infinite[0]))
        raise InputError(
            f"sequence {sequence}, position {position}, column {name!r}: numbers must be finite "
            f"as 32-bit floats, but got {float(values[infinite[0]])}; rescale, or use NaN where "
            "a value is missing"
        )
    return NumericColumn(name, single)
