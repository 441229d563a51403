"""A save that is refused or fails leaves the old file as it was, and nothing beside it."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.storage import ARRAYS, METADATA, same
from hedgerow import storage
from hedgerow.compat import CRF
from hedgerow.errors import InputError


@pytest.mark.parametrize(
    ("arrays", "metadata", "message"),
    [
        ({"a": np.array(["x"])}, {}, "array 'a' has dtype <U1; convert it to one of BOOL, U8"),
        ({"a": np.array([None])}, {}, "array 'a' has dtype object"),
        ({"a": np.array([1j])}, {}, "array 'a' has dtype complex128"),
        ({"": np.zeros(1)}, {}, "an array is called ''"),
        ({"__metadata__": np.zeros(1)}, {}, "an array is called '__metadata__'"),
        ({"\ud800": np.zeros(1)}, {}, "an array is called"),
        ({"a": np.zeros((1,) * 33)}, {}, "33 dimensions"),
        ({}, {"a": float("nan")}, "metadata cannot be written as JSON"),
        ({}, {"a": {1, 2}}, "metadata cannot be written as JSON"),
        ({}, {"a": "x" * 2000}, "at most 2000 fit; store long lists as arrays"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_work(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    arrays: dict[str, np.ndarray],
    metadata: dict[str, Any],
    message: str,
) -> None:
    monkeypatch.setattr(storage, "_MAX_HEADER", 2000)
    before = model.read_bytes()
    with pytest.raises(InputError, match=message):
        storage.write(model, arrays, metadata)
    assert_untouched(model, before)


def assert_untouched(model: Path, before: bytes) -> None:
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


def test_a_missing_folder_or_a_folder_as_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent; create it first"):
        storage.write(tmp_path / "absent" / "m", ARRAYS, {})
    with pytest.raises(IsADirectoryError, match="it is a folder; name a file in it"):
        storage.write(tmp_path, ARRAYS, {})
    assert not list(tmp_path.iterdir())


FAILURES = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]


def fail_to_fsync(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    def fsync(descriptor: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fsync)


def fail_to_rename(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    def replace(self: Path, target: Path) -> None:
        raise failure

    monkeypatch.setattr(Path, "replace", replace)


def fail_to_write(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    """The header goes through, the first array does not."""
    created = storage._created

    def created_failing(temporary: Path, target: Path) -> Any:
        file = created(temporary, target)

        class Failing:
            def __enter__(self) -> Failing:
                return self

            def __exit__(self, *rest: object) -> None:
                file.close()

            def write(self, part: bytes) -> None:
                if file.tell():
                    raise failure
                file.write(part)

        return Failing()

    monkeypatch.setattr(storage, "_created", created_failing)


@pytest.mark.parametrize("failure", FAILURES, ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("fail", [fail_to_write, fail_to_fsync, fail_to_rename])
def test_a_failed_save_leaves_the_old_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[..., None], failure: BaseException
) -> None:
    before = model.read_bytes()
    with monkeypatch.context() as patch:
        fail(patch, failure)
        with pytest.raises(type(failure)) as caught:
            storage.write(model, {"a": np.zeros(3)}, {})
    if isinstance(caught.value, OSError):
        assert caught.value.errno == errno.ENOSPC
        assert "No space left on device" in str(caught.value)
        assert str(model) in str(caught.value)
        assert "the old file is intact" in str(caught.value)
    assert_untouched(model, before)
    storage.write(model, {"a": np.zeros(3)}, {})
    assert list(storage.read(model)[0]) == ["a"]


def test_a_failed_first_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_to_fsync(monkeypatch, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(OSError, match="no file was left behind"):
        storage.write(tmp_path / "m", ARRAYS, {})
    assert not list(tmp_path.iterdir())


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on file sizes")
def test_a_really_full_disk(model: Path) -> None:
    """The system itself refuses to write beyond 64 kB."""
    before = model.read_bytes()
    done = run(
        """
        import resource, sys
        import numpy as np
        from hedgerow import storage
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        try:
            storage.write(sys.argv[1], {"a": np.zeros(100_000)}, {})
        except OSError as error:
            print(error)
        """,
        str(model),
    )
    assert done.returncode == 0, done.stderr
    assert "the old file is intact" in done.stdout
    assert_untouched(model, before)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder(model: Path) -> None:
    before = model.read_bytes()
    model.parent.chmod(0o555)
    try:
        with pytest.raises(PermissionError, match="the old file is intact"):
            storage.write(model, ARRAYS, {})
    finally:
        model.parent.chmod(0o755)
    assert_untouched(model, before)


def test_a_folder_that_cannot_be_flushed_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        plain_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    storage.write(tmp_path / "m", ARRAYS, METADATA)
    assert same(storage.read(tmp_path / "m")[0], ARRAYS)


def test_saving_over_a_file_in_use_and_through_a_link(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(model)
    arrays, _ = storage.read(model)
    storage.write(link, {"a": np.zeros(3)}, {})
    assert link.is_symlink()
    assert list(storage.read(model)[0]) == ["a"]
    assert same(arrays, ARRAYS)  # the views keep the old file alive


@pytest.mark.skipif(os.name == "nt", reason="Windows has other access rights")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_replaced_file_passes_its_access_rights_on(model: Path, mode: int) -> None:
    model.chmod(mode)
    storage.write(model, ARRAYS, METADATA)
    assert stat.S_IMODE(model.stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="Windows has other access rights")
def test_a_new_file_has_the_access_rights_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        storage.write(tmp_path / "m", ARRAYS, METADATA)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_whether_a_file_can_be_written_is_known_beforehand(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()
    storage.check_writable(model)
    assert_untouched(model, before)
    for path in (model.parent / "absent" / "m", model.parent, model / "m"):
        with pytest.raises(OSError, match="cannot save"):
            storage.check_writable(path)

    def refuse(*_: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match=r"cannot save .* \(Permission denied\); choose a folder that you may write to"):
        storage.check_writable(model)
    with pytest.raises(OSError, match=r"the old file is intact; choose a folder that you may write to"):
        storage.write(model, ARRAYS, METADATA)
    assert_untouched(model, before)


X, Y = ["ab", "ba", "ab"], [["x", "y"], ["y", "x"], ["x", "y"]]
WRITERS: dict[str, Callable[[Path], Any]] = {
    "save": lambda path: hr.HMM().fit(X, Y).save(path),
    "report": lambda path: hr.report(hr.HMM().fit(X, Y), X, Y, path, force=True),
    "write": lambda path: hr.write(path, X, Y, overwrite=True),
    "checkpoint": lambda path: hr.TreeCRF(n_rounds=1, checkpoint=path).fit(X, Y),
    "race": lambda path: hr.tune(X, Y, estimators=["HMM"], random_state=0, n_jobs=1, checkpoint=path),
    "CRFsuite": lambda path: CRF(model_filename=str(path)).fit([[["a"], ["b"]]], [["x", "y"]]),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_pipe_is_not_replaced(tmp_path: Path, write: Callable[[Path], Any]) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(InputError, match=f"{path} must be a file to write, but it is a device or a pipe; name a"):
            write(path)
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_names_that_no_file_can_have_are_refused(tmp_path: Path, write: Callable[[Path], Any]) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file, because it has a zero character"):
        write(tmp_path / "a\0b")
    with pytest.raises(OSError, match=r"cannot save .* \(File name too long\); choose"):
        write(tmp_path / ("x" * 300))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["save", "report", "write"])
def test_an_empty_path_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="the path must name a file to write, but it is empty; name a file"):
        WRITERS[name]("")  # type: ignore[arg-type]


def test_a_race_is_kept_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "race.json")
    WRITERS["race"](link)
    assert link.is_symlink()
    assert (tmp_path / "race.json").is_file()


def test_a_read_only_file_is_not_replaced(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()
    # Root, who may run the tests, can write every file.
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == model.resolve() and mode == os.W_OK))
    for refused in (lambda: storage.write(model, ARRAYS, METADATA), lambda: storage.check_writable(model)):
        with pytest.raises(PermissionError, match="the file is read-only; choose another name, or make it writable"):
            refused()
        assert_untouched(model, before)
