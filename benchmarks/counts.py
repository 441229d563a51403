"""What small pieces of work take, counted in instructions and passes over the data: the quick benchmark.

    python benchmarks/counts.py           # print the table
    python benchmarks/counts.py --check   # compare with the last recorded run; exit status 1 if a count rose by 10 %

The counts hardly depend on what else the machine does (see benchmarks/counters.py), so a change of a tenth is a change
of the program. They are not times: instructions differ in length, and misses of the cache do not show. All data are
made here, on one thread. `make benchmarks ONLY=counts` records a run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hedgerow as hr
from counters import Counter, Seconds, best_counter
from data import QUICK, few
from hedgerow import _core
from printing import log, print_machine, print_table

COMMAND = "python benchmarks/counts.py"
HISTORY = Path(__file__).with_name("history.jsonl")  # written by tools/fill_docs.py
ALLOWED = 1.10  # times the recorded count
N = few(120, 30)  # sentences

Words = list[list[dict[str, str]]]
Labels = list[list[str]]


class Piece(NamedTuple):
    """`prepare` returns the work, after doing what is not counted: making data, importing modules."""

    name: str
    prepare: Callable[[], Callable[[], Any]]


def sentences(seed: int = 0, n: int = N, n_labels: int = 8) -> tuple[Words, Labels]:
    """Words as frequent as words are, with endings and labels that depend on the word and on the label before."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        before = 0
        x, labels = [], []
        for rank in np.minimum(random.zipf(1.3, size=20), 5000):
            before = int(rank + (before if random.random() < 0.3 else 0)) % n_labels
            x.append({"word": f"w{rank}", "end": f"{rank % 37}", "tag": f"T{rank % 11}"})
            labels.append(f"L{before}")
        X.append(x)
        y.append(labels)
    return X, y


def numbers(seed: int = 0) -> tuple[list[Any], Labels]:
    random = np.random.default_rng(seed)
    X = [random.normal(size=(20, 6)).astype(np.float32) for _ in range(N)]
    return X, [[f"L{int(3 * abs(a)) % 3}" for a in x.sum(axis=1)] for x in X]


def fit(make: Callable[[], Any], data: Callable[[], tuple[Any, Labels]] = sentences) -> Callable[[], Callable[[], Any]]:
    """The fit of an estimator; before it, one on a few sequences imports what it needs."""

    def prepare() -> Callable[[], Any]:
        X, y = data()
        make().fit(X[:5], y[:5])
        sequences = hr.Sequences(X)
        return lambda: make().fit(sequences, y)

    return prepare


def tag(make: Callable[[], Any], form: Callable[[Words], Any] = lambda X: X) -> Callable[[], Callable[[], Any]]:
    """Prediction from fresh Python objects."""

    def prepare() -> Callable[[], Any]:
        X, y = sentences()
        model = make().fit(form(X), y)
        fresh = form(sentences(seed=1)[0])
        model.predict(fresh[:2])
        return lambda: model.predict(fresh)

    return prepare


def words_alone(X: Words) -> list[list[str]]:
    return [[position["word"] for position in x] for x in X]


def encode() -> Callable[[], Any]:
    X, _ = sentences()
    hr.Sequences(X[:2])
    return lambda: hr.Sequences(X)


def short() -> tuple[Words, Labels]:
    return sentences(n=N // 10)


def many_labels() -> tuple[Words, Labels]:
    return sentences(n=N // 10, n_labels=200)


WINDOW: dict[str, Any] = {"window": 1, "n_jobs": 1}
ONLINE: dict[str, Any] = {**WINDOW, "epochs": 3, "random_state": 0}
TREES: dict[str, Any] = {**WINDOW, "n_rounds": 5, "random_state": 0}
PIECES = [
    Piece("read dicts into Sequences", encode),
    Piece("LinearCRF: fit", fit(lambda: hr.LinearCRF(**WINDOW))),
    Piece("LinearCRF, L1: fit", fit(lambda: hr.LinearCRF(l1=1.0, l2=0.0, **WINDOW))),
    Piece("StructuredPerceptron: fit", fit(lambda: hr.StructuredPerceptron(**ONLINE))),
    Piece("StructuredSVM: fit", fit(lambda: hr.StructuredSVM(**ONLINE))),
    Piece("SearchTagger: fit", fit(lambda: hr.SearchTagger(**ONLINE))),
    Piece("TreeCRF: fit", fit(lambda: hr.TreeCRF(**TREES))),
    Piece("TreeCRF, numbers: fit", fit(lambda: hr.TreeCRF(**TREES), numbers)),
    Piece("TreeCRF, shared trees: fit", fit(lambda: hr.TreeCRF(trees="shared", **TREES))),
    Piece("MEMM: fit", fit(lambda: hr.MEMM(**TREES))),
    Piece("FutureMEMM: fit", fit(lambda: hr.FutureMEMM(**WINDOW, n_rounds=2, random_state=0), short)),
    Piece("OutputCode: fit", fit(lambda: hr.OutputCode(base=hr.TreeCRF(**TREES), n_bits=8, random_state=0), short)),
    Piece("HMM: fit", fit(lambda: hr.HMM())),
    Piece("StructuredPerceptron, 200 labels: fit", fit(lambda: hr.StructuredPerceptron(**ONLINE), many_labels)),
    Piece("LinearCRF: tag dicts", tag(lambda: hr.LinearCRF(tol=0.1, **WINDOW))),
    Piece("LinearCRF: tag words by a template",
          tag(lambda: hr.LinearCRF(features=hr.templates.words(), tol=0.1, n_jobs=1), words_alone)),
    Piece("TreeCRF: tag dicts", tag(lambda: hr.TreeCRF(**TREES))),
]  # fmt: skip


def passes(result: Any) -> int | str:
    """Passes over the data, where the fit has a record for each."""
    return len(result.training_log_) if hasattr(result, "training_log_") else ""


def count(counter: Counter) -> Iterator[tuple[str, float, int | str]]:
    """Name, count and passes of each piece of work."""
    for name, prepare in PIECES:
        taken, result = counter.measure(prepare())
        yield name, taken, passes(result)


def last_counts(details: str) -> dict[str, float]:
    """The counts of the last recorded run whose counter and libraries were these."""
    found = {}
    for line in HISTORY.read_text(encoding="utf-8").splitlines() if HISTORY.exists() else []:
        run = json.loads(line)
        if run["command"] == COMMAND and details in run["output"]:
            found = dict(re.findall(r"^\| (.+?) \| ([\d,.]+) \|", run["output"], re.MULTILINE))
    return {name: float(taken.replace(",", "")) for name, taken in found.items()}


def check(counter: Counter, details: str) -> int:
    """Print the counts beside the recorded ones. Returns 1 if one of them rose too much."""
    recorded = last_counts(details)
    if not counter.is_exact or not recorded:
        log("nothing to compare with: no exact counter, or no recorded run with this counter and these libraries")
    worse = []

    def rows() -> Iterator[tuple[object, ...]]:
        for name, taken, n_passes in count(counter):
            ratio = taken / recorded[name] if name in recorded else None
            if counter.is_exact and ratio is not None and ratio > ALLOWED:
                worse.append(name)
            yield name, f"{taken:,.1f}", n_passes, "" if ratio is None else f"{ratio:.2f}"

    print_table(["work", counter.unit, "passes", "times the recorded"], rows())
    for name in worse:
        log(f"error: {name} takes over {ALLOWED} times what was recorded; if that is meant, record the run")
    return int(bool(worse))


def main() -> int:
    counter = Seconds() if QUICK else best_counter()
    details = f"Counted by: {counter.name}, {_core.instruction_set()}, numpy {np.__version__}."
    print_machine(details)
    if "--check" in sys.argv:
        return check(counter, details)
    rows = ((name, f"{taken:,.1f}", n_passes) for name, taken, n_passes in count(counter))
    print_table(["work", counter.unit, "passes"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
