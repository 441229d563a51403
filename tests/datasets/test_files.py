"""Finding files: the order of places, checksums, downloads from a local server, being offline."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.datasets.files import DataFile, cache_folder, find
from hedgerow.errors import DataNotFoundError, InputError

CONTENT = b"some text\n" * 100
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address that serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    monkeypatch.setenv("HEDGEROW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def a_file(url: str | None = None, sha256: str = SHA256) -> DataFile:
    return DataFile("set/file.txt", sha256, "the origin of the file", url)


def put(folder: Path, content: bytes = CONTENT) -> Path:
    path = folder / "set" / "file.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_own_folder_comes_before_the_cache(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, cached = put(tmp_path / "own", b"another version"), put(cache)
    assert find(a_file()) == cached
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path / "own"))
    assert find(a_file()) == own
    own.unlink()
    assert find(a_file()) == cached


def test_a_changed_file_in_the_cache_is_refused(cache: Path) -> None:
    put(cache, b"changed")
    with pytest.raises(InputError, match=f"expected SHA-256 {SHA256}, found .*; delete it"):
        find(a_file())


@pytest.mark.parametrize("packed", [False, True])
def test_download_checks_unpacks_and_keeps(packed: bool, served: tuple[Path, str], cache: Path) -> None:
    folder, address = served
    (folder / "f").write_bytes(gzip.compress(CONTENT) if packed else CONTENT)
    path = find(a_file(f"{address}/f"))
    assert path == cache / "set" / "file.txt"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]
    (folder / "f").unlink()
    assert find(a_file(f"{address}/f")) == path


@pytest.mark.parametrize(
    "content",
    [b"another file", gzip.compress(CONTENT)[:-9], b"\x1f\x8bnothing"],
    ids=["another", "truncated", "no archive"],
)
def test_a_wrong_download_leaves_nothing(content: bytes, served: tuple[Path, str], cache: Path) -> None:
    folder, address = served
    (folder / "f").write_bytes(content)
    with pytest.raises(DataNotFoundError, match=r"serves another file now: SHA-256 \w+|downloading .* failed"):
        find(a_file(f"{address}/f"))
    assert not cache.exists()


def test_offline_says_which_file_goes_where(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = "http://127.0.0.1:9/f"
    with pytest.raises(DataNotFoundError) as caught:
        find(a_file(closed))
    message = str(caught.value)
    for part in ("set/file.txt was not found", closed, "$HEDGEROW_DATA/set/file.txt", "the origin"):
        assert part in message
    assert SHA256 not in message  # which a file in HEDGEROW_DATA need not have
    monkeypatch.setenv("HEDGEROW_DATA", "mine")
    with pytest.raises(DataNotFoundError, match=f"put it at {Path('mine') / 'set' / 'file.txt'}"):
        find(a_file(closed))


def test_missing_page_is_an_error(served: tuple[Path, str]) -> None:
    with pytest.raises(DataNotFoundError, match="404"):
        find(a_file(f"{served[1]}/none"))


def test_without_an_address_or_without_pooch(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFoundError, match="it has no public address; put it at"):
        find(a_file())
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataNotFoundError, match=r"needs pooch: pip install 'hedgerow\[data\]'"):
        find(a_file("http://127.0.0.1:9/f"))


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"HEDGEROW_CACHE": "/own"}, Path("/own")),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, Path("/xdg/hedgerow")),
        ("linux", {}, Path("/home/x/.cache/hedgerow")),
        ("darwin", {}, Path("/home/x/Library/Caches/hedgerow")),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/hedgerow/Cache")),
        ("win32", {}, Path("/home/x/AppData/Local/hedgerow/Cache")),
    ],
)
def test_cache_folder_of_each_platform(
    platform: str, variables: dict[str, str], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HEDGEROW_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/x"))
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == expected


ORIGINALS = os.environ.get("HEDGEROW_DATA")


@pytest.mark.skipif(not ORIGINALS, reason="HEDGEROW_DATA is not set: the original files are not here")
@pytest.mark.parametrize(
    ("name", "splits"),
    [
        ("nettalk", ["train", "test", "all"]),
        ("protein", ["train", "test"]),
        ("hyphen", ["train", "test"]),
        ("conll2000", ["train", "test"]),
        ("letters", ["train"]),
        ("perlfaq", ["all"]),
        ("atis", ["train", "dev", "test"]),
        ("ozone", ["all"]),
    ],
)
def test_recorded_checksums_are_those_of_the_files(
    name: str, splits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEDGEROW_CACHE", str(ORIGINALS))  # in the cache, checksums count
    for split in splits:
        assert len(hr.datasets.load(name, split)) > 0


def test_absent_sets_are_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nettalk", "hyphen", "letters", "perlfaq", "atis"):
        with pytest.raises(DataNotFoundError, match=r"no public address; put it at .*Where it comes from: "):
            hr.datasets.load(name)
    monkeypatch.setitem(sys.modules, "pooch", None)
    for name in ("protein", "conll2000", "ozone"):
        with pytest.raises(DataNotFoundError, match="downloading needs pooch"):
            hr.datasets.load(name)
