"""hedgerow encode, and train and evaluate on its folder."""

from __future__ import annotations

import json

import pytest

import hedgerow as hr
from builders.cli import Command, column_text

COLUMNS = ("--columns", "word,tag,chunk")


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(8))
    command.write("test.txt", column_text(3))
    return command


def test_a_model_of_a_folder_is_that_of_the_file(hedgerow):
    done = hedgerow("encode", "train.txt", "-o", "train.corpus", "--template", "words", *COLUMNS)
    assert (done.code, done.out) == (0, ""), done.err
    assert "8 sequences" in done.err
    done = hedgerow("encode", "test.txt", "-o", "test.corpus", "--like", "train.corpus", "--json")
    facts = json.loads(done.out)
    assert facts["sequences"] == 3
    assert facts["shards"] == 1
    settings = "--model", "perceptron", "--epochs", "2", "--quiet"
    assert hedgerow("train", "train.corpus", "-o", "a.hedgerow", *settings, "--dev", "test.corpus").code == 0
    assert hedgerow("train", "train.txt", "-o", "b.hedgerow", *settings, *COLUMNS, "-t", "words").code == 0
    by_folder, by_file = (hedgerow("evaluate", "a.hedgerow", test, "--json") for test in ("test.corpus", "test.txt"))
    scores = [json.loads(done.out)["accuracy"] for done in (by_folder, by_file)]
    assert scores[0] == scores[1]
    tagged = [hedgerow("tag", model, "test.txt").out for model in ("a.hedgerow", "b.hedgerow")]
    assert tagged[0] == tagged[1]


def test_several_files_and_standard_input(hedgerow, monkeypatch):
    both = column_text(8) + "\n" + column_text(3)
    assert hedgerow("encode", "train.txt", "test.txt", "-o", "a.corpus", "-q").code == 0
    assert len(hr.Encoded.open(hedgerow.folder / "a.corpus")) == 11
    done = hedgerow("encode", "-", "-o", "b.corpus", "-q", stdin=both)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(hr.Encoded.open(hedgerow.folder / "b.corpus")) == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "train.txt"], "--output is not given"),
        (["encode", "train.txt", "-o", "a.corpus"], "a.corpus exists already; use --force"),
        (["encode", "nothing.txt", "-o", "b.corpus"], "cannot read nothing.txt: there is no such file"),
        (["encode", "train.txt", "-o", "b.corpus", "--like", "a.corpus", "-t", "words"], "leave --template out"),
        (["encode", "train.txt", "-o", "b.corpus", "--min-freq", "0"], "min_freq must be an integer of at least 1"),
        (["encode", "train.txt", "-o", "b.corpus", "-t", "wrods"], "--template must be a file, words"),
        (["train", "a.corpus", "-o", "m.hedgerow", "-t", "words"], "--template says how a file is encoded"),
        (["train", "none.corpus", "-o", "m.hedgerow"], "none.corpus must have labels"),
        (["tag", "m.hedgerow", "a.corpus"], "but a.corpus is a corpus; name the file"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(hedgerow, arguments, message):
    hedgerow("encode", "train.txt", "-o", "a.corpus", "-q")
    hedgerow("encode", "train.txt", "-o", "none.corpus", "-q", "--label", "none")
    done = hedgerow(*arguments)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert message in done.err


def test_damage_is_said_in_one_line(hedgerow):
    hedgerow("encode", "train.txt", "-o", "a.corpus", "-q")
    (hedgerow.folder / "a.corpus" / "gold.bin").write_bytes(b"")
    done = hedgerow("train", "a.corpus", "-o", "m.hedgerow")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "gold.bin must have" in done.err
