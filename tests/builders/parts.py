"""Training data divided into parts, and whether what they give is the same, bit for bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np

from builders.training import training_of
from hedgerow.data.columns import CategoricalColumn, trusted
from hedgerow.encoding.encoded import Encoded

N = 23  # sequences


def draw(seed, *, values, n=N, n_labels=4, n_words=9):
    """Sequences of dicts: a category and, with `values`, a number and a weighted bag of very different sizes."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, n)
    lengths[:2] = 40, 1

    def item():
        drawn = {"c": str(rng.integers(n_words))}
        if values:
            bag = {str(b): float(rng.normal()) * 10.0 ** rng.integers(-3, 4) for b in rng.choice(5, 2, replace=False)}
            drawn |= {"x": float(rng.normal(1e4, 3)), "b": bag}
        return drawn

    X = [[item() for _ in range(length)] for length in lengths]
    y = [[str(label) for label in rng.integers(0, n_labels, length)] for length in lengths]
    return X, y


def same(a, b):
    """Whether two structures of arrays are equal, bit for bit; what belongs to a process is left out."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if is_dataclass(a):
        names = [field.name for field in fields(a) if field.name not in ("core", "reader")]
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in names)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def data(order=1, *, values=False, weighted=False, beam=None, seed=0):
    X, y = draw(seed, values=values)
    weights = np.random.default_rng(seed).uniform(0.01, 3, N) if weighted else None
    return training_of(X, y, order, weights, beam=beam)


def parts_of(training, groups):
    """The training data of each group of sequences, given as lists of their numbers."""
    parts = []
    for group in groups:
        chosen = np.asarray(group, np.int64)
        codes = np.split(training.codes, training.sequences.starts[1:-1])
        parts.append(
            replace(
                training,
                sequences=training.sequences[chosen],
                codes=np.concatenate([training.codes[:0], *(codes[i] for i in chosen)]),
                weights=training.weights[chosen],
            )
        )
    return parts


def divisions(n, seed=0):
    """Groups of n sequences: one, two, five, and five of them shuffled."""
    shuffled = np.random.default_rng(seed).permutation(n)
    return [np.array_split(np.arange(n), 1), np.array_split(np.arange(n), 2), np.array_split(np.arange(n), 5),
            np.array_split(shuffled, 5)]  # fmt: skip


def mapped_copy(training, folder):
    """The same training data, in files that are mapped for reading."""

    def mapped(name, array):
        path = folder / name
        array.tofile(path)
        return np.memmap(path, array.dtype, mode="r")

    columns = [
        trusted(CategoricalColumn, column.name, mapped(f"{i}", column.codes), column.alphabet)
        for i, column in enumerate(training.sequences.columns)
    ]
    sequences = Encoded.trusted(training.sequences.starts, tuple(columns))
    return replace(training, sequences=sequences, codes=mapped("labels", training.codes))
