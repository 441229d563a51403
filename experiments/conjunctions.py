"""A linear CRF over all conjunctions of the attributes in a window, beside TreeCRF (paper, table 3).

A conjunction is a set of offsets of the window with a letter at each: a window of w positions has 2^w - 1 of them at
every position, and (20 + 1 + 1)^w - 1 that are possible with 20 letters, the end of the sequence, and "not read". All
that occur in the training data have a weight for each label. Seconds of an iteration are means of the first ten
quasi-Newton steps; TreeCRF is the published algorithm with 100 leaves and λ = 40. One thread; nothing is tested.

python experiments/conjunctions.py
"""

from __future__ import annotations

import time
import warnings
from itertools import combinations
from typing import Any

import hedgerow as hr
from common import TASKS, Split, arguments, log, print_machine, print_table, train_test_pairs
from hedgerow.data.columns import BagColumn
from hedgerow.errors import ConvergenceWarning
from round_time import PAPER_WINDOWS, cost, papers

PAPER_LINEAR = {1: 0.04, 3: 0.66, 5: 41.2, 7: 1505.0}  # seconds an iteration, table 3
SIZES = (1, 3, 5, 7, 9)
N_ITERATIONS, N_ROUNDS, REPEATS = 10, 50, 3
OUTSIDE = "."

warnings.filterwarnings("ignore", category=ConvergenceWarning)  # only the time of an iteration is of interest


def sequence_of_bags(letters: Any, size: int) -> list[list[str]]:
    """For each position the conjunctions of its window: such as "-1K 0A", by offset."""
    half = size // 2
    shown = [OUTSIDE] * half + list(letters) + [OUTSIDE] * half
    windows = [[f"{i - half}{shown[t + i]}" for i in range(size)] for t in range(len(letters))]
    return [[" ".join(chosen) for n in range(1, size + 1) for chosen in combinations(window, n)] for window in windows]


def linear_row(data: Split, size: int) -> tuple[str, str, str, float]:
    """Conjunctions that occur, weights, seconds to read and encode X, seconds of an iteration."""
    began = time.perf_counter()
    X = hr.Sequences(sequence_of_bags(x, size) for x in data.X)
    encoding = time.perf_counter() - began
    model = hr.LinearCRF(l2=0.5, solver="lbfgs", observed_only=False, max_iter=N_ITERATIONS, tol=1e-12, n_jobs=1)
    records = model.fit(X, data.y).training_log_
    seconds = (records[-1]["seconds"] - records[0]["seconds"]) / (len(records) - 1)
    (column,) = X.columns
    assert isinstance(column, BagColumn)
    n = len(column.alphabet)
    return f"{n:,}", f"{n * len(model.classes_):,}", f"{encoding:.1f}", seconds


def main() -> None:
    quick = arguments(__doc__, []).parse_args().quick
    print_machine()
    data = Split.of(hr.datasets.hmm_three(5, 10, seed=0)) if quick else train_test_pairs(TASKS["protein"])[0][0]
    n_rounds, repeats = (2, 1) if quick else (N_ROUNDS, REPEATS)
    rows = []
    for size in SIZES[:2] if quick else SIZES:
        log(f"  window size {size}")
        trees = cost(papers(size // 2), data, n_rounds, repeats).both / 1e3
        *counts, linear = linear_row(data, size)
        printed = [PAPER_LINEAR[size], PAPER_WINDOWS[size]] if size in PAPER_LINEAR else []
        ratios = [linear / trees, *([printed[0] / printed[1]] if printed else [])]
        shown = [f"{number:.3g}" for number in (linear, *printed[:1])] + ["none"] * (not printed)
        shown += [f"{number:.3g}" for number in (trees, *printed[1:])] + ["none"] * (not printed)
        shown += [f"{number:.2g}" for number in ratios] + ["none"] * (not printed)
        rows.append([size, f"{22**size - 1:.2g}", *counts, *shown])
    print_table(
        ["window size", "possible conjunctions", "those that occur", "weights", "encoding, s", "linear, s an iteration",
         "published", "TreeCRF, s a round", "published", "linear / TreeCRF", "published"],
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
