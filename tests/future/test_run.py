"""Training runs: ids of trees, and the bounds of their steps."""

from __future__ import annotations

import numpy as np

from hedgerow.future.run import FIRST_ORDER_STEPS, renumber_ids
from hedgerow.potentials.trees import NODE, Trees


def test_ids_in_the_middle_and_at_the_end_change_places():
    nodes = np.zeros(7, NODE)
    nodes["attribute"] = [-1, 0, 3, 4, 5, 6, 8]
    trees = Trees.none()
    trees = Trees(
        labels=trees.labels,
        starts=trees.starts,
        nodes=nodes,
        values=trees.values,
        alternatives=trees.alternatives,
        surrogates=trees.surrogates,
    )
    moved = renumber_ids(trees, 3, 5, 9)
    assert moved.nodes["attribute"].tolist() == [-1, 0, 7, 8, 3, 4, 6]
    assert nodes["attribute"].tolist() == [-1, 0, 3, 4, 5, 6, 8]


def test_the_line_search_of_a_round_goes_from_a_tenth_to_a_hundred():
    assert FIRST_ORDER_STEPS[0] == 0.1
    assert FIRST_ORDER_STEPS[-1] == 100
