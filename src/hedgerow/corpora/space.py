"""Errors of a full disk, with the name of the file and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def naming_file(file: Path) -> Iterator[None]:
    """Raise an OSError again with the name of the file that could not be written."""
    try:
        yield
    except OSError as error:
        if error.filename2 == str(file):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(file)) from error


@contextmanager
def naming_space(folder: Path, needed: int) -> Iterator[None]:
    """Say how many more bytes are needed about if the disk is full, and that the call can be repeated."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        file = error.filename or folder
        raise OSError(
            error.errno,
            f"the disk is full: {file} could not be written, and about {_shown(needed)} more are needed; what was "
            f"written stays in {folder}: make room and call encode again with the same arguments, and it continues",
        ) from error


def _shown(n_bytes: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
