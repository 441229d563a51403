"""Which future features are found, and where they help (dissertation, table 5.3 and section 6.2).

python experiments/future_features.py

Table 5.3 varies the initial log-odds of patterns: in the printed algorithm, whose bounds and number of iterations are
chosen on validation data, and in FutureMEMM. FAQ lines, many labels and single words are suggestions of the
dissertation's last chapter. FutureMEMM has its defaults, except for what a table varies.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from common import PLAIN_TREES, TASKS, Split, arguments, log, percent, print_machine, print_table, train_test_pairs
from future import KINDS, Kind, bounded, held_out, synthetic
from hedgerow.errors import BagWarning

INITIAL = (0.0, -1.0, -3.0, -5.0, -7.0, -10.0)
SETTINGS: dict[str, Any] = {"order": 0, "bag": 6}
# Features ("3+" for more than two), bounds of alpha, beta and eta, iterations, and accuracy on test data.
PUBLISHED_5_3: dict[tuple[Kind, float], tuple[str, str, int, float]] = {
    ("xor", 0.0): ("2", "40, 1e5, 10", 29, 100),
    ("xor", -1.0): ("3+", "40, 1e4, 10", 52, 98.97),
    ("xor", -5.0): ("2", "40, 5e3, 10", 34, 100),
    ("xor", -7.0): ("2", "60, 5e3, 10", 32, 99.97),
    ("or", 0.0): ("2", "20, 5e3, 40", 11, 100),
    ("or", -1.0): ("3+", "40, 1e6, 40", 32, 99.97),
    ("or", -3.0): ("3+", "40, 1e5, 20", 43, 100),
    ("or", -5.0): ("1", "40, 1e5, 20", 11, 100),
    ("or", -7.0): ("1", "40, 1e5, 20", 11, 100),
    ("or", -10.0): ("2", "40, 1e6, 20", 13, 100),
    ("extra", 0.0): ("3+", "60, 1e5, 10", 49, 100),
    ("extra", -5.0): ("1", "40, 1e4, 10", 43, 100),
    ("extra", -7.0): ("1", "40, 1e4, 10", 43, 100),
    ("extra", -10.0): ("3+", "60, 1e5, 20", 51, 99.93),
}
warnings.filterwarnings("ignore", category=BagWarning)  # patterns that begin everywhere are part of table 5.3
WORDS = ("photograph", "photography", "photographer", "photographic")


def pattern_accuracy(model: hr.FutureMEMM, part: Split) -> tuple[float, float]:
    """Return in how many % of positions, and of bags, the features tell correctly whether they show the pattern."""
    right: list[NDArray[np.bool_]] = []
    right_bags: list[NDArray[np.bool_]] = []
    for x in part.X:
        truth = np.asarray(x)[:, :6].sum(axis=1) <= 1
        bags = np.array([truth[t + 1 : t + 7].any() for t in range(len(truth))])
        positions, found = model.pattern_probabilities(x)
        right.append((positions > 0.5).any(axis=0) == truth)
        right_bags.append((found > 0.5).any(axis=0) == bags)
    return 100 * float(np.concatenate(right).mean()), 100 * float(np.concatenate(right_bags).mean())


def print_5_3(kinds: list[Kind], starts: tuple[float, ...], sizes: tuple[int, ...]) -> None:
    """Print one draw of each set: as published, by the printed algorithm, and by FutureMEMM."""
    rows: list[list[Any]] = []
    for kind, initial in product(kinds, starts):
        data = synthetic(kind, 0, sizes)
        start = [kind.upper(), f"{initial:g}"]
        if (kind, initial) in PUBLISHED_5_3:
            n_features, bounds, iterations, test = PUBLISHED_5_3[kind, initial]
            rows.append([*start, "published", n_features, bounds, iterations, "", "", f"{test:.2f}", "", ""])
        printed = held_out(bounded(initial_log_odds=initial, **SETTINGS), data)
        ours = hr.FutureMEMM(initial_log_odds=initial, n_jobs=1, random_state=0, **SETTINGS)
        ours.fit(data.train.X, data.train.y, X_dev=data.validation.X, y_dev=data.validation.y)
        for name, model in (("printed algorithm", printed), ("FutureMEMM", ours)):
            log_ = model.training_log_
            bounds = "" if model.newton else f"{model.max_alpha:g}, {model.max_beta:g}, {model.max_eta:g}"
            iterations = log_[-1].get("iterations", sum(r.get("pattern_rounds", r["what"] == "round") for r in log_))
            accuracy = [f"{percent(p.y, model.predict(p.X)):.2f}" for p in (data.train, data.validation, data.test)]
            n = len(model.future_features_)
            pattern = [f"{value:.1f}" for value in pattern_accuracy(model, data.test)] if n else ["", ""]
            rows.append([*start, name, n, bounds, iterations, *accuracy, *pattern])
            log(rows[-1])
    head = ["set", "initial", "", "features", "α, β, η up to", "iterations", "train", "validation", "test"]
    print_table([*head, "positions right", "bags right"], rows)


def print_lines() -> None:
    """Print the accuracy for each role of FAQ lines against all others; each file is left out once."""
    files = train_test_pairs(TASKS["perlfaq"])
    models = {
        "SW": hr.MEMM(order=0),
        "MEMM-1": hr.MEMM(),
        "CRF-1": hr.TreeCRF(n_rounds=100, **PLAIN_TREES),
        "FF-MEMM-1, bag 10": hr.FutureMEMM(bag=10, random_state=0),
        "FF-MEMM-1, rest": hr.FutureMEMM(bag="rest", random_state=0),
        "FF-MEMM-1, both": hr.FutureMEMM(bag="rest", bag_side="both", random_state=0),
    }
    rows = []
    for role in ("tail", "answer"):
        for name, model in models.items():
            gold: list[Any] = []
            predicted: list[Any] = []
            for train, test in files:
                model.set_params(n_jobs=1).fit(train.X, [np.asarray(y) == role for y in train.y])
                gold += [np.asarray(y) == role for y in test.y]
                predicted += model.predict(test.X)
            truth, found = np.concatenate(gold), np.concatenate(predicted)
            f1 = 2 * float((truth & found).sum()) / max(float(truth.sum() + found.sum()), 1.0)
            rows.append([role, name, f"{percent(gold, predicted):.2f}", int((truth != found).sum()), f"{f1:.3f}"])
            log(rows[-1])
    print_table(["role", "model", "accuracy", "lines wrong", "F1 of the role"], rows)


def print_many_labels() -> None:
    rows = []
    for name, order in (("nettalk-stress", 1), ("nettalk-stress", 2), ("nettalk", 1)):
        train, test = (hr.datasets.load(name, split) for split in ("train", "test"))
        models = {
            "MEMM": hr.MEMM(order=order),
            "TreeCRF": hr.TreeCRF(order=order, n_rounds=100, **PLAIN_TREES),
            "FF-MEMM, bag 2": hr.FutureMEMM(order=order, bag=2, random_state=0),
            "FF-MEMM, bag 4": hr.FutureMEMM(order=order, bag=4, random_state=0),
            "FF-MEMM, rest": hr.FutureMEMM(order=order, random_state=0),
            "FF-MEMM, rest, both": hr.FutureMEMM(order=order, bag_side="both", random_state=0),
            "FF-MEMM without features": hr.FutureMEMM(order=order, max_future=0, random_state=0),
        }
        for title, model in models.items():
            model.set_params(n_jobs=1).fit(train.X, train.y)
            accuracy = [f"{percent(test.y, model.predict(test.X, decode=d)):.2f}" for d in ("viterbi", "marginal")]
            n = len(model.future_features_) if isinstance(model, hr.FutureMEMM) else ""
            seconds = f"{model.training_log_[-1]['seconds']:.1f}"
            rows.append([name, order, title, *accuracy, n, seconds])
            log(rows[-1])
    print_table(["set", "order", "model", "Viterbi", "marginal", "features", "seconds"], rows)


def print_words() -> None:
    """Print the stress of words whose end decides about their beginning, learned from a quarter of the other words."""
    train = hr.datasets.load("nettalk-stress", "all")
    drawn = np.random.default_rng(0).permutation(len(train.X))[: len(train.X) // 4]
    kept = [i for i in drawn.tolist() if train.X[i] not in WORDS]
    X, y = [train.X[i] for i in kept], [train.y[i] for i in kept]
    gold = dict(zip(train.X, train.y, strict=True))
    before = hr.MEMM(order=2, window=1, n_jobs=1).fit(X, y)
    after = hr.FutureMEMM(order=2, window=1, n_jobs=1, random_state=0).fit(X, y)
    rows = [
        [word, *("".join(labels) for labels in (gold[word], before.predict_single(word), after.predict_single(word)))]
        for word in WORDS
        if word in gold
    ]
    print_table(["word", "stress", "MEMM", "FutureMEMM"], rows)
    for feature in after.future_features_:
        log(feature)


def main() -> None:
    options = arguments(__doc__, [*KINDS, "perlfaq", "labels", "words"]).parse_args()
    print_machine()
    if options.quick:
        print_5_3(["or"], (-5.0,), (30, 15, 10))
        return
    kinds = [kind for kind in KINDS if kind in options.tasks]
    sizes = (400, 200, 100)
    if kinds:
        print_5_3(kinds, INITIAL, sizes)
    if "perlfaq" in options.tasks:
        print_lines()
    if "labels" in options.tasks:
        print_many_labels()
    if "words" in options.tasks:
        print_words()


if __name__ == "__main__":
    main()
