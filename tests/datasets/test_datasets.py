"""Every loader on the real files: counts, forms, oddities; damaged copies; names and splits."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.datasets.perlfaq import line_features
from hedgerow.errors import InputError

NAMES = [
    *("nettalk-stress", "nettalk-binary", "nettalk-phoneme", "nettalk", "protein", "hyphen", "conll2000"),
    *("conll2000-joint", "letters", "perlfaq", "atis", "ozone", "pronounce"),
]
# name, split, sequences, positions, labels
SIZES = [
    ("nettalk-stress", "train", 1000, 7230, 5),
    ("nettalk-stress", "test", 1000, 7242, 5),
    ("nettalk-stress", "all", 20007, 146934, 5),
    ("nettalk-binary", "train", 1000, 7230, 2),
    ("nettalk-phoneme", "all", 20007, 146934, 51),
    ("nettalk", "train", 1000, 7230, 126),
    ("nettalk", "test", 1000, 7242, 126),
    ("protein", "train", 111, 18105, 3),
    ("protein", "test", 17, 3520, 3),
    ("hyphen", "train", 1951, 12049, 2),
    ("hyphen", "test", 908, 5836, 2),
    ("conll2000", "train", 8936, 211727, 22),
    ("conll2000", "test", 2012, 47377, 19),
    ("conll2000-joint", "train", 8936, 211727, 118),
    ("letters", "train", 626, 4617, 26),
    ("letters", "test", 6251, 47535, 26),
    ("perlfaq", "train", 6, 7145, 4),
    ("perlfaq", "test", 3, 2955, 4),
    ("perlfaq", "all", 9, 10100, 4),
    ("atis", "train", 4274, 48655, 13),
    ("atis", "dev", 572, 6644, 14),
    ("atis", "test", 586, 6580, 13),
    ("ozone", "train", 1, 1689, 2),
    ("ozone", "test", 1, 845, 2),
    ("ozone", "all", 1, 2534, 2),
    ("pronounce", "train", 3000, 22680, 62),
    ("pronounce", "test", 1000, 7655, 62),
]


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("HEDGEROW_DATA is not set: the original files are not here")
    return Path(folder)


@cache
def load(name: str, split: str = "train") -> hr.datasets.Dataset:
    """Loaded once for all tests."""
    return hr.datasets.load(name, split)


def label_counts(data: hr.datasets.Dataset) -> Counter[str]:
    return Counter(label for labels in data.y for label in labels.tolist())


def test_names_are_the_designed_ones() -> None:
    assert hr.datasets.names() == NAMES


@pytest.mark.parametrize(("name", "split", "sequences", "positions", "labels"), SIZES)
def test_sizes_and_forms(
    name: str, split: str, sequences: int, positions: int, labels: int, request: pytest.FixtureRequest
) -> None:
    if name != "pronounce":
        request.getfixturevalue("data")
    loaded = load(name, split)
    assert (loaded.name, loaded.split, len(loaded)) == (name, split, sequences)
    assert [len(x) for x in loaded.X] == [len(y) for y in loaded.y]
    assert min(len(y) for y in loaded.y) > 0
    counts = label_counts(loaded)
    assert counts.total() == positions
    assert len(counts) == labels
    assert all(y.ndim == 1 and y.dtype.kind == "U" for y in loaded.y)
    assert (loaded.raw is None) == (name != "perlfaq")
    text = loaded.describe()
    for part in (f"{name}, split {split}", f"sequences  {sequences:,}", f"positions  {positions:,}"):
        assert part in text
    for fact in ("columns", "labels", "counts", "source", "licence", "cite"):
        assert re.search(rf"^  {fact} +\S", text, re.MULTILINE)
    assert f"labels     {labels}: " in text
    assert f" {max(counts.values()):,}" in text


def test_a_dataset_cannot_be_changed() -> None:
    loaded = load("pronounce", "test")
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.X = []  # type: ignore[misc]
    assert repr(loaded) == "<Dataset 'pronounce', split 'test': 1000 sequences>"


def test_nettalk_oddities(data: Path) -> None:
    whole = load("nettalk-stress", "all")
    assert "gunpowder" not in whole.X
    assert sum(count > 1 for count in Counter(whole.X).values()) == 205
    for word in ("aweigh", "barrow", "barter"):  # rows that end in "0 "
        assert word in whole.X
    train, test = load("nettalk", "train"), load("nettalk", "test")
    assert "just" in set(train.X) & set(test.X)
    assert test.X.count("vale") == 2
    i = train.X.index("there")
    assert train.y[i].tolist() == ["T>", "->", "E2", "r<", "-<"]
    assert load("nettalk-phoneme").y[i].tolist() == list("T-Er-")
    assert load("nettalk-stress").y[i].tolist() == list(">>2<<")
    assert load("nettalk-binary").y[i].tolist() == list("00100")


def test_protein_sequences_are_split_where_they_end_unclosed(data: Path) -> None:
    train, test = load("protein"), load("protein", "test")
    assert label_counts(train) == {"_": 9868, "h": 4601, "e": 3636}
    assert set("".join(train.X)) == set("ACDEFGHIKLMNPQRSTVWY")
    assert [len(x) for x in train.X[:3]] == [324, 129, 125]
    # the thirteenth ends at the next "<>" with no "<end>" before it
    assert [len(x) for x in test.X[12:14]] == [55, 220]
    assert train.X[0].startswith("GVGTVPMTDYGNDVEYYGQ")


def test_hyphen_positions_are_gaps(data: Path) -> None:
    test = load("hyphen", "test")
    assert label_counts(test)["break"] == 1311
    assert [x["l1"] for x in test.X[2]] == list("obtai")
    assert test.y[2].tolist() == ["join", "break", "join", "join", "join"]  # ob-tain
    assert test.X[2][0] == {"l3": "_", "l2": "_", "l1": "o", "r1": "b", "r2": "t", "r3": "a"}
    assert test.X[2][4] == {"l3": "t", "l2": "a", "l1": "i", "r1": "n", "r2": "_", "r3": "_"}


def test_conll2000_columns_and_joint_labels(data: Path) -> None:
    chunks, joint = load("conll2000"), load("conll2000-joint")
    assert chunks.X[0][0] == {"word": "Confidence", "pos": "NN"}
    assert chunks.y[0][:3].tolist() == ["B-NP", "B-PP", "B-NP"]
    assert joint.X[0][0] == {"word": "Confidence"}
    assert joint.y[0][:3].tolist() == ["NN+B-NP", "IN+O", "DT+B-NP"]
    both = label_counts(joint) + label_counts(load("conll2000-joint", "test"))
    assert len(both) == 121
    unseen = set(label_counts(load("conll2000", "test"))) - set(label_counts(chunks))
    assert unseen == {"I-LST"}


def test_letters_folds(data: Path) -> None:
    folds = [load("letters", f"fold{k}") for k in range(10)]
    assert [len(fold) for fold in folds] == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    train, test = load("letters"), load("letters", "test")
    assert all(np.array_equal(a, b) for a, b in zip(train.X, folds[0].X, strict=True))
    words = ["".join(y) for y in train.y + test.y]
    assert len(set(words)) == 55
    assert Counter(words) == Counter("".join(y) for fold in folds for y in fold.y)
    pixels = train.X[0]
    assert pixels.shape == (len(train.y[0]), 128)
    assert set(np.unique(pixels)) == {0, 1}
    assert "".join(train.y[0]) == "ommanding"
    assert pixels[0].reshape(16, 8)[3].tolist() == [0, 1, 1, 1, 0, 0, 0, 0]  # 112 in the packed file


def test_perlfaq_keeps_lines_and_hides_labels(data: Path) -> None:
    whole = load("perlfaq", "all")
    assert label_counts(whole) == {"answer": 9449, "question": 394, "head": 131, "tail": 126}
    assert whole.raw is not None
    assert [len(lines) for lines in whole.raw] == [len(x) for x in whole.X]
    assert whole.raw[0][:3] == ["NAME", "", "perlfaq1 - General Questions About Perl"]
    assert not any(re.match("<(head|question|answer|tail)>", line) for lines in whole.raw for line in lines)
    assert whole.X[0] == line_features(whole.raw[0])
    names = {frozenset(row) for x in whole.X for row in x}
    assert len(names) == 1
    assert 20 <= len(next(iter(names))) <= 24
    assert all(type(value) is bool for row in whole.X[0] for value in row.values())
    assert "stand-in" in whole.describe()
    assert "easier" in whole.describe()


def test_line_features_by_hand() -> None:
    lines = [
        "First, see [3]:",
        "",
        "    print 1 | more;",
        "How do I? http://x.org",
        "--- ---",
        "      so, what is it?",
    ]
    expected = [
        {"begins-with-ordinal", "contains-alphanum", "contains-bracketed-number", "contains-number"}
        | {"first-alpha-is-capitalized", "shorter-than-30"},
        {"blank", "prev-begins-with-ordinal", "shorter-than-30"},
        {"contains-alphanum", "contains-number", "contains-pipe", "indented", "indented-1-to-4"}
        | {"more-than-one-third-space", "prev-is-blank", "shorter-than-30"},
        {"begins-with-question-word", "contains-alphanum", "contains-http", "contains-question-mark"}
        | {"contains-question-word", "first-alpha-is-capitalized", "shorter-than-30"},
        {"begins-with-punctuation", "only-punctuation", "shorter-than-30"},
        {"contains-alphanum", "contains-question-mark", "contains-question-word", "ends-with-question-mark"}
        | {"indented", "indented-5-to-10", "more-than-one-third-space", "shorter-than-30"},
    ]
    found = [{name for name, value in row.items() if value} for row in line_features(lines)]
    assert found == expected
    assert line_features(["1. Subject:"])[0]["begins-with-number"]
    assert line_features(["Subject: x"])[0]["begins-with-subject"]
    assert not line_features(["x" * 30])[0]["shorter-than-30"]


def test_atis_words(data: Path) -> None:
    dev = load("atis", "dev")
    assert dev.X[0][:2] == [{"word": "i"}, {"word": "would"}]
    assert dev.y[0][:3].tolist() == ["PRON", "AUX", "VERB"]
    assert label_counts(dev)["SYM"] == 2


def test_ozone_missing_values_and_split(data: Path) -> None:
    whole, train, test = (load("ozone", split) for split in ("all", "train", "test"))
    (X,) = whole.X
    assert X.shape == (2534, 72)
    missing = np.isnan(X)
    assert missing.sum() == 14937
    assert missing.any(axis=1).sum() == 687
    assert label_counts(whole) == {"normal": 2374, "ozone": 160}
    np.testing.assert_array_equal(np.concatenate([train.X[0], test.X[0]]), X)
    assert X[0, :3].tolist() == [0.8, 1.8, 2.4]


@pytest.mark.parametrize("name", ["nettalk", "protein", "hyphen", "conll2000", "letters", "perlfaq", "atis", "ozone"])
@pytest.mark.parametrize("damage", ["halved", "line lost", "emptied", "binary"])
def test_damaged_files_are_refused(
    name: str, damage: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    for path in (data / name).iterdir():
        content = path.read_bytes()
        if damage == "halved":
            content = content[: len(content) // 2]
        elif damage == "line lost":
            cut = content.index(b"\n", len(content) // 2)
            content = content[:cut] + content[content.index(b"\n", cut + 1) :]
        elif damage == "emptied":
            content = b""
        else:
            content = b"\xff\xfe\x00" + content
        (tmp_path / name / path.name).write_bytes(content)
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    with pytest.raises(InputError, match=rf"^{name}/[\w.-]+ is not the known file \(.*expected .*, found "):
        hr.datasets.load(name)


def test_counts_that_differ_are_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hyphen").mkdir()
    shutil.copyfile(data / "hyphen" / "test.txt", tmp_path / "hyphen" / "train.txt")
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    message = "hyphen/train.txt is not the known file (words: expected 1,951, found 908; gaps: expected 12,049"
    with pytest.raises(InputError, match=re.escape(message)):
        hr.datasets.load("hyphen")


def test_unknown_names_and_splits_list_what_there_is() -> None:
    with pytest.raises(InputError, match=r"no data set 'nettalks'; did you mean 'nettalk'\?"):
        hr.datasets.load("nettalks")
    with pytest.raises(InputError, match=r"no data set 'xyz'; choose from nettalk-stress, .*pronounce"):
        hr.datasets.load("xyz")
    with pytest.raises(InputError, match="pronounce has no split 'dev'; choose from train, test, all"):
        hr.datasets.load("pronounce", "dev")
    with pytest.raises(InputError, match="letters has no split 'fold10'; choose from train, test, fold0"):
        hr.datasets.load("letters", "fold10")


def test_importing_datasets_is_light() -> None:
    code = (
        "import sys, hedgerow.datasets as d; d.load('pronounce');"
        "print([m for m in ('scipy', 'pandas', 'sklearn', 'pooch', 'requests') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_documented_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
