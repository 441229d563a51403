"""Pages of memory-mapped arrays are given back, and hold the same numbers afterwards."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn, CategoricalColumn, NumericColumn, trusted
from hedgerow.data.mapped_pages import MappedPages

MAPS = Path("/proc/self/smaps")


def resident(path):
    """Kilobytes of the file that the process has in memory."""
    size, is_own = 0, False
    for line in MAPS.read_text(encoding="utf-8").splitlines():
        if "-" in line.split(" ")[0]:
            is_own = str(path) in line
        elif is_own and line.startswith("Rss:"):
            size += int(line.split()[1])
    return size


def from_buffer(path):
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.int32)


@pytest.mark.skipif(not MAPS.exists(), reason="this system does not say which pages are in memory")
@pytest.mark.parametrize("read", [lambda path: np.memmap(path, np.int32, mode="r"), from_buffer])
def test_pages_are_given_back_and_read_again(tmp_path, read):
    path = tmp_path / "codes"
    expected = np.arange(2**20, dtype=np.int32) % 3
    expected.tofile(path)
    codes = read(path)
    column = trusted(CategoricalColumn, "c", codes[5:], Alphabet.of(["a", "b", "c"]))
    pages = MappedPages.of_columns([column], codes)
    assert len(pages) == 1  # one file
    assert column.codes.sum() == expected[5:].sum()
    assert resident(path) > 2000
    pages.release()
    assert resident(path) < 100
    np.testing.assert_array_equal(codes, expected)


def test_arrays_that_can_be_written_to_are_left_alone(tmp_path):
    path = tmp_path / "numbers"
    np.zeros(4096, np.float32).tofile(path)
    for mode in ("r+", "c"):
        numbers = np.memmap(path, np.float32, mode=mode)
        numbers[0] = 7
        pages = MappedPages.of_columns([trusted(NumericColumn, "x", numbers)])
        assert len(pages) == 0
        pages.release()
        assert numbers[0] == 7
    bag = trusted(BagColumn, "b", np.array([0, 1]), np.array([0], np.int32), None, Alphabet.of(["a"]))
    assert len(MappedPages.of_columns([bag], np.zeros(3))) == 0
