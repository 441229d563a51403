"""hedgerow train: files in, a model file out; flags, settings from a file, and what is refused."""

from __future__ import annotations

import json

import pytest

import hedgerow as hr
from builders.cli import Command, column_text, sentence
from hedgerow.cli.models import MODELS, estimator_class
from hedgerow.cli.parameter_flags import COMMON, flags_of, offered
from hedgerow.estimators.registry import REGISTRY

QUICK = {
    "treecrf": ["--n-rounds", "3"],
    "linear": ["--max-iter", "5"],
    "svm": ["--epochs", "2"],
    "perceptron": ["--epochs", "2"],
    "hmm": [],
    "memm": ["--n-rounds", "3"],
    "future": ["--n-rounds", "2", "--max-future", "1", "--pattern-rounds", "1"],
    "search": ["--epochs", "2"],
    "code": ["--n-bits", "4", "--base", "hmm"],
    "pool": ["--base", "hmm"],
}


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(30))
    command.write("dev.txt", column_text(9))
    return command


def test_every_estimator_has_a_name():
    assert sorted(MODELS.values()) == sorted(REGISTRY)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_trained_and_saved(hedgerow, model):
    done = hedgerow("train", "train.txt", "--model", model, *QUICK[model], "--output", "m.hedgerow")
    assert done.code == 0, done.err
    assert done.out == ""
    loaded = hr.load("m.hedgerow")
    assert type(loaded) is estimator_class(model)
    assert loaded.model_.layout["label"] == "column2"
    assert "accuracy" in done.err.splitlines()[-1]


def test_the_default_is_a_treecrf_over_a_linear_model_for_words(hedgerow):
    words = "".join(f"w{i} A\nw{i + 1} B\n\n" for i in range(0, 240, 2))
    hedgerow.write("words.txt", words)
    flags = ("--dev", "words.txt", "-o", "m.hedgerow", "--n-rounds", "2")
    assert hedgerow("train", "words.txt", *flags).code == 0
    assert hr.load("m.hedgerow").linear is True
    assert hedgerow("train", "words.txt", "-o", "n.hedgerow", "--n-rounds", "2", "--linear", "false").code == 0
    assert hr.load("n.hedgerow").linear is False


def test_the_same_command_gives_the_same_model(hedgerow):
    for name in ("a", "b"):
        assert hedgerow("train", "train.txt", "-m", "perceptron", "--epochs", "2", "-o", f"{name}.hedgerow").code == 0
    X = hr.read("train.txt").X
    a, b = (hr.load(f"{name}.hedgerow").predict_proba(X) for name in ("a", "b"))
    assert all((one == other).all() for one, other in zip(a, b, strict=True))
    assert hr.load("a.hedgerow").random_state == 0
    assert hedgerow("train", "train.txt", "-m", "hmm", "--random-state", "none", "-o", "c.hedgerow").code == 0
    assert hr.load("c.hedgerow").random_state is None


def test_it_says_what_it_read_and_made(hedgerow):
    done = hedgerow("train", "train.txt", "--dev", "dev.txt", "-m", "hmm", "-o", "m.hedgerow")
    said = done.err
    assert "train.txt: 30 sequences, 150 positions; format conll, columns column0, column1, label column2" in said
    assert "dev.txt: 9 sequences" in said
    assert "features: " in said
    assert "chosen by the columns" in said
    assert "dev accuracy" in said.splitlines()[-1]
    assert "dev span F1" in said.splitlines()[-1]


def test_json_is_one_object(hedgerow):
    done = hedgerow("train", "train.txt", "--dev", "dev.txt", "-m", "hmm", "-o", "m.hedgerow", "--json", "--quiet")
    facts = json.loads(done.out)
    assert (facts["model"], facts["labels"], facts["positions"]) == ("HMM", 4, 150)
    assert facts["dev_scores"]["accuracy"] > 0.9
    assert facts["layout"]["columns"] == ["column0", "column1", "column2"]
    assert done.err == ""


def test_label_columns_and_standard_input(hedgerow):
    text = "".join(" ".join([c, w, t]) + "\n" for i in range(20) for w, t, c in sentence(i)) + "\n"
    done = hedgerow(
        "train", "-", "--label", "chunk", "--columns", "chunk,word,tag", "-m", "hmm", "-o", "m.hedgerow", stdin=text
    )
    assert done.code == 0, done.err
    assert hr.load("m.hedgerow").feature_names_in_.tolist() == ["word", "tag"]
    assert hedgerow("train", "train.txt", "--label", "1", "-m", "hmm", "-o", "n.hedgerow").code == 0
    assert "NN" in hr.load("n.hedgerow").classes_


@pytest.mark.parametrize("template", ["none", "tags", "words", "words:column0"])
def test_template_by_name(hedgerow, template):
    done = hedgerow("train", "train.txt", "-m", "hmm", "--template", template, "-o", "m.hedgerow")
    assert done.code == 0, done.err
    assert (hr.load("m.hedgerow").features is None) == (template == "none")


def test_template_of_a_file(hedgerow):
    hedgerow.write("t.toml", hr.templates.tags().to_toml())
    assert hedgerow("train", "train.txt", "-m", "hmm", "--template", "t.toml", "-o", "m.hedgerow").code == 0
    assert hr.load("m.hedgerow").features == hr.templates.tags()
    hedgerow.write("t.toml", hr.templates.words("lemma").to_toml())
    done = hedgerow("train", "train.txt", "-m", "hmm", "--template", "t.toml", "-o", "n.hedgerow", "--quiet")
    assert done.code == 2
    assert "column 'lemma'" in done.err
    hedgerow.write("t.toml", "words = [")
    done = hedgerow("train", "train.txt", "-m", "hmm", "--template", "t.toml", "-o", "n.hedgerow", "--quiet")
    assert done.code == 2
    assert "t.toml" in done.err


def test_settings_from_a_file_and_flags_win(hedgerow):
    hedgerow.write(
        "c.toml",
        'model = "linear"\noutput = "m.hedgerow"\nlabel = 2\ntemplate = "none"\n[parameters]\nmax_iter = 3\nl2 = 0.5\n',
    )
    assert hedgerow("train", "train.txt", "--config", "c.toml", "--l2", "0.25").code == 0
    model = hr.load("m.hedgerow")
    assert (type(model).__name__, model.max_iter, model.l2, model.features) == ("LinearCRF", 3, 0.25, None)
    done = hedgerow("train", "train.txt", "--config", "c.toml", "--model", "hmm", "-o", "h.hedgerow")
    assert done.code == 2
    assert "'max_iter' is a parameter of linear, svm, memm, but not of HMM" in done.err


def test_nested_estimators_come_from_a_file(hedgerow):
    hedgerow.write(
        "c.toml",
        'model = "code"\n[parameters]\nn_bits = 3\ncascade = "auto"\nbase = {model = "hmm", smoothing = 0.5}\n',
    )
    assert hedgerow("train", "train.txt", "--config", "c.toml", "-o", "m.hedgerow").code == 0
    assert hr.load("m.hedgerow").base.smoothing == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mdel = 'hmm'", "there is no option 'mdel'"),
        ("model = 3", "model must be text"),
        ("model = ", "must be a TOML file"),
        ("parameters = 3", "parameters must be a table"),
        ("[parameters]\nn_trees = 3", "'n_trees'"),
        ("budget = '3m'", "budget is the time of the race"),
    ],
)
def test_bad_settings_are_refused_by_name(hedgerow, text, message):
    hedgerow.write("c.toml", text)
    done = hedgerow("train", "train.txt", "--config", "c.toml", "-o", "m.hedgerow")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_constraints_are_a_scheme_or_pairs(hedgerow):
    assert hedgerow("train", "train.txt", "-m", "linear", "--constraints", "IOB2", "-o", "m.hedgerow").code == 0
    assert hr.load("m.hedgerow").constraints == "IOB2"
    pairs = [["", "B-NP"], ["B-NP", "I-NP"], ["I-NP", "B-VP"], ["I-NP", "O"], ["B-VP", "O"], ["O", "B-NP"]]
    hedgerow.write("c.toml", f"[parameters]\nconstraints = {json.dumps(pairs)}\n")
    done = hedgerow("train", "train.txt", "-m", "linear", "--config", "c.toml", "-o", "n.hedgerow")
    assert done.code == 0, done.err
    assert (None, "B-NP") in [tuple(pair) for pair in hr.load("n.hedgerow").constraints]
    hedgerow.write("c.toml", f"[parameters]\nconstraints = {json.dumps(pairs[:3])}\n")
    assert hedgerow("train", "train.txt", "-m", "linear", "--config", "c.toml", "-o", "o.hedgerow").code == 2
    for bad in ("3", "[3]", "[[]]", '[["a"]]'):
        hedgerow.write("c.toml", f"[parameters]\nconstraints = {bad}\n")
        assert hedgerow("train", "train.txt", "-m", "linear", "--config", "c.toml", "-o", "o.hedgerow").code == 2


def test_rules_of_induction_are_json_or_a_table(hedgerow):
    flags = ("-m", "linear", "--max-iter", "3", "--template", "none", "--label", "2")
    rules = {"every": 2, "features": 9, "proportions": [0.5]}
    done = hedgerow("train", "train.txt", *flags, "--induce", json.dumps(rules), "-o", "m.hedgerow")
    assert done.code == 0, done.err
    assert hr.load("m.hedgerow").induce == rules
    hedgerow.write("c.toml", "[parameters.induce]\nevery = 2\nfeatures = 9\nproportions = [0.5]\n")
    assert hedgerow("train", "train.txt", *flags, "--config", "c.toml", "-o", "n.hedgerow").code == 0
    assert hr.load("n.hedgerow").induce == rules
    assert hedgerow("train", "train.txt", *flags, "--induce", "mccallum", "-o", "o.hedgerow").code == 0
    for text, message in (
        ("often", "--induce must be mccallum, none or a JSON object"),
        ('{"every": 0}', "at least 1"),
    ):
        refused = hedgerow("train", "train.txt", *flags, "--induce", text, "-o", "p.hedgerow")
        assert refused.code == 2
        assert message in refused.err


def test_auto_is_the_race(hedgerow):
    done = hedgerow("train", "train.txt", "--model", "auto", "--budget", "2s", "-o", "m.hedgerow")
    assert done.code == 0, done.err
    assert "Best of" in done.err
    assert hr.load("m.hedgerow").model_.layout is not None


@pytest.mark.parametrize("model", MODELS)
def test_help_of_every_model_fits_a_screen(hedgerow, model):
    short, full = (hedgerow("train", "--model", model, flag).out for flag in ("--help", "--help-all"))
    assert len(short.splitlines()) <= 40
    assert f"Parameters of {MODELS[model]}" in short
    cls = estimator_class(model)
    own = offered(cls)
    assert all(f"--{name.replace('_', '-')} " in short for name in own if name in COMMON)
    assert all(f"--{flag.name.replace('_', '-')}" in full for flag in flags_of(cls, in_full=True))
    assert "--budget" not in short


@pytest.mark.parametrize("arguments", [[], ["--model"], ["train.txt", "--model"], ["train.txt", "--output"]])
def test_a_flag_without_its_value(hedgerow, arguments):
    done = hedgerow("train", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


def test_a_choice_of_numbers(hedgerow):
    done = hedgerow("train", "train.txt", "--model", "svm", "--epochs", "2", "--degree", "2", "-o", "m.hedgerow")
    assert done.code == 0, done.err
    assert hr.load("m.hedgerow").degree == 2
    assert (
        "--degree must be one of 1, 2"
        in hedgerow("train", "train.txt", "--model", "svm", "--degree", "3", "-o", "n.hedgerow").err
    )


@pytest.mark.parametrize(("text", "beam"), [("0.01", 0.01), ("2", 2), ("kl", "kl"), ("none", None)])
def test_a_beam_is_a_width_or_a_bound(hedgerow, text, beam):
    done = hedgerow("train", "train.txt", "--model", "linear", "--max-iter", "2", "--beam", text, "-o", "m.hedgerow")
    assert done.code == 0
    assert hr.load("m.hedgerow").beam == beam
    assert type(hr.load("m.hedgerow").beam) is type(beam)


def test_flags_of_other_models_are_not_offered(hedgerow):
    assert "--budget" in hedgerow("train", "--model", "auto", "-h").out
    assert "--window" not in hedgerow("train", "--model", "auto", "-h").out
    assert "--n-rounds" not in hedgerow("train", "--model", "hmm", "--help-all").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "linear", "--n-rounds", "3"], "treecrf, memm, future, but not of LinearCRF; use --max-iter here"),
        (["--learning-rat", "3"], "did you mean --learning-rate?"),
        (
            ["--model", "linear", "--beam", "1.5"],
            "an integer of at least 1, a number between 0 and 1, or none; it is 1.5",
        ),
        (
            ["--model", "linear", "--beam", "all"],
            "an integer of at least 1, a number between 0 and 1, or none; it is 'all'",
        ),
        (["--no-such"], "TreeCRF has no parameter --no-such"),
        (["--model", "auto", "--order", "2"], "--order is no flag of --model auto"),
        (["--budget", "2m"], "--budget is the time of the race"),
        (["--model", "auto", "--budget", "soon"], "budget must be"),
        (["--model", "auto", "--template", "words"], "leave --template out"),
        (["--model", "tree"], "the model must be one of treecrf, linear"),
        (["--order", "x"], "--order must be an integer of at least 0; it is 'x'"),
        (["--order", "-2"], "order must be an integer of at least 0; it is -2"),
        (["--decode", "luck"], "decode must be one of"),
        (["--label", "chunk"], "no column 'chunk' for --label"),
        (["--columns", "a,b"], "names 2"),
        (["--template", "no-file"], "there is no such file"),
        (["--template", "words:lemma"], "column 'lemma'"),
        (["--dev", "absent.txt"], "absent.txt"),
        (["--dev", "."], "folder"),
        (["--format", "excel"], "format is 'excel'"),
        (["--encoding", "klingon"], "klingon"),
    ],
)
def test_bad_flags_are_refused_in_one_line(hedgerow, arguments, message):
    done = hedgerow("train", "train.txt", *arguments, "-o", "m.hedgerow", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not (hedgerow.folder / "m.hedgerow").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "at least one position"),
        (b"\n\n", "only blank lines"),
        (b"a X\nb Y\nc\n", "bad.txt, line 3"),
        (b"a X\nb\xff Y\n", "line 2: text must be UTF-8"),
        (b"a\nb\n", "--label none"),
        (b"a X\nb X\n", "label"),
    ],
)
def test_bad_files_are_refused_with_their_line(hedgerow, content, message):
    (hedgerow.folder / "bad.txt").write_bytes(content)
    done = hedgerow("train", "bad.txt", "-o", "m.hedgerow", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_the_encoding_flag_is_named_and_works(hedgerow):
    (hedgerow.folder / "bad.txt").write_bytes("käse X\nbrot Y\n\nkäse X\n".encode("latin-1"))
    refused = hedgerow("train", "bad.txt", "-m", "hmm", "-o", "m.hedgerow")
    assert refused.code == 2
    assert "--encoding latin-1" in refused.err
    assert hedgerow("train", "bad.txt", "-m", "hmm", "-o", "m.hedgerow", "--encoding", "latin-1").code == 0


def test_output_is_checked_before_training(hedgerow):
    hedgerow.write("there.hedgerow", "precious")
    done = hedgerow("train", "no-such-file", "-o", "there.hedgerow")
    assert done.code == 2
    assert "there.hedgerow exists already; use --force" in done.err
    assert hedgerow("train", "train.txt", "-o", ".").code == 2
    assert "there is no folder" in hedgerow("train", "train.txt", "-o", "nowhere/m.hedgerow").err
    assert "--output is not given" in hedgerow("train", "train.txt").err
    assert (hedgerow.folder / "there.hedgerow").read_text() == "precious"
    assert hedgerow("train", "train.txt", "-m", "hmm", "-o", "there.hedgerow", "--force").code == 0


def test_a_file_that_is_absent_or_a_folder(hedgerow):
    for path in ("absent.txt", "."):
        done = hedgerow("train", path, "-o", "m.hedgerow")
        assert done.code == 2
        assert path in done.err


def test_an_interrupt_keeps_what_was_learned(hedgerow, monkeypatch):
    class Interrupting(hr.callbacks.Progress):
        def __call__(self, record):
            if record["step"] == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(hr.callbacks, "Progress", Interrupting)
    done = hedgerow("train", "train.txt", "-m", "linear", "-o", "m.hedgerow", "--json")
    assert done.code == 130
    assert "m.hedgerow has what was learned so far" in done.err
    assert json.loads(done.out)["interrupted"] is True
    assert len(hr.load("m.hedgerow").training_log_) == 3


def test_an_interrupt_before_the_first_step_writes_nothing(hedgerow, monkeypatch):
    def interrupt(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(hr.LinearCRF, "fit", interrupt)
    done = hedgerow("train", "train.txt", "-m", "linear", "-o", "m.hedgerow")
    assert done.code == 130
    assert "is not written" in done.err
    assert not (hedgerow.folder / "m.hedgerow").exists()
