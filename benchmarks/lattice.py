"""Inference speed: positions a second for sums and best paths, against NumPy and against the aims.

python benchmarks/lattice.py            # the tables of docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
from machine import describe_machine

LENGTH = 20
BEAMS = [1, 5, 10, 20]
AIM_FORWARD = {5: 20.0, 54: 1.7}  # million positions a second, one core


def numpy_forward(state, table, starts):
    """log Z as one would write it with arrays: all sequences of one length at once, log-sum-exp for each edge."""
    x = state.reshape(len(starts) - 1, LENGTH, -1)
    a = x[:, 0] + table[0]
    for t in range(1, LENGTH):
        scores = a[:, :, None] + table[None, 1:]
        top = scores.max(axis=1, keepdims=True)
        a = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0] + x[:, t]
    top = a.max(axis=1, keepdims=True)
    return np.log(np.exp(a - top).sum(axis=1)) + top[:, 0]


def numpy_viterbi(state, table, starts):
    x = state.reshape(len(starts) - 1, LENGTH, -1)
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


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The quickest of several runs: the one least disturbed."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def measure(k: int, repeats: int) -> dict[str, float]:
    rng = np.random.default_rng(k)
    n = max(2000, int(4e6 / k**1.3)) // LENGTH * LENGTH
    starts = np.arange(0, n + 1, LENGTH)
    state = rng.normal(size=(n, k)).astype(np.float32)
    table = rng.normal(size=(k + 1, k)).astype(np.float32)
    one, two = (Lattice(Topology(k), starts, state=state, table=table, n_threads=j) for j in (1, 2))
    m = max(LENGTH, int(5e7 / k**2)) // LENGTH * LENGTH
    edge = rng.normal(size=(m, k, k)).astype(np.float32)
    each = Lattice(Topology(k), np.arange(0, m + 1, LENGTH), edge=edge)
    slow_n = min(n, max(2000, 200_000 // k)) // LENGTH * LENGTH
    slow = Lattice(Topology(k), starts[: slow_n // LENGTH + 1], state=state[:slow_n], table=table, general=True)
    np.testing.assert_allclose(numpy_forward(state, table, starts), one.log_partition(), rtol=1e-4)
    assert (numpy_viterbi(state, table, starts) == one.viterbi()[1]).mean() > 0.9999
    return {
        "forward": n / seconds(one.log_partition, repeats),
        "marginals": n / seconds(one.marginals, repeats),
        "Viterbi": n / seconds(one.viterbi, repeats),
        "forward, edges": m / seconds(each.log_partition, repeats),
        "marginals, edges": m / seconds(each.marginals, repeats),
        "general sweep": slow_n / seconds(slow.marginals, 1),
        "NumPy forward": n / seconds(lambda: numpy_forward(state, table, starts), 2),
        "NumPy Viterbi": n / seconds(lambda: numpy_viterbi(state, table, starts), 2),
        "two threads": seconds(one.marginals, repeats) / seconds(two.marginals, repeats),
    }


def print_beams(k: int, n: int, repeats: int) -> None:
    """Exact against beams, with labels as uneven as parts of speech with chunks are: the r-th has a share of 1 / r."""
    rng = np.random.default_rng(0)
    n = n // LENGTH * LENGTH
    state = (2 * rng.normal(size=(n, k)) - np.log(1 + np.arange(k))).astype(np.float32)
    table = rng.normal(size=(k + 1, k)).astype(np.float32)
    print(f"\n{k} labels, {n} positions, one core: seconds for all of them, and how often that goes into exact.\n")
    print("| beam | sums for training | marginals | best path |")
    print("|---|---|---|---|")
    exact: list[float] = []
    for beam in [None, *BEAMS]:
        over = Lattice(Topology(k), np.arange(0, n + 1, LENGTH), state=state, table=table, beam=beam)
        took = [seconds(work, repeats) for work in (over.summed_pairs, over.marginals, over.viterbi)]
        exact = exact or took
        cells = [f"{s:.3f} ({e / s:.1f}x)" for s, e in zip(took, exact, strict=True)]
        print(f"| {beam or 'exact'} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, nargs="*", default=[2, 5, 22, 54, 126])
    parser.add_argument("--beam-labels", type=int, default=121)
    parser.add_argument("--beam-positions", type=int, default=211_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    print(describe_machine(), f"instruction set: {_core.instruction_set()}; float32; sequences of {LENGTH}.")
    print("Million positions a second on one core; the last column is a ratio.\n")
    columns: list[str] = []
    for k in options.labels:
        row = measure(k, options.repeats)
        if not columns:
            columns = list(row)
            print("| K | " + " | ".join(columns) + " | forward / NumPy | aim, forward |")
            print("|---" * (len(columns) + 3) + "|")
        cells = [f"{row[c]:.2f}" if c == "two threads" else f"{row[c] / 1e6:.2f}" for c in columns]
        ratio = row["forward"] / row["NumPy forward"]
        print(f"| {k} | " + " | ".join(cells) + f" | {ratio:.0f}x | {AIM_FORWARD.get(k, '')} |")
    print_beams(options.beam_labels, options.beam_positions, max(options.repeats // 5, 1))


if __name__ == "__main__":
    main()
