"""Random attributes and marginals, and trees grown from them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import hedgerow as hr
from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import LocalColumn
from hedgerow.encoding import AttributeReader, Binning, Window
from hedgerow.potentials.trees import Trees


def random_rows(rng, lengths, window, *, numeric=False, bag=False, flag=False, local=False):
    """Dicts of one to three columns, few values, so that ties and empty nodes are common."""
    X = []
    for n in lengths:
        sequence = []
        for _ in range(n):
            position = {"letter": str(rng.choice(list("abc")))}
            if rng.random() < 0.15:
                del position["letter"]
            if numeric:
                position["number"] = float(rng.integers(0, 4))
            if flag:  # most positions read the same
                position["flag"] = bool(rng.random() < 0.8)
            if bag:
                position["bag"] = [v for v in "pqr" if rng.random() < 0.5]
            sequence.append(position)
        X.append(sequence)
    X[0][0].setdefault("letter", "a")
    sequences = hr.Sequences(X)
    if local:
        near = LocalColumn("near", rng.choice(np.array([-2, 0, 1, 2], np.int32), size=sum(lengths)), Alphabet.of("xyz"))
        sequences = hr.Sequences.of_columns(sequences.starts, (*sequences.columns, near))
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    return AttributeReader(sequences, Window.of(window), binnings)


def random_marginals(rng, starts, order, k):
    n = int(starts[-1])
    marginals = rng.dirichlet(np.ones(k ** (order + 1)), size=n).reshape(n, k**order, k)
    for begin, end in pairwise(starts):
        for t in range(begin, min(end, begin + order)):
            rows = k ** (t - begin)
            marginals[t, rows:] = 0
            marginals[t] /= marginals[t].sum()
    return marginals.astype(np.float32)


def as_dict(at, nodes, values):
    node = nodes[at]
    if node["attribute"] < 0 and node["lag"] < 0:
        return {"value": float(values[at, 0])}
    attribute, lag, label = (int(node[name]) for name in ("attribute", "lag", "label"))
    return {
        "test": ("id", attribute) if attribute >= 0 else ("lag", lag, label),
        "gain": float(node["gain"]),
        "true": as_dict(node["if_true"], nodes, values),
        "false": as_dict(node["if_false"], nodes, values),
    }


def growth_rules(**changed):
    """Small published trees, unless something is changed."""
    return _core.GrowthRules(**{"l2": 2.0, "newton": False, "max_leaves": 8} | changed)


def grower_of(rows, order, k, rules, weights=None, n_threads=1):
    return _core.TreeGrower(_core.TreeData(rows.reader, order, rules, n_threads), k, rules, weights)


def grow(rows, order, k, marginals, gold, *, step=1.0, n_threads=1, weights=None, in_sample=None, seed=0, shared=False,
         **changed):  # fmt: skip
    grower = grower_of(rows, order, k, growth_rules(**changed), weights, n_threads)
    scores = np.zeros_like(marginals)
    grown = (grower.grow_shared if shared else grower.grow)(marginals, gold, scores, in_sample, step, seed, n_threads)
    return Trees.of_round(*grown), scores


def tree(trees, i):
    part = slice(trees.starts[i], trees.starts[i + 1])
    return as_dict(0, trees.nodes[part], trees.values[part])
