"""Inference speed: positions a second for sums and best paths, beside NumPy.

python benchmarks/lattice.py

The part "sparse" has tables in which seven labels follow each label: all other cells are 0, as for label pairs that
training never shows. Beside it the same table with tiny numbers instead of zeros, so that every cell counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from data import QUICK, repeated
from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
from jobs import main
from printing import print_table

LENGTH = 20
LABELS = (2, 5) if QUICK else (2, 5, 22, 54, 126, 256, 535)
MOST_WITH_EDGES = 126  # edge scores of more labels do not fit memory, and the general sweep takes minutes
REPEATS = 15
AIMS = {5: 20.0, 54: 1.7}  # million positions a second forward, one core
Floats = NDArray[np.float32]


def numpy_forward(state: Floats, table: Floats, n_sequences: int) -> Floats:
    """log Z as one would write it with arrays: all sequences of one length at once, log-sum-exp for each edge."""
    x = state.reshape(n_sequences, LENGTH, -1)
    a = x[:, 0] + table[0]
    for t in range(1, LENGTH):
        scores = a[:, :, None] + table[None, 1:]
        top = scores.max(axis=1, keepdims=True)
        a = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0] + x[:, t]
    top = a.max(axis=1, keepdims=True)
    result: Floats = np.log(np.exp(a - top).sum(axis=1)) + top[:, 0]
    return result


def numpy_viterbi(state: Floats, table: Floats, n_sequences: int) -> NDArray[np.intp]:
    """The best labels of all positions."""
    x = state.reshape(n_sequences, LENGTH, -1)
    a = x[:, 0] + table[0]
    back = []
    for t in range(1, LENGTH):
        scores = a[:, :, None] + table[None, 1:]
        back.append(scores.argmax(axis=1))
        a = scores.max(axis=1) + x[:, t]
    path = [a.argmax(axis=1)]
    for pointers in reversed(back):
        path.append(np.take_along_axis(pointers, path[-1][:, None], axis=1)[:, 0])
    return np.stack(path[::-1], axis=1).ravel()


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    def once() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return repeated(once, repeats)


def whole(n_positions: float) -> int:
    """A number of positions that makes whole sequences."""
    return max(2000, int(n_positions)) // LENGTH * LENGTH


def measure(k: int) -> dict[str, float]:
    """Positions a second for each kind of pass; the last figure is a ratio."""
    rng = np.random.default_rng(k)
    n = whole(0 if QUICK else 4e6 / k**1.3)
    starts = np.arange(0, n + 1, LENGTH)
    state = rng.normal(size=(n, k)).astype(np.float32)
    table = rng.normal(size=(k + 1, k)).astype(np.float32)
    one, two = (Lattice(Topology(k), starts, state=state, table=table, n_threads=j) for j in (1, 2))
    steep = Lattice(Topology(k), starts, state=3 * state, table=table)
    few_sequences = min(n // LENGTH, 100)
    part = few_sequences * LENGTH
    first = state[:part]
    np.testing.assert_allclose(
        numpy_forward(first, table, few_sequences), one.log_partition()[:few_sequences], rtol=1e-4
    )
    assert (numpy_viterbi(first, table, few_sequences) == one.viterbi()[1][:part]).mean() > 0.999
    speeds = {
        "forward": n / seconds(one.log_partition),
        "marginals": n / seconds(one.marginals),
        "Viterbi": n / seconds(one.viterbi),
        "Viterbi, peaked": n / seconds(steep.viterbi),
        "NumPy forward": part / seconds(lambda: numpy_forward(first, table, few_sequences), 2),
        "NumPy Viterbi": part / seconds(lambda: numpy_viterbi(first, table, few_sequences), 2),
        "two threads": seconds(one.marginals) / seconds(two.marginals),
    }
    return speeds | (with_edges(k, rng) if k <= MOST_WITH_EDGES else {})


def with_edges(k: int, rng: np.random.Generator) -> dict[str, float]:
    """Positions a second for scores that differ by position, and for the general sweep."""
    m = whole(0 if QUICK else 5e7 / k**2)
    edge = rng.normal(size=(m, k, k)).astype(np.float32)
    edges = Lattice(Topology(k), np.arange(0, m + 1, LENGTH), edge=edge)
    n_slow = min(m, whole(200_000 / k))
    slow = Lattice(Topology(k), np.arange(0, n_slow + 1, LENGTH), edge=edge[:n_slow], general=True)
    return {
        "forward, edges": m / seconds(edges.log_partition),
        "marginals, edges": m / seconds(edges.marginals),
        "general sweep": n_slow / seconds(slow.marginals, 1),
    }


def _cell(speed: float | None, column: str) -> str:
    if speed is None:
        return "–"
    if column == "two threads":
        return f"{speed:.2f}"
    return f"{speed / 1e6:.2f}" if speed >= 1e6 else f"{speed / 1e6:.3f}"


def print_speed() -> None:
    found = {k: measure(k) for k in LABELS}
    columns = list(found[LABELS[0]])

    def rows() -> Iterator[list[object]]:
        for k, speeds in found.items():
            cells = [_cell(speeds.get(c), c) for c in columns]
            yield [k, *cells, f"{speeds['forward'] / speeds['NumPy forward']:.0f}x", AIMS.get(k, "")]

    print_table(["K", *columns, "forward / NumPy", "aim, forward"], rows())


FOLLOWING = 7  # labels after each label
SPARSE_LABELS = (48,) if QUICK else (64, 128, 256, 512, 1024)


def measure_sparse(k: int) -> dict[str, tuple[float, float]]:
    """CPU microseconds a position for each kind of pass: with a sparse table, and with a whole one."""
    rng = np.random.default_rng(k)
    n = whole(0 if QUICK else 1e6 / k)
    starts = np.arange(0, n + 1, LENGTH)
    state = rng.normal(size=(n, k)).astype(np.float32)
    sparse = np.zeros((k + 1, k), np.float32)
    cells = k + np.sort(rng.choice(k * k, size=FOLLOWING * k, replace=False))
    sparse.flat[cells] = rng.normal(size=len(cells))
    tiny = (1e-6 * rng.random(sparse.shape)).astype(np.float32)
    ours, theirs = (Lattice(Topology(k), starts, state=state, table=table) for table in (sparse, sparse + tiny))
    np.testing.assert_allclose(ours.log_partition(), theirs.log_partition(), rtol=1e-4)
    passes: dict[str, Callable[[Lattice], object]] = {
        "forward": lambda lattice: lattice.log_partition(),
        "marginals": lambda lattice: lattice.marginals(),
        "training sums": lambda lattice: lattice.summed_pairs(cells=cells),
    }

    def cpu_microseconds(work: Callable[[], object]) -> float:
        def once() -> float:
            began = time.process_time()
            work()
            return time.process_time() - began

        return repeated(once, REPEATS) / n * 1e6

    return {
        name: (cpu_microseconds(lambda work=work: work(ours)), cpu_microseconds(lambda work=work: work(theirs)))  # type: ignore[misc]
        for name, work in passes.items()
    }


def print_sparse() -> None:
    found = {k: measure_sparse(k) for k in SPARSE_LABELS}
    names = list(found[SPARSE_LABELS[0]])

    def rows() -> Iterator[list[object]]:
        for k, times in found.items():
            cells = [f"{ours:.2f} / {theirs:.2f} ({theirs / max(ours, 1e-9):.1f}x)" for ours, theirs in times.values()]
            yield [k, *cells]

    print_table(["K: CPU µs a position, sparse / whole", *names], rows())


if __name__ == "__main__":
    details = f"Instruction set: {_core.instruction_set()}; float32; sequences of {LENGTH}."
    main(__doc__, {"speed": print_speed, "sparse": print_sparse}, details=details)
