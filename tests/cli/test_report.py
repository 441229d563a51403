"""hedgerow report: the page of the library, from files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from builders.cli import Command, column_text


@pytest.fixture
def hedgerow(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Command:
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(30))
    command.write("test.txt", column_text(12).replace("cat NN I-NP", "cat NN O"))
    command.write("raw.txt", column_text(5, labels=False))
    corpus = hr.read("train.txt")
    models: dict[str, Any] = {"m": hr.LinearCRF(max_iter=20, n_jobs=1), "h": hr.HMM()}
    for name, model in models.items():
        model.fit(corpus.X, corpus.y)
        replace(model.model_, layout=corpus.layout.to_json()).save(f"{name}.hedgerow")
    return command


def test_the_page_is_that_of_the_library(hedgerow: Command) -> None:
    done = hedgerow("report", "m.hedgerow", "test.txt", "--title", "Chunks")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("hedgerow: report.html: 12 sequences, ")
    corpus = hr.read("test.txt")
    hr.report(hr.load("m.hedgerow"), corpus.X, corpus.y, "library.html", title="Chunks")
    assert Path("report.html").read_text() == Path("library.html").read_text()


def test_an_empty_title_or_output_is_refused(hedgerow: Command) -> None:
    done = hedgerow("report", "m.hedgerow", "test.txt", "--title", "")
    assert (done.code, done.err) == (2, "hedgerow: --title must not be empty; give a heading, or leave --title out\n")
    done = hedgerow("report", "m.hedgerow", "test.txt", "--output", "")
    assert (done.code, done.err) == (
        2,
        "hedgerow: the path must name a file to write, but it is empty; name a file\n",
    )


def test_files_without_labels_and_standard_input(hedgerow: Command) -> None:
    assert hedgerow("report", "m.hedgerow", "raw.txt", "-o", "raw.html", "--quiet").err == ""
    assert "no gold labels" in Path("raw.html").read_text()
    assert hedgerow("report", "m.hedgerow", "-", "-o", "in.html", stdin=column_text(5, labels=False)).code == 0
    raw, piped = Path("raw.html").read_text(), Path("in.html").read_text()
    assert "<h1><bdi>m.hedgerow on raw.txt</bdi></h1>" in raw
    assert piped == raw.replace("m.hedgerow on raw.txt", "m.hedgerow on standard input")


def test_two_models(hedgerow: Command) -> None:
    assert hedgerow("report", "m.hedgerow", "test.txt", "--compare", "h.hedgerow").code == 0
    refused = hedgerow("report", "m.hedgerow", "raw.txt", "-o", "b.html", "--compare", "h.hedgerow")
    assert refused.code == 2
    assert "--compare needs labels" in refused.err


def test_a_second_model_with_other_columns_is_named(hedgerow: Command) -> None:
    hr.HMM().fit([[{"lemma": "cat"}, {"lemma": "."}]], [["I-NP", "O"]]).save("other.hedgerow")
    refused = hedgerow("report", "m.hedgerow", "test.txt", "--compare", "other.hedgerow")
    assert refused.code == 2
    assert "m.hedgerow reads column0, column1, and other.hedgerow reads lemma; train both with the same" in refused.err


def test_json_is_alone_on_standard_output(hedgerow: Command) -> None:
    done = hedgerow("report", "m.hedgerow", "test.txt", "--json")
    facts = json.loads(done.out)
    assert facts["output"] == "report.html"
    assert facts["bytes"] == Path("report.html").stat().st_size
    assert f"{facts['sequences']} sequences" in done.err


def test_a_corpus_folder(hedgerow: Command) -> None:
    assert hedgerow("encode", "train.txt", "--output", "train.corpus").code == 0
    assert hedgerow("train", "train.corpus", "--model", "hmm", "--output", "c.hedgerow").code == 0
    done = hedgerow("report", "c.hedgerow", "train.corpus")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.hedgerow", "test.txt", "-o", "train.txt"), "train.txt exists already; use --force"),
        (("m.hedgerow", "test.txt", "-o", "test.txt", "--force"), "test.txt"),
        (("m.hedgerow", "test.txt", "-o", "-"), "report writes a file"),
        (("m.hedgerow", "nowhere.txt"), "nowhere.txt"),
        (("nowhere.hedgerow", "test.txt"), "nowhere.hedgerow"),
    ],
)
def test_refusals_write_nothing(hedgerow: Command, arguments: tuple[str, ...], message: str) -> None:
    before = {one.name: one.read_bytes() for one in hedgerow.folder.iterdir()}
    done = hedgerow("report", *arguments)
    assert done.code == 2
    assert message in done.err
    assert {one.name: one.read_bytes() for one in hedgerow.folder.iterdir()} == before
