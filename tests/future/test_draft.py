"""The model in training: ids of trees."""

from __future__ import annotations

import numpy as np

from hedgerow.future.draft import renumber_ids
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
