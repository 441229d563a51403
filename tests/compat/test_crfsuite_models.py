"""Models of CRFsuite give CRFsuite's labels and marginals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.cli import Command
from hedgerow.compat import CRF, from_crfsuite
from hedgerow.errors import InputError, ModelFileError

pycrfsuite = pytest.importorskip("pycrfsuite")
LABELS = ["B-X", "I-X", "O", "a label: 1.0"]


def items(rng: np.random.Generator) -> list[Any]:
    return [
        {
            "word": f"w{rng.integers(30)}",
            "arrow --> I": bool(rng.random() < 0.3),
            "é:ü": float(rng.normal()),
            "bias": 1.0,
        }
        for _ in range(rng.integers(1, 9))
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, list[Any]]:
    """(binary model file, tagger, sequences to label)."""
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("crfsuite") / "m.crfsuite"
    trainer = pycrfsuite.Trainer(params={"c1": 0.02, "c2": 0.01, "max_iterations": 60}, verbose=False)
    for i in range(120):
        x = items(rng)
        labels = [LABELS[(int(item["word"][1:]) + item["arrow --> I"]) % 3] for item in x]
        trainer.append(x, labels if i else [LABELS[3]] * len(x))
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return path, tagger, [items(rng) for _ in range(60)]


def sources(path: Path, tagger: Any) -> dict[str, Any]:
    dump = path.with_suffix(".txt")
    tagger.dump(str(dump))
    return {
        "binary": path,
        "path as str": str(path),
        "tagger": tagger,
        "info": tagger.info(),
        "dump file": dump,
        "dump": dump.read_text(encoding="utf-8"),
    }


@pytest.mark.parametrize("name", ["binary", "path as str", "tagger", "info", "dump file", "dump"])
def test_labels_and_marginals_are_those_of_crfsuite(trained: tuple[Path, Any, list[Any]], name: str) -> None:
    path, tagger, X = trained
    model = from_crfsuite(sources(path, tagger)[name])
    assert [labels.tolist() for labels in model.predict(X)] == [tagger.tag(x) for x in X]
    # Six decimals in a dump: a score of five attributes and a transition is off by up to 3e-6.
    for x, marginals in zip(X, model.predict_marginals(X), strict=True):
        tagger.set(x)
        for t, position in enumerate(marginals):
            for label, probability in position.items():
                assert probability == pytest.approx(tagger.marginal(label, t), abs=1e-6 if "binary" in name else 2e-6)


def test_every_form_of_the_attributes_gives_the_same(trained: tuple[Path, Any, list[Any]]) -> None:
    path, _, X = trained
    model = from_crfsuite(path)
    expected = [labels.tolist() for labels in model.predict(X)]
    assert [labels.tolist() for labels in model.predict(hr.compat.read_items(X))] == expected
    assert CRF(model_filename=path).predict(X).tolist() == expected
    assert CRF(model_filename=path).state_features_.keys() == from_crfsuite(path).state_features_.keys()


def test_saved_and_loaded_like_any_model(trained: tuple[Path, Any, list[Any]], tmp_path: Path) -> None:
    path, tagger, X = trained
    model = from_crfsuite(path)
    model.save(tmp_path / "m.hedgerow")
    again = hr.load(tmp_path / "m.hedgerow")
    assert isinstance(again, hr.LinearCRF)
    assert again.classes_.tolist() == tagger.labels()
    for mine, other in zip(again.predict_proba(X), model.predict_proba(X), strict=True):
        assert mine.tolist() == other.tolist()
    weights = again.state_features_
    for pair, weight in tagger.info().state_features.items():
        assert weights[pair] == pytest.approx(weight, abs=1e-6)


def test_names_with_an_arrow(tmp_path: Path) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["a --> b", "b"], ["b --> O"]], ["x --> y", "O"])
    trainer.train(str(tmp_path / "m"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "m"))
    tagger.dump(str(tmp_path / "dump"))
    binary, dump = from_crfsuite(tmp_path / "m"), from_crfsuite(tmp_path / "dump")
    assert dump.state_features_ == pytest.approx(binary.state_features_, abs=1e-6)
    assert dump.transition_features_ == pytest.approx(binary.transition_features_, abs=1e-6)


@pytest.mark.parametrize("size", [0, 3, 20, 48, 100, -1])
def test_a_damaged_file_is_refused(trained: tuple[Path, Any, list[Any]], tmp_path: Path, size: int) -> None:
    content = trained[0].read_bytes()[:size]
    path = tmp_path / "cut"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"cut"):
        from_crfsuite(path)


def test_bytes_that_changed_never_crash(trained: tuple[Path, Any, list[Any]], tmp_path: Path) -> None:
    content = trained[0].read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "changed"
    for at in [*range(4, 60), *rng.integers(0, len(content), 150).tolist()]:
        damaged = bytearray(content)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            from_crfsuite(path)
        except (ModelFileError, InputError):
            continue


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld\n", r"line 1: this is no text of `crfsuite dump`, but 'hello'"),
        ("FILEHEADER = {\n}\n", "it has no block LABELS"),
        ("LABELS = {\n  x\n}\n", "line 2: a number and a name must stand here"),
        ("LABELS = {\n 0: a\n 1: b\n}\nSTATE_FEATURES = {\n (0) w --> a: 1.0\n}\n", "line 6: a feature and its weight"),
        ("LABELS = {\n 0: a\n 1: b\n}\n", "a weight for an attribute at least"),
        ("LABELS = {\n 0: a\n}\nATTRIBUTES = {\n 0: w\n}\nSTATE_FEATURES = {\n (0) w --> a: 1.0\n}\n", "2 distinct"),
    ],
)
def test_a_text_that_is_no_dump_is_refused(text: str, message: str) -> None:
    with pytest.raises((ModelFileError, InputError), match=message):
        from_crfsuite(text)


def test_other_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"source must be a model file of CRFsuite, .* but it is a int"):
        from_crfsuite(3)
    with pytest.raises(FileNotFoundError):
        from_crfsuite(tmp_path / "no")


def escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace(":", "\\:")


def test_the_command_line_tags_files_of_crfsuite(
    trained: tuple[Path, Any, list[Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, tagger, X = trained
    hedgerow = Command(tmp_path, capsys, monkeypatch)
    positions = [pycrfsuite.ItemSequence(x).items() for x in X]
    text = "".join(
        "".join(
            "\t".join(["O", *(f"{escaped(name)}:{value!r}" for name, value in position.items())]) + "\n"
            for position in sequence
        )
        + "\n"
        for sequence in positions
    )
    hedgerow.write("items.txt", text)
    done = hedgerow("convert", path, "m.hedgerow")
    assert done.code == 0, done.err
    tagged = hedgerow("tag", "m.hedgerow", "items.txt")
    assert tagged.code == 0, tagged.err
    labels = [line.split("\t")[0] for line in tagged.out.splitlines() if line]
    assert labels == [escaped(label) for x in X for label in tagger.tag(x)]


def test_a_model_of_crfsuite_in_the_place_of_another_file(
    trained: tuple[Path, Any, list[Any]], tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    path = trained[0]
    with pytest.raises(ModelFileError, match=r"is a model of CRFsuite; read it with hedgerow\.compat\.from_crfsuite"):
        hr.load(path)
    command = Command(tmp_path, capsys, monkeypatch)
    done = command("tag", path, stdin="a\n")
    assert (done.code, done.out) == (2, "")
    assert "hedgerow convert" in done.err
    done = command("convert", path, "d.model")
    assert (done.code, done.out) == (2, "")
    assert "it is a model of CRFsuite; to convert the model, let the name of OUT end with .hedgerow" in done.err
    assert not (tmp_path / "d.model").exists()
