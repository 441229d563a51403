"""The program of the well-known tutorial gives the same results when only its import line changes."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn_crfsuite")
DATA = Path(os.environ.get("HEDGEROW_DATA", "")) / "practice" / "dutch-ner"

PROGRAM = """
from collections import Counter

from {module} import CRF


def word2features(sent, i):
    word, postag = sent[i][:2]
    features = {{
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": postag,
        "postag[:2]": postag[:2],
    }}
    for side, j in (("-1", i - 1), ("+1", i + 1)):
        if 0 <= j < len(sent):
            word, postag = sent[j][:2]
            features.update({{
                side + ":word.lower()": word.lower(),
                side + ":word.istitle()": word.istitle(),
                side + ":word.isupper()": word.isupper(),
                side + ":postag": postag,
                side + ":postag[:2]": postag[:2],
            }})
        else:
            features["BOS" if j < 0 else "EOS"] = True
    return features


def sent2features(sent):
    return [word2features(sent, i) for i in range(len(sent))]


def sent2labels(sent):
    return [label for _, _, label in sent]


X_train = [sent2features(s) for s in train_sents]
y_train = [sent2labels(s) for s in train_sents]
X_test = [sent2features(s) for s in test_sents]
y_test = [sent2labels(s) for s in test_sents]

crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
crf.fit(X_train, y_train)
labels = list(crf.classes_)
labels.remove("O")
y_pred = crf.predict(X_test)
print("accuracy", crf.score(X_test, y_test))

for (before, after), weight in Counter(crf.transition_features_).most_common(5):
    print("transition", before, after, weight)
for (attribute, label), weight in Counter(crf.state_features_).most_common(10):
    print("state", attribute, label, weight)
for (attribute, label), weight in Counter(crf.state_features_).most_common()[-5:]:
    print("state", attribute, label, weight)
"""


def run(module: str, train: list[Any], test: list[Any]) -> tuple[dict[str, Any], dict[str, float]]:
    """(names of the program after it ran, numbers that it printed by the words before them)."""
    names: dict[str, Any] = {"train_sents": train, "test_sents": test}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(PROGRAM.format(module=module), names)
    lines = [line.rpartition(" ") for line in printed.getvalue().splitlines()]
    return names, {before: float(number) for before, _, number in lines}


def compare(train: list[Any], test: list[Any]) -> None:
    ours, our_numbers = run("hedgerow.compat", train, test)
    theirs, their_numbers = run("sklearn_crfsuite", train, test)
    loss = theirs["crf"].training_log_.last_iteration["loss"]
    assert ours["crf"].training_log_.last_iteration["loss"] == pytest.approx(loss, rel=1e-3)
    pairs = zip(np.concatenate(ours["y_pred"]), np.concatenate(theirs["y_pred"]), strict=True)
    assert np.mean([mine == other for mine, other in pairs]) >= 0.999
    assert sorted(ours["labels"]) == sorted(theirs["labels"])
    assert our_numbers["accuracy"] == pytest.approx(their_numbers["accuracy"], abs=1e-3)
    common = our_numbers.keys() & their_numbers.keys()
    assert len(common) >= len(their_numbers) - 2  # the last of a list may be another
    for name in common:
        assert our_numbers[name] == pytest.approx(their_numbers[name], rel=0.05)


def written_sentences(n: int) -> list[Any]:
    """Sentences with names of people and places, from a small grammar."""
    rng = np.random.default_rng(0)
    people = ["Ann", "Bob", "Cleo", "Dirk", "Eva", "Finn"]
    surnames = ["Smith", "Jones", "Berg", "Lund", "Maas"]
    places = ["Leeds", "York", "Delft", "Gent", "Utrecht", "Bonn"]
    words = [
        ("lives", "V"),
        ("the", "Art"),
        ("old", "Adj"),
        ("river", "N"),
        ("rises", "V"),
        ("42", "Num"),
        ("IBM", "N"),
    ]
    sentences = []
    for _ in range(n):
        sentence = []
        for _ in range(rng.integers(2, 6)):
            kind = rng.random()
            if kind < 0.2:
                sentence.append((str(rng.choice(people)), "N", "B-PER"))
                if rng.random() < 0.6:
                    sentence.append((str(rng.choice(surnames)), "N", "I-PER"))
            elif kind < 0.4:
                sentence += [("in", "Prep", "O"), (str(rng.choice([*places, *people[:2]])), "N", "B-LOC")]
            else:
                sentence += [(*words[rng.integers(len(words))], "O") for _ in range(2)]
        sentences.append(sentence)
    return sentences


def test_with_sentences_of_a_grammar() -> None:
    sentences = written_sentences(300)
    compare(sentences[:200], sentences[200:])


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the Dutch names are not here")
def test_with_dutch_newspapers() -> None:
    def read(name: str, n: int) -> list[Any]:
        text = (DATA / name).read_text(encoding="latin-1")
        sentences = [[tuple(line.split(" ")) for line in part.splitlines()] for part in text.split("\n\n") if part]
        kept = [[row for row in sentence if len(row) == 3 and row[0] != "-DOCSTART-"] for sentence in sentences]
        return [sentence for sentence in kept if sentence][:n]

    compare(read("ned.train", 1000), read("ned.testa", 1000))
