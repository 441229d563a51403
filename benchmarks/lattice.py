"""Inference speed: positions a second for sums and best paths, beside NumPy.

python benchmarks/lattice.py
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
LABELS = (2, 5) if QUICK else (2, 5, 22, 54, 126)
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
    m = whole(0 if QUICK else 5e7 / k**2)
    edge = rng.normal(size=(m, k, k)).astype(np.float32)
    edges = Lattice(Topology(k), np.arange(0, m + 1, LENGTH), edge=edge)
    n_slow = min(n, whole(200_000 / k))
    slow = Lattice(Topology(k), starts[: n_slow // LENGTH + 1], state=state[:n_slow], table=table, general=True)
    n_sequences = n // LENGTH
    np.testing.assert_allclose(numpy_forward(state, table, n_sequences), one.log_partition(), rtol=1e-4)
    assert (numpy_viterbi(state, table, n_sequences) == one.viterbi()[1]).mean() > 0.999
    return {
        "forward": n / seconds(one.log_partition),
        "marginals": n / seconds(one.marginals),
        "Viterbi": n / seconds(one.viterbi),
        "forward, edges": m / seconds(edges.log_partition),
        "marginals, edges": m / seconds(edges.marginals),
        "general sweep": n_slow / seconds(slow.marginals, 1),
        "NumPy forward": n / seconds(lambda: numpy_forward(state, table, n_sequences), 2),
        "NumPy Viterbi": n / seconds(lambda: numpy_viterbi(state, table, n_sequences), 2),
        "two threads": seconds(one.marginals) / seconds(two.marginals),
    }


def print_speed() -> None:
    found = {k: measure(k) for k in LABELS}
    columns = list(found[LABELS[0]])

    def rows() -> Iterator[list[object]]:
        for k, speeds in found.items():
            cells = [f"{speeds[c] / (1 if c == 'two threads' else 1e6):.2f}" for c in columns]
            yield [k, *cells, f"{speeds['forward'] / speeds['NumPy forward']:.0f}x", AIMS.get(k, "")]

    print_table(["K", *columns, "forward / NumPy", "aim, forward"], rows())


if __name__ == "__main__":
    details = f"Instruction set: {_core.instruction_set()}; float32; sequences of {LENGTH}."
    main(__doc__, {"speed": print_speed}, details=details)
