"""The HTML report: its time and its size.

python benchmarks/report.py

One thread, the test part of CoNLL-2000. Each report is written in a process of its own, from Python objects. The time
has everything from prediction to the complete file.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import few, sentences
from jobs import Figures, main, run
from printing import print_table

N_TRAINING = few(2000, 20)
N_SENTENCES = few(2012, 10)
WORDS: dict[str, Any] = {"features": hr.templates.words(), "n_jobs": 1}
MODELS: dict[str, Callable[[], Any]] = {
    "HMM": lambda: hr.HMM(n_jobs=1),
    "LinearCRF, words": lambda: hr.LinearCRF(max_iter=few(30, 2), **WORDS),
    "TreeCRF, words": lambda: hr.TreeCRF(n_rounds=few(20, 2), random_state=0, **WORDS),
}


def part(split: str, n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words and labels of the first n sentences."""
    data = sentences(split)[:n]
    return [words for words, _, _ in data], [chunks for _, _, chunks in data]


def report(name: str, labelled: bool) -> Figures:
    """Seconds and megabytes of a report."""
    import warnings

    model = MODELS[name]().fit(*part("train", N_TRAINING))
    X, y = part("test", N_SENTENCES)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.errors.UnseenLabelWarning)  # the test part has labels of its own
        began = time.perf_counter()
        path = hr.report(model, X, y if labelled else None, Path(folder) / "report.html")
        return {"seconds": time.perf_counter() - began, "MB": path.stat().st_size / 1e6}


def print_reports() -> None:
    def rows() -> Iterator[list[object]]:
        for name in MODELS:
            for labelled in (True, False):
                found = run("report", name, labelled)
                gold = "yes" if labelled else "no"
                yield [name, N_SENTENCES, gold, f"{found['seconds']:.1f}", f"{found['MB']:.2f}"]

    print_table(["model", "sentences", "gold labels", "seconds", "MB"], rows())


JOBS: dict[str, Any] = {"report": report}


if __name__ == "__main__":
    main(__doc__, {"reports": print_reports}, JOBS)
