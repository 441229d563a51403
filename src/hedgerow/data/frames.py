"""Data frames whose rows are positions: reading one long frame, and writing predictions back to its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.data.frame_columns import is_frame, open_frame, read_frames
from hedgerow.data.ragged import starts_of
from hedgerow.data.read_y import as_int64, refuse_nul
from hedgerow.data.sequences import Predictions, Sequences
from hedgerow.errors import InputError, type_name

if TYPE_CHECKING:
    import narwhals as nw


@overload
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: None = None
) -> tuple[Sequences, None]: ...
@overload
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: str
) -> tuple[Sequences, list[NDArray[Any]]]: ...
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: str | None = None
) -> tuple[Sequences, list[NDArray[Any]] | None]:
    """Read one frame whose rows are positions, grouped into sequences.

    Parameters
    ----------
    df
        A data frame of pandas, polars or another library that narwhals supports.
    sequence
        The column that says which sequence a row belongs to, or a list of such columns. Levels of a pandas index may be
        named as well.
    label
        The column of labels, if there is one.

    Returns
    -------
    X
        The other columns. Sequences are in the order of their first rows, and rows keep their order. `X.rows` holds the
        row number of each position, which `to_frame` uses.
    y
        The labels of each sequence, or None without `label`.

    Raises
    ------
    InputError
        When a column is not there, a group or a label is null, or no other column is left.

    Examples
    --------
    >>> import hedgerow as hr, pandas as pd
    >>> df = pd.DataFrame({"sentence": [1, 1, 2], "word": ["the", "cat", "no"], "tag": ["D", "N", "X"]})
    >>> X, y = hr.from_frame(df, sequence="sentence", label="tag")
    >>> X
    Sequences(2 sequences, 3 positions; 'word' categorical)
    >>> [labels.tolist() for labels in y]
    [['D', 'N'], ['X']]
    """
    if hasattr(df, "__dask_graph__"):
        raise InputError("df is a Dask data frame; use hedgerow.distributed.from_frame for it")
    if not is_frame(df):
        raise InputError(f"df must be a data frame, but got {type_name(df)}")
    groups = list(sequence) if isinstance(sequence, (list, tuple)) else [sequence]
    frame = open_frame(_with_levels(df, groups), "df")
    _check_roles(frame, groups, label)
    attributes = [name for name in frame.columns if name not in (*groups, label)]
    if not attributes:
        raise InputError(f"df has no columns beside {frame.columns}; give at least one attribute")
    if len(frame) == 0:
        raise InputError("df must hold at least one row, but it is empty")
    for name in groups:
        _refuse_nulls(frame[name], "every row belongs to one sequence; fill or drop these rows")
    rows, starts = grouped([frame[name].to_list() for name in groups])
    frame = frame[rows.tolist()]
    columns = read_frames([frame.select(attributes)], starts)
    X = Sequences.trusted(starts, tuple(columns), rows)
    if label is None:
        return X, None
    _refuse_nulls(frame[label], "partial labels are not supported yet; drop these sequences or label them")
    return X, np.split(_labels(frame[label]), starts[1:-1])


def to_frame(
    df: Any,
    predictions: Iterable[Any],
    X: Sequences | None = None,
    *,
    name: str = "prediction",
    classes: Iterable[Any] | None = None,
) -> Any:
    """Add predictions to the frame that X was read from, each at its own row.

    Parameters
    ----------
    df
        The frame that `from_frame` read.
    predictions
        What `predict(X)` or `predict_proba(X)` returned for sequences X that `from_frame` read, or for some of them.
        Rows that are not in X get null.
    X
        These sequences. Needed only if the predictions were sliced or copied, or come from elsewhere.
    name
        The name of the new column. Probabilities become one column for each class, named `{name}_{class}`.
    classes
        The classes of probabilities, in order: `model.classes_`.

    Returns
    -------
    A new frame of the same library. The rows of `df` keep their order.

    Raises
    ------
    InputError
        When X was not read from a frame, or X, the predictions and df do not fit together, or df has a column of the
        new name.

    Examples
    --------
    >>> import hedgerow as hr
    >>> import pandas as pd
    >>> df = pd.DataFrame({"day": [1, 2, 1], "sky": ["sun", "rain", "sun"], "hat": ["no", "yes", "no"]})
    >>> X, y = hr.from_frame(df, sequence="day", label="hat")
    >>> model = hr.HMM().fit(X, y)
    >>> hr.to_frame(df, model.predict(X))["prediction"].tolist()
    ['no', 'yes', 'no']
    """
    import narwhals

    if not is_frame(df):
        raise InputError(f"df must be a data frame, but got {type_name(df)}")
    if X is None:
        if not isinstance(predictions, Predictions) or predictions.sequences is None:
            raise InputError("these predictions do not say which sequences they belong to; give X as well")
        X = predictions.sequences
    if not isinstance(X, Sequences) or X.rows is None:
        raise InputError("X must be the sequences that from_frame returned; only these have row numbers")
    frame = open_frame(df, "df")
    if X.rows.max() >= len(frame):
        raise InputError(f"X was read from row {X.rows.max()}, but df has {len(frame)} rows; give the frame of X")
    _check_same_rows(frame, X, X.rows)
    flat = _flat_predictions(predictions, X)
    columns = {name: flat} if flat.ndim == 1 else _class_columns(flat, name, classes)
    taken = next((column for column in columns if column in frame.columns), None)
    if taken is not None:
        raise InputError(f"df has a column {taken!r} already; choose another `name` for the predictions")
    series = [
        narwhals.new_series(column, _at_rows(values, X.rows, len(frame)), backend=frame.implementation)
        for column, values in columns.items()
    ]
    return frame.with_columns(*series).to_native()


def _check_same_rows(frame: nw.DataFrame[Any], X: Sequences, rows: NDArray[np.int64]) -> None:
    """Raise InputError unless the rows hold what X holds; columns that the frame no longer has are not compared."""
    known = {column.name: column for column in X.columns if column.name in frame.columns}
    if not known:
        return
    for column in read_frames([frame[rows.tolist()].select(list(known))], X.starts):
        differs = _first_difference(known[column.name], column)
        if differs is not None:
            raise InputError(
                f"df must be the frame that X was read from, but column {column.name!r} differs at row "
                f"{rows[differs]}; give that frame, with its rows in the same order"
            )


def _first_difference(one: Column, other: Column) -> int | None:
    """The first position at which the columns differ."""
    if isinstance(one, NumericColumn) and isinstance(other, NumericColumn):
        same = (one.values == other.values) | (np.isnan(one.values) & np.isnan(other.values))
    elif isinstance(one, CategoricalColumn) and isinstance(other, CategoricalColumn):
        assert isinstance(one.alphabet, Alphabet)  # columns of X hold no pairs
        assert isinstance(other.alphabet, Alphabet)
        same = one.codes == other.alphabet.recode(other.codes, one.alphabet)[0]
    elif isinstance(one, BagColumn) and isinstance(other, BagColumn):
        longer = np.flatnonzero(one.starts != other.starts)
        if len(longer):
            return int(longer[0]) - 1
        where = np.flatnonzero(one.ids != other.alphabet.recode(other.ids, one.alphabet)[0])
        return int(np.searchsorted(one.starts, where[0], side="right")) - 1 if len(where) else None
    else:
        return None if one.n_missing == other.n_missing == len(one) else 0  # without values there is no kind
    where = np.flatnonzero(~same)
    return int(where[0]) if len(where) else None


def _with_levels(df: Any, names: list[Any]) -> Any:
    """The frame, with the levels of its pandas index that are in `names` as columns."""
    levels = getattr(getattr(df, "index", None), "names", ())
    wanted = [name for name in names if isinstance(name, str) and name in levels and name not in df.columns]
    return df.assign(**{name: df.index.get_level_values(name) for name in wanted}) if wanted else df


def _check_roles(frame: nw.DataFrame[Any], groups: list[Any], label: str | None) -> None:
    if not groups:
        raise InputError("`sequence` must name at least one column, but it is empty")
    roles = [("sequence", name) for name in groups] + ([] if label is None else [("label", label)])
    for role, name in roles:
        if name not in frame.columns:
            raise InputError(f"df has no column {name!r} for `{role}`; its columns are {frame.columns}")


def _refuse_nulls(series: nw.Series[Any], cure: str) -> None:
    null = series.is_null()
    if series.dtype.is_float():
        null = null | series.is_nan()
    if null.any():
        raise InputError(f"column {series.name!r} must not hold nulls, but it holds {null.sum()}; {cure}")


def grouped(keys: list[list[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows group by group, and where each group begins among them; a group is a combination of keys."""
    seen: dict[Any, int] = {}
    groups = keys[0] if len(keys) == 1 else zip(*keys, strict=True)
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
    raise InputError(
        f"labels must be strings, integers or bools, but column {series.name!r} holds {series.dtype}; convert it"
    )


def _flat_predictions(predictions: Iterable[Any], X: Sequences) -> NDArray[Any]:
    """The predictions of all positions, end to end; of 2 dimensions if they are probabilities."""
    arrays = [np.asarray(prediction) for prediction in predictions]
    if [len(array) if array.ndim else -1 for array in arrays] != X.lengths.tolist():
        raise InputError(
            f"predictions must hold one entry for each position of the {len(X)} sequences of X, but they do not; "
            "give predict(X) or predict_proba(X) of the same X"
        )
    flat = np.concatenate(arrays) if arrays else np.empty(0)
    if flat.ndim > 2:
        raise InputError(f"predictions must be labels or rows of probabilities, but they have {flat.ndim} dimensions")
    return flat


def _class_columns(flat: NDArray[Any], name: str, classes: Iterable[Any] | None) -> dict[str, NDArray[Any]]:
    names = [f"{name}_{label}" for label in (() if classes is None else classes)]
    if len(names) != flat.shape[1]:
        raise InputError(
            f"probabilities of {flat.shape[1]} classes need their names, but `classes` has {len(names)}; "
            "give classes=model.classes_"
        )
    return dict(zip(names, flat.T, strict=True))


def _at_rows(values: NDArray[Any], rows: NDArray[np.int64], n_rows: int) -> Any:
    """The values in the order of the rows, None where there is no value."""
    if len(rows) == n_rows:
        ordered = np.empty_like(values)
        ordered[rows] = values
        return ordered if ordered.dtype.kind in "biuf" else ordered.tolist()
    by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    return [by_row.get(row) for row in range(n_rows)]
