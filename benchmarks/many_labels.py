"""Hundreds of labels: direct models, beam search and output codes with their defaults, on test data.

python benchmarks/many_labels.py

Parts of speech with morphology (Armenian, 493 labels, a few of them frequent) from raw words, and phonemes with stress
(NETtalk, 126 labels) from letters. All models read the same features. Every job is a fresh process on one thread.
Seconds are CPU time.

The part "online" has made-up words: 535 labels, 38,000 words, 30 attributes each. It shows by how much a fit of an
online learner raises the peak memory of a process that has read the data, and the time of an epoch, beside
python-crfsuite's averaged perceptron. The time of an epoch is that of a fit of three epochs less that of a fit of one,
halved.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import QUICK, few
from hedgerow.errors import DataNotFoundError
from jobs import Figures, main, peak, run
from morphology import attributes, sentences
from practice import TASKS
from printing import PLAIN_TREES, print_table

SETS = {"words": "conll2000" if QUICK else "armenian-feats", "letters": "nettalk"}
LIMIT = 900.0  # seconds for one model
N_BEAM = 10
ONLINE = ("StructuredPerceptron", "StructuredSVM", "SearchTagger")
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


def write_words(path: str) -> Figures:
    """Write the made-up words as `Sequences`, so that the peak memory of a fit is not that of reading dicts."""
    words, labels = sentences()
    X = hr.Sequences([attributes(x) for x in words])
    Path(path).write_bytes(pickle.dumps((X, labels)))
    return {"labels": len({label for y in labels for label in y}), "words": X.n_positions}


def cpu_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def online(name: str, path: str) -> Figures:
    X, y = pickle.loads(Path(path).read_bytes())
    before = peak()
    epochs = {n: getattr(hr, name)(epochs=n, n_jobs=1, random_state=0) for n in (1, 3)}
    seconds = [cpu_seconds(lambda model=model: model.fit(X, y)) for model in epochs.values()]  # type: ignore[misc]
    return {"growth": peak() - before, "epoch": (seconds[1] - seconds[0]) / 2}


def online_crfsuite(path: str) -> Figures:
    import pycrfsuite

    words, labels = sentences()
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    before = peak()
    for x, y in zip(words, labels, strict=True):
        trainer.append(attributes(x), y)
    seconds = []
    for n in (1, 3):
        trainer.set_params({"max_iterations": n, "epsilon": 0.0})
        seconds.append(cpu_seconds(lambda: trainer.train(f"{path}.crfsuite")))
    return {"growth": peak() - before, "epoch": (seconds[1] - seconds[0]) / 2}


def print_online() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "words.pickle")
        size = run("write_words", path)

        def rows() -> Iterator[list[str]]:
            theirs = run("online_crfsuite", path)
            jobs = {"python-crfsuite ap, with its copy of the data": theirs}
            jobs |= {name: run("online", name, path) for name in ONLINE}
            for name, found in jobs.items():
                ratio = found["epoch"] / max(theirs["epoch"], 1e-9)
                yield [name, f"{found['growth']:.0f}", f"{found['epoch']:.2f}", f"{ratio:.2f}"]

        head = f"{size['labels']} labels, {size['words']} words, 30 attributes each"
        print_table([head, "peak of the fit, MB more", "epoch, CPU s", "ratio"], rows())


JOBS: dict[str, Any] = {
    "measure": measure,
    "write_words": write_words,
    "online": online,
    "online_crfsuite": online_crfsuite,
}
PARTS: dict[str, Callable[[], None]] = {part: partial(print_models, name) for part, name in SETS.items()}
PARTS["online"] = print_online


if __name__ == "__main__":
    main(__doc__, PARTS, JOBS)
