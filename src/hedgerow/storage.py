"""One file for arrays and JSON metadata: a safetensors file with a checksum. docs/model-format.md describes the format.

Written beside and renamed, so that a failure leaves the old file; read by mmap, all checked before use.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import stat
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

import hedgerow
from hedgerow.errors import InputError, ModelFileError

FORMAT = "hedgerow"
FORMAT_VERSION = 1
_MAX_HEADER = 100_000_000  # the limit of the safetensors library
_MAX_DIMENSIONS = 32
_ALIGNMENT = 8
_CRFSUITE = b"lCRF"  # the first bytes of a model of CRFsuite
_DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_FIELDS = ("format", "format_version", "library_version", "metadata")
_NO_RIGHT = "choose a folder that you may write to"
_CURES = {  # by number of the system's error
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.EROFS: _NO_RIGHT,
    errno.ENOSPC: "free some space, or choose a folder on another disk",
    errno.EDQUOT: "free some space, or choose a folder on another disk",
}

Array = NDArray[Any]


def write(path: str | os.PathLike[str], arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> None:
    """Save `arrays` and JSON `metadata` as the file `path`; the same content gives the same bytes.

    A file that is replaced passes its access rights on to the new one.

    Raises InputError for what the format cannot hold and for a path that `check_target` refuses, FileNotFoundError
    without the folder and PermissionError for a read-only file, all before any work, and OSError when writing fails (a
    full disk). Then, and on Ctrl-C, an old file at `path` stays as it was.
    """
    _target(path)
    write_parts(path, _encode(arrays, metadata))


def write_parts(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write bytes as the file `path`, beside it first and then renamed; raises what `write` raises."""
    target = _target(path)
    kept = "the old file is intact" if target.exists() else "no file was left behind"
    temporary = _temporary(target)
    try:
        with _created(temporary, target) as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, f"could not save {target} ({_reason(error)}); {kept}; {_cure(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    # Until the folder is on the disk too, a power cut could undo the rename.
    with suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def to_bytes(arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> bytes:
    """The content of the file that `write` would write; raises InputError for what the format cannot hold."""
    return b"".join(_encode(arrays, metadata))


def file_size(arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> int:
    """The number of bytes that `write` would write."""
    return sum(len(part) for part in _encode(arrays, metadata))


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the OSError that `write` would raise for this path, by creating and removing an empty file beside it."""
    target = _target(path)
    temporary = _temporary(target)
    try:
        _created(temporary, target).close()
    except OSError as error:
        raise OSError(error.errno, f"cannot save {target} ({_reason(error)}); {_cure(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise InputError for an empty path, and for a device or a pipe, which a renamed file would replace."""
    if not os.fspath(path):
        raise InputError("the path must name a file to write, but it is empty; name a file")
    if "\0" in os.fsdecode(path):
        raise InputError(f"{os.fsdecode(path)!r} cannot be the name of a file, because it has a zero character")
    target = Path(path)
    try:
        exists = target.exists()
    except OSError as error:
        raise OSError(error.errno, f"cannot save {target} ({_reason(error)}); {_cure(error)}") from error
    if exists and not (target.is_file() or target.is_dir()):
        raise InputError(f"{target} must be a file to write, but it is a device or a pipe; name a file")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _cure(error: OSError) -> str:
    return _CURES.get(error.errno or 0, "choose another folder or another name")


def _target(path: str | os.PathLike[str]) -> Path:
    """The file to write: where a link points, not the link itself."""
    check_target(path)
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save {target}: there is no folder {target.parent}; create it first")
    if target.is_dir():
        raise IsADirectoryError(f"cannot save {target}: it is a folder; name a file in it")
    if target.exists() and not os.access(target, os.W_OK):  # renaming replaces even a read-only file
        raise PermissionError(f"cannot save {target}: the file is read-only; choose another name, or make it writable")
    return target


def _temporary(target: Path) -> Path:
    return target.with_name(f".hedgerow-{os.urandom(8).hex()}.tmp")


def _created(temporary: Path, target: Path) -> BinaryIO:
    """A new file that is open for writing, with the access rights of `target` from the start if that exists."""
    rights = stat.S_IMODE(target.stat().st_mode) if target.exists() else None

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if rights is None else rights)

    file = open(temporary, "xb", opener=opener)  # noqa: SIM115 - Path.open has no parameter `opener`
    if rights is not None:
        temporary.chmod(rights)  # the access rights that the umask removed
    return file


def _encode(arrays: Mapping[str, Array], metadata: Mapping[str, Any]) -> list[bytes | memoryview]:
    """The bytes of the file: length, header, and each array in its order."""
    try:
        text = json.dumps(dict(metadata), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"metadata cannot be written as JSON ({error}); give strings, finite numbers, ...") from error
    little = {name: _storable(name, array) for name, array in arrays.items()}
    fields = dict(zip(_FIELDS, (FORMAT, str(FORMAT_VERSION), hedgerow.__version__, text), strict=True))
    header: dict[str, Any] = {"__metadata__": {**fields, "checksum": _checksum(fields, little)}}
    # Wide items first, so that each array lies at a multiple of its item size.
    order = sorted(little, key=lambda name: (-little[name].itemsize, name))
    end = 0
    for name in order:
        begin, end = end, end + little[name].nbytes
        dtype = _NAMES[little[name].dtype]
        header[name] = {"dtype": dtype, "shape": list(little[name].shape), "data_offsets": [begin, end]}
    encoded = json.dumps(header, separators=(",", ":")).encode("ascii")
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    if len(encoded) > _MAX_HEADER:
        raise InputError(
            f"the header would take {len(encoded)} bytes but at most {_MAX_HEADER} fit; "
            "store long lists as arrays instead of metadata"
        )
    return [len(encoded).to_bytes(8, "little"), encoded, *(_bytes(little[name]) for name in order)]


def _storable(name: str, array: Array) -> Array:
    """The array in C order and little-endian; InputError when name or dtype cannot be stored."""
    if not name or name == "__metadata__" or not name.isprintable():
        raise InputError(f"an array is called {name!r}; choose a name of printable characters, not __metadata__")
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _NAMES:
        raise InputError(f"array {name!r} has dtype {array.dtype}; convert it to one of {', '.join(_DTYPES)}")
    if array.ndim > _MAX_DIMENSIONS:
        raise InputError(f"array {name!r} has {array.ndim} dimensions; at most {_MAX_DIMENSIONS} fit")
    return np.asarray(array, dtype=dtype, order="C")


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(fields: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    """CRC-32 over the fields and, by name, each array's name, dtype, shape, bytes; each after its length."""
    parts: list[bytes | memoryview] = [fields[field].encode() for field in _FIELDS]
    for name in sorted(arrays):
        array = arrays[name]
        shape = ",".join(map(str, array.shape))
        parts += [name.encode(), _NAMES[array.dtype].encode(), shape.encode(), _bytes(array)]
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, zlib.crc32(len(part).to_bytes(8, "little"), crc))
    return f"{crc:08x}"


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays, as read-only views of the mapped file, and the metadata.

    ModelFileError when the file is truncated, damaged, foreign or newer; FileNotFoundError when absent.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"cannot load {path.absolute()}: there is no such file; check the path")
    if not stat.S_ISREG(path.stat().st_mode):
        raise ModelFileError(f"{path} is not a file; name a model file")
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                _refuse("is empty")
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _parsed(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from None


def from_bytes(content: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays, as read-only views of the bytes, and the metadata; ModelFileError as `read` raises it."""
    try:
        if not content:
            _refuse("is empty")
        return _parsed(content)
    except ModelFileError as error:
        raise ModelFileError(f"the copy of a model file {error}") from None


def _parsed(content: mmap.mmap | bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and the metadata of a file's content, all checked."""
    header, start = _header(content)
    fields = _fields(header.pop("__metadata__", None))
    data = np.frombuffer(content, dtype=np.uint8)[start:]
    arrays = {name: _view(name, entry, data) for name, entry in header.items()}
    _check_cover([entry["data_offsets"] for entry in header.values()], len(data))
    if fields["checksum"] != _checksum(fields, arrays):
        _refuse("is damaged: its checksum does not match its content")
    return arrays, _json(fields["metadata"], "metadata")


def _refuse(what: str) -> NoReturn:
    raise ModelFileError(f"{what}; save the model again, or fetch the file again")


def _header(content: mmap.mmap | bytes) -> tuple[dict[str, Any], int]:
    """The header, and where the data starts."""
    length = int.from_bytes(content[:8], "little")
    if length > _MAX_HEADER or (len(content) > 8 and content[8:9] != b"{"):
        if content[:4] == _CRFSUITE:
            raise ModelFileError(
                "is a model of CRFsuite; read it with hedgerow.compat.from_crfsuite, or convert it with the command "
                "hedgerow convert, to a file whose name ends with .hedgerow"
            )
        raise ModelFileError("is not a hedgerow model file; give a file that save wrote")
    if len(content) < 8 + length or length < 2:
        _refuse(f"is cut short: {len(content)} bytes do not hold the header")
    if length % _ALIGNMENT:
        _refuse(f"is damaged: its header takes {length} bytes, no multiple of {_ALIGNMENT}")
    return _json(content[8 : 8 + length], "header"), 8 + length


def _json(text: bytes | str, what: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        text = text if isinstance(text, str) else text.decode("utf-8")
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        _refuse(f"is damaged: its {what} is not proper JSON ({error})")
    if not isinstance(value, dict):
        _refuse(f"is damaged: its {what} is not a JSON object")
    return value


def _fields(raw: object) -> dict[str, str]:
    """The text fields of the header, once name and version of the format are known to be ours."""
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        _refuse("is a safetensors file but not a hedgerow model")
    if not all(isinstance(value, str) and value.isascii() for value in raw.values()):
        _refuse("is damaged: a field of its header is not ASCII text")
    version = raw.get("format_version", "")
    if version.isdecimal() and len(version) < 10 and int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by a newer hedgerow ({raw.get('library_version')}, format {version}); "
            f"this is {hedgerow.__version__}, which reads format {FORMAT_VERSION}; upgrade hedgerow"
        )
    if version != str(FORMAT_VERSION) or raw.keys() != {*_FIELDS, "checksum"}:
        _refuse("is damaged: its header lacks fields or has strange ones")
    return raw


def _view(name: str, entry: object, data: Array) -> Array:
    """The array of a header entry; ModelFileError unless it lies within the data and fits its shape."""
    if not name or not name.isprintable():
        _refuse(f"is damaged: an array is called {name!r}")
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        _refuse(f"is damaged: array {name!r} has a strange entry")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not (_naturals(shape, _MAX_DIMENSIONS) and _naturals(offsets, 2) and len(offsets) == 2):
        _refuse(f"is damaged: array {name!r} has a strange shape or place")
    dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        _refuse(f"is damaged: array {name!r} has an unknown dtype")
    begin, end = offsets
    if end > len(data):
        _refuse(f"is cut short: array {name!r} ends at byte {end} of the data, which has {len(data)}")
    # An empty array can have a shape whose other sides overflow numpy's strides, so those count too.
    if prod(max(side, 1) for side in shape) * dtype.itemsize >= 2**63:
        _refuse(f"is damaged: array {name!r} has an impossible shape")
    if begin > end or begin % dtype.itemsize or prod(shape) * dtype.itemsize != end - begin:
        _refuse(f"is damaged: array {name!r} does not fit its place")
    if dtype == np.bool_ and (data[begin:end] > 1).any():
        _refuse(f"is damaged: array {name!r} holds neither true nor false")
    return data[begin:end].view(dtype).reshape(shape)


def _naturals(value: object, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most and all(type(n) is int and n >= 0 for n in value)


def _check_cover(places: list[list[int]], size: int) -> None:
    """ModelFileError unless the arrays cover the data without gap or overlap."""
    ends = [[0, 0], *sorted(places), [size, size]]
    if any(before[1] != after[0] for before, after in pairwise(ends)):
        _refuse("is damaged: its arrays overlap or leave bytes unused")
