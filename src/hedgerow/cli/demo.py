"""hedgerow demo: learn to pronounce English words with three estimators, in seconds and offline."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

WINDOW = 4
SHOWN = 6  # words
# A probability of at least this much has this colour.
COLOURS = ((0.9, "green"), (0.6, "yellow"), (0.0, "red"))


def add_to(app: typer.Typer) -> None:
    @app.command("demo")
    def demo(
        as_json: Annotated[bool, typer.Option("--json", help="print the results as JSON")] = False,
    ) -> None:
        """Learn the sound and stress of every letter from 3,000 English words, and read 1,000 others."""
        if not as_json:
            print("Learning the sound and stress of every letter from 3,000 English words ...", flush=True)
        facts, words = _learn()
        if as_json:
            print(json.dumps(facts | {"words": words}))
        else:
            _show(facts, words)


def _learn() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The scores of three estimators, and some words as the last of them reads them."""
    import hedgerow as hr

    train, test = hr.datasets.load("pronounce", "train"), hr.datasets.load("pronounce", "test")
    model: Any = None
    results = []
    for model in (
        hr.HMM(),
        hr.LinearCRF(window=WINDOW),
        hr.TreeCRF(window=WINDOW, n_rounds=40, random_state=0),
    ):
        began = time.perf_counter()
        callbacks = [hr.callbacks.Progress()] if sys.stderr.isatty() else []
        model.fit(train.X, train.y, callbacks=callbacks)
        seconds = time.perf_counter() - began
        predicted = model.predict(test.X)
        results.append(
            {
                "estimator": type(model).__name__,
                "letters_right": hr.metrics.accuracy(test.y, predicted),
                "words_right": hr.metrics.sequence_accuracy(test.y, predicted),
                "seconds": seconds,
            }
        )
    facts = {"train_words": len(train), "test_words": len(test), "labels": len(model.classes_), "results": results}
    sample = range(0, len(test), len(test) // SHOWN)[:SHOWN]
    return facts, [_reading(model, test.X[i], test.y[i].tolist()) for i in sample]


def _reading(model: Any, word: str, gold: list[str]) -> dict[str, Any]:
    """The labels that the model gives to the letters of a word, their probabilities, and the correct labels."""
    [probabilities], labels = model.predict_proba([word]), model.predict_single(word).tolist()
    classes = model.classes_.tolist()
    chances = [float(row[classes.index(label)]) for row, label in zip(probabilities, labels, strict=True)]
    return {"word": word, "predicted": labels, "probability": chances, "correct": gold}


def _show(facts: dict[str, Any], words: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    scores = Table("estimator", box=box.SIMPLE_HEAD)
    for heading in ("letters right", "words right", "seconds to learn"):
        scores.add_column(heading, justify="right")
    for row in facts["results"]:
        shares = (f"{row[key]:.1%}" for key in ("letters_right", "words_right"))
        scores.add_row(row["estimator"], *shares, f"{row['seconds']:.1f}")
    console.print(scores)
    console.print(
        f"Scores are for {facts['test_words']:,} words that the models have not seen, but many are forms of words that "
        f"they have. There are {facts['labels']} labels. The HMM reads one letter at a time, the others also the "
        f"{WINDOW} letters on either side.\n"
    )
    console.print("Some of these words as TreeCRF reads them, and how sure it is of each letter, in per cent:")
    for reading in words:
        console.print(_letters(reading))
    console.print(
        "_ is a silent letter, + joins two sounds; 1 and 2 mark stressed vowels, 0 others.\n\n"
        "Next, learn from a file of your own: one position a line, the label last, a blank line after each sequence.\n"
        "[bold]  hedgerow train FILE --output model.hedgerow\n  hedgerow tag model.hedgerow OTHER_FILE[/bold]"
    )


def _letters(reading: dict[str, Any]) -> Table:
    """A word with a column for each letter."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(min_width=len("correct"))
    styles = [next(colour for least, colour in COLOURS if chance >= least) for chance in reading["probability"]]
    sounds = zip(reading["predicted"], styles, strict=True)
    chances = zip(reading["probability"], styles, strict=True)
    table.add_row("", *reading["word"], style="bold")
    table.add_row("sounds", *(Text(sound, style) for sound, style in sounds))
    table.add_row("sure", *(Text(f"{chance:.0%}"[:-1], style) for chance, style in chances))
    if reading["predicted"] != reading["correct"]:
        pairs = zip(reading["predicted"], reading["correct"], strict=True)
        table.add_row("correct", *("" if guess == gold else gold for guess, gold in pairs))
    table.add_row("")
    return table
