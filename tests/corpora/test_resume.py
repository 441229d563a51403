"""An interrupted `encode` continues where it stopped, and never mixes two sources or settings."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from builders.corpora import WORDS, assert_same_encoded, assert_same_encoder, in_memory, labels_of
from hedgerow.corpora import column_files, source_blocks, spool
from hedgerow.errors import InputError

PAIRS = list(zip(WORDS, labels_of(WORDS), strict=True))
FEATURES = hr.templates.tags()


class Killed(BaseException):
    """The end of a process."""


def killed_at(step: int) -> Any:
    """A hook that ends the call after so many shards of any pass."""
    seen = 0

    def hook(record: dict[str, Any]) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            raise Killed

    return hook


def encode(path: Path, progress: Any = False, source: Any = PAIRS, **changes: Any) -> hr.Encoded:
    settings = {"features": FEATURES, "shard_positions": 50, **changes}
    return hr.encode(source, path, progress=progress, **settings)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_blocks, "POSITIONS", 20)
    monkeypatch.setattr(os, "fsync", lambda file: None)  # which takes most of the time of small shards


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """The same data as a file."""
    file = tmp_path / "words.txt"
    file.write_text("".join("".join(f"{w} {c}\n" for w, c in zip(x, y, strict=True)) + "\n" for x, y in PAIRS), "utf-8")
    return file


def check(found: hr.Encoded, X: Any = WORDS) -> None:
    encoder, expected = in_memory(X, None, FEATURES)
    assert_same_encoded(found, expected)
    assert_same_encoder(found.encoder, encoder)
    assert [one.tolist() for one in found.y or ()] == labels_of(X)


def test_a_call_that_is_killed_anywhere_is_continued(tmp_path: Path) -> None:
    steps: list[Any] = []
    check(encode(tmp_path / "whole", steps.append))
    for step in range(1, len(steps) + 1):
        folder = tmp_path / str(step)
        with pytest.raises(Killed):
            encode(folder, killed_at(step))
        assert not folder.exists()
        with pytest.raises(FileNotFoundError, match="interrupted encode wrote"):
            hr.Encoded.open(folder)
        check(encode(folder))


def test_a_call_that_is_killed_before_the_last_name_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*paths: Path) -> None:
        raise Killed

    X: Any = [[{"bag": ["a", "b"], "w": {"x": 1.0}}], [{"bag": ["c"], "w": {"x": 2.0, "y": 1.0}}]] * 9
    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.corpora.entry._replace", killed)
        with pytest.raises(Killed):
            hr.encode(X, tmp_path / "a", shard_positions=4)
    records: list[Any] = []
    found = hr.encode(X, tmp_path / "a", shard_positions=4, progress=records.append)
    assert {record["pass"] for record in records} == {"read"}
    assert_same_encoded(found, in_memory(X)[1])
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {
        "index.json", "encoder.hedgerow", "starts.bin", "column0.starts.bin", "column0.ids.bin", "column1.starts.bin",
        "column1.ids.bin", "column1.weights.bin",
    }  # fmt: skip


def test_only_what_is_left_is_done(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[Any] = []
    hr.encode(text, tmp_path / "whole", features=FEATURES, shard_positions=50, progress=records.append)
    n_read = sum(record["pass"] == "read" for record in records)
    with pytest.raises(Killed):
        hr.encode(text, tmp_path / "a", features=FEATURES, shard_positions=50, progress=killed_at(len(records) - 1))
    monkeypatch.setattr(source_blocks, "_file_blocks", None)  # the source is not read again
    again: list[Any] = []
    found = hr.encode(text, tmp_path / "a", features=FEATURES, shard_positions=50, progress=again.append)
    assert sum(record["pass"] == "codes" for record in again) == 1 < n_read
    assert_same_encoded(found, hr.Encoded.open(tmp_path / "whole"))


def test_after_a_kill_while_reading_shards_are_not_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Killed):
        encode(tmp_path / "a", killed_at(3))
    written: list[str] = []
    real = spool.write_shard

    def counting(file: Path, blocks: Any) -> None:
        written.append(file.name)
        real(file, blocks)

    monkeypatch.setattr("hedgerow.corpora.job.write_shard", counting)
    check(encode(tmp_path / "a"))
    assert written[0] == "raw-000003.hedgerow"


@pytest.mark.parametrize("step", [2, 7, 11])
def test_another_source_or_other_settings_are_never_mixed(tmp_path: Path, step: int) -> None:
    with pytest.raises(Killed):
        encode(tmp_path / "a", killed_at(step))
    other = [*PAIRS[:12], *PAIRS[20:]]
    check(encode(tmp_path / "a", source=other), [x for x, _ in other])
    with pytest.raises(Killed):
        encode(tmp_path / "b", killed_at(step), min_freq=2)
    check(encode(tmp_path / "b"))
    with pytest.raises(Killed):
        encode(tmp_path / "c", killed_at(min(step, 9)), features=None)
    check(encode(tmp_path / "c"))


def test_a_source_that_became_shorter_leaves_nothing_of_the_longer_one(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        encode(tmp_path / "a", killed_at(11))
    check(encode(tmp_path / "a", source=PAIRS[:12]), WORDS[:12])


def test_a_changed_file_is_read_again(tmp_path: Path, text: Path) -> None:
    with pytest.raises(Killed):
        hr.encode(text, tmp_path / "a", features=FEATURES, shard_positions=50, progress=killed_at(9))
    text.write_text(text.read_text("utf-8").replace("cat", "dog"), "utf-8")
    found = hr.encode(text, tmp_path / "a", features=FEATURES, shard_positions=50)
    expected = hr.encode(text, tmp_path / "b", features=FEATURES, shard_positions=50)
    assert_same_encoded(found, expected)
    assert_same_encoder(found.encoder, expected.encoder)


@pytest.mark.parametrize("kind", ["raw-000001", "pairs-000001", "column0.codes", "progress"])
def test_damage_of_an_unfinished_corpus_is_repaired(tmp_path: Path, kind: str) -> None:
    steps: list[Any] = []
    encode(tmp_path / "whole", steps.append)
    with pytest.raises(Killed):
        encode(tmp_path / "a", killed_at(len(steps) - 1))
    (file,) = (tmp_path / "a.partial").glob(f"{kind}.*")
    content = bytearray(file.read_bytes())
    content[-2] ^= 1
    file.write_bytes(content)
    check(encode(tmp_path / "a"))


def test_one_process_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")

    def again(record: Any) -> None:
        encode(tmp_path / "a")

    with pytest.raises(InputError, match="another process is writing"):
        encode(tmp_path / "a", again)


@pytest.mark.parametrize("place", ["raw", "codes"])
def test_a_full_disk_leaves_what_was_written(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a"
    with monkeypatch.context() as patch:
        if place == "raw":
            full = _full_after(3, spool.write_shard)
            patch.setattr("hedgerow.corpora.job.write_shard", full)
        else:
            patch.setattr(column_files.os, "fsync", _full_after(60, os.fsync))
        with pytest.raises(
            OSError, match=r"the disk is full.*(bytes|kB) more are needed.*make room and call encode again"
        ):
            encode(folder)
    assert (tmp_path / "a.partial").is_dir()
    check(encode(folder))


def _full_after(n: int, real: Any) -> Any:
    """A function that fails from its n-th call on, as on a full disk."""
    calls = 0

    def call(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= n:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    return call


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def opening(self: Path, *arguments: Any, **named: Any) -> Any:
        if self.name == "gold.bin" and arguments == ("ab",) and self.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opening)
        with pytest.raises(OSError, match=r"the disk is full: .*gold\.bin could not be written"):
            encode(tmp_path / "a")
    check(encode(tmp_path / "a"))
