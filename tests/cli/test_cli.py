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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("datasets", "nothing"), "nothing"),
        (("demo", "--order", "2"), "--order"),
        (("fly",), "there is no command 'fly'"),
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
