"""Hundreds of labels: direct models, beam search and output codes with their defaults, on test data.

python benchmarks/many_labels.py

Parts of speech with morphology (Armenian, 493 labels, a few of them frequent) from raw words, and phonemes with stress
(NETtalk, 126 labels) from letters. All models read the same features. Every job is a fresh process on one thread.
Seconds are CPU time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import hedgerow as hr
from data import QUICK, few
from hedgerow.errors import DataNotFoundError
from jobs import Figures, main, peak, run
from practice import TASKS
from printing import PLAIN_TREES, print_table

SETS = {"words": "conll2000" if QUICK else "armenian-feats", "letters": "nettalk"}
LIMIT = 900.0  # seconds for one model
N_BEAM = 10
BASE: dict[str, Any] = {**PLAIN_TREES, "n_rounds": few(100, 2)}
MODELS: dict[str, Callable[..., Any]] = {
    "SearchTagger": hr.SearchTagger,
    "StructuredPerceptron": hr.StructuredPerceptron,
    "StructuredSVM": hr.StructuredSVM,
    f"StructuredSVM(beam={N_BEAM})": lambda **shared: hr.StructuredSVM(beam=N_BEAM, **shared),
    f"LinearCRF(beam={N_BEAM})": lambda **shared: hr.LinearCRF(beam=N_BEAM, max_iter=few(1000, 2), **shared),
    'TreeCRF(trees="shared")': lambda **shared: hr.TreeCRF(**{**BASE, "trees": "shared"}, **shared),
    "OutputCode": lambda **shared: _code("l1", **shared),
    'OutputCode(distance="lattice")': lambda **shared: _code("lattice", **shared),
}


def _code(distance: Any, *, features: Any, **shared: Any) -> Any:
    return hr.OutputCode(base=hr.TreeCRF(**BASE), distance=distance, features=features, **shared)


def measure(name: str, model: str) -> Figures:
    task = TASKS[name]
    split = task.read()
    features = hr.templates.words() if task.kind == "words" else hr.templates.letters(task.window)
    estimator = MODELS[model](features=features, n_jobs=1, random_state=0)
    begin = time.process_time()
    estimator.fit(split.X, split.y)
    seconds, memory = time.process_time() - begin, peak()
    begin = time.process_time()
    found = [labels.tolist() for labels in estimator.predict(split.X_test)]
    speed = sum(map(len, found)) / (time.process_time() - begin)
    return {"accuracy": task.score(split.y_test, found), "seconds": seconds, "peak": memory, "speed": speed}


def print_models(name: str) -> None:
    """Print the figures of all models on one set."""
    try:
        n_labels = len({label for labels in TASKS[name].part("train")[1] for label in labels})
    except DataNotFoundError as error:
        print(f"\n{name}: skipped, {error}")
        return

    def rows() -> Iterator[list[str]]:
        for model in MODELS:
            try:
                found = run("measure", name, model, limit=LIMIT)
            except subprocess.TimeoutExpired:
                yield [model, "–", f"more than {LIMIT:.0f} s", "–", "–"]
                continue
            yield [
                model,
                f"{100 * found['accuracy']:.2f}",
                f"{found['seconds']:.1f}",
                f"{found['peak']:.0f}",
                f"{found['speed'] / 1000:.1f}k",
            ]

    print_table([f"{name}, {n_labels} labels", "accuracy", "fit, CPU s", "peak MB", "positions a CPU s"], rows())


JOBS: dict[str, Any] = {"measure": measure}
PARTS: dict[str, Callable[[], None]] = {part: partial(print_models, name) for part, name in SETS.items()}


if __name__ == "__main__":
    main(__doc__, PARTS, JOBS)
