"""Find data files: in HEDGEROW_DATA, then in the user's cache, then by a download that is checked by SHA-256."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import DataNotFoundError, InputError

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class DataFile:
    """A data file: its path inside a data folder, its checksum, and where it comes from."""

    path: str
    sha256: str
    origin: str
    url: str | None = None  # of the same bytes, plain or gzipped


def cache_folder() -> Path:
    """The folder of downloads: HEDGEROW_CACHE if set, otherwise the cache folder of the platform."""
    if cache := os.environ.get("HEDGEROW_CACHE"):
        return Path(cache)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "hedgerow"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "hedgerow" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hedgerow"
    return Path.home() / ".cache" / "hedgerow"


def is_here(file: DataFile) -> bool:
    """Whether the file is in HEDGEROW_DATA or in the cache."""
    folder = os.environ.get("HEDGEROW_DATA")
    return any((Path(place) / file.path).is_file() for place in (folder, cache_folder()) if place)


def find(file: DataFile) -> Path:
    """Path of the file, downloaded into the cache if necessary.

    A file in HEDGEROW_DATA may differ from the published one; the loader checks its counts. A file in the cache must
    have the known checksum. Raises DataNotFoundError if the file is nowhere and cannot be downloaded.
    """
    if folder := os.environ.get("HEDGEROW_DATA"):
        path = Path(folder) / file.path
        if path.is_file():
            return path
    cached = cache_folder() / file.path
    if cached.is_file():
        checksum = _sha256(cached.read_bytes())
        if checksum != file.sha256:
            raise InputError(
                f"{cached} is not the known file: expected SHA-256 {file.sha256}, found {checksum}; "
                "delete it to download it again, or move it to the folder of HEDGEROW_DATA to use it as it is"
            )
        return cached
    _download(file, cached)
    return cached


def read_text(file: DataFile) -> str:
    """Text of a file; InputError if it is not UTF-8."""
    try:
        return find(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise bad_file(file, "UTF-8 text", error) from error


def verify(file: DataFile, expected: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Raise InputError unless every count in `found` is the expected one."""
    wrong = [
        f"{what}: expected {count:,}, found {found[what]:,}" for what, count in expected.items() if count != found[what]
    ]
    if wrong:
        raise _unexpected(file, "; ".join(wrong))


def bad_line(file: DataFile, line: int, rule: str, found: str) -> InputError:
    """The error for a line that is not in the format of the file."""
    return _unexpected(file, f"line {line}: expected {rule}, found {found!r}")


def bad_file(file: DataFile, rule: str, error: Exception) -> InputError:
    """The error for a file that cannot be read at all."""
    return _unexpected(file, f"expected {rule}, found {error}")


def _unexpected(file: DataFile, difference: str) -> InputError:
    return InputError(f"{file.path} is not the known file ({difference}); get it again: {file.origin}")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _download(file: DataFile, target: Path) -> None:
    if file.url is None:
        raise _missing(file, "it has no public address")
    try:
        import pooch
    except ImportError:
        raise _missing(file, "downloading needs pooch: pip install 'hedgerow[data]'") from None
    received = io.BytesIO()
    try:
        pooch.HTTPDownloader()(file.url, received, None)
        content = received.getvalue()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:  # the network, or a damaged archive
        raise _missing(file, f"downloading {file.url} failed: {error}") from error
    checksum = _sha256(content)
    if checksum != file.sha256:
        raise _missing(file, f"{file.url} serves another file now: SHA-256 {checksum}")
    _write_atomically(target, content)


def _write_atomically(target: Path, content: bytes) -> None:
    """Write a temporary file and rename it, so that an interruption leaves no incomplete file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        temporary = Path(folder) / target.name
        temporary.write_bytes(content)
        temporary.replace(target)


def _missing(file: DataFile, reason: str) -> DataNotFoundError:
    folder = os.environ.get("HEDGEROW_DATA")
    place = Path(folder) / file.path if folder else f"$HEDGEROW_DATA/{file.path}"
    return DataNotFoundError(
        f"{file.path} was not found, and {reason}; put it at {place}. Where it comes from: {file.origin}"
    )
