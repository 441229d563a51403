"""Training data as `fit` hands them to a learner."""

from __future__ import annotations

import numpy as np

from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Encoder, Labels
from hedgerow.learning.base import DevData, TrainingData


def training_of(X, y, order=1, weights=None, dev=None, beam=None):
    """The training data of X and y; `dev` is a pair (X, y)."""
    raw = Sequences(X)
    gold = read_labels(y, raw)
    labels, encoder = Labels.fit(gold, raw), Encoder.fit(raw)
    if dev is not None:
        sequences = encoder.transform(Sequences(dev[0]))
        dev = DevData(sequences, labels.codes(read_labels(dev[1], sequences), sequences))
    return TrainingData(
        encoder=encoder,
        labels=labels,
        sequences=encoder.transform(raw),
        codes=labels.codes(gold, raw),
        weights=np.ones(len(raw)) if weights is None else np.asarray(weights, np.float64),
        order=order,
        dev=dev,
        beam=beam,
    )
