"""Shared by the experiments with many labels: data sets, models as JSON, and measurements in fresh processes.

With a cache file no measurement is made twice: tables can be printed again, and an interrupted run loses nothing.
"""

from __future__ import annotations

import argparse
import base64
import json
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from common import Split, folds, log

# What makes an estimator, such as "TreeCRF.published", and its parameters; the parameter `base` is a Spec too.
Spec = list[Any]
Figures = dict[str, Any]
LENGTHS = tuple(range(10, 201, 10))  # of code words
N_FOLDS = 3  # of which one is dev data
SMALL = 1000  # training sentences, where all of CoNLL-2000 would take hours


def _loaded(name: str) -> Callable[[], tuple[Split, Split]]:
    return lambda: (Split.of(hr.datasets.load(name, "train")), Split.of(hr.datasets.load(name, "test")))


def _armenian() -> tuple[Split, Split]:
    from practice import TASKS

    found = TASKS["armenian-feats"].read()
    return (
        Split(found.X, found.y, list(range(len(found.y)))),
        Split(found.X_test, found.y_test, list(range(len(found.y_test)))),
    )


def _small() -> tuple[Split, Split]:
    train, test = _loaded("conll2000-joint")()
    return train.select(range(SMALL)), test


def _forty(kind: Any, n_train: int = 400, n_test: int = 400, length: int = 25) -> Callable[[], tuple[Split, Split]]:
    def made() -> tuple[Split, Split]:
        sizes = enumerate((n_train, n_test), start=1)
        train, test = (Split.of(hr.datasets.hmm_forty(n, length, kind=kind, seed=seed)) for seed, n in sizes)
        return train, test

    return made


SETS: dict[str, tuple[str, Callable[[], tuple[Split, Split]]]] = {
    "nettalk": ("NETtalk", _loaded("nettalk")),
    "conll": ("CoNLL-2000", _loaded("conll2000-joint")),
    "conll-small": (f"CoNLL-2000, {SMALL:,} sentences", _small),
    "armenian": ("Armenian", _armenian),
    "transition": ("Synthetic, transition", _forty("transition")),
    "both": ("Synthetic, both", _forty("both")),
    "transition-few": ("Transition, 30 sequences", _forty("transition", 30)),
    "both-few": ("Both, 30 sequences", _forty("both", 30)),
    "quick": ("Synthetic, small", _forty("both", 40, 40, 10)),
}


@cache
def data(name: str, part: str) -> tuple[Split, Split]:
    """Return training and test data; for "dev" a fold of the training data replaces the test data."""
    train, test = SETS[name][1]()
    return (train, test) if part == "test" else next(iter(folds(train, N_FOLDS)))


def make(spec: Spec) -> Any:
    """Return a new estimator, not fitted."""
    name, parameters = spec
    made = {key: make(value) if key == "base" else value for key, value in parameters.items()}
    if "features" in made:
        made["features"] = getattr(hr.templates, made["features"])()
    return attrgetter(name)(hr)(n_jobs=1, **made)


def measure(name: str, part: str, spec: Spec) -> Figures:
    """Measure accuracy, CPU seconds of training and labelling, peak memory, and which positions are right.

    Codes with distance "l1" are also measured at each length: their first bits are a shorter code.
    """
    train, test = data(name, part)
    gold = np.concatenate(test.y)
    model = make(spec)
    begin = time.process_time()
    model.fit(train.X, train.y)
    fitted = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    X = test.X if "features" in spec[1] else hr.Sequences(test.X)
    encoded = time.process_time()
    # Accuracy counts positions, so labels are decoded by marginals, as in the thesis; a perceptron has no marginals.
    right = np.concatenate(model.predict(X, **_decoding(model))) == gold
    labelled = time.process_time()
    found: Figures = {
        "accuracy": 100 * float(right.mean()),
        "fit": fitted - begin,
        "peak": peak,
        "label": labelled - encoded,
        "positions": len(gold),
        "right": base64.b64encode(np.packbits(right).tobytes()).decode(),
    }
    if isinstance(model, hr.OutputCode):
        found |= {"bits": model.code_.shape[1], "cascade": model.cascade_, "temperature": model.temperature_}
        if model.distance == "l1":
            found["curve"] = by_length(model, X, gold)
    return found


def _decoding(model: Any) -> Figures:
    if isinstance(model, hr.SearchTagger):  # which has one decoding
        return {}
    return {"decode": "viterbi" if isinstance(model, hr.StructuredPerceptron) else "marginal"}


def by_length(model: Any, X: Any, gold: NDArray[Any]) -> list[list[float]]:
    """Return [bits, % right] for the first bits of a code."""
    probabilities, words = np.concatenate(model.predict_bits(X)), model.code_
    curve = []
    for n in (n for n in LENGTHS if n <= words.shape[1]):
        p, w = probabilities[:, :n], words[:, :n].astype(np.float64)
        distances = w.sum(axis=1) - 2 * p @ w.T  # sum over bits of |p - w|, less the sum of p, which all labels share
        best = distances.argmin(axis=1)
        curve.append([n, 100 * float(np.mean(model.classes_[best] == gold))])
    return curve


def is_right(figures: Figures) -> NDArray[np.bool_]:
    packed = np.frombuffer(base64.b64decode(figures["right"]), np.uint8)
    return np.unpackbits(packed, count=figures["positions"]).astype(np.bool_)


@dataclass
class Bench:
    """Measurements, kept in a file. Each runs in a process of its own, so that memory is its own, unless `here`."""

    path: Path | None
    here: bool = False

    def __call__(self, name: str, spec: Spec, part: str = "test") -> Figures:
        key = json.dumps([name, part, spec])
        if (known := self._cached().get(key)) is not None:
            return known
        if self.here:
            found = measure(name, part, spec)
        else:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                found = process.submit(measure, name, part, spec).result()
        log(f"    {key}: {found['accuracy']:.2f} %, {found['fit']:.1f} s")
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps([key, found]) + "\n")
        return found

    def _cached(self) -> dict[str, Figures]:
        """Read the file again each time, because several parts may run at once."""
        if self.path is None or not self.path.exists():
            return {}
        return dict(json.loads(line) for line in self.path.read_text().splitlines())

    def best(self, name: str, candidates: Iterable[Spec]) -> Spec:
        """Return the candidate with the highest accuracy on dev data; the first of several."""
        found = [(self(name, spec, "dev")["accuracy"], spec) for spec in candidates]
        return max(found, key=lambda pair: pair[0])[1]


def arguments(description: str | None, parts: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", choices=parts, default=list(parts))
    parser.add_argument("--cache", type=Path, help="file that keeps measurements, so that none is made twice")
    parser.add_argument("--figures", type=Path, help="folder for the plots")
    parser.add_argument("--quick", action="store_true", help="a small run on synthetic data, to see that it works")
    return parser
