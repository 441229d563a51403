"""Folders that `hedgerow encode` wrote, in place of files of labelled sequences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.cli.loading import LABEL
from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.formats import Corpus


def is_corpus(path: str | None) -> bool:
    """Whether a path names a folder that encode wrote."""
    return path not in (None, "-") and (Path(path or "") / "index.json").is_file()


def open_labelled(path: str) -> Corpus:
    """The sequences and labels of a folder; raises InputError if it has no labels."""
    import hedgerow as hr
    from hedgerow.formats import Corpus, Layout

    encoded = hr.Encoded.open(path)
    if encoded.y is None:
        raise InputError(f"{path} must have labels, but the files that were encoded had none; encode labelled files")
    folder = encoded._corpus().folder
    stored = None if folder is None else folder.index.layout
    names = tuple(spec.name for spec in encoded.encoder.raw_columns if spec.indicates is None)
    layout = Layout("conll", (*names, LABEL), LABEL, names) if stored is None else Layout.from_json(stored)
    X: Any = encoded
    y: Any = encoded.y
    return Corpus(X, y, encoded.sample_weight, layout, np.empty(0, np.int64))


def refuse_file_flags(path: str, **given: Any) -> None:
    """Raise InputError if a flag says how a file is read, or which features it gets: a corpus is encoded already."""
    flag = next((name for name, value in given.items() if value is not None), None)
    if flag is not None:
        raise InputError(
            f"--{flag} says how a file is encoded, but {path} is encoded already; leave it out, or give it to "
            "hedgerow encode"
        )


def scores(estimator: Any, corpus: Corpus) -> dict[str, float]:
    """The accuracy, without keeping all predictions."""
    X: Any = corpus.X
    y: Any = corpus.y
    return {"accuracy": estimator.score(X, y)}
