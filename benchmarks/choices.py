"""Why the defaults are what they are: each beside its alternatives, on held-out fifths of training parts.

python benchmarks/choices.py
python benchmarks/choices.py --parts penalty

Every fit is a fresh process on one thread. Seconds are CPU time of the fit. The test parts are never read.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import hedgerow as hr
from data import QUICK
from hedgerow.errors import DataNotFoundError, UnseenLabelWarning
from jobs import Figures, main, run, shorten
from practice import TASKS, Split
from printing import print_table


class Choice(NamedTuple):
    """Settings to compare: what they are called, on which tasks, and what share of the values is lost there."""

    settings: dict[str, Callable[..., Any]]
    tasks: tuple[str, ...]
    rate: float = 0.0


CHOICES = {
    "penalty": Choice(
        {
            "l2=1": partial(hr.LinearCRF, l2=1.0),
            "l2=0.1": partial(hr.LinearCRF, l2=0.1),
            "l1=l2=0.1": partial(hr.LinearCRF, l1=0.1, l2=0.1),
            "StructuredSVM": hr.StructuredSVM,
        },
        ("armenian", "vietnamese", "atis", "nettalk-stress", "hyphen", "protein"),
    ),
    "words": Choice(
        {
            "TreeCRF": hr.TreeCRF,
            "label_statistics=False": partial(hr.TreeCRF, label_statistics=False),
            "linear=True": partial(hr.TreeCRF, linear=True),
        },
        ("armenian", "vietnamese"),
    ),
    "sensors": Choice(
        {
            "MEMM": hr.MEMM,
            "MEMM(max_leaves=10)": partial(hr.MEMM, max_leaves=10),
            "MEMM(order=0)": partial(hr.MEMM, order=0),
            "TreeCRF": hr.TreeCRF,
        },
        ("gesture", "occupancy", "nettalk-stress", "hyphen", "protein"),
    ),
    "missing": Choice(
        {
            "weighting": partial(hr.TreeCRF, missing="weighting"),
            "learned": partial(hr.TreeCRF, missing="learned"),
        },
        ("ozone", "nettalk-stress", "hyphen", "protein", "occupancy"),
        rate=0.2,
    ),
}
REAL_GAPS = ("ozone",)  # nothing is lost there: values are missing already


def measure(part: str, name: str, setting: str) -> Figures:
    """Score and CPU seconds of a setting on a task, and its loss if values are lost there; or why it was skipped."""
    task, choice = TASKS[name], CHOICES[part]
    try:
        split = damaged(task.held_out(), 0.0 if name in REAL_GAPS else choice.rate)
    except DataNotFoundError as error:
        return {"skipped": str(error)}
    reads: dict[str, Any] = {"features": hr.templates.words()} if task.kind == "words" else {"window": task.window}
    model = choice.settings[setting](n_jobs=1, random_state=0, **reads)
    shorten(model)
    begin = time.process_time()
    model.fit(split.X, split.y)
    seconds = time.process_time() - begin
    found = [labels.tolist() for labels in model.predict(split.X_test)]
    figures = {"score": task.score(split.y_test, found), "seconds": seconds}
    return figures | ({"loss": loss_of(model, split)} if choice.rate else {})


def loss_of(model: Any, split: Split) -> float:
    """Minus the log-likelihood of a position, of sequences without unseen labels."""
    with warnings.catch_warnings(action="ignore", category=UnseenLabelWarning):
        log_p = model.log_likelihood(split.X_test, split.y_test)
    known = np.isfinite(log_p)
    n_positions = np.array([len(labels) for labels in split.y_test])[known].sum()
    return -float(log_p[known].sum() / n_positions)


def damaged(split: Split, rate: float) -> Split:
    """The split with this share of its values missing."""
    if rate == 0:
        return split
    X, X_test = (hr.datasets.damage(X, rate, seed) for X, seed in ((split.X, 0), (split.X_test, 1)))
    return Split(X, split.y, X_test, split.y_test)  # type: ignore[arg-type]


def print_choice(part: str) -> None:
    """Print the table of one choice: a row for each task."""
    choice = CHOICES[part]
    tasks = tuple(TASKS) if QUICK else choice.tasks

    def rows() -> Iterator[list[str]]:
        for name in tasks:
            found = {setting: run("measure", part, name, setting) for setting in choice.settings}
            best = max((figures["score"] for figures in found.values() if "score" in figures), default=0.0)
            yield [name, TASKS[name].metric, *(cell(figures, best) for figures in found.values())]

    print_table([part, "metric", *choice.settings], rows())


def cell(figures: Figures, best: float) -> str:
    if "skipped" in figures:
        return "–"
    score = f"{100 * figures['score']:.2f}"
    score = f"**{score}**" if figures["score"] == best else score
    loss = f"loss {figures['loss']:.3f}, " if "loss" in figures else ""
    return f"{score} ({loss}{figures['seconds']:.1f} s)"


if __name__ == "__main__":
    main(__doc__, {part: partial(print_choice, part) for part in CHOICES}, {"measure": measure})
