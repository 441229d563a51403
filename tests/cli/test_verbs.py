"""The group of commands: help, version, wrong commands, closed pipes, and what is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import hedgerow
from hedgerow.cli import run
from hedgerow.cli.failures import say
from hedgerow.cli.plain_text import escaped, size
from hedgerow.cli.verbs import VERBS
from hedgerow.utilities import duration

HEAVY = {"numpy", "rich", "hedgerow._core", "hedgerow.estimators"}


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], []])
def test_help_lists_every_command_on_one_screen(arguments, capsys):
    assert run(arguments) == 0
    shown = capsys.readouterr().out
    assert all(f"  {verb} " in shown for verb in VERBS)
    assert len(shown.splitlines()) <= 40


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help_that_fits_a_screen(verb, capsys):
    for flag in ("-h", "--help"):
        assert run([verb, flag]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"Usage: hedgerow {verb}")
        assert len(shown.splitlines()) <= 40


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"hedgerow {hedgerow.__version__}\n"


def test_module_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "hedgerow", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"hedgerow {hedgerow.__version__}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fly"]])
def test_help_imports_little(arguments):
    code = f"import sys, json; from hedgerow.cli import run; run({arguments!r}); print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "there is no command 'fly'; the commands are"),
        (["datsets"], "did you mean datasets?"),
        (["datasets", "--no-such-flag"], "--no-such-flag"),
        (["--no-such-flag"], "--no-such-flag"),
        (["datasets", "a", "b"], "b"),
    ],
)
def test_wrong_usage_is_one_line_and_2(arguments, message, capsys):
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("hedgerow: ")
    assert shown.err.count("\n") == 1
    assert message in shown.err


def test_a_closed_pipe_ends_quietly():
    command = f"{sys.executable} -m hedgerow datasets | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("hedgerow da", ["datasets"]),
        ("hedgerow train x --n-r", ["--n-rounds"]),
        ("hedgerow train --model linear x --max-", ["--max-iter"]),
        ("hedgerow train --model li", ["linear"]),
        ("hedgerow train --model nothing --outp", ["--output"]),
    ],
)
def test_completion_is_offered(line, found):
    completing = {"_HEDGEROW_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    environment = {**os.environ, **completing}
    command = [sys.executable, "-c", "from hedgerow.cli import main; main()"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.stdout.split(), done.stderr) == (found, "")


def test_control_characters_are_escaped(capsys):
    assert escaped("a\x1b[31mb\x9b\t\u202e") == r"a\x1b[31mb\x9b" + "\t" + r"\u202e"
    say("x\x1by\nz")
    assert capsys.readouterr().err == "hedgerow: x\\x1by z\n"


def test_sizes_and_durations_in_words():
    assert [size(n) for n in (12, 4_200, 2_500_000)] == ["12 bytes", "4 kB", "2.5 MB"]
    assert [duration(s) for s in (0.44, 99.0, 200.0)] == ["0.4 s", "99.0 s", "3 min 20 s"]
