"""Tree data are built once for all bits of an output code."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.trees import growth_rules, random_rows
from hedgerow import _core
from hedgerow.encoding import AttributeReader, Window
from hedgerow.group import ALONE
from hedgerow.learning import tree_inputs
from hedgerow.learning.tree_inputs import TreeInputs


@pytest.fixture
def built(monkeypatch):
    """The tree data that were built, in order."""
    found = []

    def build(*arguments):
        found.append(_core.TreeData(*arguments))
        return found[-1]

    monkeypatch.setattr(tree_inputs, "_core", type("Core", (), {"TreeData": staticmethod(build)}))
    return found


def test_the_data_of_the_first_sequences_are_shared(built):
    rng = np.random.default_rng(0)
    rows, inputs, rules = random_rows(rng, [4, 5], 1, numeric=True), TreeInputs(), growth_rules()
    bins = inputs.binnings(rows.sequences, 1, ALONE)
    assert inputs.binnings(rows.sequences, 1, ALONE)["number"] is bins["number"]
    rows = AttributeReader(rows.sequences, rows.window, bins)
    first = inputs.tree_data(rows, bins, 1, rules, 1, ALONE)
    same = type(rows.sequences).trusted(rows.sequences.starts, rows.sequences.columns)
    again = AttributeReader(same, rows.window, bins)
    assert inputs.tree_data(again, bins, 1, growth_rules(l2=7.0, max_leaves=3), 1, ALONE) is first
    others = [
        (again, bins, 0, rules),
        (again, bins, 1, growth_rules(min_leaf=2)),
        (again, bins, 1, growth_rules(category_splits="subset")),
        (AttributeReader(rows.sequences, Window.of(2), bins), bins, 1, rules),
        (random_rows(rng, [4, 5], 1, numeric=True), bins, 1, rules),
    ]
    assert all(inputs.tree_data(*other, 1, ALONE) is not first for other in others)
    assert len(built) == 1 + len(others)


def data(n_labels=6):
    rng = np.random.default_rng(1)
    y = [[f"L{v}" for v in rng.integers(0, n_labels, size=9)] for _ in range(20)]
    return [[{"w": label + str(rng.integers(2)), "x": float(rng.normal())} for label in labels] for labels in y], y


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_all_bits_of_a_code_grow_on_the_same_tree_data(built, n_jobs):
    X, y = data()
    base = hr.TreeCRF(n_rounds=2, window=1)
    hr.OutputCode(base=base, n_bits=5, random_state=0, n_jobs=n_jobs).fit(X, y)
    assert len(built) == 1


def test_bits_of_a_cascade_have_data_of_their_own(built):
    X, y = data()
    hr.OutputCode(base=hr.TreeCRF(n_rounds=2, window=1), n_bits=4, cascade=1, random_state=0).fit(X, y)
    assert len(built) >= 4
