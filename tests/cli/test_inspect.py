"""hedgerow inspect: what models learned, in words that agree with what happened."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hedgerow as hr
from builders.cli import Command, column_text


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(30))
    return command


def test_the_transitions_of_an_hmm(hedgerow):
    assert hedgerow("train", "train.txt", "-m", "hmm", "-o", "m.hedgerow").code == 0
    facts = json.loads(hedgerow("inspect", "m.hedgerow", "--json", "--top", "100").out)
    model = hr.load("m.hedgerow")
    table = np.exp(model.model_.potential.transitions)
    rows = [None, *model.classes_.tolist()]
    for one in facts["transition_probabilities"]:
        before, label = one["labels"]
        assert one["probability"] == table[rows.index(before), rows.index(label) - 1]
    probabilities = [one["probability"] for one in facts["transition_probabilities"]]
    assert len(probabilities) == table.size
    assert probabilities == sorted(probabilities, reverse=True)
    shown = hedgerow("inspect", "m.hedgerow", "--top", "2").out
    assert "most probable transitions" in shown
    assert "(start)" in shown
    assert "1 round," in shown


def test_the_distance_of_code_words(hedgerow):
    flags = ("-m", "code", "--base", "hmm", "--code", "one-vs-rest", "-o", "m.hedgerow")
    assert hedgerow("train", "train.txt", *flags).code == 0
    assert json.loads(hedgerow("inspect", "m.hedgerow", "--json").out)["code"] == {"bits": 4, "least_distance": 2}
    assert "code        4 bits; two labels differ in at least 2 bits" in hedgerow("inspect", "m.hedgerow").out


@pytest.mark.parametrize(
    ("estimator", "order"),
    [
        (hr.SearchTagger(order=2, epochs=1, n_jobs=1), 2),
        (hr.OutputCode(base=hr.HMM(order=1), n_jobs=1), 1),
        (hr.OutputCode(base=hr.HMM(order=0), distance="lattice", order=2, n_jobs=1), 2),
        (hr.HMM(order=0), 0),
    ],
)
def test_the_order_is_that_of_the_labels(hedgerow, estimator, order):
    estimator.fit(["abc", "cab"] * 3, [["x", "y", "z"], ["z", "x", "y"]] * 3).save("m.hedgerow")
    assert json.loads(hedgerow("inspect", "m.hedgerow", "--json").out)["order"] == order
    assert f"order       {order}\n" in hedgerow("inspect", "m.hedgerow").out


def test_a_calibrated_model_says_so(hedgerow):
    model = hr.HMM().fit(["ab", "ba"], [["x", "y"], ["y", "x"]])
    model.save("m.hedgerow")
    assert "calibrated" not in hedgerow("inspect", "m.hedgerow").out
    assert json.loads(hedgerow("inspect", "m.hedgerow", "--json").out)["temperature"] == 1
    calibrated = hr.calibrate(model, ["ab", "ba", "aa"], [["x", "y"], ["y", "x"], ["y", "y"]])
    calibrated.save("c.hedgerow")
    temperature = f"{calibrated.model_.temperature:.4g}"
    assert f"calibrated  scores divided by {temperature}\n" in hedgerow("inspect", "c.hedgerow").out


def test_rounds_of_the_model_and_of_the_search(hedgerow):
    assert hedgerow("train", "train.txt", "--columns", "word,tag,label", "-o", "m.hedgerow").code == 0
    log = hr.load("m.hedgerow").training_log_
    training = json.loads(hedgerow("inspect", "m.hedgerow", "--json").out)["training"]
    assert training["steps"] == sum(record["fit"] == "all" for record in log) == log[-1]["n_rounds"]
    assert training["steps"] + training["steps_of_search"] == len(log)
    shown = hedgerow("inspect", "m.hedgerow").out
    assert (
        f"{training['steps']} rounds, the number found on held-out sequences in {training['steps_of_search']}" in shown
    )
    assert "a file of format conll with the columns word, tag; labels in label" in shown


def test_numbers_are_tested_by_any_threshold(hedgerow):
    rows = "".join(f"{i // 5},{i % 5}.5,{'on' if i % 5 > 2 else 'off'}\n" for i in range(40))
    hedgerow.write("light.csv", f"sequence,light,label\n{rows}")
    assert hedgerow("train", "light.csv", "--n-rounds", "2", "-o", "m.hedgerow").code == 0
    assert ", any value" in hedgerow("inspect", "m.hedgerow").out


def test_weights_of_numbers_are_for_one_standard_deviation(hedgerow):
    rows = "".join(f"{i // 5},{i % 5}.5,{i % 5}000.5,{'on' if i % 5 > 2 else 'off'}\n" for i in range(40))
    hedgerow.write("light.csv", f"sequence,light,mirror,label\n{rows}")
    flags = ("-m", "linear", "--solver", "lbfgs")
    assert hedgerow("train", "light.csv", *flags, "-o", "m.hedgerow").code == 0
    facts = json.loads(hedgerow("inspect", "m.hedgerow", "--json").out)
    light, mirror = (
        {abs(w["weight"]) for w in facts["weights"] if w["attribute"] == name} for name in ("light", "mirror")
    )
    assert light
    assert sorted(light) == pytest.approx(sorted(mirror), rel=0.01)
    assert facts["weights_note"] in hedgerow("inspect", "m.hedgerow").out
