"""A model file that is truncated, damaged, foreign or newer is refused: no crash, no wrong content."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.storage import same
from hedgerow import storage
from hedgerow.errors import ModelFileError

random_cases = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_every_truncation_is_found(model: Path, tmp_path: Path) -> None:
    content = model.read_bytes()
    cut = tmp_path / "cut"
    for length in range(len(content)):
        cut.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"cut short|is empty"):
            storage.read(cut)


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "flipped"
    arrays = {"b": np.array([True, False]), "w": np.array([[1.5], [-0.0]], dtype=np.float32)}
    storage.write(path, arrays, {"labels": ["a"]})
    content = path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        for at, byte in enumerate(content):
            for bit in range(8):
                file.seek(at)
                file.write(bytes([byte ^ 1 << bit]))
                with pytest.raises(ModelFileError):
                    storage.read(path)
            file.seek(at)
            file.write(bytes([byte]))
    assert same(storage.read(path)[0], arrays)


def test_appended_bytes_are_found(model: Path) -> None:
    with model.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelFileError, match="leave bytes unused"):
        storage.read(model)


@random_cases
@given(st.binary(max_size=200), st.booleans())
def test_garbage_is_refused(tmp_path: Path, garbage: bytes, framed: bool) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(len(garbage).to_bytes(8, "little") + garbage if framed else garbage)
    with pytest.raises(ModelFileError):
        storage.read(path)


def craft(path: Path, change: Callable[[dict[str, Any]], object], data: bytes = bytes(8)) -> Path:
    """A file with one array `a` of two F32 whose header was changed; the checksum is left alone."""
    storage.write(path, {"a": np.frombuffer(data, "<f4")}, {})
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[start:])
    return path


def entry(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda header: header["a"].update(changes)


def fields(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda header: header["__metadata__"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry(dtype="F4"), "unknown dtype"),
        (entry(dtype=["F32"]), "unknown dtype"),
        (entry(shape=[3]), "does not fit its place"),
        (entry(shape=[-2]), "strange shape"),
        (entry(shape=[2.0]), "strange shape"),
        (entry(shape=[True, 2]), "strange shape"),
        (entry(shape="2"), "strange shape"),
        (entry(shape=[1] * 33), "strange shape"),
        (entry(shape=[2**62, 2**62]), "impossible shape"),
        (entry(shape=[0, 2**63], data_offsets=[0, 0]), "impossible shape"),
        (entry(data_offsets=[0, 4]), "does not fit its place"),
        (entry(data_offsets=[4, 12]), "cut short: array 'a' ends at byte 12 of the data, which has 8"),
        (entry(data_offsets=[0, 2**70]), "cut short"),
        (entry(data_offsets=[8, 0]), "does not fit its place"),
        (entry(data_offsets=[-8, 0]), "strange shape or place"),
        (entry(data_offsets=[0, 8, 8]), "strange shape or place"),
        (entry(dtype="U8", shape=[7], data_offsets=[0, 7]), "leave bytes unused"),
        (entry(dtype="U8", shape=[7], data_offsets=[1, 8]), "leave bytes unused"),
        (entry(shape=[1], data_offsets=[2, 6]), "does not fit its place"),  # not at a multiple of four
        (entry(extra=1), "strange entry"),
        (lambda header: header["a"].pop("shape"), "strange entry"),
        (lambda header: header.update(a=3), "strange entry"),
        (lambda header: header.update(b=header["a"]), "overlap"),
        (lambda header: header.update({"": header.pop("a")}), "an array is called ''"),
        (lambda header: header.update({"\ud800": header.pop("a")}), "an array is called"),
        (lambda header: header.pop("a"), "leave bytes unused"),
        (lambda header: header.pop("__metadata__"), "a safetensors file but not a hedgerow model"),
        (lambda header: header.update(__metadata__=[]), "not a hedgerow model"),
        (fields(format="pt"), "not a hedgerow model"),
        (fields(format_version="2", library_version="9.1"), r"newer hedgerow \(9.1, format 2\).*upgrade"),
        (fields(format_version="0"), "lacks fields or has strange ones"),
        (fields(format_version="²"), "not ASCII"),
        (fields(format_version="9" * 5000), "lacks fields or has strange ones"),
        (fields(format_version=2), "not ASCII text"),
        (fields(extra="1"), "lacks fields or has strange ones"),
        (lambda header: header["__metadata__"].pop("checksum"), "lacks fields"),
        (fields(metadata='{"a":1}'), "checksum does not match"),
        (fields(library_version="0.0"), "checksum does not match"),
        (lambda header: header.update(c=header.pop("a")), "checksum does not match"),
        (entry(dtype="I32"), "checksum does not match"),
        (entry(shape=[2, 1]), "checksum does not match"),
    ],
)
def test_a_false_header_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
    path = craft(tmp_path / "m", change)
    with pytest.raises(ModelFileError, match=message) as caught:
        storage.read(path)
    assert str(caught.value).startswith(str(path))


def test_a_bool_is_zero_or_one(tmp_path: Path) -> None:
    path = craft(tmp_path / "m", entry(dtype="BOOL", shape=[8]), data=b"\0\1\2\0\0\0\0\0")
    with pytest.raises(ModelFileError, match="neither true nor false"):
        storage.read(path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b'{"a":1,"a":2}   ', "a key occurs twice"),
        (b'{"a":NaN}       ', "NaN is not JSON"),
        (b'{"a":"\xff"}       ', "not proper JSON"),
        (b"{}              ", "not a hedgerow model"),
        (b'{"a":1          ', "not proper JSON"),
        (b'{"a":1}x        ', "not proper JSON"),
        (b'{"a":' + b"[" * 200_003, "not proper JSON"),
        (b'{"a":' + b"9" * 9_995, "not proper JSON"),
        (b"{}      {", "no multiple of 8"),
        (b"[]              ", "is not a hedgerow model file"),
    ],
)
def test_a_header_that_is_no_json_is_refused(tmp_path: Path, header: bytes, message: str) -> None:
    path = tmp_path / "m"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFileError, match=message):
        storage.read(path)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["F32", "BOOL", "a", "hedgerow", "1", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@random_cases
@given(
    st.sampled_from(["__metadata__", "a", "b"]),
    st.sampled_from(["dtype", "shape", "data_offsets", "format", "format_version", "metadata", None]),
    values,
)
def test_random_header_values_never_crash(tmp_path: Path, key: str, inner: str | None, value: object) -> None:
    def change(header: dict[str, Any]) -> None:
        if inner is None:
            header[key] = value
        else:
            header.setdefault(key, {})[inner] = value

    path = craft(tmp_path / "m", change)
    try:
        arrays, metadata = storage.read(path)
    except ModelFileError:
        return
    assert same(arrays, {"a": np.zeros(2, "<f4")})
    assert metadata == {}


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a file"):
        storage.read(tmp_path)
    with pytest.raises(FileNotFoundError):
        storage.read(tmp_path / "absent")
    (tmp_path / "empty").touch()
    with pytest.raises(ModelFileError, match="is empty"):
        storage.read(tmp_path / "empty")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(ModelFileError, match="is not a hedgerow model file"):
        storage.read(tmp_path / "image.png")
    safetensors.numpy.save_file({"a": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelFileError, match="not a hedgerow model"):
        storage.read(tmp_path / "other.safetensors")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not a file"):
        storage.read(tmp_path / "pipe")
