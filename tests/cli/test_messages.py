"""What commands say about wrong names, flags and files: the cure is in the words of the command line."""

from __future__ import annotations

import json
import warnings

import pytest

import hedgerow as hr
from builders.cli import Command, column_text
from hedgerow.cli.flag_spelling import naming_parameters, spelled


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(12))
    return command


@pytest.fixture
def with_model(hedgerow):
    assert hedgerow("train", "train.txt", "-m", "hmm", "-o", "m.hedgerow").code == 0
    return hedgerow


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "train.txt", "-o", "./train.txt"],
        ["train", "train.txt", "--dev", "dev.txt", "-o", "dev.txt"],
        ["train", "train.txt", "--template", "t.toml", "-o", "t.toml"],
        ["tune", "train.txt", "-o", "train.txt"],
        ["tag", "m.hedgerow", "train.txt", "-o", "train.txt"],
        ["tag", "m.hedgerow", "train.txt", "-o", "m.hedgerow"],
        ["convert", "train.txt", "train.txt"],
    ],
)
def test_no_command_replaces_its_input(with_model, arguments):
    with_model.write("dev.txt", column_text(3))
    with_model.write("t.toml", "[tags]\n")
    before = {path.name: path.read_bytes() for path in with_model.folder.iterdir()}
    done = with_model(*arguments, "--force")
    assert done.code == 2
    assert "must be another file than the input" in done.err
    assert {path.name: path.read_bytes() for path in with_model.folder.iterdir()} == before


def test_one_long_sequence_is_learned_without_a_linear_part(hedgerow):
    rows = "".join(f"{i // 60:02d}:{i % 60:02d},{i % 7}.5,{'on' if i % 7 > 3 else 'off'}\n" for i in range(120))
    hedgerow.write("one.csv", f"time,light,label\n{rows}")
    done = hedgerow("train", "one.csv", "-o", "m.hedgerow", "--n-rounds", "2")
    assert done.code == 0, done.err
    assert hr.load("m.hedgerow").linear is False
    assert "held out" not in done.err
    found = hedgerow("train", "one.csv", "-o", "a.hedgerow", "-t", "none")
    assert "with one sequence none is held out to find the number of rounds" in found.err
    refused = hedgerow("train", "one.csv", "-o", "n.hedgerow", "--n-rounds", "2", "--linear", "true")
    assert refused.code == 2
    assert "set --linear false" in refused.err


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "TreeCRF: n_rounds must be 1 or None; it is 'None'",
            "--n-rounds must be 1 or none; it is 'None'",
        ),
        ("linear must be true, false; it is 'x'", "--linear must be true, false; it is 'x'"),
        ("set linear=False", "set --linear false"),
        ("needs line_search=False", "needs --no-line-search"),
        ("use newton=True", "use --newton"),
        ("needs trees='per-label'", "needs --trees per-label"),
        ("ended after n_rounds=3 rounds; raise n_rounds", "ended after --n-rounds 3 rounds; raise --n-rounds"),
        ("there is no 'n_rounds' in the order of my_n_rounds", "there is no 'n_rounds' in the order of my_n_rounds"),
    ],
)
def test_parameters_are_spelled_as_flags(message, shown):
    assert spelled(hr.TreeCRF, message) == shown


def test_warnings_name_flags_while_a_model_is_trained():
    shown = []
    before, warnings.showwarning = warnings.showwarning, lambda message, *others, **more: shown.append(str(message))
    try:
        with warnings.catch_warnings(), naming_parameters(hr.LinearCRF):
            warnings.simplefilter("always")
            warnings.warn("raise max_iter", UserWarning, stacklevel=1)
    finally:
        warnings.showwarning = before
    assert shown == ["raise --max-iter"]


def test_a_template_of_crfpp_counts_the_columns_of_the_file(hedgerow):
    hedgerow.write("t", "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nU02\nB\n")
    flags = ("--columns", "word,tag,label", "-m", "linear", "--max-iter", "2", "-t", "t")
    done = hedgerow("train", "train.txt", *flags, "-o", "m.hedgerow")
    assert done.code == 0, done.err
    assert "derived from 'word', 'tag'" in done.err
    first = ("--columns", "chunk,word,tag", "--label", "chunk", *flags[2:])
    hedgerow.write("t", "U00:%x[0,1]\nU02\n")
    assert hedgerow("train", "train.txt", *first, "-o", "n.hedgerow").code == 0


@pytest.mark.parametrize(
    ("column", "message"), [(7, "t: line 2: column 7 must be one of 3 columns"), (2, "t: line 2: column 2 must be")]
)
def test_a_template_of_crfpp_with_a_wrong_column_is_refused_by_its_line(hedgerow, column, message):
    hedgerow.write("t", f"U00:%x[0,0]\nU01:%x[0,{column}]\n")
    done = hedgerow("train", "train.txt", "-m", "linear", "-t", "t", "-o", "m.hedgerow", "--quiet")
    assert done.code == 2
    assert message in done.err
    assert ("it is the label" in done.err) == (column == 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "x", "--outptu", "y"], "there is no flag --outptu; did you mean --output?"),
        (["train", "x", "-m", "auto", "--outptu", "y"], "there is no flag --outptu; did you mean --output?"),
        (["train", "x", "-m", "svm", "--tempate", "y"], "there is no flag --tempate; did you mean --template?"),
        (["train", "x", "--n-round", "3"], "TreeCRF has no parameter --n-round; did you mean --n-rounds?"),
        (["train", "x", "--code", "y"], "--code is a parameter of code"),
        (["train", "x", "--n-rounds", "-o", "y"], "--n-rounds needs a value, but the flag -o comes after it"),
        (["tag", "x", "--output", "--json", "y"], "--output needs a value, but the flag --json comes after it"),
        (["train", "x", "--label"], "Option '--label' requires an argument"),
        (["train", "x", "-o", "y", "-t", "wrods"], "did you mean words?"),
        (["train", "x", "-o", "y", "-t", "letters"], "letters on each side, as in letters:5"),
        (["train", "x", "-o", "y", "-t", "nowhere.toml"], "there is no such file"),
        (["train", "x", "-m", "crf"], "did you mean treecrf or linear?"),
        (["train", "x", "-m", "percepton"], "did you mean perceptron?"),
        (["tune", "x", "--models", "hmm,svn"], "did you mean svm?"),
    ],
)
def test_misspelled_names_get_a_suggestion(hedgerow, arguments, message):
    done = hedgerow(*arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_flag_after_two_dashes_or_with_an_equals_sign_is_a_value(with_model):
    assert with_model("tag", "m.hedgerow", "--output=--json", "train.txt").code == 0
    assert (with_model.folder / "--json").exists()


def test_a_window_without_effect_is_noted(hedgerow):
    note = "--window has no effect"
    flags = ("-m", "linear", "--max-iter", "2", "--window", "1", "-o", "m.hedgerow", "--force")
    assert note in hedgerow("train", "train.txt", *flags).err
    assert note not in hedgerow("train", "train.txt", *flags, "-t", "none").err
    assert note not in hedgerow("train", "train.txt", *flags[:4], *flags[6:]).err
    rows = "".join(f"{i},w{i % 3},{i}.5,{'on' if i % 2 else 'off'}\n" for i in range(8))
    hedgerow.write("numbers.csv", f"sequence,word,light,label\n{rows}")
    assert note not in hedgerow("train", "numbers.csv", *flags).err


@pytest.mark.parametrize("command", [["train", "-o", "m.hedgerow"], ["tune"]])
def test_sequence_columns_are_refused_where_they_have_no_effect(hedgerow, command):
    done = hedgerow(*command, "train.txt", "--sequence", "column0", "--quiet")
    assert done.code == 2
    assert "--sequence names columns of a table, but train.txt is of format conll" in done.err


def test_forbidden_labels_are_refused_by_line_and_scheme(hedgerow):
    flags = ("-m", "linear", "--constraints", "IOBES", "-o", "m.hedgerow", "--quiet")
    done = hedgerow("train", "train.txt", *flags)
    assert done.code == 2
    assert "train.txt: line 3: label 'B-VP' may not follow 'I-NP'" in done.err
    assert done.err.endswith("the labels look like IOB2\n")
    done = hedgerow("train", "-", *flags, stdin=column_text(12))
    assert "standard input: sequence 0, position 2: label 'B-VP'" in done.err
    hedgerow.write("dev.txt", "# a comment\n\nthe DT B-NP\n\ncat NN O\na DT I-NP\n")
    done = hedgerow("train", "train.txt", "--dev", "dev.txt", "-m", "linear", "--constraints", "IOB2", *flags[4:])
    assert "dev.txt: line 6: label 'I-NP' may not follow 'O'" in done.err


def test_spans_of_labels_that_mark_none_are_refused(hedgerow):
    hedgerow.write("bits.txt", "a 0\nb 1\n\na 0\n")
    assert hedgerow("train", "bits.txt", "-m", "hmm", "-o", "m.hedgerow").code == 0
    done = hedgerow("tag", "m.hedgerow", "bits.txt", "--spans")
    assert done.code == 2
    assert "--spans needs labels that mark spans" in done.err
    assert "'0', '1'; leave --spans out" in done.err


def test_columns_that_a_template_needs_are_those_of_the_file(hedgerow):
    done = hedgerow("train", "train.txt", "-t", "words:lemma", "-o", "m.hedgerow", "--quiet")
    assert "--template words: train.txt must have a column 'lemma'" in done.err
    assert "use --template words, which reads 'column0'" in done.err
    done = hedgerow("train", "train.txt", "-t", "numbers", "-o", "m.hedgerow", "--quiet")
    assert "--template numbers: train.txt must have a numeric column" in done.err
    assert done.err.endswith("a file of format conll holds text only: make it a CSV\n")


def test_a_file_without_labels_cannot_be_evaluated(with_model):
    with_model.write("new.txt", column_text(2, labels=False))
    done = with_model("evaluate", "m.hedgerow", "new.txt")
    assert done.code == 2
    assert "use hedgerow tag to predict them" in done.err


def test_scores_of_a_race_are_named(hedgerow):
    done = hedgerow("tune", "train.txt", "--scoring", "f1")
    assert done.code == 2
    assert "--scoring must be one of accuracy, span_f1, log_likelihood; it is 'f1'; did you mean span_f1?" in done.err
    hedgerow.write("bits.txt", "a 0\nb 1\n\na 0\nb 1\n\n" * 6)
    done = hedgerow("tune", "bits.txt", "--scoring", "span_f1", "--quiet")
    assert "--scoring span_f1 needs labels that mark spans" in done.err
    assert "use --scoring accuracy" in done.err


def test_data_sets_are_listed_with_what_they_hold_and_where_they_are(hedgerow, monkeypatch):
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    monkeypatch.setenv("HEDGEROW_CACHE", str(hedgerow.folder))
    listed = json.loads(hedgerow("datasets", "--json").out)
    assert {name: one["available"] for name, one in listed.items() if name in ("pronounce", "ozone", "hyphen")} == {
        "pronounce": "offline",
        "ozone": "download",
        "hyphen": "by hand",
    }
    assert "hyphen           by hand   gaps between the letters" in hedgerow("datasets").out
    for split in ("train", "test"):
        (hedgerow.folder / "hyphen").mkdir(exist_ok=True)
        hedgerow.write(f"hyphen/{split}.txt", "")
    assert json.loads(hedgerow("datasets", "--json").out)["hyphen"]["available"] == "offline"


def test_a_data_set_without_its_file_is_described(hedgerow, monkeypatch):
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    monkeypatch.setenv("HEDGEROW_CACHE", str(hedgerow.folder))
    done = hedgerow("datasets", "hyphen")
    assert done.code == 2
    assert done.out.startswith("hyphen: gaps between the letters")
    assert "put it at $HEDGEROW_DATA/hyphen/train.txt" in done.err
    assert "SHA-256" not in done.err
    assert hedgerow("datasets", "hyphen", "--json").out == ""
    assert "did you mean 'pronounce'?" in hedgerow("datasets", "pronunce").err


def test_predictions_in_a_column_are_scored_without_a_model(with_model):
    tagged = with_model("tag", "m.hedgerow", "train.txt").out.splitlines(keepends=True)
    tagged[1] = "cat NN I-NP O\n"
    with_model.write("tagged.txt", "".join(tagged))
    done = with_model("evaluate", "tagged.txt", "--label", "-2", "--predicted", "-1", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    gold, predicted = (hr.read("tagged.txt", label=label).y for label in (2, 3))
    assert facts["accuracy"] == hr.metrics.accuracy(gold, predicted) < 1
    assert facts["right_sequences"] == 11
    assert facts["spans"]["micro"]["f1"] == hr.metrics.span_f1(gold, predicted)
    assert facts["confusions"] == [{"gold": "I-NP", "predicted": "O", "count": 1}]
    shown = with_model("evaluate", "tagged.txt", "--label", "-2", "--predicted", "-1").out
    assert "11 of 12 sequences are entirely right" in shown
    assert "speed" not in shown
    assert "use --predicted" in with_model("evaluate", "m.hedgerow", "tagged.txt").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train.txt", "--predicted", "-1"], "--label is not given"),
        (["-", "--predicted", "-1", "--label", "1"], "name a file"),
        (["m.hedgerow", "train.txt", "--predicted", "-1", "--label", "1"], "leave MODEL"),
        (["m.hedgerow"], "FILE is not given"),
        (["train.txt", "--predicted", "no", "--label", "1"], "'no'"),
    ],
)
def test_wrong_uses_of_predicted_are_refused(with_model, arguments, message):
    done = with_model("evaluate", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("border", ["-DOCSTART- -X- O\n\n", "# newdoc id = 1\n"])
def test_documents_that_are_not_kept_together_are_noted(hedgerow, border):
    hedgerow.write("documents.txt", (border + column_text(6)) * 2)
    race = ("tune", "--budget", "1s", "--models", "hmm")
    assert "documents.txt has documents" in hedgerow(*race, "documents.txt").err
    assert "has documents" not in hedgerow(*race, "train.txt").err
    hedgerow.write("documents.txt", border + column_text(12))
    assert "has documents" not in hedgerow(*race, "documents.txt").err
