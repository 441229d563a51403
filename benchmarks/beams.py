"""Beams of a fixed width against beams with a bound, on models with over a hundred labels: accuracy, labels kept, time.

python benchmarks/beams.py

One exact LinearCRF is learned for each set, from the training part without a fifth of its sequences (of CoNLL-2000 from
4,000 sentences). The same scores are then decoded under each beam: by marginals and by best paths. "Kept" is the mean
number of labels with a marginal above 0. On CoNLL-2000 parts of speech and noun phrases are one label.

Times are CPU microseconds a position, of inference alone on one thread: log Z, marginals, what training sums (marginals
and pairs of labels), and the best path; the median of several runs. Then three of them as shares of the exact ones. The
last column has what is chosen for test data: of widths, and of bounds, the fastest whose accuracy on the held-out fifth
is at most 0.02 points below that of exact inference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from data import few, load
from hedgerow.inference.decoding import best_labels
from hedgerow.inference.lattice import Lattice
from jobs import main
from printing import print_table

BEAMS: tuple[float | None, ...] = (None, 20, 10, 5, 2, 1, 0.001, 0.01, 0.03, 0.1, 0.3, 0.6)
TOLERANCE = 0.02  # points of accuracy
REPEATS = few(5, 1)


def spelled(x: Any) -> Any:
    """Words and their ends, which help to predict parts of speech; letters as they are."""
    if isinstance(x[0], dict):
        return [{"word": p["word"], "end 2": p["word"][-2:], "end 3": p["word"][-3:]} for p in x]
    return x


def cpu_seconds(work: Callable[[], Any]) -> float:
    def once() -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    return float(np.median([once() for _ in range(REPEATS)]))


class Scored:
    """The scores of labelled sequences under a model, and exact or pruned lattices over them."""

    def __init__(self, model: hr.LinearCRF, X: Any, y: Any) -> None:
        answers = model.model_.answers(model.model_.encode(hr.Sequences(X)))
        assert isinstance(answers, Lattice)
        self._lattice = answers
        codes = {str(label): i for i, label in enumerate(model.classes_)}
        self.gold = np.array([codes.get(str(label), -1) for labels in y for label in labels])

    def under(self, beam: float | None) -> Lattice:
        exact = self._lattice
        return Lattice(exact.topology, exact.starts, state=exact.state, table=exact.table, beam=beam)

    def accuracy(self, labels: NDArray[np.int32]) -> float:
        return 100 * float(np.mean(labels == self.gold))

    def figures(self, beam: float | None) -> dict[str, float]:
        lattice = self.under(beam)
        n = len(self.gold) / 1e6
        return {
            "kept": float((lattice.marginals()[1] > 0).sum(axis=1).mean()),
            "marginal": self.accuracy(best_labels(lattice, "marginal")),
            "viterbi": self.accuracy(lattice.viterbi()[1]),
            "forward": cpu_seconds(lattice.log_partition) / n,
            "sums": cpu_seconds(lattice.marginals) / n,
            "pairs": cpu_seconds(lattice.summed_pairs) / n,
            "paths": cpu_seconds(lattice.viterbi) / n,
        }


def parts(name: str) -> dict[str, tuple[Any, Any]]:
    """The data to learn from, the held-out fifth, and the test data."""
    train, test = load(name, "train"), load(name, "test")
    X = [spelled(x) for x in train.X]
    drawn = np.random.default_rng(0).permutation(len(X)).tolist()
    held, kept = drawn[: len(X) // 5], drawn[len(X) // 5 :][: few(4000, 100)]
    return {
        "kept": ([X[i] for i in kept], [train.y[i] for i in kept]),
        "held": ([X[i] for i in held], [train.y[i] for i in held]),
        "test": ([spelled(x) for x in test.X], test.y),
    }


def chosen(held: dict[float | None, dict[str, float]], decode: str, seconds: str) -> set[float | None]:
    """The fastest width and the fastest bound that are as accurate as exact inference."""
    least = held[None][decode] - TOLERANCE
    found: set[float | None] = set()
    for is_bound in (False, True):
        beams = [b for b in held if b is not None and (b < 1) == is_bound and held[b][decode] >= least]
        if beams:
            found.add(min(beams, key=lambda b: held[b][seconds]))
    return found


def print_set(name: str, window: int) -> None:
    data = parts(name)
    model = hr.LinearCRF(window=window, n_jobs=1, max_iter=few(1000, 3)).fit(*data["kept"])
    held, test = (
        {beam: scored.figures(beam) for beam in BEAMS[: few(len(BEAMS), 2)]}
        for scored in (Scored(model, *data["held"]), Scored(model, *data["test"]))
    )
    marks = {decode: chosen(held, decode, how) for decode, how in (("marginal", "sums"), ("viterbi", "paths"))}

    def rows() -> Iterator[list[str]]:
        for beam, figures in test.items():
            what = "exact" if beam is None else f"bound {beam:g}" if beam < 1 else f"width {beam:g}"
            choice = ", ".join(decode for decode, beams in marks.items() if beam in beams)
            times = [f"{figures[how]:.2f}" for how in ("forward", "sums", "pairs", "paths")]
            ratios = [f"{figures[how] / test[None][how]:.2f}" for how in ("sums", "pairs", "paths")]
            accuracies = [f"{figures[how]:.2f}" for how in ("marginal", "viterbi")]
            yield [what, f"{figures['kept']:.1f}", *accuracies, *times, *ratios, choice]

    head = f"{name}, {len(model.classes_)} labels"
    columns = ["kept", "% right, marginal", "% right, best path", "forward", "marginals", "training sums", "best path"]
    shares = [f"{what}, share" for what in ("marginals", "training sums", "best path")]
    print_table([head, *columns, *shares, "chosen for"], rows())


def print_words() -> None:
    print_set("conll2000-joint", 2)


def print_letters() -> None:
    print_set("nettalk", 3)


if __name__ == "__main__":
    main(
        __doc__,
        {"words": print_words, "letters": print_letters},
        details="Times in CPU microseconds.",
    )
