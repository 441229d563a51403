"""Write the golden model files: models saved by this release, with their predictions.

    python tools/make_golden.py

A pair in tests/golden is NAME.hedgerow and NAME.json (inputs, labels, and probabilities if there are any); the number
in a name is the version of the file format. Existing pairs are not overwritten: every later release must load them and
predict the same.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow as hr

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
WEATHER = {"dry": (22.0, ["hat", "sun"]), "wet": (12.0, ["boots", "umbrella"]), "white": (-3.0, ["boots", "skis"])}

Sequence = list[dict[str, Any]]
Data = list[Sequence]


def diary(n_weeks: int, seed: int) -> tuple[Data, list[list[str]]]:
    """Days with a place (categorical), a temperature (numeric) and a bag; the labels are the weather."""
    draw = random.Random(seed)
    X: Data = []
    y = []
    for _ in range(n_weeks):
        weather = draw.choice(list(WEATHER))
        week, labels = [], []
        for _ in range(7):
            weather = weather if draw.random() < 0.7 else draw.choice(list(WEATHER))
            mean, things = WEATHER[weather]
            day: dict[str, Any] = {
                "place": draw.choice(["Zürich", "lake"] if weather == "dry" else ["Zürich", "museum"]),
                "celsius": round(draw.gauss(mean, 6.0), 1),
                "carried": [thing for thing in [*things, "map"] if draw.random() < 0.6],
            }
            if draw.random() < 0.1:
                day["celsius"] = None
            if draw.random() < 0.1:
                del day["place"]
            week.append(day)
            labels.append(weather)
        X.append(week)
        y.append(labels)
    return X, y


def hmm() -> tuple[hr.HMM, Data]:
    """A model of order 2, and sequences with missing, absent and unseen values, and of length 1."""
    model = hr.HMM(order=2, smoothing=0.5, n_jobs=1).fit(*diary(40, seed=1))
    unseen: Sequence = [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"place": None, "wind": 3.5}]
    return model, [*diary(6, seed=2)[0], unseen, [{"celsius": -8.0}]]


def without_missing(X: Data) -> Data:
    return [[{key: value for key, value in day.items() if value is not None} for day in week] for week in X]


def trees(**parameters: Any) -> tuple[hr.TreeCRF, Data]:
    X, y = diary(40, seed=3)
    model = hr.TreeCRF(n_rounds=4, max_leaves=6, n_jobs=1, window=1, **parameters).fit(without_missing(X), y)
    unseen: Sequence = [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"wind": 3.5}]
    return model, [*without_missing(diary(6, seed=4)[0]), unseen, [{"celsius": -8.0}]]


def linear(**parameters: Any) -> tuple[hr.LinearCRF, Data]:
    X, y = diary(40, seed=5)
    model = hr.LinearCRF(window=1, max_iter=20, n_jobs=1, **parameters).fit(without_missing(X), y)
    unseen: Sequence = [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"wind": 3.5}]
    return model, [*without_missing(diary(6, seed=6)[0]), unseen, [{"celsius": -8.0}]]


def with_missing(model: hr.LinearCRF | hr.TreeCRF | hr.MEMM) -> tuple[Any, Data]:
    """A model and inputs with missing values; places and bags are missing only in the inputs."""
    model.fit(*diary(40, seed=8))
    return model, [*diary(6, seed=9)[0], [{"place": None, "celsius": None, "carried": None}]]


def margin(model: hr.SearchTagger | hr.StructuredPerceptron | hr.StructuredSVM) -> tuple[Any, Data]:
    X, y = diary(40, seed=5)
    dev, dev_labels = diary(10, seed=6)
    model.fit(without_missing(X), y, X_dev=without_missing(dev), y_dev=dev_labels)
    unseen: Sequence = [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"wind": 3.5}]
    return model, [*without_missing(diary(6, seed=7)[0]), unseen, [{"celsius": -8.0}]]


def code(base: Any, **parameters: Any) -> tuple[hr.OutputCode, Data]:
    X, y = diary(40, seed=10)
    model = hr.OutputCode(base=base, n_jobs=1, random_state=0, **parameters).fit(without_missing(X), y)
    unseen: Sequence = [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"wind": 3.5}]
    return model, [*without_missing(diary(6, seed=11)[0]), unseen, [{"celsius": -8.0}]]


def pool(base: Any, **parameters: Any) -> tuple[hr.OpinionPool, Data]:
    """Models over some of the columns each; some values are missing."""
    X, y = diary(40, seed=14)
    model = hr.OpinionPool(base=base, n_jobs=1, random_state=0, **parameters).fit(X, y)
    return model, [*diary(6, seed=15)[0], [{"place": "moon", "celsius": 18, "carried": ["map", "flag"]}, {"wind": 3.5}]]


def future(*, searched: bool = False) -> tuple[Any, Data]:
    """A label says whether skis are carried in the three days before, and after. Some values are missing."""
    X, _ = diary(60, seed=12)
    y = []
    for week in X:
        skis = ["skis" in (day["carried"] or ()) for day in week]
        y.append([f"{any(skis[max(t - 3, 0) : t]):d}{any(skis[t + 1 : t + 4]):d}" for t in range(len(week))])
    model = hr.FutureMEMM(
        window=1, bag=3, bag_side="both", max_future=2, pattern_rounds=2, pattern_leaves=5, n_rounds=8, max_leaves=6,
        n_jobs=1, random_state=0,
    )  # fmt: skip
    tagger = hr.SearchTagger(window=1, future=model, n_jobs=1, random_state=1) if searched else model
    return tagger.fit(X, y), [*diary(6, seed=13)[0], [{"place": None, "celsius": None, "carried": None}]]


GOLDEN: dict[str, Callable[[], tuple[Any, Data]]] = {
    "hmm-1": hmm,
    "treecrf-trees-1": lambda: trees(order=2, transitions="trees", category_splits="subset"),
    "treecrf-table-1": lambda: trees(transitions="table"),
    "treecrf-shared-1": lambda: trees(trees="shared"),
    "linearcrf-1": lambda: linear(order=2),
    "linearcrf-edges-1": lambda: linear(edge_features=True, solver="owlqn", l1=0.5),
    "linearcrf-induced-1": lambda: linear(induce="mccallum", random_state=0),
    "linearcrf-missing-1": lambda: with_missing(hr.LinearCRF(window=1, max_iter=20, n_jobs=1, missing="indicator")),
    "treecrf-weighting-1": lambda: with_missing(hr.TreeCRF(window=1, n_rounds=4, max_leaves=6, n_jobs=1)),
    "treecrf-surrogate-1": lambda: with_missing(
        hr.TreeCRF(window=1, n_rounds=4, max_leaves=6, n_jobs=1, missing="surrogate")
    ),
    "perceptron-1": lambda: margin(hr.StructuredPerceptron(window=1, n_jobs=1, random_state=1)),
    "perceptron-vote-1": lambda: margin(
        hr.StructuredPerceptron(order=2, averaging="vote", epochs=2, n_jobs=1, random_state=1)
    ),
    "search-1": lambda: margin(hr.SearchTagger(window=1, n_jobs=1, random_state=1)),
    "search-ahead-1": lambda: future(searched=True),
    "search-backward-1": lambda: margin(
        hr.SearchTagger(order=1, beam=2, update="max-violation", direction="right-to-left", n_jobs=1, random_state=1)
    ),
    "pool-trees-1": lambda: pool(
        hr.TreeCRF(window=1, n_rounds=4, max_leaves=6), subsets=[["place", "celsius"], ["carried"], [-1, 1]]
    ),
    "pool-hmm-1": lambda: pool(hr.HMM(), pool="position"),
    "code-trees-1": lambda: code(
        hr.TreeCRF(n_rounds=4, max_leaves=6, window=1), cascade=2, cascade_left=2, distance="lattice"
    ),
    "code-linear-1": lambda: code(hr.LinearCRF(max_iter=20, window=1), code="one-vs-rest", cascade=1),
    "memm-trees-1": lambda: with_missing(hr.MEMM(order=2, window=1, n_rounds=4, max_leaves=6, n_jobs=1)),
    "memm-linear-1": lambda: with_missing(hr.MEMM(learner="linear", order=2, max_iter=20, n_jobs=1)),
    "future-memm-1": future,
    "svm-1": lambda: margin(hr.StructuredSVM(order=2, beam=4, n_jobs=1, random_state=1)),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, make in GOLDEN.items():
        target = FOLDER / f"{name}.hedgerow"
        if target.exists():
            print(f"{target.name} exists and is kept")
            continue
        model, X = make()
        answers = {"inputs": X, "labels": [labels.tolist() for labels in model.predict(X)]}
        if "vote" not in name:
            proba = model.predict_proba(X)
            answers["probabilities"] = [[[round(p, 9) for p in row] for row in of.tolist()] for of in proba]
        model.save(target)
        target.with_suffix(".json").write_text(json.dumps(answers, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{target.name}: {target.stat().st_size} bytes, {len(X)} sequences")


if __name__ == "__main__":
    main()
