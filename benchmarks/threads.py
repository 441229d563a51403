"""Two threads beside one: every estimator's fit on CoNLL-2000, tagging, and the encoding of training data.

python benchmarks/threads.py

Seconds of the wall clock, the best of two. Fits start from sequences that have been read and take a few rounds, epochs
or iterations, enough to last a second or more. The machine must have two idle cores.

The part "serial" estimates what more cores would bring. By Amdahl's law a function that takes t1 seconds on one thread
and t2 on two has 2 t2 - t1 seconds that do not shrink; the sum over all functions, divided by the time of one thread,
is the serial share s, and 16 cores are at most 1 / (s + (1 - s) / 16) times as fast.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import chunking, few, repeated, sentences
from hedgerow.data.sequences import read_sequences
from hedgerow.data.value_reader import ValueReader
from hedgerow.encoding import Encoder
from jobs import main
from printing import log, print_table
from treecrf import CHUNKER

Row = tuple[str, str, str, str]
Work = Callable[[int], Callable[[], Any]]  # for a number of threads, what is measured
MANY = 16  # cores to predict for

FITS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "TreeCRF": ("attributes", lambda n: hr.TreeCRF(n_rounds=few(10, 2), n_jobs=n, random_state=0, **CHUNKER)),
    "TreeCRF, defaults on words": (
        "sentences",
        lambda n: hr.TreeCRF(features=hr.templates.words(), n_rounds=few(3, 2), n_jobs=n, random_state=0),
    ),
    "TreeCRF(linear=True)": (
        "sentences",
        lambda n: hr.TreeCRF(linear=True, features=hr.templates.words(), n_rounds=few(3, 2), n_jobs=n, random_state=0),
    ),
    "LinearCRF": ("attributes", lambda n: hr.LinearCRF(n_jobs=n)),
    "StructuredPerceptron": ("attributes", lambda n: hr.StructuredPerceptron(n_jobs=n, random_state=0)),
    "StructuredSVM": ("attributes", lambda n: hr.StructuredSVM(n_jobs=n, random_state=0)),
    "SearchTagger": ("attributes", lambda n: hr.SearchTagger(n_jobs=n, random_state=0)),
    "MEMM": ("attributes", lambda n: hr.MEMM(n_rounds=few(5, 2), n_jobs=n, random_state=0)),
    "FutureMEMM": ("sentences", lambda n: hr.FutureMEMM(n_rounds=few(5, 2), max_future=1, n_jobs=n, random_state=0)),
    "HMM": ("sentences", lambda n: hr.HMM(n_jobs=n)),
    "OutputCode": (
        "sentences",
        lambda n: hr.OutputCode(
            base=hr.TreeCRF(window=2, n_rounds=few(5, 2), random_state=0), n_bits=few(8, 1), n_jobs=n, random_state=0
        ),
    ),
}  # fmt: skip


def clock(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compared(name: str, work: Work) -> Row:
    log(name)
    one, two = (repeated(lambda n=n: clock(work(n)), 2) for n in (1, 2))  # type: ignore[misc]
    return name, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"


def positions(split: str) -> tuple[list[Any], list[list[str]]]:
    """Words and tags as dicts, and the chunk labels."""
    data = sentences(split)
    X = [[{"word": w, "pos": p} for w, p in zip(words, tags, strict=True)] for words, tags, _ in data]
    return X, [chunks for _, _, chunks in data]


def fit(make: Callable[[int], Any], X: hr.Sequences, y: list[list[str]], n_threads: int) -> Callable[[], Any]:
    return lambda: make(n_threads).fit(X, y)


def fits() -> Iterator[tuple[str, Work]]:
    forms = {name: (hr.Sequences(X), y) for name, (X, y) in
             {"attributes": chunking("train"), "sentences": positions("train")}.items()}  # fmt: skip
    for name, (form, make) in FITS.items():
        X, y = forms[form]
        yield f"{name}: fit", partial(fit, make, X, y)


def tagging() -> Iterator[tuple[str, Work]]:
    """From fresh strings: a new list of dicts for each repetition."""
    X, y = chunking("train")
    X_words, _ = positions("train")
    by_columns = hr.LinearCRF(tol=0.1).fit(X, y)
    by_template = hr.LinearCRF(features=hr.templates.words(), tol=0.1).fit(X_words, y)

    def work(model: Any, make: Callable[[], Any]) -> Work:
        def prepare(n: int) -> Callable[[], Any]:
            fresh = make()
            model.set_params(n_jobs=n)
            return lambda: model.predict(fresh)

        return prepare

    yield "tag dicts, 19 attributes", work(by_columns, lambda: chunking("train")[0])
    yield "tag words by a template", work(by_template, lambda: positions("train")[0])
    yield "tag encoded sequences", work(by_columns, lambda: hr.Sequences(X))


def encoding() -> Iterator[tuple[str, Work]]:
    """What a fit does with fresh X before it learns: reads, learns the columns, encodes."""

    def work(make: Callable[[], Any], features: Any) -> Work:
        def prepare(n: int) -> Callable[[], Any]:
            fresh = make()
            return lambda: read_and_encode(fresh, features, n)

        return prepare

    yield "encode dicts, 19 attributes", work(lambda: chunking("train")[0], None)
    yield "encode words by a template", work(lambda: positions("train")[0], hr.templates.words())


def read_and_encode(X: Any, features: Any, n_threads: int) -> None:
    sequences = read_sequences(X, ValueReader(n_threads=n_threads))
    Encoder.fit(sequences, features=features, n_threads=n_threads).encode(sequences, n_threads=n_threads)


def profile(work: Work, n_threads: int) -> dict[str, float]:
    """Seconds by function of hedgerow, with the compiled functions that it calls; of the faster of two runs."""
    runs = []
    for _ in range(2):
        measured, profiler = work(n_threads), cProfile.Profile()
        profiler.runcall(measured)
        seconds: dict[str, float] = {}
        for (file, _, function), (_, _, own, *_) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
            name = f"{Path(file).stem}.{function}"
            seconds[name] = seconds.get(name, 0.0) + own
        runs.append(seconds)
    return min(runs, key=lambda seconds: sum(seconds.values()))


def serial_row(name: str, work: Work) -> list[str]:
    """The serial share of the work, what it allows 16 cores, and the functions that most of it is in."""
    log(name)
    one, two = (profile(work, n) for n in (1, 2))
    total = sum(one.values())
    serial = {function: min(max(2 * two.get(function, 0.0) - t, 0.0), t) for function, t in one.items()}
    share = sum(serial.values()) / total
    largest = sorted(serial, key=lambda function: -serial[function])[:3]
    parts = ", ".join(f"`{function}` {100 * serial[function] / total:.0f} %" for function in largest)
    return [name, f"{total:.2f}", f"{100 * share:.0f} %", f"{1 / (share + (1 - share) / MANY):.1f}", parts]


def print_serial() -> None:
    chosen = ("TreeCRF: fit", "TreeCRF, defaults on words: fit", "LinearCRF: fit")
    works = chain((pair for pair in fits() if pair[0] in chosen), tagging(), encoding())
    head = ["CoNLL-2000", "one thread, s", "serial share", f"{MANY} cores, times as fast, at most", "most of it"]
    print_table(head, (serial_row(*pair) for pair in works))


def table(works: Callable[[], Iterator[tuple[str, Work]]]) -> Callable[[], None]:
    head = ["CoNLL-2000, s", "one thread", "two threads", "times as fast"]
    return lambda: print_table(head, (compared(*pair) for pair in works()))


if __name__ == "__main__":
    parts = {"fits": table(fits), "tagging": table(tagging), "encoding": table(encoding), "serial": print_serial}
    main(__doc__, parts)
