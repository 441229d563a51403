"""Labelling tasks of different kinds: the practice sets in HEDGEROW_DATA/practice, and the older sets of hr.datasets.

`TASKS` lists them by name; `Task.read()` gives raw sequences and labels of training and test part. A task whose files
are not there raises DataNotFoundError. Defaults are chosen with `held_out`, on a fifth of the training part; the test
part is for the final table.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import data
import hedgerow as hr
from hedgerow.errors import DataNotFoundError

Kind = Literal["words", "letters", "numbers"]
Part = tuple[list[Any], list[Any]]  # sequences and their labels

FEW_SEQUENCES = 5  # with fewer, the held-out part is the end of each sequence
GESTURES = {"train": ("a1", "a2", "b1", "c1"), "test": ("a3", "b3", "c3")}
OFFICES = {"train": ("datatraining",), "test": ("datatest", "datatest2")}
ONE_MINUTE_LATE = timedelta(seconds=90)


class Split(NamedTuple):
    """Sequences and labels to learn from, and those to predict."""

    X: list[Any]
    y: list[list[str]]
    X_test: list[Any]
    y_test: list[list[str]]


@dataclass(frozen=True)
class Task:
    """A task: what its positions are, how it is scored, and the window for models without templates."""

    name: str
    kind: Kind
    metric: Literal["span F1", "accuracy"]
    window: int
    part: Callable[[str], Part]

    def read(self) -> Split:
        """The training part and the test part."""
        (X, y), (X_test, y_test) = self.part("train"), self.part("test")
        return Split(X, _lists(y), X_test, _lists(y_test))

    def held_out(self, seed: int = 0) -> Split:
        """The training part without a fifth of its sequences, and this fifth.

        Of a few long sequences the last fifth of each is held out.
        """
        X, y = self.part("train")
        y = _lists(y)
        if len(X) < FEW_SEQUENCES:
            cuts = [len(labels) * 4 // 5 for labels in y]
            heads = [x[:cut] for x, cut in zip(X, cuts, strict=True)], [x[:cut] for x, cut in zip(y, cuts, strict=True)]
            tails = [x[cut:] for x, cut in zip(X, cuts, strict=True)], [x[cut:] for x, cut in zip(y, cuts, strict=True)]
            return Split(*heads, *tails)
        drawn = np.random.default_rng(seed).permutation(len(X)).tolist()
        n = max(1, len(X) // 5)
        kept, held = sorted(drawn[n:]), sorted(drawn[:n])
        return Split([X[i] for i in kept], [y[i] for i in kept], [X[i] for i in held], [y[i] for i in held])

    def score(self, gold: list[list[str]], predicted: list[list[str]]) -> float:
        """The metric of the task, from 0 to 1."""
        return (hr.metrics.span_f1 if self.metric == "span F1" else hr.metrics.accuracy)(gold, predicted)


def _lists(y: Iterable[Any]) -> list[list[str]]:
    return [np.asarray(labels).astype(str).tolist() for labels in y]


def _lines(path: str) -> list[str]:
    """The lines of a file of the practice sets; raises DataNotFoundError if it is not there."""
    folder = os.environ.get("HEDGEROW_DATA")
    file = Path(folder or "") / "practice" / path
    if not folder or not file.is_file():
        raise DataNotFoundError(f"practice/{path} is not in the folder that HEDGEROW_DATA names")
    return file.read_text(encoding="utf-8-sig").splitlines()


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """The runs of lines between blank lines."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def dutch(split: str) -> Part:
    """Names in Dutch newspapers: words and tags; the lines that begin documents are dropped."""
    lines = _lines(f"dutch-ner/{'ned.train' if split == 'train' else 'ned.testa'}")
    X, y = [], []
    for block in _blocks(line for line in lines if not line.startswith("-DOCSTART-")):
        rows = [line.split() for line in block]
        X.append([{"word": word, "pos": tag} for word, tag, _ in rows])
        y.append([label for _, _, label in rows])
    return X, y


def snips(split: str) -> Part:
    """Slots in spoken commands."""
    return tuple([line.split() for line in _lines(f"snips/{split}.seq.{side}")] for side in ("in", "out"))  # type: ignore[return-value]


def treebank(folder: str, split: str, *, features: bool = False) -> Part:
    """Words and parts of speech, with their morphological features if asked; no multi-word tokens, no empty nodes."""
    X, y = [], []
    for block in _blocks(_lines(f"{folder}/{split}.conllu")):
        rows = [line.split("\t") for line in block if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        X.append([row[1] for row in rows])
        y.append([f"{row[3]}|{row[5]}" if features else row[3] for row in rows])
    return X, y


def gesture(split: str) -> Part:
    """Phases of gestures: 18 coordinates a frame. The time stamp is no column: it says how far a video is."""
    X, y = [], []
    for video in GESTURES[split]:
        rows = list(csv.DictReader(_lines(f"gesture/{video}.csv")))
        columns = [name for name in rows[0] if name not in ("timestamp", "phase")]
        X.append(np.array([[float(row[name]) for name in columns] for row in rows], dtype=np.float32))
        y.append(["Preparation" if row["phase"].startswith("Prepara") else row["phase"] for row in rows])
    return X, y


def occupancy(split: str) -> Part:
    """Is the office occupied: five measurements a minute. A sequence ends where minutes are missing."""
    X, y = [], []
    for file in OFFICES[split]:
        _, *rows = csv.reader(_lines(f"occupancy/{file}.txt"))
        times = [datetime.fromisoformat(row[1]) for row in rows]
        gaps = [t for t in range(1, len(rows)) if times[t] - times[t - 1] > ONE_MINUTE_LATE]
        for begin, end in zip([0, *gaps], [*gaps, len(rows)], strict=True):
            X.append(np.array([[float(cell) for cell in row[2:-1]] for row in rows[begin:end]], dtype=np.float32))
            y.append([row[-1] for row in rows[begin:end]])
    return X, y


def whole_nettalk(name: str, split: str) -> Part:
    """The whole dictionary without the words of the standard test part; the test part is the standard one."""
    test = hr.datasets.load(name, "test")
    if split == "test":
        return test.X, test.y
    words, every = set(test.X), hr.datasets.load(name, "all")
    kept = [i for i, word in enumerate(every.X) if word not in words]
    return [every.X[i] for i in kept], [every.y[i] for i in kept]


def older(name: str, split: str) -> Part:
    """A set of hr.datasets; the only column of words becomes the position itself."""
    found = data.load(name, split)
    X = found.X
    if name == "atis":
        X = [[position["word"] for position in x] for x in X]
    return X, found.y


def letters_reversed(split: str) -> Part:
    """Handwritten words with the large part for training: folds 1 to 9."""
    return older("letters", "test" if split == "train" else "train")


def _tasks() -> Iterator[Task]:
    if data.QUICK:  # stand-ins that need no files
        yield Task("conll2000", "words", "span F1", 1, partial(older, "conll2000"))
        yield Task("nettalk", "letters", "accuracy", 1, partial(older, "nettalk"))
        yield Task("letters", "numbers", "accuracy", 1, partial(older, "letters"))
        return
    yield Task("dutch", "words", "span F1", 2, dutch)
    yield Task("snips", "words", "span F1", 2, snips)
    yield Task("conll2000", "words", "span F1", 2, partial(older, "conll2000"))
    yield Task("armenian", "words", "accuracy", 1, partial(treebank, "armenian"))
    yield Task("vietnamese", "words", "accuracy", 1, partial(treebank, "vietnamese"))
    yield Task("atis", "words", "accuracy", 1, partial(older, "atis"))
    yield Task("armenian-feats", "words", "accuracy", 1, partial(treebank, "armenian", features=True))
    yield Task("nettalk", "letters", "accuracy", 3, partial(older, "nettalk"))
    yield Task("nettalk-stress", "letters", "accuracy", 6, partial(older, "nettalk-stress"))
    yield Task("whole-nettalk", "letters", "accuracy", 3, partial(whole_nettalk, "nettalk"))
    yield Task("whole-phoneme", "letters", "accuracy", 3, partial(whole_nettalk, "nettalk-phoneme"))
    yield Task("whole-stress", "letters", "accuracy", 6, partial(whole_nettalk, "nettalk-stress"))
    yield Task("hyphen", "letters", "accuracy", 0, partial(older, "hyphen"))
    yield Task("protein", "letters", "accuracy", 5, partial(older, "protein"))
    yield Task("gesture", "numbers", "accuracy", 5, gesture)
    yield Task("occupancy", "numbers", "accuracy", 1, occupancy)
    yield Task("ozone", "numbers", "accuracy", 0, partial(older, "ozone"))
    yield Task("letters", "numbers", "accuracy", 1, partial(older, "letters"))
    yield Task("letters-reverse", "numbers", "accuracy", 1, letters_reversed)
    yield Task("perlfaq", "numbers", "accuracy", 0, partial(older, "perlfaq"))


TASKS = {task.name: task for task in _tasks()}
