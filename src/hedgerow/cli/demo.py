"""hedgerow demo: learn to pronounce English words, in seconds and offline."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.flags import with_parameters
from hedgerow.estimators import HMM, TreeCRF

if TYPE_CHECKING:
    from rich.text import Text

SHOWN = 10


def add_to(app: typer.Typer) -> None:
    def demo(
        *,
        as_json: Annotated[bool, typer.Option("--json", help="print the results as JSON")] = False,
        estimator: TreeCRF,
    ) -> None:
        """Learn the sound and stress of every letter from 3,000 English words, and test the model on 1,000 others."""
        facts, words = _learn(estimator)
        if as_json:
            print(json.dumps(facts))
        else:
            _show(facts, words)

    app.command("demo")(with_parameters(demo, TreeCRF, window=4, n_rounds=40, random_state=0))


def _learn(estimator: TreeCRF) -> tuple[dict[str, Any], list[tuple[str, Any, Any]]]:
    """Fit, save, load and predict. Returns the results, and some words with their gold and predicted labels."""
    import hedgerow as hr

    train, test = hr.datasets.load("pronounce", "train"), hr.datasets.load("pronounce", "test")
    began = time.perf_counter()
    callbacks = [hr.callbacks.Progress()] if sys.stderr.isatty() else []
    estimator.fit(train.X, train.y, callbacks=callbacks)
    fitted = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.hedgerow"
        estimator.save(path)
        size, model = path.stat().st_size, hr.load(path)
        began_predicting = time.perf_counter()
        predicted = model.predict(test.X)
        done = time.perf_counter()
        del model  # Windows cannot delete a memory-mapped file
    baseline = HMM().fit(train.X, train.y).predict(test.X)
    facts = {
        "model": repr(estimator),
        "labels": len(estimator.classes_),
        "train_words": len(train),
        "test_words": len(test),
        "fit_seconds": fitted - began,
        "letters_per_second": sum(map(len, test.y)) / (done - began_predicting),
        "model_kilobytes": size / 1000,
        "letter_accuracy": hr.metrics.accuracy(test.y, predicted),
        "word_accuracy": hr.metrics.sequence_accuracy(test.y, predicted),
        "hmm_letter_accuracy": hr.metrics.accuracy(test.y, baseline),
        "hmm_word_accuracy": hr.metrics.sequence_accuracy(test.y, baseline),
    }
    sample = range(0, len(test), len(test) // SHOWN)
    return facts, [(test.X[i], test.y[i], predicted[i]) for i in sample]


def _show(facts: dict[str, Any], words: list[tuple[str, Any, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(
        f"{facts['model']} learned {facts['labels']} labels from {facts['train_words']:,} words in "
        f"{facts['fit_seconds']:.1f} s. The model file has {facts['model_kilobytes']:,.0f} kB; "
        f"the model labels {facts['letters_per_second']:,.0f} letters a second."
    )
    scores = Table("", "letters right", "words right", box=box.SIMPLE_HEAD)
    for name, kind in (("TreeCRF", ""), ("HMM", "hmm_")):
        scores.add_row(name, f"{facts[kind + 'letter_accuracy']:.1%}", f"{facts[kind + 'word_accuracy']:.1%}")
    console.print(f"\nOn {facts['test_words']:,} other words (many are forms of a word in training):")
    console.print(scores)
    console.print(f"Every {facts['test_words'] // len(words)}th of these words:")
    table = Table("word", "predicted sounds", "correct sounds, where they differ", box=box.SIMPLE_HEAD)
    for word, gold, guess in words:
        wrong = gold != guess
        table.add_row(
            word, _sounds(guess, wrong, "green", "red"), _sounds(gold, wrong, "", "bold") if any(wrong) else ""
        )
    console.print(table)
    console.print("One label for each letter: _ is silent, + joins two sounds; 1 and 2 mark stressed vowels, 0 others.")


def _sounds(labels: Any, wrong: Any, right_style: str, wrong_style: str) -> Text:
    from rich.text import Text

    return Text(" ").join(
        Text(str(x), wrong_style if bad else right_style) for x, bad in zip(labels, wrong, strict=True)
    )
