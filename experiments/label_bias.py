"""Label bias: what a MEMM cannot learn, and a CRF can (Lafferty, McCallum & Pereira 2001, sections 2 and 5.1).

A word is "rib" or "rob". Its labels say in which word a letter is: r1 i2 b3 or r4 o5 b3. Each letter is replaced by one
of the three others with probability 3/32. When a MEMM reads the first letter, both words are equally probable. The
label after r1 is always i2, and that after r4 always o5: whatever the second letter is, it cannot change the choice any
more. Training sets have 2,000 words and test sets 500, as in the paper; the mean over five draws.

python experiments/label_bias.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hedgerow as hr
from common import arguments, log, print_machine, print_table

LETTERS = "riob"
PATHS = (("rib", ("r1", "i2", "b3")), ("rob", ("r4", "o5", "b3")))
NOISE = 3 / 32
N_DRAWS, N_TRAIN, N_TEST = 5, 2000, 500

MODELS: dict[str, Callable[[], Any]] = {
    "MEMM, weights": lambda: hr.MEMM(learner="linear", decode="viterbi"),
    "MEMM, trees": lambda: hr.MEMM(decode="viterbi", random_state=0),
    "MEMM, weights, reads the next letter": lambda: hr.MEMM(learner="linear", window=(0, 1), decode="viterbi"),
    "HMM": lambda: hr.HMM(decode="viterbi"),
    "LinearCRF": lambda: hr.LinearCRF(decode="viterbi"),
    "TreeCRF": lambda: hr.TreeCRF(decode="viterbi", random_state=0),
}


def words(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Noisy letters, and the labels of the word that they come from."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        word, labels = PATHS[rng.integers(2)]
        shown = [rng.choice([c for c in LETTERS if c != letter]) if rng.random() < NOISE else letter for letter in word]
        X.append([str(letter) for letter in shown])
        y.append(list(labels))
    return X, y


def errors(make: Callable[[], Any], sizes: tuple[int, int], seed: int) -> tuple[float, float]:
    """% of labels and % of words that are labelled wrong in test data."""
    train, (X, y) = words(sizes[0], seed), words(sizes[1], 1000 + seed)
    predicted = [labels.tolist() for labels in make().fit(*train).predict(X)]
    wrong_words = np.mean([one != gold for one, gold in zip(predicted, y, strict=True)])
    return 100 * (1 - hr.metrics.accuracy(y, predicted)), 100 * float(wrong_words)


def main() -> None:
    quick = arguments(__doc__, []).parse_args().quick
    print_machine()
    sizes, n_draws = ((200, 50), 2) if quick else ((N_TRAIN, N_TEST), N_DRAWS)
    rows = []
    for name, make in MODELS.items():
        log(f"  {name}")
        labels, whole = np.mean([errors(make, sizes, seed) for seed in range(n_draws)], axis=0)
        rows.append([name, f"{labels:.1f}", f"{whole:.1f}"])
    print_table(["model", "wrong labels, %", "wrong words, %"], rows)


if __name__ == "__main__":
    main()
