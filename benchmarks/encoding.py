"""Encoding the CoNLL-2000 training set: time beside python-crfsuite's Trainer.append, and memory.

python benchmarks/encoding.py

Times are CPU seconds, the best of three in one process. A peak of memory is that of a fresh process above its input.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import hedgerow as hr
from data import attributes, repeated, sentences, to_bags
from jobs import Figures, main, peak, run
from printing import print_table

REPEATS = 3
FORMS: dict[str, Callable[[list[dict[str, str]]], list[Any]]] = {"dicts": list, "bags": to_bags}


def load(form: str) -> tuple[list[Any], list[list[str]]]:
    data = sentences()
    return [FORMS[form](attributes(words, tags)) for words, tags, _ in data], [chunks for _, _, chunks in data]


def append_to_crfsuite(items: list[Any], labels: list[list[str]]) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for item, label in zip(items, labels, strict=True):
        trainer.append(item, label)


def cpu_seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    begin = time.process_time()
    work()
    return time.process_time() - begin


def times(form: str) -> Figures:
    X, y = load(form)
    return {
        "hedgerow": repeated(lambda: cpu_seconds(lambda: hr.Sequences(X)), REPEATS),
        "crfsuite": repeated(lambda: cpu_seconds(lambda: append_to_crfsuite(X, y)), REPEATS),
    }


def memory(form: str, library: str) -> Figures:
    """How much the peak of this process rises above the raw input, in MB."""
    X, y = load(form)
    before = peak()
    if library == "crfsuite":
        append_to_crfsuite(X, y)
    else:
        hr.Sequences(X)
    return {"MB": peak() - before}


def rows() -> Iterator[list[str]]:
    for form in FORMS:
        took = run("times", form)
        memories = [run("memory", form, library)["MB"] for library in ("hedgerow", "crfsuite")]
        ours, theirs = took["hedgerow"], took["crfsuite"]
        cells = [f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.2f}"]
        yield [form, *cells, *(f"{megabytes:.0f}" for megabytes in memories)]


def print_encoding() -> None:
    head = ["hedgerow s", "python-crfsuite append s", "ratio", "hedgerow peak MB", "python-crfsuite peak MB"]
    print_table(["from", *head], rows())


if __name__ == "__main__":
    main(__doc__, {"encoding": print_encoding}, {"times": times, "memory": memory})
