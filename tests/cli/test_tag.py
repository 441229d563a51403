"""hedgerow tag: lines in, the same lines with labels out, as they come."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from builders.cli import Command, column_text, sentence
from hedgerow import storage

COMMAND = [sys.executable, "-m", "hedgerow"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    (folder / "train.txt").write_text(column_text(30))
    corpus = hr.read(folder / "train.txt")
    model = hr.LinearCRF(features=hr.templates.tags(), max_iter=10).fit(corpus.X, corpus.y)
    replace(model.model_, layout=corpus.layout.to_json()).save(folder / "m.hedgerow")
    return folder / "m.hedgerow"


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    return Command(tmp_path, capsys, monkeypatch)


def expected(model_file, n):
    model = hr.load(model_file)
    return model.predict([[{"column0": w, "column1": t} for w, t, _ in sentence(i)] for i in range(n)])


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_each_line_gets_its_label(hedgerow, model_file, labels, separator):
    text = column_text(5, separator, labels=labels)
    hedgerow.write("new.txt", text)
    done = hedgerow("tag", model_file, "new.txt")
    assert done.code == 0, done.err
    flat = iter(np.concatenate(expected(model_file, 5)).tolist())
    assert done.out == "".join(f"{line}{separator}{next(flat)}\n" if line else "\n" for line in text.splitlines())
    assert done.err == ""


def test_standard_input_comments_and_line_ends_are_kept(hedgerow, model_file):
    text = "# first\r\nthe DT\r\ncat NN\r\n\r\n\r\n# last\r\nthe DT\r\nrow NN"
    for path in ([], ["-"]):
        out = hedgerow("tag", model_file, *path, stdin=text).out
        assert out.replace("\r", "").splitlines() == [
            "# first", "the DT B-NP", "cat NN I-NP", "", "", "# last", "the DT B-NP", "row NN I-NP"
        ]  # fmt: skip


def test_constraints_change_the_labels(hedgerow, model_file):
    model, words = hr.load(model_file), [("cat", "NN"), ("sat", "VBD"), (".", ".")]
    text = "".join(f"{word} {tag}\n" for word, tag in words)
    x = [{"column0": word, "column1": tag} for word, tag in words]
    free, (bound,) = model.predict_single(x), model.predict([x], constraints="IOB2")
    assert free.tolist() != bound.tolist()
    for flags, labels in (((), free), (("--constraints", "IOB2"), bound)):
        out = hedgerow("tag", model_file, *flags, stdin=text).out
        assert [line.split()[2] for line in out.splitlines()] == labels.tolist()
    assert "constraints must be one of IOB1" in hedgerow("tag", model_file, "--constraints", "X", stdin=text).err


def test_nothing_in_nothing_out(hedgerow, model_file):
    assert hedgerow("tag", model_file, stdin="") == (0, "", "")
    assert hedgerow("tag", model_file, stdin="# only a comment\n\n").out == "# only a comment\n\n"


def test_probabilities_are_those_of_the_labels(hedgerow, model_file):
    lines = hedgerow("tag", model_file, "--proba", stdin=column_text(4)).out.splitlines()
    model = hr.load(model_file)
    X = [[{"column0": w, "column1": t} for w, t, _ in sentence(i)] for i in range(4)]
    chances = np.concatenate([p.max(axis=1) for p in model.predict_proba(X)])
    shown = [line.split() for line in lines if line]
    assert [row[3] for row in shown] == np.concatenate(model.predict(X)).tolist()
    np.testing.assert_allclose([float(row[4]) for row in shown], chances, atol=6e-5)


def test_nbest_repeats_each_sequence(hedgerow, model_file):
    out = hedgerow("tag", model_file, "--nbest", "2", stdin="# x\nthe DT\ncat NN\n\nran VBD\n").out
    lines = out.splitlines()
    assert lines[0] == "# x"
    assert [line for line in lines if line.startswith("# best=1")] == [lines[1], lines[9]]
    assert lines[2:5] == ["the DT B-NP", "cat NN I-NP", ""]
    assert lines[5].startswith("# best=2 probability=")
    assert lines[8:9] == [""]


@pytest.mark.parametrize("flags", [[], ["--proba"], ["--nbest", "2"]])
def test_json_has_one_object_for_each_sequence(hedgerow, model_file, flags):
    done = hedgerow("tag", model_file, "--json", *flags, stdin="# x\n\nthe DT\ncat NN\n\nran VBD\n")
    first, second = map(json.loads, done.out.splitlines())
    assert (first["sequence"], first["line"], first["positions"]) == (0, 3, 2)
    assert (second["sequence"], second["line"], second["positions"]) == (1, 6, 1)
    best = first["best"][0] if "--nbest" in flags else first
    assert best["labels"] == ["B-NP", "I-NP"]
    assert ("probabilities" in first) == ("--proba" in flags)


def test_spans_have_exact_probabilities_and_words(hedgerow, model_file):
    done = hedgerow("tag", model_file, "--spans", stdin=column_text(5))
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    X = [[{"column0": w, "column1": t} for w, t, _ in sentence(i)] for i in range(5)]
    for i, spans in enumerate(hr.load(model_file).predict_spans(X)):
        shown = [(one["start"], one["end"], one["type"], one["probability"]) for one in found[i]["spans"]]
        assert shown == [tuple(span) for span in spans]
        words = [word for word, _, _ in sentence(i)]
        assert [one["text"] for one in found[i]["spans"]] == [" ".join(words[s.start : s.end]) for s in spans]


def test_labels_that_mark_no_spans(hedgerow):
    hr.HMM().fit([["a", "b"]] * 3, [["x", "y"]] * 3).save("h.hedgerow")
    done = hedgerow("tag", "h.hedgerow", "--spans", stdin="a\n")
    assert (done.code, done.out) == (2, "")
    assert "--spans needs labels that mark spans" in done.err


def test_output_file_and_encoding(hedgerow, model_file):
    (hedgerow.folder / "new.txt").write_bytes("käse NN\n".encode("latin-1"))
    assert "--encoding latin-1" in hedgerow("tag", model_file, "new.txt").err
    assert hedgerow("tag", model_file, "new.txt", "--encoding", "latin-1", "-o", "out.txt").code == 0
    assert (hedgerow.folder / "out.txt").read_bytes().startswith("käse NN ".encode("latin-1"))
    assert "use --force" in hedgerow("tag", model_file, "new.txt", "-o", "out.txt").err
    assert sorted(path.name for path in hedgerow.folder.iterdir()) == ["new.txt", "out.txt"]


def test_another_encoding_has_one_mark(hedgerow, model_file, monkeypatch):
    (hedgerow.folder / "new.txt").write_bytes(column_text(20, labels=False).encode("utf-16"))
    monkeypatch.setattr("hedgerow.formats.blocks.SIZE", 50)
    assert hedgerow("tag", model_file, "new.txt", "--encoding", "utf-16", "-o", "out.txt").code == 0
    text = (hedgerow.folder / "out.txt").read_bytes().decode("utf-16")
    assert "\ufeff" not in text
    assert text.startswith("the DT B-NP\n")
    assert "klingon" in hedgerow("tag", model_file, "new.txt", "--encoding", "klingon").err


def test_nothing_half_written_stays(hedgerow, model_file):
    hedgerow.write("new.txt", "the DT\n\nthe\n")
    assert hedgerow("tag", model_file, "new.txt", "-o", "out.txt").code == 2
    assert [path.name for path in hedgerow.folder.iterdir()] == ["new.txt"]


@pytest.mark.parametrize(
    ("text", "flags", "message"),
    [
        ("the DT\ncat\n", [], "line 2"),
        ("the\n", [], "standard input has 1 column, but the training file had 3"),
        ("the DT B x y\n", [], "column0"),
        ("the DT\n", ["--columns", "word,tag", "--label", "none"], "has no column 'column0', which the model reads"),
        ("the DT\n", ["--nbest", "0"], "--nbest must be at least 1"),
        ("the DT\n", ["--nbest", "2", "--proba"], "cannot be used together"),
        ("the DT\n", ["--nbest", "x"], "--nbest"),
    ],
)
def test_bad_input_is_refused_in_one_line(hedgerow, model_file, text, flags, message):
    done = hedgerow("tag", model_file, *flags, stdin=text)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_models_that_are_no_models(hedgerow, model_file):
    hedgerow.write("text.hedgerow", "no model")
    for path in ("text.hedgerow", "absent.hedgerow", "."):
        done = hedgerow("tag", path, stdin="a b\n")
        assert done.code == 2
        assert path in done.err
        assert done.err.count("\n") == 1
    arrays, metadata = storage.read(model_file)
    for damaged in ({"format": "conll"}, {**metadata["layout"], "columns": ["a", "b", "column2"]}):
        storage.write("damaged.hedgerow", arrays, {**metadata, "layout": damaged})
        done = hedgerow("tag", "damaged.hedgerow", stdin="a b\n")
        assert done.code == 2
        assert "layout" in done.err


def test_a_model_trained_from_python_names_the_columns_of_a_file(hedgerow):
    hr.HMM().fit([["the", "cat"]] * 3, [["D", "N"]] * 3).save("words.hedgerow")
    done = hedgerow("tag", "words.hedgerow", stdin="the\ncat\n")
    assert (done.code, done.out) == (0, "the D\ncat N\n"), done.err
    assert hedgerow("tag", "words.hedgerow", stdin="the X\ncat Y\n").out == "the X D\ncat Y N\n"


@pytest.mark.parametrize(
    ("flags", "labels"),
    [
        (["--format", "crf++"], True),
        (["--format", "crf++"], False),
        (["--label", "none"], False),
        (["--label", "chunk"], True),
        (["--label", "-1", "--format", "conll"], True),
    ],
)
def test_flags_keep_the_names_of_columns(hedgerow, flags, labels):
    hedgerow.write("train.txt", column_text(9))
    hedgerow("train", "train.txt", "--columns", "word,tag,chunk", "-m", "hmm", "-o", "named.hedgerow")
    plain = hedgerow("tag", "named.hedgerow", stdin=column_text(3, labels=labels))
    done = hedgerow("tag", "named.hedgerow", *flags, stdin=column_text(3, labels=labels))
    assert (done.code, done.out) == (0, plain.out), done.err


def test_integer_labels_are_written(hedgerow):
    hr.HMM().fit([["the", "cat"]] * 3, [[7, 8]] * 3).save("words.hedgerow")
    assert hedgerow("tag", "words.hedgerow", stdin="the\ncat\n").out == "the 7\ncat 8\n"
    assert hedgerow("tag", "words.hedgerow", "--proba", stdin="the\n").out.startswith("the 7 ")


def test_scores_that_are_no_probabilities_are_called_so(hedgerow, model_file):
    hr.StructuredPerceptron(epochs=2).fit([["the", "cat"]] * 3, [["D", "N"]] * 3).save("p.hedgerow")
    assert "not calibrated" in hedgerow("tag", "p.hedgerow", "--proba", stdin="the\ncat\n").err
    assert hedgerow("tag", "p.hedgerow", stdin="the\ncat\n").err == ""
    assert hedgerow("tag", model_file, "--proba", stdin="the DT\n").err == ""


def test_a_pipe_is_answered_sequence_by_sequence(model_file):
    with subprocess.Popen([*COMMAND, "tag", model_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for i in range(3):
            words = sentence(i)
            process.stdin.write("".join(f"{w} {t}\n" for w, t, _ in words).encode() + b"\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in range(len(words) + 1)]  # before the next sentence is written
            assert lines[0].startswith(b"the DT B-NP")
            assert lines[-1] == b"\n"
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_a_closed_pipe_ends_quietly(model_file, tmp_path):
    (tmp_path / "long.txt").write_text(column_text(20_000))
    command = f"{sys.executable} -m hedgerow tag {model_file} {tmp_path / 'long.txt'} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("the DT B-NP B-NP\n", "")


FILES = {
    "t.jsonl": json.dumps([{"word": "the", "label": "D"}, {"word": "cat", "label": "N"}]) + "\n",
    "t.crfsuite": "D\tw=the\tlast\nN\tw=cat:2\n\n",
    "t.csv": "sequence,word,label\n1,the,D\n1,cat,N\n",
    "t.conllu": "# text = x\n1\tthe\t_\tD\t_\t_\t0\t_\t_\t_\n2\tcat\t_\tN\t_\t_\t0\t_\t_\t_\n\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_trained_tagged_and_evaluated(hedgerow, name):
    hedgerow.write(name, FILES[name])
    flags = ("--sequence", "sequence") if name == "t.csv" else ()
    done = hedgerow("train", name, *flags, "-m", "hmm", "--template", "none", "-o", "m.hedgerow")
    assert done.code == 0, done.err
    done = hedgerow("tag", "m.hedgerow", name)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == len(FILES[name].splitlines())
    labels = [json.loads(line)["labels"] for line in hedgerow("tag", "m.hedgerow", name, "--json").out.splitlines()]
    assert labels == [["D", "N"]]
    done = hedgerow("tag", "m.hedgerow", name, "--proba")
    assert ("add --json" in done.err) == (done.code == 2) == (name == "t.crfsuite")
    assert json.loads(hedgerow("evaluate", "m.hedgerow", name, "--json").out)["right"] == 2


# The peak of this process alone: ru_maxrss would begin with the size of the process that started it.
MEASURED = """
import re, sys
from hedgerow.cli import run
assert run(sys.argv[1:]) == 0
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_does_not_grow_with_the_file(model_file, tmp_path):
    text, peaks = column_text(1000), []
    for times in (20, 300):  # 1 and 17 megabytes
        (tmp_path / "in.txt").write_text(text * times)
        command = [sys.executable, "-c", MEASURED, "tag", model_file, tmp_path / "in.txt"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        peaks.append(int(done.stderr))
    assert peaks[1] < peaks[0] * 1.25


def test_blocks_do_not_change_the_answer(hedgerow, model_file, monkeypatch):
    text = column_text(40)
    whole = {flags: hedgerow("tag", model_file, *flags, stdin=text).out for flags in ((), ("--proba",), ("--json",))}
    monkeypatch.setattr("hedgerow.formats.blocks.SIZE", 50)
    for flags, out in whole.items():
        assert hedgerow("tag", model_file, *flags, stdin=text).out == out


def test_the_number_of_processors_does_not_change_the_output(hedgerow, model_file, monkeypatch):
    """A loaded model tags on as many threads as the process may use."""
    hedgerow.write("new.txt", column_text(300, labels=False))
    outputs = []
    for n in (1, 2):
        used = []

        def processors(_, n=n, used=used):
            used.append(n)
            return set(range(n))

        monkeypatch.setattr("os.sched_getaffinity", processors, raising=False)
        outputs.append(hedgerow("tag", model_file, "new.txt").out)
        assert used
    assert outputs[0] == outputs[1] != ""
