"""hedgerow demo: three estimators learn the embedded words; what it prints, and what it gives to programs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hedgerow.cli import demo


@pytest.fixture(scope="module")
def learned():
    return demo._learn()


def test_trees_beat_weights_and_weights_beat_counts(learned):
    hmm, linear, trees = learned[0]["results"]
    assert [row["estimator"] for row in (hmm, linear, trees)] == ["HMM", "LinearCRF", "TreeCRF"]
    for share in ("letters_right", "words_right"):
        assert hmm[share] + 0.1 < linear[share] < trees[share] - 0.02


def test_words_are_shown_letter_by_letter(learned, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    demo._show(*learned)
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "\x1b" not in shown  # no colours in a pipe
    for reading in learned[1]:
        sounds = next(line for line in shown.splitlines() if line.split()[1:] == reading["predicted"])
        assert len(sounds.split()) == len(reading["word"]) + 1
    corrections = [line for line in shown.splitlines() if line.startswith("correct ")]
    assert len(corrections) == sum(reading["predicted"] != reading["correct"] for reading in learned[1])
    assert "hedgerow train FILE --output model.hedgerow" in shown


def test_colours_follow_the_probability(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    from rich.console import Console

    reading = {"word": "ab", "predicted": ["x", "y"], "probability": [0.95, 0.3], "correct": ["x", "y"]}
    console = Console(force_terminal=True, color_system="standard", width=80)
    console.print(demo._letters(reading))
    shown = capsys.readouterr().out
    assert "\x1b[32mx" in shown
    assert "\x1b[31my" in shown


@pytest.mark.slow
def test_json_is_the_only_output():
    command = [sys.executable, "-m", "hedgerow", "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)
    assert (facts["train_words"], facts["test_words"], done.stderr) == (3000, 1000, "")
    assert all(0 < p <= 1 for reading in facts["words"] for p in reading["probability"])
