"""The command in a real terminal: bar, colours, narrow windows, resizing, escapes, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import sys
import time

import pytest

import hedgerow as hr
from builders.cli import column_text

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A command in a pseudo-terminal."""

    def __init__(self, folder, *arguments, columns=80):
        self.text = ""
        self._outside, inside = pty.openpty()
        self.resize(columns)
        own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        environment = {**own, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hedgerow", *map(str, arguments)],
            stdin=inside, stdout=inside, stderr=inside, cwd=folder, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(inside)

    def resize(self, columns):
        fcntl.ioctl(self._outside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read_until(self, wanted):
        while wanted not in self.text:
            self.text += os.read(self._outside, 4096).decode("utf-8", "replace")

    def end(self):
        """The exit code; all output is in `text`."""
        try:
            while chunk := os.read(self._outside, 4096):
                self.text += chunk.decode("utf-8", "replace")
        except OSError:  # Linux says so when the other side is closed
            pass
        os.close(self._outside)
        return self.process.wait()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.txt").write_text(column_text(60))
    return tmp_path


def frames(text):
    """What the bar showed, one text for each time that it was drawn."""
    plain = ESCAPES.sub("", text)
    return [line for line in re.split(r"[\r\n]+", plain) if "━" in line]


@pytest.mark.parametrize("columns", [100, 80, 50])
def test_training_draws_a_bar_that_fits_the_window(folder, columns):
    flags = ("--dev", "train.txt", "-m", "treecrf", "--n-rounds", "60", "-o", "m.hedgerow")
    terminal = Terminal(folder, "train", "train.txt", *flags, columns=columns)
    assert terminal.end() == 0, terminal.text
    assert "\x1b[38;5;" in terminal.text or "\x1b[3" in terminal.text  # colours
    drawn = frames(terminal.text)
    assert all(len(frame) <= columns for frame in drawn)
    last = drawn[-1]
    assert "60/60" in last
    assert "0:00:0" in last  # time left
    assert "loss" in last or columns == 50
    assert "dev span f1" in last or columns == 50
    assert "TreeCRF: 60 rounds, loss" in terminal.text  # the line that stays
    assert "trained in" in terminal.text


def test_the_bar_follows_a_resize(folder):
    terminal = Terminal(folder, "train", "train.txt", "-m", "treecrf", "--n-rounds", "2000", "-o", "m.hedgerow")
    terminal.read_until("2000")
    before = len(terminal.text)
    terminal.resize(45)
    time.sleep(0.3)  # a frame or two that were drawn before
    assert terminal.end() == 0
    drawn = frames(terminal.text[before:])
    assert len(drawn[-1]) <= 45


def test_quiet_shows_no_bar(folder):
    terminal = Terminal(folder, "train", "train.txt", "-m", "hmm", "-o", "m.hedgerow", "--quiet")
    assert terminal.end() == 0
    assert terminal.text == ""


def test_control_characters_are_escaped_on_a_terminal(folder):
    (folder / "new.txt").write_text("\x1b[31mred X\n")
    hr.HMM().fit([["a", "b"]] * 3, [["x", "y"]] * 3).save(folder / "m.hedgerow")
    terminal = Terminal(folder, "tag", "m.hedgerow", "new.txt")
    assert terminal.end() == 0
    assert "\x1b" not in terminal.text
    assert r"\x1b[31mred X " in terminal.text


def test_ctrl_c_keeps_what_was_learned(folder):
    flags = ("-m", "treecrf", "--n-rounds", "1000000", "-o", "m.hedgerow")
    terminal = Terminal(folder, "train", "train.txt", *flags)
    terminal.read_until("/1000000")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "m.hedgerow has what was learned so far" in terminal.text
    assert "Traceback" not in terminal.text
    assert len(hr.load(folder / "m.hedgerow").training_log_) >= 1


def test_ctrl_c_while_waiting_for_input_is_quiet(folder):
    hr.HMM().fit([["a", "b"]] * 3, [["x", "y"]] * 3).save(folder / "m.hedgerow")
    command = [sys.executable, "-m", "hedgerow", "tag", "m.hedgerow"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"a\n\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"a x\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""
