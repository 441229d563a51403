"""hedgerow evaluate, inspect and tune: numbers of the library, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from builders.cli import Command, column_text
from hedgerow.cli.evaluation import BINS

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.hedgerow"))


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(30))
    command.write("test.txt", column_text(12).replace("cat NN I-NP", "cat NN O").replace("sat VBD B-VP", "sat VBD B-X"))
    corpus = hr.read("train.txt")
    for name, model in (("m", hr.LinearCRF(max_iter=20)), ("p", hr.StructuredPerceptron(epochs=3, random_state=0))):
        model.fit(corpus.X, corpus.y)
        replace(model.model_, layout=corpus.layout.to_json()).save(f"{name}.hedgerow")
    return command


def test_numbers_are_those_of_the_library(hedgerow):
    facts = json.loads(hedgerow("evaluate", "m.hedgerow", "test.txt", "--json").out)
    model, (X, y) = hr.load("m.hedgerow"), hr.read("test.txt")
    predicted = model.predict(X)
    assert facts["accuracy"] == hr.metrics.accuracy(y, predicted)
    assert facts["sequence_accuracy"] == hr.metrics.sequence_accuracy(y, predicted)
    assert facts["spans"]["micro"] == hr.metrics.span_report(y, predicted).as_dict()["micro"]
    assert facts["unseen_labels"] == ["B-X"]
    assert sum(row["positions"] for row in facts["calibration"]) == facts["positions"] == len(np.concatenate(y))
    wrong = sum(pair["count"] for pair in facts["confusions"])
    assert wrong == facts["positions"] - facts["right"]
    assert facts["calibrated"] is True


def test_calibration_bins_count_what_they_say(hedgerow):
    facts = json.loads(hedgerow("evaluate", "m.hedgerow", "test.txt", "--json").out)
    model, (X, y) = hr.load("m.hedgerow"), hr.read("test.txt")
    chances = np.concatenate([p.max(axis=1) for p in model.predict_proba(X)])
    right = np.concatenate(model.predict(X)) == np.concatenate(y)
    for row in facts["calibration"]:
        assert row["from"] in BINS
        inside = (chances >= row["from"]) & ((chances < row["to"]) | (row["to"] == 1.0))
        assert row["positions"] == inside.sum()
        assert row["right"] == pytest.approx(right[inside].mean())
        assert row["mean_probability"] == pytest.approx(chances[inside].mean())


def test_text_has_every_part(hedgerow):
    done = hedgerow("evaluate", "m.hedgerow", "test.txt")
    assert done.code == 0
    for part in ("accuracy", "spans", "NP", "most frequent confusions", "probability of the predicted label", "speed:"):
        assert part in done.out
    assert "not calibrated" not in done.out
    assert "not calibrated" in hedgerow("evaluate", "p.hedgerow", "test.txt").out


def test_spans_are_read_in_the_scheme_of_the_labels(hedgerow):
    hedgerow("convert", "train.txt", "bilou.txt", "--labels", "BILOU")
    done = hedgerow("train", "bilou.txt", "-m", "linear", "--max-iter", "20", "-o", "b.hedgerow")
    assert "training span F1 100.00%" in done.err
    facts = json.loads(hedgerow("evaluate", "b.hedgerow", "bilou.txt", "--json").out)
    assert facts["spans"]["scheme"] == "BILOU"
    assert facts["spans"]["micro"]["f1"] == 1.0


def test_evaluate_refuses_files_without_labels(hedgerow):
    hedgerow.write("raw.txt", column_text(3, labels=False))
    done = hedgerow("evaluate", "m.hedgerow", "raw.txt")
    assert (done.code, done.out) == (2, "")
    assert "labels" in done.err


def test_integer_labels_are_compared_as_integers(hedgerow):
    hr.HMM().fit([["a", "b"]] * 3, [[0, 1]] * 3).save("i.hedgerow")
    hedgerow.write("i.txt", "a 0\nb 1\n\na 1\n")
    assert json.loads(hedgerow("evaluate", "i.hedgerow", "i.txt", "--json").out)["right"] == 2
    hedgerow.write("j.txt", "a 0\nb 2\n")
    assert "label '2' is not a label of the model" in hedgerow("evaluate", "i.hedgerow", "j.txt").err


def test_control_characters_of_labels_are_escaped(hedgerow):
    hr.HMM().fit([["a", "b"]] * 3, [["x", "\x1b[31m"]] * 3).save("e.hedgerow")
    hedgerow.write("e.txt", "a \x1b[31m\nb x\n")
    for arguments in (("evaluate", "e.hedgerow", "e.txt"), ("inspect", "e.hedgerow"), ("tag", "e.hedgerow", "e.txt")):
        out = hedgerow(*arguments).out
        assert r"\x1b[31m" in out
        assert arguments[0] == "tag" or "\x1b" not in out


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_kind_of_model_can_be_inspected(hedgerow, path):
    facts = json.loads(hedgerow("inspect", path, "--json", "--top", "3").out)
    assert facts["estimator"] == hr.load(path).model_.estimator
    assert all(len(facts[part] or []) <= 3 for part in ("weights", "transitions", "importances"))
    assert hedgerow("inspect", path).out.startswith("file ")


def test_inspect_shows_strongest_weights_first(hedgerow):
    facts = json.loads(hedgerow("inspect", "m.hedgerow", "--json", "--top", "5").out)
    weights = [abs(one["weight"]) for one in facts["weights"]]
    assert weights == sorted(weights, reverse=True)
    assert facts["layout"]["label"] == "column2"
    assert facts["training"]["unit"] == "iteration"
    text = hedgerow("inspect", "m.hedgerow").out
    for part in ("LinearCRF", "4: B-NP, B-VP, I-NP, O", "format conll", "strongest weights", "strongest transitions"):
        assert part in text


def test_tune_prints_its_table_and_writes_the_winner(hedgerow):
    done = hedgerow("tune", "train.txt", "--budget", "2s", "--models", "hmm,linear", "-o", "t.hedgerow", "--quiet")
    assert done.code == 0, done.err
    assert "Best of" in done.out
    assert hr.load("t.hedgerow").model_.layout["label"] == "column2"
    facts = json.loads(hedgerow("tune", "train.txt", "--budget", "2s", "--models", "hmm", "--json", "--quiet").out)
    assert facts["rows"][0]["status"] == "best"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--budget", "soon"], "budget must be"),
        (["--models", "hmm,tree"], "'tree'"),
        (["--scoring", "beauty"], "beauty"),
        (["-o", "m.hedgerow"], "use --force"),
    ],
)
def test_tune_refuses_bad_flags(hedgerow, flags, message):
    done = hedgerow("tune", "train.txt", "--quiet", *flags)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


ITEMS = "B-PER\tbias\tw=ann\ttitle\nO\tbias\tw=left\n\nO\tbias\tw=in\nB-LOC\tbias\tw=york\ttitle\n\n"


@pytest.fixture
def items(hedgerow):
    hedgerow.write("items.crfsuite.txt", ITEMS * 3)
    assert hedgerow("train", "items.crfsuite.txt", "-m", "linear", "-o", "it.hedgerow", "-q").code == 0
    return hedgerow


@pytest.mark.parametrize("verb", ["evaluate", "tag"])
def test_a_column_file_is_no_crfsuite_file(items, verb):
    done = items(verb, "it.hedgerow", "test.txt")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "test.txt, line 1: crfsuite items are a label and attributes" in done.err
    assert "this is not a crfsuite file: give --format" in done.err


def test_labels_must_be_some_of_the_model(items):
    items.write("tabs.txt", column_text(12, "\t"))
    done = items("evaluate", "it.hedgerow", "tabs.txt")
    assert (done.code, done.out) == (2, "")
    assert "must have labels of the model ('B-LOC', 'B-PER', 'O'), but it has none" in done.err


def test_the_list_of_unseen_labels_is_short(items):
    items.write("many.txt", ITEMS + "".join(f"{i:04}\tbias\n" for i in range(3000)))
    done = items("evaluate", "it.hedgerow", "many.txt")
    assert done.code == 0
    assert "counted as wrong: 0000, 0001, 0002, 0003, 0004, 0005, 0006, 0007, 0008, 0009 and 2,990 others\n" in done.out
    facts = json.loads(items("evaluate", "it.hedgerow", "many.txt", "--json").out)
    assert len(facts["unseen_labels"]) == 3000
    assert len(facts["confusions"]) == 3000 + sum(c["gold"] in ("B-PER", "O", "B-LOC") for c in facts["confusions"])


@pytest.mark.parametrize("verb", ["evaluate", "tag"])
def test_items_without_labels_need_a_flag(items, verb):
    items.write("raw.txt", "w=zzz\tbias\nbias\tw=ann\ttitle\n")
    done = items(verb, "it.hedgerow", "raw.txt")
    assert (done.code, done.out) == (2, "")
    assert "raw.txt, line 2: the first field of a crfsuite item must be its label, but 'bias' is" in done.err
    assert "give --label none" in done.err


def test_items_without_labels_keep_all_attributes(items):
    items.write("raw.txt", "bias\tw=ann\ttitle\n")
    assert items("tag", "it.hedgerow", "raw.txt", "--label", "none").out == "B-PER\tbias\tw=ann\ttitle\n"
    assert items("tag", "it.hedgerow", "-", stdin="?\tbias\tw=left\n").out == "O\tbias\tw=left\n"
