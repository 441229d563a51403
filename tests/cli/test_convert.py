"""hedgerow convert and datasets --output: files that read back as the same sequences."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hedgerow as hr
from builders.cli import Command, column_text

DUMP = """\
LABELS = {
      0: DT
      1: NN
}
ATTRIBUTES = {
      0: w=the
}
TRANSITIONS = {
  (1) DT --> NN: 1.500000
}
STATE_FEATURES = {
  (0) w=the --> DT: 2.000000
}
"""


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("in.txt", column_text(6))
    return command


@pytest.mark.parametrize("name", ["out.conll", "out.jsonl", "out.csv", "out.tsv"])
def test_there_and_back_again(hedgerow, name):
    done = hedgerow("convert", "in.txt", name, "--columns", "word,tag,chunk")
    assert (done.code, done.out) == (0, ""), done.err
    X, y = hr.read(name)
    before, labels = hr.read("in.txt", columns=["word", "tag", "chunk"])
    assert len(X) == 6
    assert [list(sequence) for sequence in y] == [list(sequence) for sequence in labels]
    assert np.array_equal(X.lengths, before.lengths)
    back = hedgerow("convert", name, "back.txt", "--to", "conll")
    assert back.code == 0, back.err
    assert [list(sequence) for sequence in hr.read("back.txt").y] == [list(sequence) for sequence in labels]


def test_labels_of_another_scheme(hedgerow):
    done = hedgerow("convert", "in.txt", "--labels", "IOBES")
    assert done.out.splitlines()[:3] == ["the DT B-NP", "cat NN E-NP", "sat VBD S-VP"]
    hedgerow.write("iobes.txt", done.out)
    assert hedgerow("convert", "iobes.txt", "--labels", "IOB2", "--labels-from", "IOBES").out == column_text(6)
    assert "NOB" in hedgerow("convert", "in.txt", "--labels", "NOB").err
    assert "--labels is not given" in hedgerow("convert", "in.txt", "--labels-from", "IOB2").err


def test_standard_input_and_output(hedgerow):
    done = hedgerow("convert", "-", "--to", "jsonl", stdin=column_text(2))
    assert done.code == 0, done.err
    assert len([json.loads(line) for line in done.out.splitlines()]) == 2


def test_json_is_a_summary(hedgerow):
    facts = json.loads(hedgerow("convert", "in.txt", "out.jsonl", "--json").out)
    assert (facts["sequences"], facts["output"]) == (6, "out.jsonl")
    assert "name OUT" in hedgerow("convert", "in.txt", "--json").err


def test_probabilities_of_a_model_whose_labels_are_not_sorted(hedgerow):
    hedgerow.write("dump.txt", DUMP.replace("DT", "zz").replace("NN", "aa"))
    assert hedgerow("convert", "dump.txt", "m.hedgerow").code == 0
    model = hr.load(hedgerow.folder / "m.hedgerow")
    assert model.classes_.tolist() == ["zz", "aa"]
    x = [["w=the"], ["w=cat"]]
    labels = model.predict_single(x).tolist()
    expected = [p[label] for label, p in zip(labels, model.predict_marginals([x])[0], strict=True)]
    hedgerow.write("items.txt", "zz\tw=the\naa\tw=cat\n")
    tagged = json.loads(hedgerow("tag", "m.hedgerow", "items.txt", "--proba", "--json").out)
    assert (tagged["labels"], tagged["probabilities"]) == (labels, pytest.approx(expected))
    bins = json.loads(hedgerow("evaluate", "m.hedgerow", "items.txt", "--json").out)["calibration"]
    assert sum(b["positions"] * b["mean_probability"] for b in bins) == pytest.approx(sum(expected))


@pytest.mark.parametrize("flags", [[], ["--from", "crfsuite-model"]])
def test_a_model_of_crfsuite_becomes_a_model(hedgerow, flags):
    hedgerow.write("dump.txt", DUMP)
    done = hedgerow("convert", "dump.txt", "m.hedgerow", *flags)
    assert done.code == 0, done.err
    tagged = hedgerow("tag", "m.hedgerow", stdin="X\tw=the\nX\tw=cat\n\n")
    assert tagged.out == "DT\tw=the\nNN\tw=cat\n\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.txt", "there.txt"], "use --force"),
        (["in.txt", "."], "folder"),
        (["absent.txt", "out.txt"], "absent.txt"),
        (["in.txt", "out.txt", "--to", "excel"], "excel"),
        (["in.txt", "out.txt", "--from", "excel"], "excel"),
        (["in.txt", "m.hedgerow"], "in.txt"),
        ([".", "m.hedgerow"], "folder"),
        (["in.txt", "--from", "crfsuite-model"], "OUT is not given"),
    ],
)
def test_bad_input_is_refused_in_one_line(hedgerow, arguments, message):
    hedgerow.write("there.txt", "precious")
    done = hedgerow("convert", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert (hedgerow.folder / "there.txt").read_text() == "precious"


def test_a_data_set_is_written(hedgerow):
    done = hedgerow("datasets", "pronounce", "--split", "test", "--output", "words.txt")
    assert (done.code, done.out) == (0, ""), done.err
    data = hr.datasets.load("pronounce", "test")
    y = hr.read("words.txt").y
    assert [list(labels) for labels in y] == [list(labels) for labels in data.y]
    assert "use --force" in hedgerow("datasets", "pronounce", "--output", "words.txt").err
    assert "name it" in hedgerow("datasets", "--output", "w.txt").err
