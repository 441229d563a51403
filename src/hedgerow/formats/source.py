"""Where text comes from: a path, standard input or an open file, as UTF-8 bytes with a name for messages."""

from __future__ import annotations

import codecs
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias

from hedgerow.errors import InputError, type_name

if TYPE_CHECKING:
    from hedgerow.formats.corpus import Layout

PathLike: TypeAlias = str | os.PathLike[str] | IO[Any]
HEAD = 1 << 16  # bytes from which a format is detected
_BOM = codecs.BOM_UTF8
#: Beginnings of files that are no text in UTF-8.
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Source:
    """The content of a file as UTF-8 without byte order mark, and its name."""

    text: bytes
    name: str
    encoding: str = "utf-8"

    def line(self, number: int) -> bytes:
        """The beginning of a line, for messages; lines are counted from 1."""
        start = 0
        for _ in range(number - 1):
            start = self.text.index(b"\n", start) + 1
        return self.text[start : start + 200].partition(b"\n")[0]

    def fail(self, line: int, rule: str) -> NoReturn:
        """Raise InputError with the name of the file and the line."""
        raise InputError(f"{self.name}, line {line}: {rule}")

    def fail_encoding(self, line: int, column: str = "") -> NoReturn:
        """Raise InputError for bytes that are not UTF-8."""
        self.fail(line, f"text must be UTF-8, but these bytes are not{column}; {self.encoding_cure()}")

    def encoding_cure(self) -> str:
        """What to do about text that is not UTF-8."""
        if self.text.startswith(_UTF16):
            return "the file looks like UTF-16: give encoding='utf-16'"
        return "give `encoding`, such as encoding='latin-1'"

    def fail_codec(self, line: int, error: UnicodeDecodeError) -> NoReturn:
        """Raise InputError for bytes that do not belong to the encoding."""
        byte = error.object[error.start]
        self.fail(line, f"text must be {error.encoding}, but byte {byte:#04x} is not; give the right `encoding`")


def open_source(path: PathLike, encoding: str = "utf-8") -> Source:
    """Read all of a file; raises OSError if that fails, and InputError if the encoding does not fit."""
    codec = codec_name(encoding)
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-":
        name = os.fspath(path)
        content: bytes = check_file(path).read_bytes()
    else:
        stream, name = open_stream(path)
        read = stream.read()
        if isinstance(read, str):
            return Source(encode(read, name), name)
        content = read
    refuse_model(content[:HEAD], name)
    return Source(_to_utf8(content, name, codec), name, codec)


def chosen_encoding(encoding: str | None, layout: Layout | None = None) -> str:
    """The given encoding, otherwise that of the layout, otherwise UTF-8."""
    if encoding is not None:
        return encoding
    return "utf-8" if layout is None else layout.encoding


def refuse_model(head: bytes, name: str) -> None:
    """Raise InputError for the beginning of a model file: eight bytes of length, then a header in JSON."""
    if head[4:9] == b"\0\0\0\0{" and b'"__metadata__"' in head[:40]:
        raise InputError(f"{name} must be a file of sequences, but it is a hedgerow model; name a data file")


def check_file(path: str | os.PathLike[str]) -> Path:
    """The path; raises FileNotFoundError or IsADirectoryError unless it is a file."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"cannot read {file}: it is a folder; name a file in it")
    if not file.exists():
        raise FileNotFoundError(f"cannot read {file}: there is no such file; check the path")
    return file


def open_stream(path: PathLike) -> tuple[IO[Any], str]:
    """(stream, name) of a path, of "-" or of an open file; of bytes if the stream can give them."""
    if isinstance(path, (str, os.PathLike)):
        if os.fspath(path) == "-":
            return sys.stdin.buffer, "standard input"
        return check_file(path).open("rb"), os.fspath(path)
    if not hasattr(path, "read"):
        raise InputError(f"path must be a str, a Path, '-' or an open file, but got {type_name(path)}")
    name = getattr(path, "name", None)
    return getattr(path, "buffer", path), name if isinstance(name, str) else "the file"


def codec_name(encoding: str) -> str:
    """The canonical name of an encoding; raises InputError if Python does not know it."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InputError(f"encoding is {encoding!r}, which Python does not know; try 'utf-8' or 'latin-1'") from None
    return "utf-8" if name == "utf-8-sig" else name


def encode(text: str, name: str) -> bytes:
    """The text as UTF-8; raises InputError for a lone surrogate, with its line."""
    try:
        return text.encode().removeprefix(_BOM)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError(
            f"{name}, line {line}: text must be UTF-8, but it holds the lone surrogate {text[error.start]!r}; "
            "open the file in binary mode"
        ) from None


def _to_utf8(content: bytes, name: str, codec: str) -> bytes:
    if codec == "utf-8":
        return content.removeprefix(_BOM)
    try:
        return encode(content.decode(codec), name)
    except UnicodeDecodeError as error:
        Source(b"", name).fail_codec(content.count(b"\n", 0, error.start) + 1, error)
