"""Dask data frames whose rows are positions: which columns group the rows, and which one holds the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, overload

from hedgerow.errors import InputError, type_name


@dataclass(frozen=True, eq=False)
class FrameSequences:
    """Sequences that are the rows of a Dask data frame, as X of `fit` and `predict`; see `from_frame`.

    Parameters
    ----------
    df : Dask data frame
        Its rows are positions.
    sequence : tuple of str
        The columns that say which sequence a row belongs to.
    label : str, optional
        The column of labels, which is no attribute.
    """

    is_lazy: ClassVar[bool] = True  # as `hedgerow.data.lazy` recognises it

    df: Any
    sequence: tuple[str, ...]
    label: str | None = None

    @property
    def npartitions(self) -> int:
        """Number of partitions."""
        return int(self.df.npartitions)

    def __repr__(self) -> str:
        return f"FrameSequences({self.npartitions} partitions; sequence={list(self.sequence)})"


@dataclass(frozen=True, eq=False)
class FrameLabels:
    """The labels of a Dask data frame, as y of `fit`; see `from_frame`.

    Parameters
    ----------
    X : FrameSequences
        The sequences. Their `label` names the column.
    """

    X: FrameSequences

    def __repr__(self) -> str:
        return f"FrameLabels({self.X.npartitions} partitions; label={self.X.label!r})"


@overload
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: None = None
) -> tuple[FrameSequences, None]: ...
@overload
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: str
) -> tuple[FrameSequences, FrameLabels]: ...
def from_frame(
    df: Any, *, sequence: str | list[str] | tuple[str, ...], label: str | None = None
) -> tuple[FrameSequences, FrameLabels | None]:
    """Declare how the rows of a Dask data frame form sequences. Nothing is computed.

    Parameters
    ----------
    df
        A Dask data frame. All rows of a sequence must be in one partition.
    sequence
        The column that says which sequence a row belongs to, or a list of such columns. The name of the index may be
        among them.
    label
        The column of labels, if there is one.

    Returns
    -------
    X
        The sequences, for `fit` with a client and for `predict`.
    y
        The labels, or None without `label`.

    Raises
    ------
    InputError
        When df is no Dask data frame, or has no such column.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> from hedgerow.distributed import from_frame
    >>> rows = pd.DataFrame({"sentence": [1, 1, 2], "word": ["the", "cat", "no"], "tag": ["D", "N", "X"]})
    >>> X, y = from_frame(dd.from_pandas(rows, npartitions=1), sequence="sentence", label="tag")
    >>> X
    FrameSequences(1 partitions; sequence=['sentence'])
    """
    if not is_dask_frame(df):
        raise InputError(
            f"df must be a Dask data frame, but got {type_name(df)}; use hedgerow.from_frame for frames in memory"
        )
    groups = tuple(sequence) if isinstance(sequence, (list, tuple)) else (sequence,)
    if not groups:
        raise InputError("`sequence` must name at least one column, but it is empty")
    columns = list(df.columns)
    roles = [("sequence", name) for name in groups] + ([] if label is None else [("label", label)])
    for role, name in roles:
        if name not in columns and not (role == "sequence" and name == df.index.name):
            raise InputError(f"df has no column {name!r} for `{role}`; its columns are {columns}")
    if not [name for name in columns if name not in (*groups, label)]:
        raise InputError(f"df has no columns beside {columns}; give at least one attribute")
    X = FrameSequences(df, groups, label)
    return X, None if label is None else FrameLabels(X)


def is_dask_frame(value: object) -> bool:
    """Whether the value is a Dask data frame; does not import Dask."""
    return hasattr(value, "__dask_graph__") and hasattr(type(value), "columns") and hasattr(type(value), "npartitions")


def cut_message(sequence: tuple[str, ...], key: Any, here: int, there: int) -> str:
    """The message for a sequence with rows in two partitions, with the cure."""
    column = sequence[0] if len(sequence) == 1 else "..."
    return (
        f"all rows of a sequence must be in one partition, but sequence {key!r} has rows in partitions {here} and "
        f"{there}; if the rows are sorted by sequence, call df.set_index({column!r}, sorted=True), which moves these "
        "rows into one partition; otherwise write the frame again with whole sequences in each file"
    )
