"""Lazy predictions: a Dask collection of sequences becomes one of predictions, and nothing is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.frames import from_frame, to_frame
from hedgerow.distributed.frames import FrameSequences, cut_message, is_dask_frame
from hedgerow.distributed.model_copies import ModelCopy
from hedgerow.distributed.partition_errors import about_partition
from hedgerow.distributed.reading import key_digests, sequence_keys
from hedgerow.distributed.sources import check_number, delayed_parts, is_bag, is_delayed
from hedgerow.errors import InputError, type_name

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator

NAME = "prediction"  # of the column that is added to a data frame


def lazy_predictions(fitted: Estimator, method: str, X: Any, known: Any, options: Mapping[str, Any]) -> Any:
    """What the method predicts for a Dask bag, a list of delayed or `FrameSequences`: a collection of the same kind.

    `known` has the same partitions as X. Raises InputError for what can be refused before anything is computed.
    """
    from dask.delayed import delayed

    copy = delayed(ModelCopy.of(fitted), traverse=False)
    if isinstance(X, FrameSequences):
        return _of_frame(fitted, copy, method, X, known, options)
    if is_dask_frame(X):
        raise InputError(
            "X is a Dask data frame, whose rows must be grouped into sequences; write "
            'X, _ = hedgerow.distributed.from_frame(df, sequence="...")'
        )
    parts = delayed_parts(X)
    if parts is None:
        raise InputError(
            f"X must be a Dask bag of sequences, a list of delayed lists of sequences, or the X of "
            f"hedgerow.distributed.from_frame, but it is {type_name(X)}; convert it with to_bag or to_delayed"
        )
    predict = delayed(predict_partition, pure=True)
    found = [
        predict(part, one_known, copy, method, dict(options), number)
        for number, (part, one_known) in enumerate(zip(parts, _known_parts(known, len(parts)), strict=True))
    ]
    if is_bag(X):
        from dask.bag import from_delayed

        return from_delayed(found)  # type: ignore[no-untyped-call]
    return found[0] if is_delayed(X) else found


def _known_parts(known: Any, n: int) -> list[Any]:
    if known is None:
        return [None] * n
    parts = delayed_parts(known)
    if parts is None:
        raise InputError(
            f"known must have the same partitions as X, but it is {type_name(known)}; give it as a Dask bag or a list "
            "of delayed"
        )
    check_number(parts, "known", n)
    return parts


def predict_partition(
    X: Any, known: Any, copy: ModelCopy, method: str, options: Mapping[str, Any], number: int
) -> list[Any]:
    """The predictions for the sequences of one partition, on a worker."""
    with about_partition(number):
        if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__iter__"):
            raise InputError(f"X must be a list of sequences, but it is {type_name(X)}")
        sequences = X if hasattr(X, "columns") else list(X)
        beside = None if known is None else list(known)
        return list(getattr(copy.load(), method)(sequences, known=beside, **options))


def _of_frame(
    fitted: Estimator, copy: Any, method: str, X: FrameSequences, known: Any, options: Mapping[str, Any]
) -> Any:
    """The frame with its predictions as new columns: one of labels, or one of probabilities for each class."""
    from dask.dataframe import from_delayed
    from dask.delayed import delayed

    if known is not None:
        raise InputError("known must be None for a Dask data frame; give the sequences as a Dask bag to pass it")
    _check_new_columns(X, _columns(fitted, method))
    parts = list(X.df.to_delayed())
    keys = [delayed(frame_keys, pure=True)(part, X.sequence) for part in parts]
    predict = delayed(predict_frame, pure=True)
    found = [
        predict(part, _neighbours(keys, number), copy, method, (X.sequence, X.label), dict(options), number)
        for number, part in enumerate(parts)
    ]
    meta = _without_rows(X.df._meta, fitted, method)
    return from_delayed(found, meta=meta, divisions=X.df.divisions, verify_meta=False)


def _neighbours(keys: list[Any], number: int) -> list[tuple[int, Any]]:
    """(number, digests of the sequences) of the partitions before and after one."""
    return [(other, keys[other]) for other in (number - 1, number + 1) if 0 <= other < len(keys)]


def _columns(fitted: Any, method: str) -> list[str]:
    return [NAME] if method == "predict" else [f"{NAME}_{label}" for label in fitted.classes_]


def _check_new_columns(X: FrameSequences, names: list[str]) -> None:
    taken = next((name for name in names if name in X.df.columns), None)
    if taken is not None:
        raise InputError(f"df must not have a column {taken!r}, which the predictions get; rename it")


def _without_rows(empty: Any, fitted: Any, method: str) -> Any:
    """An empty frame with the columns of predictions, of the types that they get."""
    import pandas

    labels = pandas.Series(fitted.classes_.tolist()) if method == "predict" else pandas.Series([0.5])
    types = dict.fromkeys(_columns(fitted, method), labels.dtype)
    return empty.assign(**{name: pandas.Series([], dtype=dtype, index=empty.index) for name, dtype in types.items()})


def frame_keys(df: Any, sequence: tuple[str, ...]) -> NDArray[np.uint8]:
    """The digests of the sequences of a partition, on a worker."""
    return key_digests(sequence_keys(df, sequence))


def predict_frame(
    df: Any,
    neighbours: list[tuple[int, NDArray[np.uint8]]],
    copy: ModelCopy,
    method: str,
    roles: tuple[tuple[str, ...], str | None],
    options: Mapping[str, Any],
    number: int,
) -> Any:
    """One partition of a frame with its predictions, on a worker."""
    fitted: Any = copy.load()
    if len(df) == 0:
        return _without_rows(df, fitted, method)
    sequence, label = roles
    with about_partition(number):
        _refuse_cut_sequences(df, sequence, neighbours, number)
        X, _ = from_frame(df, sequence=list(sequence), label=label)
        predictions = getattr(fitted, method)(X, **options)
        if method == "predict":
            return to_frame(df, predictions, X, name=NAME)
        wide = [probabilities.astype(np.float64) for probabilities in predictions]
        return to_frame(df, wide, X, name=NAME, classes=fitted.classes_)


def _refuse_cut_sequences(
    df: Any, sequence: tuple[str, ...], neighbours: list[tuple[int, NDArray[np.uint8]]], number: int
) -> None:
    keys = sequence_keys(df, sequence)
    own = [digest.tobytes() for digest in key_digests(keys)]
    for other, digests in neighbours:
        there = {digest.tobytes() for digest in digests}
        for key, digest in zip(keys, own, strict=True):
            if digest in there:
                raise InputError(cut_message(sequence, key, *sorted((number, other))))
