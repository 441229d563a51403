"""Linear models on a corpus that is larger than the memory they may take: seconds and peak memory.

    python benchmarks/big_linear.py --tokens 50000000

The codes of the attributes are written to files and mapped into memory, 10 attributes a token and 20 labels. Every job
is a process of its own; its peak of memory includes the mapped pages that it holds. There is no peer: others read text.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data import few
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import CategoricalColumn, trusted
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.encoded import Encoded
from hedgerow.learning.base import TrainingData
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.margin import MarginLearner, MarginRules
from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonLearner, QuasiNewtonRules
from hedgerow.potentials.linear import LinearPotential
from jobs import Figures, answer, parser_of, peak, run
from printing import print_machine, print_table

N_COLUMNS, N_VALUES, N_LABELS = 10, few(5000, 50), 20
BLOCK = 2**20  # tokens that are drawn at once
ITERATIONS = few(3, 2)


def generate(folder: str, n_tokens: int) -> Figures:
    """Write the codes of columns and labels, and the starts of the sequences."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(10, 31, n_tokens // 10)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    starts = np.concatenate([starts[starts < n_tokens], [n_tokens]])
    np.save(Path(folder) / "starts.npy", starts.astype(np.int64))
    files = [(Path(folder) / name).open("wb") for name in names()]
    for n in (min(BLOCK, n_tokens - first) for first in range(0, n_tokens, BLOCK)):
        for file, codes in zip(files, drawn(rng, n), strict=True):
            codes.astype(np.int32).tofile(file)
    for file in files:
        file.close()
    return {"megabytes": sum((Path(folder) / name).stat().st_size for name in names()) / 2**20}


def drawn(rng: np.random.Generator, n: int) -> Iterator[NDArray[np.int64]]:
    """The codes of n tokens: labels, and values as frequent as words, of which half depend on the label."""
    labels = np.cumsum(rng.integers(0, 3, n)) % N_LABELS
    yield labels
    for j in range(N_COLUMNS):
        ranks = np.minimum(rng.zipf(1.3, n) - 1, N_VALUES - 1)
        yield np.where(rng.random(n) < 0.5, ranks, (labels * 7 + ranks * 13 + j) % N_VALUES)


def names() -> list[str]:
    return ["labels", *(f"column{j}" for j in range(N_COLUMNS))]


def training(folder: str, n_jobs: int) -> TrainingData:
    """The corpus, mapped into memory."""
    codes, *columns = (np.memmap(Path(folder) / name, np.int32, mode="r") for name in names())
    starts = np.load(Path(folder) / "starts.npy")
    values = Alphabet.of(f"{i:05d}" for i in range(N_VALUES))
    labels = Labels(np.array([f"L{i:02d}" for i in range(N_LABELS)]))
    specs = tuple(ColumnSpec(name, "categorical", values) for name in names()[1:])
    encoded = tuple(
        trusted(CategoricalColumn, name, own, values) for name, own in zip(names()[1:], columns, strict=True)
    )
    return TrainingData(
        encoder=Encoder(specs),
        labels=labels,
        sequences=Encoded.trusted(starts, encoded),
        codes=codes,
        weights=np.ones(len(starts) - 1),
        order=1,
        n_threads=n_jobs,
    )


def crf(folder: str, n_jobs: int) -> Figures:
    """A few quasi-Newton iterations."""
    begin = time.perf_counter()
    data = training(folder, n_jobs)
    space = LinearSpace.of(data, 0)
    prepared = time.perf_counter() - begin
    rules = QuasiNewtonRules(penalty=Penalty(0.0, 1.0), max_iter=ITERATIONS, tol=0.0)
    learner, losses = QuasiNewtonLearner(data, space, rules), []
    for record in learner:
        losses.append(record["loss"])
        if len(losses) == ITERATIONS:
            break
    return figures(begin, prepared, losses, space.n_weights)


def perceptron(folder: str, n_jobs: int) -> Figures:
    """One epoch."""
    begin = time.perf_counter()
    learner = MarginLearner(
        training(folder, n_jobs), MarginRules(window=0, epochs=1, averaging="average", random_state=0)
    )
    prepared = time.perf_counter() - begin
    losses = [record["loss"] for record in learner]
    potential = learner.potential
    assert isinstance(potential, LinearPotential)
    return figures(begin, prepared, losses, len(potential.state_weights))


def figures(begin: float, prepared: float, losses: list[float], n_weights: int) -> Figures:
    seconds = time.perf_counter() - begin
    return {"prepared": prepared, "seconds": seconds, "losses": losses, "n_weights": n_weights, "peak": peak()}


def table(n_tokens: int, n_jobs: int) -> Iterator[list[object]]:
    with tempfile.TemporaryDirectory() as folder:
        size = run("generate", folder, n_tokens)["megabytes"]
        for job, what in (
            ("crf", f"LinearCRF, {ITERATIONS} iterations"),
            ("perceptron", "StructuredPerceptron, 1 epoch"),
        ):
            found = run(job, folder, n_jobs)
            yield [what, f"{n_tokens:,}", f"{size:,.0f}", f"{found['n_weights']:,}", f"{found['prepared']:.1f}",
                   f"{found['seconds']:.1f}", f"{found['peak']:,.0f}", f"{found['losses'][-1]:.3f}"]  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--tokens", type=int, default=few(1_000_000, 20_000), help="size of the corpus")
    parser.add_argument("--n-jobs", type=int, default=2, help="threads")
    options = parser.parse_args()
    if options.job:
        answer(options.job, {"generate": generate, "crf": crf, "perceptron": perceptron})
        return
    print_machine("Memory-mapped codes, 10 attributes a token, 20 labels.")
    head = ["", "tokens", "data, MB", "weights", "prepared, s", "all, s", "peak, MB", "last loss"]
    print_table(head, table(options.tokens, options.n_jobs))


if __name__ == "__main__":
    main()
