"""`encode` writes what one read of all data gives, in any number of blocks and shards."""

from __future__ import annotations

import io
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.corpora import DATA, WORDS, arrays_of, assert_same_encoded, assert_same_encoder, in_memory, labels_of
from hedgerow.corpora import source_blocks
from hedgerow.data.columns import CategoricalColumn
from hedgerow.errors import CorpusError, InputError


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few sequences, so that each lacks values and columns that others have."""
    monkeypatch.setattr(source_blocks, "POSITIONS", 12)
    monkeypatch.setattr(os, "fsync", lambda file: None)  # which takes most of the time of small shards


FEATURES = {
    "characters": hr.templates.letters(2),
    "words": hr.templates.words(),
    "missing words": hr.templates.words(),
    "tuples": hr.templates.words(),
    "arrays": hr.templates.numbers(),
}


@pytest.mark.parametrize("missing", [None, "impute", "indicator", "published-indicator"])
@pytest.mark.parametrize("kind", DATA)
def test_every_array_is_that_of_one_read(kind: str, missing: Any, tmp_path: Path) -> None:
    X = DATA[kind]
    for features in {None, FEATURES.get(kind)}:
        folder = tmp_path / str(features is None)
        found = hr.encode(lambda: iter(X), folder, missing=missing, features=features, shard_positions=30)
        encoder, expected = in_memory(X, missing, features)
        assert_same_encoded(found, expected)
        assert_same_encoder(found.encoder, encoder)
        assert found.y is None
        assert len(found.shards()) > 1
        assert_same_encoded(hr.Encoded.open(folder, verify=True), expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("shard_positions", [1, 40, 10**6])
def test_neither_shards_nor_threads_change_an_array(shard_positions: int, n_jobs: int, tmp_path: Path) -> None:
    features = hr.templates.words()
    found = hr.encode(
        WORDS_AND_LABELS, tmp_path / "a", features=features, shard_positions=shard_positions, n_jobs=n_jobs
    )
    _, expected = in_memory(WORDS, None, features)
    assert_same_encoded(found, expected)
    assert [y.tolist() for y in found.y or ()] == labels_of(WORDS)


WORDS_AND_LABELS = list(zip(WORDS, labels_of(WORDS), strict=True))


@pytest.mark.parametrize("min_freq", [2, 5])
def test_rare_values_are_left_out(min_freq: int, tmp_path: Path) -> None:
    template = hr.templates.columns(
        {
            "word": {"from": "symbol"},
            "before": {"from": "symbol", "at": -1},
            "two": {"join": ["before", "word"]},
            "three": {"join": ["two", {"from": "symbol", "at": 1}]},
            "end": {"from": "symbol", "part": "suffix2"},
        }
    )
    plain = [[w.strip("<>") for w in words] for words in WORDS]
    X = [[w if i % 9 else f"{w}{i}" for i, w in enumerate(words, 3 * k)] for k, words in enumerate(plain)]
    _, everything = in_memory(X, None, template)
    found = hr.encode(X, tmp_path / "a", features=template, min_freq=min_freq, shard_positions=30)
    often_words = {word for word, n in Counter(word for words in X for word in words).items() if n >= min_freq}
    ends = Counter(word[-2:] for words in X for word in words if len(word) >= 2)
    for column in everything.columns:
        assert isinstance(column, CategoricalColumn)
        mine = found.column(column.name)
        assert isinstance(mine, CategoricalColumn)
        values = [column.alphabet[c] if c >= 0 else None for c in column.codes.tolist()]
        if column.name == "end":
            kept = {end for end, n in ends.items() if n >= min_freq}
        elif column.name in ("word", "before"):
            kept = {*often_words, "<outside>"}
        else:
            parts_often = [v for v in values if v and all(p in often_words or p == "<outside>" for p in v.split("|"))]
            kept = {pair for pair, n in Counter(parts_often).items() if n >= min_freq}
        assert set(mine.alphabet) <= kept | {"<outside>"}
        assert [mine.alphabet[c] if c >= 0 else None for c in mine.codes.tolist()] == [
            v if v in kept else None for v in values
        ]


def test_rare_values_of_bags_and_columns_are_left_out(tmp_path: Path) -> None:
    X = [[{"bag": ["a", "b"], "word": "x"}, {"bag": ["b"], "word": "y"}], [{"bag": ["b", "c"], "word": "x"}]]
    found = hr.encode(X, tmp_path / "a", min_freq=2)
    arrays = arrays_of(found)
    assert arrays["bag starts"].tolist() == [0, 1, 2, 3]
    assert arrays["word codes"].tolist() == [0, -2, 0]
    assert list(found.column("bag").alphabet) == ["b"]  # type: ignore[union-attr]


def test_keys_that_are_folded_or_nested_over_all_data_are_so_in_every_block(tmp_path: Path) -> None:
    X: list[Any] = [[{"o": {"a": 1.0}, "t": "x"}] * 15, [{"o": {"a": None, "b": 1.0}}] * 15, [{"o": {"b": 2.0}}] * 15]
    _, expected = in_memory(X)
    found = hr.encode(X, tmp_path / "a", shard_positions=15)
    mine, theirs = arrays_of(found), arrays_of(expected)
    assert sorted(mine) == sorted(theirs)  # the keys of a nested dict that is no bag stand where the dict does
    for name in theirs:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    rare: list[Any] = [[{f"k{i}": 1.0 + i} for i in range(j, j + 30)] for j in range(0, 150, 30)]
    encoder, expected = in_memory(rare)
    found = hr.encode(rare, tmp_path / "b", shard_positions=30)
    assert [column.name for column in found.columns] == ["attributes"]
    assert_same_encoded(found, expected)
    assert_same_encoder(found.encoder, encoder)


@pytest.mark.parametrize("labels", [["A", "B"], [3, -7], [True, False]], ids=["strings", "integers", "bools"])
def test_labels_of_every_kind_come_back(labels: list[Any], tmp_path: Path) -> None:
    y = [[labels[t % 2] for t in range(len(words))] for words in WORDS]
    found = hr.encode(zip(WORDS, y, strict=True), tmp_path / "a", shard_positions=30)
    assert found.y is not None
    assert [one.tolist() for one in found.y] == y
    assert hr.HMM().fit(found, found.y).classes_.tolist() == sorted(labels)
    assert [one.tolist() for one in found[5:9].y or ()] == y[5:9]
    assert [one.tolist() for one in found[[7, 2]].y or ()] == [y[7], y[2]]


def test_files_are_read_like_one_file(tmp_path: Path) -> None:
    text = "".join("".join(f"{w} {c}\n" for w, c in zip(x, y, strict=True)) + "\n" for x, y in WORDS_AND_LABELS)
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    half = text.index("\n\n", len(text) // 2) + 2
    first.write_text(text[:half], "utf-8")
    second.write_text(text[half:], "utf-8")
    corpus = hr.read(io.StringIO(text))
    assert corpus.y is not None
    for i, source in enumerate(([first, second], io.StringIO(text), corpus)):
        found = hr.encode(source, tmp_path / f"c{i}", shard_positions=40)
        assert_same_encoded(found, in_memory(corpus.X)[1])  # type: ignore[arg-type]
        assert [one.tolist() for one in found.y or ()] == [one.tolist() for one in corpus.y]


def test_weights_of_sequences_are_kept(tmp_path: Path) -> None:
    lines = '{"w": ["a", "b"], "labels": ["A", "B"], "weight": 2}\n{"w": ["b"], "labels": ["B"]}\n'
    found = hr.encode(io.StringIO(lines), tmp_path / "a")
    assert found.sample_weight is not None
    assert found.sample_weight.tolist() == [2, 1]
    assert found[1:].sample_weight.tolist() == [1]  # type: ignore[union-attr]
    assert found[[1]].sample_weight.tolist() == [1]  # type: ignore[union-attr]


def test_dev_data_have_the_alphabets_of_training(tmp_path: Path) -> None:
    template = hr.templates.words()
    train = hr.encode(WORDS_AND_LABELS[:30], tmp_path / "train", features=template)
    dev = hr.encode([(["the", "unknown"], ["A", "B"])], tmp_path / "dev", like=train)
    assert dev.encoder.digest == train.encoder.digest
    encoder, _ = in_memory(WORDS[:30], None, template)
    assert_same_encoded(dev, encoder.transform(hr.Sequences([["the", "unknown"]])))
    model = hr.LinearCRF(max_iter=3).fit(train, train.y, dev, dev.y)
    again = hr.encode([["the", "unknown"]], tmp_path / "new", like=model)
    assert model.predict(again)[0].tolist() == model.predict([["the", "unknown"]])[0].tolist()


def test_a_corpus_is_pickled_as_its_place(tmp_path: Path) -> None:
    found = hr.encode(WORDS_AND_LABELS, tmp_path / "a", shard_positions=30)
    assert len(pickle.dumps(found)) < 500
    part = pickle.loads(pickle.dumps(found[4:20]))
    assert_same_encoded(part, found[4:20])
    assert [one.tolist() for one in part.y] == labels_of(WORDS)[4:20]
    assert [len(shard) for shard in part.shards()] == [len(shard) for shard in found[4:20].shards()]
    chosen = pickle.loads(pickle.dumps(found[[3, 1]]))
    assert_same_encoded(chosen, found[[3, 1]])
    shards = found.shards()
    assert sum(map(len, shards)) == len(found)
    kept = pickle.dumps(found)
    hr.encode(WORDS_AND_LABELS[:9], tmp_path / "a", overwrite=True)
    with pytest.raises(InputError, match="written again since"):
        pickle.loads(kept)


def test_the_arrays_are_views_of_the_files(tmp_path: Path) -> None:
    found = hr.encode(WORDS_AND_LABELS, tmp_path / "a")
    codes = found.column("symbol").codes  # type: ignore[union-attr]
    part = found[3:9].column("symbol").codes  # type: ignore[union-attr]
    assert np.shares_memory(codes, part)
    assert not codes.flags.owndata
    assert not codes.flags.writeable


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ([], {}, "at least one sequence"),
        (3, {}, "source must be a path"),
        (in_memory([["a"]])[1], {}, "it is encoded already"),
        ([(["a"], ["A"]), ["b"]], {}, "sequence 1 of the source must have labels"),
        ([["a"]], {"min_freq": 0}, "min_freq must be an integer of at least 1; it is 0"),
        ([["a"]], {"shard_positions": "x"}, "shard_positions must be an integer"),
        ([["a"]], {"missing": "x"}, "missing must be"),
        ([["a"]], {"features": "words"}, "features must be a template"),
        ([["a"]], {"format": "conll"}, "format says how files are read"),
        ([["a"]], {"like": 3}, "like must be an Encoded or a fitted estimator"),
        ([["a"]], {"n_jobs": "x"}, "n_jobs must be"),
        ([["a"]], {"features": hr.templates.numbers()}, "numbers: X must have a numeric column"),
        (lambda: 3, {}, "must return an iterable"),
    ],
)
def test_bad_arguments_are_refused(source: Any, arguments: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        hr.encode(source, tmp_path / "a", **arguments)
    assert not (tmp_path / "a").exists()


def test_a_folder_is_replaced_only_on_request(tmp_path: Path) -> None:
    hr.encode([["a"]], tmp_path / "a")
    with pytest.raises(InputError, match="exists already"):
        hr.encode([["b"]], tmp_path / "a")
    hr.encode([["b", "c"]], tmp_path / "a", overwrite=True)
    assert hr.Encoded.open(tmp_path / "a").n_positions == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="must be a corpus to be replaced"):
        hr.encode([["b"]], tmp_path / "other", overwrite=True)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        hr.encode([["b"]], tmp_path / "no" / "a")


def test_encoded_in_memory_has_no_files() -> None:
    _, encoded = in_memory([["a"]])
    with pytest.raises(InputError, match="were encoded in memory"):
        encoded.shards()


def test_progress_tells_of_every_shard_of_every_pass(tmp_path: Path) -> None:
    records: list[Any] = []
    hr.encode(
        WORDS_AND_LABELS, tmp_path / "a", features=hr.templates.tags(), shard_positions=50, progress=records.append
    )
    assert list(dict.fromkeys(record["pass"] for record in records)) == ["read", "pairs", "codes"]
    n_positions = sum(map(len, WORDS))
    assert {record["positions"] for record in records if record["step"] == record["total"]} == {n_positions}


def test_damage_of_each_file_is_refused_by_name(tmp_path: Path) -> None:
    X = [[{"w": "a", "n": 1.5, "b": {"x": 2.0}}, {"w": "b", "n": 0.5, "b": {"y": 1.0}}]] * 3
    folder = tmp_path / "a"
    hr.encode([(x, ["A", "B"]) for x in X], folder)
    files = sorted(folder.iterdir())
    assert len(files) == 9
    for file in files:
        content = file.read_bytes()
        for damaged in (content[:-1], b"", None):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            with pytest.raises(CorpusError, match=file.name.replace(".", r"\.")):
                hr.Encoded.open(folder)
        flipped = bytearray(content)
        flipped[-3] ^= 1
        file.write_bytes(flipped)
        with pytest.raises(CorpusError, match=file.name.replace(".", r"\.")):
            hr.Encoded.open(folder, verify=True)
        file.write_bytes(content)
    hr.Encoded.open(folder, verify=True)


def test_a_newer_corpus_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    hr.encode([["a"]], folder)
    index = folder / "index.json"
    index.write_text(index.read_text().replace('"format_version": 1', '"format_version": 2'))
    with pytest.raises(CorpusError, match="written by a newer hedgerow"):
        hr.Encoded.open(folder)
    index.write_text("{}")
    with pytest.raises(CorpusError, match="is not the index of a hedgerow corpus"):
        hr.Encoded.open(folder)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        hr.Encoded.open(tmp_path / "none")


def test_refused_data_leave_nothing_behind(tmp_path):
    with pytest.raises(InputError, match="2 positions but 1 label"):
        hr.encode([(["a", "b"], ["x"])], tmp_path / "corpus")
    assert not list(tmp_path.iterdir())
