"""The model file: what was written is read again, here and by the safetensors library."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from builders.storage import ARRAYS, METADATA, same
from hedgerow import __version__, storage

DTYPES = ["?", "u1", "i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8"]
random_cases = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_round_trip(model: Path) -> None:
    arrays, metadata = storage.read(model)
    assert same(arrays, ARRAYS)
    assert metadata == METADATA


def test_views_are_read_only_aligned_and_not_copied(model: Path) -> None:
    arrays, _ = storage.read(model)
    for array in arrays.values():
        assert not array.flags.writeable
        assert array.flags.aligned
        assert not array.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        arrays["weights"][0, 0] = 1


@random_cases
@given(
    st.dictionaries(
        st.text("abcé.-/ ", min_size=1, max_size=4),
        st.sampled_from(DTYPES).flatmap(
            lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
        ),
        max_size=5,
    ),
    st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)),
)
def test_round_trip_of_anything(tmp_path: Path, arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> None:
    storage.write(tmp_path / "any", arrays, metadata)
    got, got_metadata = storage.read(tmp_path / "any")
    assert same(got, arrays)
    assert got_metadata == metadata
    assert same(safetensors.numpy.load_file(tmp_path / "any"), arrays)


def test_order_and_byte_order_in_memory_do_not_matter(tmp_path: Path) -> None:
    square = np.arange(6.0).reshape(2, 3)
    odd = {
        "t": square.T,
        "big": square.astype(">f8"),
        "every": square[:, ::2],
        "fortran": np.asfortranarray(square),
    }
    storage.write(tmp_path / "m", odd, {})
    arrays, _ = storage.read(tmp_path / "m")
    for name, array in odd.items():
        assert arrays[name].dtype == np.dtype("<f8")
        np.testing.assert_array_equal(arrays[name], array)


def test_the_safetensors_library_reads_it(model: Path) -> None:
    with safetensors.safe_open(model, framework="numpy") as file:
        fields = file.metadata()
        assert same({name: file.get_tensor(name) for name in file.keys()}, ARRAYS)  # noqa: SIM118
    assert (fields["format"], fields["format_version"]) == ("hedgerow", "1")
    assert fields["library_version"] == __version__
    assert json.loads(fields["metadata"]) == METADATA


def test_the_reader_in_the_documentation_reads_it(model: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "model-format.md"
    block, *_ = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    arrays, metadata = names["read"](model)
    assert same(arrays, ARRAYS)
    assert metadata == METADATA


def test_same_content_same_bytes(model: Path, tmp_path: Path) -> None:
    storage.write(tmp_path / "again", dict(reversed(ARRAYS.items())), METADATA)
    assert (tmp_path / "again").read_bytes() == model.read_bytes()


def test_the_bytes_of_a_tiny_file(tmp_path: Path) -> None:
    """Worked by hand from the page on the format."""
    storage.write(tmp_path / "tiny", {"a": np.array([1, 2], dtype="<u2")}, {})
    parts = [b"hedgerow", b"1", __version__.encode(), b"{}", b"a", b"U16", b"2", b"\1\0\2\0"]
    crc = zlib.crc32(b"".join(len(part).to_bytes(8, "little") + part for part in parts))
    header = (
        '{"__metadata__":{"format":"hedgerow","format_version":"1",'
        f'"library_version":"{__version__}","metadata":"{{}}","checksum":"{crc:08x}"}},'
        '"a":{"dtype":"U16","shape":[2],"data_offsets":[0,4]}}'
    )
    header += " " * (-len(header) % 8)
    expected = len(header).to_bytes(8, "little") + header.encode() + b"\1\0\2\0"
    assert (tmp_path / "tiny").read_bytes() == expected


def test_import_stays_light() -> None:
    code = "import sys, hedgerow.storage; print('safetensors' in sys.modules, 'scipy' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_bytes_are_those_of_the_file(model: Path) -> None:
    content = storage.to_bytes(ARRAYS, METADATA)
    assert content == model.read_bytes()
    arrays, metadata = storage.from_bytes(content)
    assert same(arrays, ARRAYS)
    assert metadata == METADATA
    assert not any(array.flags.writeable for array in arrays.values())


@pytest.mark.parametrize("damage", ["empty", "cut short", "changed"])
def test_damaged_bytes_are_refused(damage: str) -> None:
    content = storage.to_bytes(ARRAYS, METADATA)
    changed = content[:-1] + bytes([content[-1] ^ 1])
    bad = {"empty": b"", "cut short": content[: len(content) // 2], "changed": changed}[damage]
    with pytest.raises(storage.ModelFileError, match=r"^the copy of a model file is"):
        storage.from_bytes(bad)
