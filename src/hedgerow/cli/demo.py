"""hedgerow demo: a real model learns to pronounce English words, in seconds and offline."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    import typer

    from hedgerow.estimators import HMM

SHOWN = 8


def add_to(app: typer.Typer) -> None:
    import typer

    from hedgerow.cli.flags import with_parameters
    from hedgerow.estimators import HMM

    def demo(
        *, as_json: Annotated[bool, typer.Option("--json", help="figures for machines")] = False, estimator: HMM
    ) -> None:
        """Learn to pronounce: a phoneme with its stress for every letter of 3,000 words, tried on 1,000 others."""
        facts, words = _learn(estimator)
        if as_json:
            print(json.dumps(facts))
        else:
            _show(facts, words)

    app.command("demo")(with_parameters(demo, HMM))


def _learn(estimator: HMM) -> tuple[dict[str, Any], list[tuple[str, Any, Any]]]:
    """Fit, save, load and predict; the figures, and some words with their gold and predicted labels."""
    import hedgerow as hr

    train, test = hr.datasets.load("pronounce", "train"), hr.datasets.load("pronounce", "test")
    began = time.perf_counter()
    estimator.fit(train.X, train.y)
    fitted = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.hedgerow"
        estimator.save(path)
        size, model = path.stat().st_size, hr.load(path)
    began_predicting = time.perf_counter()
    predicted = model.predict(test.X)
    done = time.perf_counter()
    baseline = hr.HMM(order=0).fit(train.X, train.y)
    facts = {
        "model": repr(estimator),
        "labels": len(model.classes_),
        "train_words": len(train),
        "test_words": len(test),
        "fit_seconds": fitted - began,
        "letters_per_second": sum(map(len, test.y)) / (done - began_predicting),
        "model_kilobytes": size / 1000,
        "letter_accuracy": hr.metrics.accuracy(test.y, predicted),
        "word_accuracy": hr.metrics.sequence_accuracy(test.y, predicted),
        "letter_accuracy_without_context": baseline.score(test.X, test.y),
    }
    longest = sorted(range(len(test)), key=lambda i: (-len(test.X[i]), test.X[i]))[:SHOWN]
    return facts, [(test.X[i], test.y[i], predicted[i]) for i in longest]


def _show(facts: dict[str, Any], words: list[tuple[str, Any, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.print(
        f"{facts['model']} learned {facts['labels']} labels from {facts['train_words']:,} words "
        f"in {facts['fit_seconds']:.2f} s; its file has {facts['model_kilobytes']:.0f} kB."
    )
    console.print(
        f"On {facts['test_words']:,} words it never saw: {facts['letter_accuracy']:.1%} of letters right, "
        f"{facts['word_accuracy']:.1%} of words; {facts['letter_accuracy_without_context']:.1%} of letters "
        f"without looking at neighbours. {facts['letters_per_second']:,.0f} letters a second."
    )
    table = Table("word", "predicted sounds", title="The longest of them", title_justify="left")
    for word, gold, guess in words:
        sounds = Text(" ").join(
            Text(str(b), "green" if a == b else "red strike") for a, b in zip(gold, guess, strict=True)
        )
        table.add_row(word, sounds)
    console.print(table)
    console.print("Green is right, red is wrong; _ is a silent letter; 1 and 2 mark stress.")
