"""The command as a user meets it: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def hedgerow(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-c", "from hedgerow.cli import main; main()", *arguments],
        capture_output=True, text=True, env=env,
    )  # fmt: skip


def test_demo_learns_and_tells():
    done = hedgerow("demo")
    assert done.returncode == 0, done.stderr
    assert "of letters right" in done.stdout
    assert done.stderr == ""


def test_demo_takes_the_declared_parameters():
    facts = json.loads(hedgerow("demo", "--json", "--order", "0", "--smoothing", "0.5").stdout)
    assert facts["model"] == "HMM(order=0, smoothing=0.5)"
    assert facts["letter_accuracy"] > 0.3
    better = json.loads(hedgerow("demo", "--json").stdout)
    assert better["letter_accuracy"] > facts["letter_accuracy"] + 0.05
    shown = hedgerow("demo", "--help").stdout
    for flag in ("--order", "--smoothing", "--decode", "--n-jobs", "--random-state", "--json"):
        assert flag in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo", "--order", "-2"), "hedgerow: HMM: order must be an integer at least 0; it is -2"),
        (("datasets", "nothing"), "nothing"),
        (("demo", "--order", "x"), "Invalid value"),
        (("fly",), "No such command"),
    ],
)
def test_bad_input_ends_with_2_and_says_why(arguments, message):
    done = hedgerow(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_datasets_are_listed_and_described():
    assert "pronounce" in hedgerow("datasets").stdout.split()
    assert "pronounce" in json.loads(hedgerow("datasets", "--json").stdout)
    facts = json.loads(hedgerow("datasets", "pronounce", "--split", "test", "--json").stdout)
    assert facts["sequences"] >= 500
    assert "letter" in hedgerow("datasets", "pronounce").stdout
