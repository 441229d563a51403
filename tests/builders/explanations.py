"""Small data and fitted models of every kind, whose explanations are tested."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np

import hedgerow as hr

WORDS = ["ant", "bee", "cat", "dog", "elk", "fox"]
LABELS = ["A", "B", "C"]


def position(rng, kinds):
    """A dict with a value of each kind of column; None for a missing value."""
    values = {
        "w": str(rng.choice(WORDS)),
        "v": str(rng.choice(["x", "y", "z"])),
        "number": round(float(rng.normal()), 2),
        "bag": {name: float(rng.integers(1, 4)) for name in "pqr" if rng.random() < 0.5},
    }
    return {kind: values[kind] for kind in kinds}


def label_of(rng, row, before, kinds):
    """A label that depends on every column, and on the label before."""
    score = rng.normal(size=3) * 0.5
    score[len(row["w"]) * ord(row["w"][0]) % 3] += 1
    if "v" in kinds and row["v"] is not None:
        score["xyz".index(row["v"])] += 1
    if "number" in kinds and row["number"] is not None:
        score[0] += row["number"]
    if "bag" in kinds and row["bag"]:
        score[1] += row["bag"].get("p", 0)
    if before is not None:
        score[(before + 1) % 3] += 1.5
    return int(score.argmax())


def data(kinds=("w", "v"), *, seed=0, n=30, longest=6, labels=LABELS):
    """(X, y): sequences of dicts, with labels."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        row, codes = [position(rng, kinds) for _ in range(rng.integers(1, longest + 1))], []
        for one in row:
            codes.append(label_of(rng, one, codes[-1] if codes else None, kinds))
        X.append(row)
        y.append([labels[code] for code in codes])
    return X, y


def damaged(X, seed=0, share=0.25):
    """The same sequences, with some values missing."""
    rng = np.random.default_rng(seed)
    return [[{k: None if rng.random() < share else v for k, v in row.items()} for row in x] for x in X]


def spans(*, seed=0, n=30):
    """(X, y) with IOB2 labels of two types."""
    X, y = data(seed=seed, n=n, longest=5)
    inside = {"A": None, "B": "X", "C": "Y"}
    found = []
    for labels in y:
        row, before = [], None
        for label in labels:
            kind = inside[label]
            row.append("O" if kind is None else ("I-" if kind == before else "B-") + kind)
            before = kind
        found.append(row)
    return X, found


TEXT, MIXED = ("w", "v"), ("w", "v", "number", "bag")
NUMBERS = ("w", "number")
SUBSETS = [["w"], ["v"], ["w", "v"]]
BOOSTED = {"n_rounds": 6, "learning_rate": 0.5, "random_state": 0, "n_jobs": 1}
TREES = BOOSTED | {"max_leaves": 6, "min_leaf": 1, "max_features": 1.0, "window": 1}
ONLINE = {"random_state": 0, "epochs": 3, "n_jobs": 1, "window": 1}
NEIGHBOURS = [(None, "A"), (None, "B"), ("A", "B"), ("B", "C"), ("C", "A"), ("A", "A"), ("B", "A"), ("C", "C")]


def _future(**given):
    return hr.FutureMEMM(**{"random_state": 0, "max_future": 3, "n_rounds": 6, "early_stopping": None} | given)


# By name: (kinds of columns, estimator).
KINDS = {
    "HMM": (MIXED, lambda: hr.HMM()),
    "HMM order 0": (TEXT, lambda: hr.HMM(order=0)),
    "HMM order 2": (NUMBERS, lambda: hr.HMM(order=2)),
    "LinearCRF": (TEXT, lambda: hr.LinearCRF(window=1, max_iter=30)),
    "LinearCRF order 0": (TEXT, lambda: hr.LinearCRF(order=0, max_iter=30)),
    "LinearCRF order 2": (TEXT, lambda: hr.LinearCRF(order=2, max_iter=30)),
    "LinearCRF mixed": (MIXED, lambda: hr.LinearCRF(window=1, max_iter=30)),
    "LinearCRF edges": (NUMBERS, lambda: hr.LinearCRF(window=1, edge_features=True, max_iter=30)),
    "LinearCRF edges order 2": (TEXT, lambda: hr.LinearCRF(order=2, edge_features=True, max_iter=20)),
    "LinearCRF induced": (TEXT, lambda: hr.LinearCRF(window=1, induce="mccallum", max_iter=24, random_state=0)),
    "LinearCRF beam": (TEXT, lambda: hr.LinearCRF(window=1, beam=2, max_iter=30)),
    "LinearCRF beam order 2": (TEXT, lambda: hr.LinearCRF(order=2, beam=4, max_iter=20)),
    "TreeCRF trees": (TEXT, lambda: hr.TreeCRF(transitions="trees", **TREES)),
    "TreeCRF trees order 0": (TEXT, lambda: hr.TreeCRF(transitions="trees", order=0, **TREES)),
    "TreeCRF trees order 2": (TEXT, lambda: hr.TreeCRF(transitions="trees", order=2, **TREES)),
    "TreeCRF mixed": (MIXED, lambda: hr.TreeCRF(transitions="trees", **TREES)),
    "TreeCRF subset": (TEXT, lambda: hr.TreeCRF(transitions="trees", category_splits="subset", **TREES)),
    "TreeCRF table": (MIXED, lambda: hr.TreeCRF(transitions="table", **TREES)),
    "TreeCRF table order 2": (TEXT, lambda: hr.TreeCRF(transitions="table", order=2, **TREES)),
    "TreeCRF shared": (MIXED, lambda: hr.TreeCRF(transitions="table", trees="shared", **TREES)),
    "TreeCRF linear": (TEXT, lambda: hr.TreeCRF(linear=True, **TREES)),
    "TreeCRF linear mixed": (NUMBERS, lambda: hr.TreeCRF(linear={"epochs": 3}, transitions="trees", **TREES)),
    "Perceptron": (TEXT, lambda: hr.StructuredPerceptron(**ONLINE)),
    "Perceptron mixed": (MIXED, lambda: hr.StructuredPerceptron(**ONLINE)),
    "Perceptron plain": (TEXT, lambda: hr.StructuredPerceptron(averaging="none", **ONLINE)),
    "SVM": (MIXED, lambda: hr.StructuredSVM(**ONLINE)),
    "SVM order 2": (TEXT, lambda: hr.StructuredSVM(order=2, **ONLINE)),
    "MEMM": (TEXT, lambda: hr.MEMM(window=1, n_rounds=6, max_leaves=6, random_state=0)),
    "MEMM order 0": (MIXED, lambda: hr.MEMM(order=0, n_rounds=6, max_leaves=6, random_state=0)),
    "MEMM order 2": (TEXT, lambda: hr.MEMM(order=2, n_rounds=6, max_leaves=6, random_state=0)),
    "MEMM beam": (TEXT, lambda: hr.MEMM(order=2, beam=3, n_rounds=6, max_leaves=6, random_state=0)),
    "MEMM linear": (MIXED, lambda: hr.MEMM(learner="linear", window=1, max_iter=30)),
    "MEMM linear order 0": (TEXT, lambda: hr.MEMM(learner="linear", order=0, max_iter=30)),
    "MEMM linear order 2": (TEXT, lambda: hr.MEMM(learner="linear", order=2, max_iter=30)),
    "FutureMEMM": (TEXT, lambda: _future()),
    "FutureMEMM order 0 both": (MIXED, lambda: _future(order=0, bag_side="both", bag=2, window=1)),
    "OutputCode": (TEXT, lambda: hr.OutputCode(base=hr.TreeCRF(**TREES), code="exhaustive")),
    "OutputCode linear": (MIXED, lambda: hr.OutputCode(base=hr.LinearCRF(max_iter=20), code="one-vs-rest")),
    "OutputCode hamming": (TEXT, lambda: hr.OutputCode(base=hr.LinearCRF(order=0, max_iter=20), code="one-vs-rest",
                                                       distance="hamming")),
    "OutputCode likelihood": (TEXT, lambda: hr.OutputCode(base=hr.MEMM(n_rounds=4, random_state=0), code="one-vs-rest",
                                                          distance="likelihood")),
    "OutputCode cascade": (TEXT, lambda: hr.OutputCode(base=hr.LinearCRF(order=0, max_iter=20), code="exhaustive",
                                                       cascade=2)),
    "OutputCode lattice": (TEXT, lambda: hr.OutputCode(base=hr.LinearCRF(order=0, max_iter=20), code="exhaustive",
                                                       distance="lattice")),
    "OutputCode HMM": (TEXT, lambda: hr.OutputCode(base=hr.HMM(), code="one-vs-rest")),
    "OutputCode perceptron": (TEXT, lambda: hr.OutputCode(base=hr.StructuredPerceptron(**ONLINE), code="one-vs-rest")),
    "OutputCode future": (TEXT, lambda: hr.OutputCode(base=_future(), code="one-vs-rest")),
    "OpinionPool": (TEXT, lambda: hr.OpinionPool(base=hr.TreeCRF(**TREES), subsets=SUBSETS)),
    "OpinionPool position": (TEXT, lambda: hr.OpinionPool(base=hr.TreeCRF(**TREES), subsets=SUBSETS, pool="position")),
    "OpinionPool drawn": (MIXED, lambda: hr.OpinionPool(base=hr.LinearCRF(max_iter=20), random_state=0)),
    "OpinionPool MEMM": (TEXT, lambda: hr.OpinionPool(base=hr.MEMM(n_rounds=4, random_state=0), subsets=SUBSETS)),
    "OpinionPool HMM order 2": (MIXED, lambda: hr.OpinionPool(base=hr.HMM(order=2), random_state=0)),
    "OpinionPool future": (TEXT, lambda: hr.OpinionPool(base=_future(), subsets=SUBSETS, pool="position")),
}  # fmt: skip
VOTES = {
    "Perceptron voted": (TEXT, lambda: hr.StructuredPerceptron(averaging="vote", **ONLINE)),
    "Perceptron voted beam": (TEXT, lambda: hr.StructuredPerceptron(averaging="vote", beam=2, **ONLINE)),
}
SEARCH = {
    "SearchTagger": (MIXED, lambda: hr.SearchTagger(**ONLINE)),
    "SearchTagger backward": (TEXT, lambda: hr.SearchTagger(direction="right-to-left", order=2, **ONLINE)),
    "SearchTagger order 0": (TEXT, lambda: hr.SearchTagger(order=0, **ONLINE)),
    "SearchTagger future": (TEXT, lambda: hr.SearchTagger(future=_future(), **ONLINE)),
    "SearchTagger future backward": (TEXT, lambda: hr.SearchTagger(future=_future(bag_side="both"),
                                                                   direction="right-to-left", **ONLINE)),
}  # fmt: skip
MISSING = {
    "HMM missing": (MIXED, lambda: hr.HMM()),
    "LinearCRF missing": (MIXED, lambda: hr.LinearCRF(window=1, max_iter=30)),
    **{
        f"TreeCRF missing {policy}": (MIXED, partial(hr.TreeCRF, missing=policy, **TREES))
        for policy in (
            "weighting",
            "surrogate",
            "learned",
            "indicator",
            "impute",
            "published-weighting",
            "published-surrogate",
            "published-indicator",
        )
    },
    "MEMM missing": (MIXED, lambda: hr.MEMM(window=1, n_rounds=6, max_leaves=6, random_state=0)),
}
CONSTRAINED = {
    "LinearCRF constrained": (TEXT, lambda: hr.LinearCRF(constraints="IOB2", max_iter=30)),
    "LinearCRF constrained order 0": (TEXT, lambda: hr.LinearCRF(constraints="IOB2", order=0, max_iter=30)),
    "LinearCRF constrained order 2 beam": (TEXT, lambda: hr.LinearCRF(constraints="IOB2", order=2, beam=6,
                                                                      max_iter=20)),
    "TreeCRF constrained": (TEXT, lambda: hr.TreeCRF(constraints="IOB2", transitions="trees", **TREES)),
    "TreeCRF constrained order 0": (TEXT, lambda: hr.TreeCRF(constraints="IOB2", order=0, **TREES)),
    "MEMM constrained": (TEXT, lambda: hr.MEMM(constraints="IOB2", n_rounds=6, random_state=0)),
    "MEMM constrained order 0": (TEXT, lambda: hr.MEMM(constraints="IOB2", order=0, n_rounds=6, random_state=0)),
    "HMM constrained": (TEXT, lambda: hr.HMM(constraints="IOB2")),
    "Perceptron voted constrained": (TEXT, lambda: hr.StructuredPerceptron(constraints="IOB2", averaging="vote",
                                                                           **ONLINE)),
    "SearchTagger constrained": (TEXT, lambda: hr.SearchTagger(constraints="IOB2", **ONLINE)),
    "OpinionPool constrained": (TEXT, lambda: hr.OpinionPool(base=hr.LinearCRF(max_iter=20), subsets=SUBSETS,
                                                             constraints="IOB2")),
    "OpinionPool constrained position": (TEXT, lambda: hr.OpinionPool(base=hr.HMM(), subsets=SUBSETS, pool="position",
                                                                      constraints="IOB2")),
    "OutputCode constrained": (TEXT, lambda: hr.OutputCode(base=hr.LinearCRF(max_iter=20), code="exhaustive",
                                                           constraints="IOB2", distance="lattice")),
}  # fmt: skip
TEMPLATES = {
    "LinearCRF words": (("w",), lambda: hr.LinearCRF(features=hr.templates.words(), max_iter=30)),
    "TreeCRF words": (("w",), lambda: hr.TreeCRF(features=hr.templates.words(), **BOOSTED)),
    "TreeCRF linear words": (("w",), lambda: hr.TreeCRF(features=hr.templates.words(), linear=True, **BOOSTED)),
    "TreeCRF words trees": (("w",), lambda: hr.TreeCRF(features=hr.templates.words(), transitions="trees", **BOOSTED)),
}
DEV = {  # dev data choose a temperature of the potential
    "SVM dev": (MIXED, lambda: hr.StructuredSVM(**ONLINE)),
    "Perceptron dev": (TEXT, lambda: hr.StructuredPerceptron(**ONLINE)),
    "SearchTagger dev": (NUMBERS, lambda: hr.SearchTagger(order=1, **ONLINE)),
    "OutputCode dev": (TEXT, lambda: hr.OutputCode(base=hr.LinearCRF(max_iter=20), code="exhaustive")),
}
ALL = DEV | KINDS | VOTES | SEARCH | MISSING | CONSTRAINED | TEMPLATES


@cache
def fitted(name):
    """(the fitted model, sequences that it was not fitted on)."""
    kinds, make = ALL[name]
    if name in CONSTRAINED:
        (X, y), (new, _) = spans(), spans(seed=1, n=6)
    else:
        (X, y), (new, _) = data(kinds), data(kinds, seed=1, n=6)
    if name in TEMPLATES:  # lists of words
        X, new = ([[row["w"] for row in x] for x in some] for some in (X, new))
    if name in MISSING:
        X, new = damaged(X), damaged(new, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y, *(data(kinds, seed=2, n=10) if name in DEV else ())), new
