"""Find the original files: HEDGEROW_DATA, then the user's cache, then a download with a checksum."""

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
    """One original file: its place below a data folder, its checksum, and how to come by it."""

    path: str
    sha256: str
    origin: str
    url: str | None = None  # serves these very bytes, plain or gzipped


def cache_folder() -> Path:
    """Where downloads are kept: HEDGEROW_CACHE if set, otherwise the platform's place for caches."""
    if own := os.environ.get("HEDGEROW_CACHE"):
        return Path(own)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "hedgerow"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "hedgerow" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hedgerow"
    return Path.home() / ".cache" / "hedgerow"


def find(file: DataFile) -> Path:
    """A path to the file; DataNotFoundError says where to put it when it is nowhere and cannot be fetched.

    A file in HEDGEROW_DATA is taken as it is: the loader checks its counts. A file in the cache must have the
    known checksum.
    """
    if own := os.environ.get("HEDGEROW_DATA"):
        path = Path(own) / file.path
        if path.is_file():
            return path
    cached = cache_folder() / file.path
    if cached.is_file():
        found = _sha256(cached.read_bytes())
        if found != file.sha256:
            raise InputError(
                f"{cached} is not the known file: expected SHA-256 {file.sha256}, found {found}; "
                "delete it to fetch it anew, or put it into the folder of HEDGEROW_DATA to use it as it is"
            )
        return cached
    _download(file, cached)
    return cached


def read_text(file: DataFile) -> str:
    """The text of a file; InputError when it is not text."""
    try:
        return find(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise unreadable(file, "UTF-8 text", error) from error


def verify(file: DataFile, expected: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Raise InputError unless every count is the known one."""
    wrong = [
        f"{what}: expected {count:,}, found {found[what]:,}"
        for what, count in expected.items()
        if count != found[what]
    ]
    if wrong:
        raise _not_known(file, "; ".join(wrong))


def not_understood(file: DataFile, line: int, rule: str, found: str) -> InputError:
    """The error for a line that breaks the file's format."""
    return _not_known(file, f"line {line}: expected {rule}, found {found!r}")


def unreadable(file: DataFile, rule: str, error: Exception) -> InputError:
    """The error for a file that is something else altogether."""
    return _not_known(file, f"expected {rule}, found {error}")


def _not_known(file: DataFile, difference: str) -> InputError:
    return InputError(f"{file.path} is not the known file ({difference}); fetch it again: {file.origin}")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _download(file: DataFile, target: Path) -> None:
    if file.url is None:
        raise _missing(file, target, "it has no public address")
    try:
        import pooch
    except ImportError:
        raise _missing(file, target, "downloading needs pooch: pip install 'hedgerow[data]'") from None
    received = io.BytesIO()
    try:
        pooch.HTTPDownloader()(file.url, received, None)
        content = received.getvalue()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:  # the network, or a damaged archive
        raise _missing(file, target, f"downloading {file.url} failed: {error}") from error
    found = _sha256(content)
    if found != file.sha256:
        raise _missing(file, target, f"{file.url} serves another file now: SHA-256 {found}")
    _write_whole(target, content)


def _write_whole(target: Path, content: bytes) -> None:
    """Write beside and rename: an interruption leaves no half file behind."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        beside = Path(folder) / target.name
        beside.write_bytes(content)
        beside.replace(target)


def _missing(file: DataFile, cached: Path, reason: str) -> DataNotFoundError:
    own = os.environ.get("HEDGEROW_DATA")
    here = Path(own) / file.path if own else f"$HEDGEROW_DATA/{file.path}"
    return DataNotFoundError(
        f"{file.path} was not found, and {reason}; put it at {here} or at {cached} "
        f"(SHA-256 {file.sha256}). Where it comes from: {file.origin}"
    )
