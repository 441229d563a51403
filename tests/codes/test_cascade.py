"""The columns of a cascade, against a loop over positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.codes import rng
from hedgerow import Sequences
from hedgerow.codes.cascade import Cascade
from hedgerow.encoding import Encoder
from oracles import codes as oracle


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**32))
@settings(max_examples=50)
def test_cascade_columns(left, right, seed):
    draw = rng(seed)
    lengths = draw.integers(1, 7, size=5)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    predicted = draw.random(starts[-1]) < 0.5
    cascade = Cascade(2, left, right)
    columns = cascade.columns(4, predicted, starts)
    found = [[column.alphabet[int(column.codes[t])] for column in columns] for t in range(starts[-1])]
    expected = []
    for begin, end in pairwise(starts.tolist()):
        one = predicted[begin:end].astype(int).tolist()
        expected += [oracle.around(one, t, left, right) for t in range(end - begin)]
    assert found == expected
    assert [cascade.read_by(bit) for bit in (0, 1, 2, 3)] == [range(-1, -1, -1), range(0, -1, -1), range(1, -1, -1),
                                                              range(2, 0, -1)]  # fmt: skip
    base = Sequences(["abc"])
    specs = cascade.encoder(Encoder.fit(base), 3).columns[1:]
    names = [column.name for bit in (2, 1) for column in cascade.columns(bit, np.ones(1, bool), np.array([0, 1]))]
    assert [spec.name for spec in specs] == names
    assert all(spec.local for spec in specs)
