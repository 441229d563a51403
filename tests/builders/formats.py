"""Reads text as a file, and shows sequences as plain values."""

from __future__ import annotations

import io
from itertools import pairwise

import hedgerow as hr
from hedgerow.data.columns import MISSING, BagColumn, CategoricalColumn


def read(text, **options):
    return hr.read(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def _values(column):
    """The value of each position; `...` if it is absent, None if it is missing."""
    if isinstance(column, CategoricalColumn):
        return [column.alphabet[c] if c >= 0 else None if c == MISSING else ... for c in column.codes.tolist()]
    if isinstance(column, BagColumn):
        weights = [1.0] * len(column.ids) if column.weights is None else column.weights.tolist()
        pairs = list(zip(column.ids.tolist(), weights, strict=True))
        return [
            {column.alphabet[i]: weight for i, weight in pairs[begin:end]} for begin, end in pairwise(column.starts)
        ]
    return [None if value != value else value for value in column.values.tolist()]


def rows(X):
    """The positions of each sequence of a corpus or of sequences, as dicts of what is not absent."""
    X = getattr(X, "X", X)
    table = {column.name: _values(column) for column in X.columns}
    return [
        [{name: table[name][t] for name in table if table[name][t] is not ...} for t in range(begin, end)]
        for begin, end in pairwise(X.starts)
    ]


def labels(corpus):
    return None if corpus.y is None else [y.tolist() for y in corpus.y]
