"""Every estimator with its defaults, beside python-crfsuite and LightGBM, on tasks of different kinds.

python benchmarks/defaults.py
python benchmarks/defaults.py --held-out --tasks armenian gesture --models TreeCRF LightGBM

Every task and model is a fresh process on one thread; nothing is tuned to a task. The only setting is what a position
sees: `hr.templates.words()` for words, a window for letters and numbers, the same for all models of a task. Linear
models and python-crfsuite also read runs of letters (`hr.templates.letters`). Seconds are those of `fit` from Python
objects; for the peers those of appending and training, without the time to make their attributes. `--held-out` scores
a fifth of the training part instead of the test part: defaults are chosen so, and the test part is for the docs.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK, few
from hedgerow.errors import DataNotFoundError
from jobs import Figures, answer, parser_of, run, shorten
from peers import attributes, window_rows
from practice import TASKS, Split, Task
from printing import print_machine, print_table

LIMIT = 600.0  # seconds for one model
PEERS = ("python-crfsuite", "python-crfsuite .1", "LightGBM")
PENALTIES = {"python-crfsuite": {"c1": 0.0, "c2": 1.0}, "python-crfsuite .1": {"c1": 0.1, "c2": 0.1}}
OURS: dict[str, Callable[..., Any]] = {
    "TreeCRF": hr.TreeCRF,
    "TreeCRF, linear": partial(hr.TreeCRF, linear=True),
    "LinearCRF": hr.LinearCRF,
    "StructuredSVM": hr.StructuredSVM,
    "StructuredPerceptron": hr.StructuredPerceptron,
    "SearchTagger": hr.SearchTagger,
    "MEMM": hr.MEMM,
}
TREES = ("TreeCRF", "TreeCRF, linear", "MEMM")
MODELS = (*PEERS, *OURS)


def split_of(task: Task, held_out: bool) -> Split:
    return task.held_out() if held_out else task.read()


def measure(name: str, model: str, held_out: bool) -> Figures:
    """The score of a model and its seconds, or why the task was skipped."""
    task = TASKS[name]
    try:
        split = split_of(task, held_out)
    except DataNotFoundError as error:
        return {"skipped": str(error)}
    fit = with_lightgbm if model == "LightGBM" else with_crfsuite if model in PENALTIES else with_hedgerow
    found, seconds = fit(task, split, model)
    return {"score": task.score(split.y_test, found), "seconds": seconds}


def with_hedgerow(task: Task, split: Split, name: str) -> tuple[list[list[str]], float]:
    model = OURS[name](n_jobs=1, random_state=0, **natural(task, split, name))
    shorten(model)
    OURS[name](n_jobs=1).fit(["ab", "ba"], [["a", "b"], ["b", "a"]])  # imports are no part of the time
    begin = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - begin
    return [labels.tolist() for labels in model.predict(split.X_test)], seconds


def natural(task: Task, split: Split, name: str) -> dict[str, Any]:
    """What a newcomer sets: templates for words, and for letters in models that do not combine attributes."""
    if task.kind == "words":
        return {"features": hr.templates.words()}
    if isinstance(split.X[0], str) and name not in TREES:
        return {"features": hr.templates.letters(task.window)}
    return {"window": task.window}


def with_crfsuite(task: Task, split: Split, name: str) -> tuple[list[list[str]], float]:
    import pycrfsuite

    parameters = {**PENALTIES[name], **({"max_iterations": 2} if QUICK else {})}
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=parameters, verbose=False)
    items, test_items = attributes(task, split.X), attributes(task, split.X_test, split.X)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "m.crfsuite")
        begin = time.perf_counter()
        for x, labels in zip(items, split.y, strict=True):
            trainer.append(x, labels)
        trainer.train(path)
        seconds = time.perf_counter() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        return [tagger.tag(x) for x in test_items], seconds


def with_lightgbm(task: Task, split: Split, name: str) -> tuple[list[list[str]], float]:
    import lightgbm

    rows, test_rows, categorical = window_rows(task, split.X, split.X_test)
    model = lightgbm.LGBMClassifier(n_estimators=few(100, 2), n_jobs=1, verbose=-1)
    begin = time.perf_counter()
    model.fit(rows, np.concatenate(split.y), categorical_feature=categorical)
    seconds = time.perf_counter() - begin
    found = np.asarray(model.predict(test_rows))
    ends = np.cumsum([len(labels) for labels in split.y_test])[:-1]
    return [labels.tolist() for labels in np.split(found, ends)], seconds


def measured(tasks: list[str], models: list[str], held_out: bool) -> Iterator[tuple[str, dict[str, Figures]]]:
    """The figures of all models on one task after the other."""
    for name in tasks:
        found = {}
        for model in models:
            try:
                found[model] = run("measure", name, model, held_out, limit=LIMIT)
            except subprocess.TimeoutExpired:
                found[model] = {"skipped": f"more than {LIMIT:.0f} s"}
        yield name, found


def print_scores(results: dict[str, dict[str, Figures]], models: list[str]) -> None:
    def rows() -> Iterator[list[str]]:
        for name, found in results.items():
            best = max((f["score"] for f in found.values() if "score" in f), default=0.0)
            yield [name, TASKS[name].metric, *(_percentage(found[model], best) for model in models)]

    print_table(["%", "metric", *models], rows())


def print_seconds(results: dict[str, dict[str, Figures]], models: list[str]) -> None:
    """Seconds of the fit; of our models also divided by those of the quicker peer."""

    def rows() -> Iterator[list[str]]:
        for name, found in results.items():
            peers = [found[peer]["seconds"] for peer in PEERS if "seconds" in found.get(peer, {})]
            quickest = min(peers, default=None)
            yield [name, *(_seconds(found[model], None if model in PEERS else quickest) for model in models)]

    print_table(["fit s", *models], rows())


def _percentage(figures: Figures, best: float) -> str:
    if "skipped" in figures:
        return "–"
    text = f"{100 * figures['score']:.2f}"
    return f"**{text}**" if figures["score"] == best else text


def _seconds(figures: Figures, quickest: float | None) -> str:
    if "skipped" in figures:
        return "–"
    ratio = "" if quickest is None else f" ({figures['seconds'] / quickest:.1f}x)"
    return f"{figures['seconds']:.1f}{ratio}"


def print_skipped(results: dict[str, dict[str, Figures]]) -> None:
    for name, found in results.items():
        for model, figures in found.items():
            if "skipped" in figures:
                print(f"\n{name}, {model}: skipped, {figures['skipped']}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS), help="which tasks")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS), help="which models")
    parser.add_argument("--held-out", action="store_true", help="score a fifth of the training part, not the test part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    options = parser.parse_args()
    if options.job:
        answer(options.job, {"measure": measure})
        return
    print_machine("Held-out fifth of the training part." if options.held_out else "Test part.")
    results: dict[str, dict[str, Figures]] = {}
    for name, found in measured(options.tasks, options.models, options.held_out):
        results[name] = found
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print_scores(results, options.models)
    print_seconds(results, options.models)
    print_skipped(results)


if __name__ == "__main__":
    main()
