"""`encode`: check the arguments, run the passes, rename the complete folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from hedgerow.corpora.job import EncodingJob, remove_scratch
from hedgerow.corpora.records import Progress, ProgressBar
from hedgerow.corpora.source_blocks import ReadOptions, source_of
from hedgerow.corpora.state import Settings
from hedgerow.encoding.corpus_folder import partial_folder
from hedgerow.encoding.corpus_view import Recipe
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import Encoder
from hedgerow.encoding.imputation import Treatment
from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.parameters import CountOrAll, python_scalar
from hedgerow.estimators.threads import n_threads
from hedgerow.formats import Layout
from hedgerow.templates import Template
from hedgerow.utilities import is_count


def encode(
    source: Any,
    path: str | os.PathLike[str],
    *,
    features: Template | None = None,
    min_freq: int = 1,
    missing: Treatment | None = None,
    like: Encoded | Estimator | None = None,
    format: str | None = None,  # noqa: A002 - the word of the field
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    sequence: str | Sequence[str] | None = None,
    encoding: str | None = None,
    shard_positions: int = 1_000_000,
    n_jobs: int | None = -1,
    progress: Progress | bool = False,
    overwrite: bool = False,
) -> Encoded:
    """Encode data of any size into a folder, in bounded memory.

    The source is read once, block by block. Alphabets are those of all data, as if they had been read at once. The
    folder has one file for each array, which is mapped into memory when it is used.

    What is written lies in the folder `path` + ".partial" until it is complete. If the call is interrupted, the same
    call continues after the last complete shard.

    Parameters
    ----------
    source : path, list of paths, file, iterable or callable
        Files in any format of `hedgerow.read`, "-" for standard input, or an open file. Or an iterable of pairs (x, y),
        a sequence and its labels, or of sequences alone; or a function without arguments that returns one. A tuple of
        two items is always a pair. Or `Sequences`, or what `hedgerow.read` returned.
    path : str or path
        The folder to write.
    features : Template, optional
        Columns to derive; see `hedgerow.templates`. They are part of the corpus: an estimator needs no `features`.
    min_freq : int >= 1, default=1
        Values of an attribute that occur at fewer positions of the data are left out.
    missing : {"impute", "indicator", "published-indicator"}, optional
        How missing values are replaced, as the parameter `missing` of estimators says. None leaves them.
    like : Encoded or fitted estimator, optional
        Its columns and alphabets are used, and nothing is learned: for dev and test data.
    format, label, columns, sequence, encoding
        How files are read; as in `hedgerow.read`. Tables (CSV, TSV and Parquet) are read as a whole.
    shard_positions : int >= 1, default=1_000_000
        Positions of a shard. More need more memory; fewer lose less when a call is interrupted.
    n_jobs : int or None, default=-1
        Number of threads; -1 or None for all processors. Results do not depend on it.
    progress : callable or bool, default=False
        A function that gets a dict after every shard of every pass; True shows a bar on a terminal.
    overwrite : bool, default=False
        Whether to replace a folder that exists, once the new one is complete.

    Returns
    -------
    Encoded
        The sequences, mapped from the files; `.y` are the labels.

    Raises
    ------
    InputError
        If an argument or the data break a rule.
    OSError
        If a file cannot be read or written. On a full disk what was written stays, and the same call continues.

    Examples
    --------
    >>> import hedgerow as hr
    >>> sentences = [(["the", "cat"], ["D", "N"]), (["a", "dog"], ["D", "N"])]
    >>> encoded = hr.encode(sentences, "animals.corpus", features=hr.templates.words())
    >>> model = hr.LinearCRF().fit(encoded, encoded.y)
    >>> model.predict([["the", "dog"]])[0].tolist()
    ['D', 'N']
    """
    target = Path(path).absolute()
    _check(features, missing, like, overwrite, target)
    encoder, recipe = _given(like, features, missing, _count(min_freq, "min_freq"))
    options = ReadOptions(format, label, _names(columns), _names(sequence), encoding, _layout(like))
    reading = {name: value for name, value in vars(options).items() if name != "layout" and value is not None}
    blocks = source_of(source, options if _reads_files(options, source) else ReadOptions())
    settings = Settings(
        features=features,
        recipe=recipe,
        shard_positions=_count(shard_positions, "shard_positions"),
        like=encoder,
        reading={name: list(value) if isinstance(value, tuple) else value for name, value in reading.items()},
        n_threads=n_threads(_jobs(n_jobs)),
    )
    bar = ProgressBar() if progress is True else None
    tell: Progress = bar or (progress if callable(progress) else _say_nothing)
    partial = partial_folder(target)
    try:
        with _locked(partial):
            try:
                EncodingJob(blocks, partial, settings, tell).run()
            except InputError:  # the same call would fail again
                shutil.rmtree(partial, ignore_errors=True)
                raise
            _replace(partial, target)
            remove_scratch(target)
    finally:
        if bar is not None:
            bar.close()
    return Encoded.open(target)


def _say_nothing(record: Any) -> None:
    del record


def _check(features: object, missing: object, like: object, overwrite: bool, target: Path) -> None:
    if features is not None and not isinstance(features, Template):
        raise InputError(
            f"features must be a template of hedgerow.templates or None, but got {type_name(features)}; use "
            "hedgerow.templates.words() or another one"
        )
    if missing is not None and missing not in get_args(Treatment):
        raise InputError(f'missing must be "impute", "indicator", "published-indicator" or None; it is {missing!r}')
    if like is not None and not isinstance(like, (Encoded, Estimator)):
        raise InputError(
            f"like must be an Encoded or a fitted estimator, but got {type_name(like)}; open a corpus with "
            "hedgerow.Encoded.open(path), a model with hedgerow.load(path)"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}; create it first")
    if target.exists() and not overwrite:
        raise InputError(
            f"{target} exists already; open it with hedgerow.Encoded.open, choose another path, or pass overwrite=True"
        )
    if target.exists() and not (target / "index.json").is_file():
        raise InputError(f"{target} must be a corpus to be replaced, but it has no index.json; choose another path")


def _given(
    like: Encoded | Estimator | None, features: Template | None, missing: Any, min_freq: int
) -> tuple[Encoder | None, Recipe]:
    """(the encoder of `like`, how the corpus is encoded); raises InputError if other arguments contradict `like`."""
    if like is None:
        return None, Recipe(None if features is None else features.to_json(), missing, min_freq)
    if features is not None or missing is not None or min_freq != 1:
        raise InputError(
            "like has its own columns and alphabets, so that features, missing and min_freq must not be given; leave "
            "them out"
        )
    if isinstance(like, Encoded):
        return like.encoder, like._corpus().recipe
    model = like._fitted()
    missing = like._treatment if model.encoder.fills_missing else None
    return model.encoder, Recipe(model.parameters.get("features"), missing, 1)


def _layout(like: object) -> Layout | None:
    """The layout of the training file, by which files are read."""
    stored = None
    if isinstance(like, Encoded):
        folder = like._corpus().folder
        stored = None if folder is None else folder.index.layout
    elif isinstance(like, Estimator):
        stored = like._fitted().layout
    return None if stored is None else Layout.from_json(stored)


def _reads_files(options: ReadOptions, source: object) -> bool:
    """Whether options of files matter: the layout of `like` does not for other sources."""
    given = [value for name, value in vars(options).items() if name != "layout"]
    return (
        any(value is not None for value in given)
        or isinstance(source, (str, os.PathLike, list, tuple))
        or hasattr(source, "read")
    )


def _names(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


def _count(value: Any, name: str) -> int:
    value = python_scalar(value)
    if not is_count(value) or value < 1:
        raise InputError(f"{name} must be an integer of at least 1; it is {value!r}")
    return int(value)


def _jobs(n_jobs: Any) -> int | None:
    n_jobs = python_scalar(n_jobs)
    if n_jobs is not None and not (is_count(n_jobs) and CountOrAll().holds(n_jobs)):
        raise InputError(f"n_jobs must be an integer {CountOrAll()}; it is {n_jobs!r}")
    return None if n_jobs is None else int(n_jobs)


@contextmanager
def _locked(partial: Path) -> Iterator[None]:
    """Refuse to write where another process writes."""
    file = partial.with_name(partial.name + ".lock")
    try:
        import fcntl
    except ImportError:  # on Windows files that are open cannot be replaced anyway
        yield
        return
    with file.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another process is writing {partial}; wait for it, or choose another path") from None
        try:
            yield
        finally:
            file.unlink(missing_ok=True)


def _replace(partial: Path, target: Path) -> None:
    """Give the complete folder its name; an old folder is removed when the new one is there."""
    if target.exists():
        old = target.with_name(target.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
        partial.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        partial.rename(target)
