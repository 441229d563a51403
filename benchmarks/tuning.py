"""Does `hr.tune` with its default budget find a model as good as the best single estimator? On test parts.

python benchmarks/tuning.py
python benchmarks/tuning.py --tasks armenian occupancy

The single estimators have their defaults, and read what a newcomer would let them read (benchmarks/defaults.py). Every
job is a fresh process on one thread. A difference is noise below two standard errors, paired by sequences. Long
sequences are cut into pieces, because a race needs several.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK
from defaults import OURS, natural
from hedgerow.errors import DataNotFoundError
from hedgerow.tuning.evidence import NOISE, Evidence, difference
from jobs import Figures, answer, parser_of, run, shorten
from practice import FEW_SEQUENCES, TASKS, Split, Task
from printing import print_machine, print_table

PRACTICE = (
    tuple(TASKS) if QUICK else ("armenian", "vietnamese", "gesture", "occupancy", "dutch", "snips", "whole-nettalk")
)
SINGLES = ("TreeCRF", "TreeCRF, linear", "LinearCRF", "StructuredSVM", "StructuredPerceptron", "SearchTagger")
PIECE = 500  # positions of a piece of a long sequence
LIMIT = 900.0  # seconds for one job


def split_of(task: Task) -> Split:
    """The task, its long sequences in pieces if there are few."""
    split = task.read()
    if len(split.X) >= FEW_SEQUENCES:
        return split
    return Split(*(_pieces(sequences) for sequences in split))


def _pieces(sequences: list[Any]) -> list[Any]:
    return [x[i : i + PIECE] for x in sequences for i in range(0, len(x), PIECE)]


def tuned(name: str) -> Figures:
    """The winner of a race, and what it gets right on the test part."""
    try:
        split = split_of(TASKS[name])
    except DataNotFoundError as error:
        return {"skipped": str(error)}
    begin = time.perf_counter()
    budget: dict[str, Any] = {"budget": "20s", "estimators": ["HMM", "LinearCRF"]} if QUICK else {}
    result = hr.tune(split.X, split.y, n_jobs=1, random_state=0, verbose=0, **budget)
    seconds = time.perf_counter() - begin
    setting = result.rows[0]["setting"].replace("|", "/")
    return {"setting": setting, "seconds": seconds, **figures_of(TASKS[name], split, result.model)}


def single(name: str, model: str) -> Figures:
    """What an estimator with its defaults gets right on the test part."""
    task = TASKS[name]
    try:
        split = split_of(task)
    except DataNotFoundError as error:
        return {"skipped": str(error)}
    estimator = OURS[model](n_jobs=1, random_state=0, **natural(task, split, model))
    shorten(estimator)
    return figures_of(task, split, estimator.fit(split.X, split.y))


def figures_of(task: Task, split: Split, model: Any) -> Figures:
    """Gain and size of each test sequence; the score is the ratio of their sums."""
    gains, sizes = [], []
    for gold, labels in zip(split.y_test, model.predict(split.X_test), strict=True):
        found = labels.tolist()
        if task.metric == "accuracy":
            gains.append(sum(a == b for a, b in zip(gold, found, strict=True)))
            sizes.append(len(gold))
        else:
            there, seen = set(hr.metrics.spans(gold)), set(hr.metrics.spans(found))
            gains.append(2 * len(there & seen))
            sizes.append(len(there) + len(seen))
    return {"gains": gains, "sizes": sizes}


def evidence(figures: Figures) -> Evidence:
    return Evidence(np.array(figures["gains"], np.float64), np.array(figures["sizes"], np.float64))


def rows(tasks: list[str]) -> Iterator[list[str]]:
    for name in tasks:
        race = run("tuned", name, limit=LIMIT)
        if "skipped" in race:
            yield [name, race["skipped"], *[""] * 5]
            continue
        found = dict(_singles(name))
        best = max(found, key=lambda model: found[model].score)
        gap, error = difference(evidence(race), found[best])
        close = "not worse" if gap >= 0 else "within noise" if -gap <= NOISE * error else "worse"
        scores = f"{100 * evidence(race).score:.2f}", f"{100 * found[best].score:.2f}"
        yield [name, race["setting"], scores[0], f"{race['seconds']:.0f}", best, scores[1],
               f"{100 * gap:+.2f} ± {100 * error:.2f}, {close}"]  # fmt: skip


def _singles(name: str) -> Iterator[tuple[str, Evidence]]:
    for model in SINGLES:
        try:
            yield model, evidence(run("single", name, model, limit=LIMIT))
        except subprocess.TimeoutExpired:
            continue


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(PRACTICE), help="which tasks")
    options = parser.parse_args()
    if options.job:
        answer(options.job, {"tuned": tuned, "single": single})
        return
    print_machine("Test part.")
    head = ["task", "setting that `hr.tune` found", "%", "s", "best single estimator", "%", "difference"]
    print_table(head, rows(options.tasks))


if __name__ == "__main__":
    main()
