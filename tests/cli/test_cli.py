"""The command as a user meets it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


def hedgerow(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-c", "from hedgerow.cli import main; main()", *arguments],
        capture_output=True, text=True, env=env,
    )  # fmt: skip


def test_demo_learns_and_tells():
    done = hedgerow("demo", "--n-rounds", "3")
    assert done.returncode == 0, done.stderr
    assert "other words (many are forms of a word in training):" in done.stdout
    assert done.stderr == ""  # no progress bar in a pipe


def test_demo_shows_what_is_right_where_it_is_wrong():
    wide = {**os.environ, "COLUMNS": "120"}
    lines = hedgerow("demo", "--n-rounds", "15", env=wide).stdout.splitlines()
    (head,) = (line for line in lines if "correct sounds" in line)
    rows = lines[lines.index(head) + 2 :][:10]
    predicted = [row[head.index("predicted") : head.index("correct")].split() for row in rows]
    right = [row[head.index("correct") :].split() for row in rows]
    assert all(len(row.split()[0]) == len(sounds) for row, sounds in zip(rows, predicted, strict=True))
    assert [] in right
    mistaken = [(a, b) for a, b in zip(predicted, right, strict=True) if b]
    assert mistaken
    assert all(len(a) == len(b) and a != b for a, b in mistaken)


@pytest.mark.slow
def test_demo_beats_the_hmm_and_is_repeatable():
    facts = json.loads(hedgerow("demo", "--json").stdout)
    assert facts["model"] == "TreeCRF(window=4, n_rounds=40, random_state=0)"
    assert facts["letter_accuracy"] > facts["hmm_letter_accuracy"] + 0.1
    short = ("demo", "--json", "--n-rounds", "5")
    once, again = (json.loads(hedgerow(*short, "--n-jobs", n).stdout)["letter_accuracy"] for n in ("2", "1"))
    assert once == again < facts["letter_accuracy"]


def test_demo_takes_the_declared_parameters():
    facts = json.loads(hedgerow("demo", "--json", "--n-rounds", "2", "--window", "1", "--l2", "0.5").stdout)
    assert facts["model"] == "TreeCRF(window=1, n_rounds=2, l2=0.5, random_state=0)"
    assert facts["letter_accuracy"] > 0.3
    shown = hedgerow("demo", "--help").stdout
    for flag in ("--order", "--window", "--missing", "--decode", "--n-jobs", "--random-state", "--json"):
        assert flag in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo", "--order", "-2"), "hedgerow: TreeCRF: order must be an integer of at least 0; it is -2"),
        (("demo", "--early-stopping", "luck"), "Invalid value"),
        (("datasets", "nothing"), "nothing"),
        (("demo", "--order", "x"), "Invalid value"),
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
