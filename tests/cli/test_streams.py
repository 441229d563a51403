"""Output that is closed, full, or of another encoding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow as hr

HEDGEROW = f"{sys.executable} -m hedgerow"


def shell(command, folder, **environment):
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}
    )


@pytest.fixture
def folder(tmp_path):
    hr.HMM().fit([["a", "b"]] * 3, [["x", "žluť"]] * 3).save(tmp_path / "m.hedgerow")
    (tmp_path / "in.txt").write_text("a\nb\n\n")
    return tmp_path


@pytest.mark.parametrize("command", ["--version", "tag m.hedgerow in.txt", "inspect m.hedgerow", "datasets"])
def test_output_that_is_closed(folder, command):
    done = shell(f"{HEDGEROW} {command} >&-", folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["--version", "tag m.hedgerow in.txt", "inspect m.hedgerow"])
def test_output_that_is_full(folder, command):
    done = shell(f"{HEDGEROW} {command} > /dev/full", folder)
    assert done.returncode == 1
    assert done.stderr == "hedgerow: no space left on device\n"


def test_output_of_another_encoding(folder):
    done = shell(f"{HEDGEROW} inspect m.hedgerow", folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert r"\u017elu\u0165" in done.stdout


def test_input_that_is_closed(folder):
    done = shell(f"{HEDGEROW} tag m.hedgerow <&-", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = shell(f"{HEDGEROW} train - -o n.hedgerow <&-", folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_pipe_is_not_replaced(folder):
    os.mkfifo(folder / "pipe")
    done = shell(f"{HEDGEROW} train in.txt -o pipe --force", folder)
    assert done.returncode == 2
    assert done.stderr == "hedgerow: pipe must be a file to write, but it is a device or a pipe; name a file\n"
    assert (folder / "pipe").is_fifo()
