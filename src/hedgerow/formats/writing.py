"""Writing of files: `hedgerow.write`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow import storage
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, type_name
from hedgerow.formats.content import Content
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.registry import by_extension, find_format
from hedgerow.formats.source import PathLike
from hedgerow.typing import LabelsLike, SequencesLike


def write(
    path: PathLike,
    X: SequencesLike | Corpus,
    y: LabelsLike | None = None,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    sample_weight: Iterable[float] | None = None,
    label: str | None = None,
    layout: Layout | None = None,
    overwrite: bool = False,
) -> None:
    """Write sequences and labels to a file.

    The file is written beside its place and then renamed, so that a failure leaves an old file as it was. Everything is
    checked before that.

    Parameters
    ----------
    path : str, Path or file
        The file to write; "-" is standard output.
    X : sequences or Corpus
        The sequences, in any form that `fit` accepts, or what `hedgerow.read` returned, with its labels and weights.
    y : list of label sequences, optional
        The labels.
    format : str, optional
        The name of the format. By default the one that the end of the file name says, then that of `layout`, then
        "conll".
    sample_weight : list of float, optional
        The weight of each sequence. CRFsuite items and JSON lines can hold it.
    label : str, optional
        The name of the label column, in formats that name their columns. By default "labels" in JSON lines, elsewhere
        that of `layout`, or "label".
    layout : Layout, optional
        The order of columns and the separator of another file.
    overwrite : bool, default=False
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the file exists or is a device or a pipe, or the format cannot hold the values.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import hedgerow as hr, pathlib
    >>> hr.write("words.txt", [["the", "cat"], ["it"]], [["D", "N"], ["P"]])
    >>> print(pathlib.Path("words.txt").read_text().expandtabs())
    the     D
    cat     N
    <BLANKLINE>
    it      P
    <BLANKLINE>
    <BLANKLINE>
    """
    write_content(path, content_of(X, y, sample_weight, label, layout), format, overwrite=overwrite)


def write_content(path: PathLike, content: Content, format: str | None, *, overwrite: bool) -> None:  # noqa: A002
    """Write what `content_of` returned, as `write` does."""
    target = None
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-":
        storage.check_target(path)
        target = Path(path)
    usual = "conll" if content.layout is None else content.layout.format
    by_name = None if target is None else by_extension(target.name)
    chosen = find_format(by_name or usual if format is None else format)
    parts = list(chosen.encode(content))
    if target is not None:
        if target.exists() and not target.is_dir() and not overwrite:
            raise InputError(f"{target} exists already; choose another name, or give overwrite=True")
        storage.write_parts(target, parts)
    else:
        _write_stream(path, parts)


def content_of(
    X: object, y: object = None, sample_weight: object = None, label: str | None = None, layout: Layout | None = None
) -> Content:
    """What shall be written, checked."""
    ids: Mapping[str, list[Any]] = {}
    if isinstance(X, Corpus):
        y = X.y if y is None else y
        sample_weight = X.sample_weight if sample_weight is None else sample_weight
        layout = X.layout if layout is None else layout
        ids = X.ids
        X = X.X
    sequences = Sequences(X)
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (len(sequences),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise InputError(
                f"sample_weight must hold a number from 0 for each of the {len(sequences)} sequences, but it does not"
            )
    labels = None if y is None else read_labels(y, sequences)
    return Content(sequences, labels, weights, label, layout, ids)


def _write_stream(path: PathLike, parts: list[bytes]) -> None:
    stream = sys.stdout if isinstance(path, (str, os.PathLike)) else path
    if not hasattr(stream, "write"):
        raise InputError(f"path must be a str, a Path, '-' or an open file, but got {type_name(path)}")
    binary: Any = getattr(stream, "buffer", stream)
    if binary is not stream:
        stream.flush()
    for part in parts:
        try:
            binary.write(part)
        except TypeError:  # a stream of text, such as io.StringIO
            binary.write(part.decode())
    binary.flush()
