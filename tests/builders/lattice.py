"""Random scores of small lattices, for tests of exact, fast and pruned sweeps."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hedgerow.topology import Topology

PARTS = [("state",), ("table",), ("edge",), ("state", "table"), ("state", "edge"), ("state", "edge", "table")]


def random_scores(rng, parts, length, order, k, *, forbid=0.0, scale=2.0, dtype=np.float64):
    """The parts asked for; every number on its own minus infinity with probability `forbid`."""
    topology = Topology(k, order)
    shapes = {
        "state": (length, k),
        "edge": (length, topology.n_contexts, k),
        "table": (topology.n_rows, k),
    }
    made = {}
    for part in parts:
        scores = rng.normal(scale=scale, size=shapes[part])
        scores[rng.random(scores.shape) < forbid] = -np.inf
        made[part] = scores.astype(dtype)
    return made


def starts_of(*lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@st.composite
def small_cases(draw, max_order=3, forbid=(0.0, 0.2)):
    order = draw(st.integers(0, max_order))
    k = draw(st.integers(1, 3 if order > 1 else 4))
    length = draw(st.integers(1, 5 if k < 4 else 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = random_scores(rng, draw(st.sampled_from(PARTS)), length, order, k, forbid=draw(st.sampled_from(forbid)))
    return order, k, length, scores, draw(st.booleans())
