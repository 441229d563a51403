"""Generators of synthetic data from publications. The same seeds give the same data (numpy's PCG64)."""

from __future__ import annotations

import operator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.datasets.dataset import About, Dataset
from hedgerow.errors import InputError

_FLOATS = NDArray[np.float64]
_CODES = NDArray[np.int64]


def hmm_three(n_sequences: int = 100, length: int = 100, *, seed: int) -> Dataset:
    """Samples of a hidden Markov model with 3 labels (l1, l2, l3) and 24 observations (o1 ... o24).

    A label is followed by itself with probability 0.6, and by each of the two others with probability 0.2. With
    probability 0.6 label i emits one of its own eight observations, with probability 0.4 one of the other sixteen; each
    with equal probability. The first label is uniform.

    Parameters
    ----------
    n_sequences, length : int
        Number of sequences, and of positions in each.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If a number is not an integer or too small.

    Examples
    --------
    >>> import hedgerow as hr
    >>> data = hr.datasets.hmm_three(5, 10, seed=0)
    >>> len(data), len(data.X[0])
    (5, 10)
    """
    _check_sizes(n_sequences, length)
    transition = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    own = np.repeat(np.eye(3), 8, axis=1)
    emission = own * 0.6 / 8 + (1 - own) * 0.4 / 16
    X, y = _sample_hmm(transition, emission, n_sequences, length, _rng("seed", seed))
    about = _about(
        "a hidden Markov model with 3 labels and 24 observations",
        "one of the observations `o1` to `o24`",
        "`l1`, `l2`, `l3`",
        "Hao, PhD dissertation, 2009, section 3.5.3",
    )
    return Dataset("hmm_three", f"seed {seed}", X, y, about)


# p_o: probability that a label emits its own observation; k_o: number of other observations that it may emit.
# p_l: probability that a label is followed by itself; k_l: number of other labels that may follow it.
_FORTY = {"transition": (0.2, 8, 0.6, 2), "both": (0.6, 2, 0.6, 2)}


def hmm_forty(
    n_sequences: int,
    length: int,
    *,
    kind: Literal["transition", "both"] = "transition",
    seed: int,
    structure_seed: int = 0,
) -> Dataset:
    """Samples of a random hidden Markov model with 40 labels (l1 ... l40) and 40 observations (o1 ... o40).

    Label i emits o_i with probability p_o, otherwise one of k_o other observations. It is followed by itself with
    probability 0.6, otherwise by one of 2 other labels. The other observations and labels are drawn for each label.

    Parameters
    ----------
    n_sequences, length : int
        Number of sequences, and of positions in each.
    kind : {"transition", "both"}
        With "transition" the observations have little information about the labels (p_o = 0.2, k_o = 8); with "both"
        they have much (p_o = 0.6, k_o = 2).
    seed : int
        Seed of the sequences.
    structure_seed : int
        Seed of the hidden Markov model. Training and test data of one model have the same `structure_seed` and
        different `seed`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the kind is unknown, or a number is not an integer or too small.

    Examples
    --------
    >>> import hedgerow as hr
    >>> train = hr.datasets.hmm_forty(20, 10, structure_seed=1, seed=1)
    >>> test = hr.datasets.hmm_forty(10, 10, structure_seed=1, seed=2)
    """
    _check_sizes(n_sequences, length)
    _check_kind(kind, _FORTY)
    p_o, k_o, p_l, k_l = _FORTY[kind]
    structure = _rng("structure_seed", structure_seed)
    emission = _own_or_others(p_o, k_o, structure)
    transition = _own_or_others(p_l, k_l, structure)
    X, y = _sample_hmm(transition, emission, n_sequences, length, _rng("seed", seed))
    about = _about(
        f"a random hidden Markov model with 40 labels and 40 observations, kind {kind}",
        "one of the observations `o1` to `o40`",
        "`l1` to `l40`",
        "Hao & Fern, Revisiting output coding for sequential supervised learning, 2007, section 5.3",
        f"structure_seed {structure_seed}",
    )
    return Dataset(f"hmm_forty-{kind}", f"seed {seed}", X, y, about)


_BAG = 6


def future(kind: Literal["xor", "or", "extra"], n_sequences: int = 400, length: int = 30, *, seed: int) -> Dataset:
    """Sequences of random bits whose labels depend on up to six later positions.

    Each position has 8 random bits; the last two are noise. `local` is 1 if at least 4 of the first 6 bits are 1. `bag`
    is 1 if one of the next 6 positions (fewer at the end of a sequence) has at most one 1 among its first 6 bits.

    Parameters
    ----------
    kind : {"xor", "or", "extra"}
        The label is `local XOR bag`, `local OR bag`, or ("extra") whether at least 4 of the first 6 bits and `bag` are
        1.
    n_sequences, length : int
        Number of sequences, and of positions in each.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the kind is unknown, or a number is not an integer or too small.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.datasets.future("xor", 5, seed=0).X[0].shape
    (30, 8)
    """
    _check_sizes(n_sequences, length)
    _check_kind(kind, ("xor", "or", "extra"))
    bits = (_rng("seed", seed).random((n_sequences, length, 8)) < 0.5).astype(np.uint8)
    true = bits[:, :, :6].sum(axis=2)
    ahead = np.zeros((n_sequences, length + _BAG), dtype=bool)
    ahead[:, :length] = true <= 1
    bag = np.any([ahead[:, step : step + length] for step in range(1, _BAG + 1)], axis=0)
    local = true >= 4
    label = {"xor": local ^ bag, "or": local | bag, "extra": true + bag >= 4}[kind]
    about = _about(
        f"bits whose label depends on future positions, kind {kind}",
        "8 bits, the last two of them noise",
        "`0`, `1`",
        "Hao, PhD dissertation, 2009, section 5.4.1",
    )
    y = list(np.where(label, "1", "0"))
    return Dataset(f"future-{kind}", f"seed {seed}", list(bits), y, about)


def cycle(n_sequences: int, length: int, *, seed: int) -> Dataset:
    """Sequences with labels 1 → 2 → 3 → 1 → ..., a counterexample to independently trained output codes.

    The first label is random. The first observation is the first label; all later observations are `.`. A first-order
    chain over the three labels predicts every label exactly. A binary chain for "label k or not" cannot: after a 0 it
    gives 0 and 1 the same probability, and converges to probability 1/3.

    Parameters
    ----------
    n_sequences, length : int
        Number of sequences, and of positions in each.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If a number is not an integer or too small.

    Examples
    --------
    >>> import hedgerow as hr
    >>> data = hr.datasets.cycle(1, 4, seed=0)
    >>> data.X[0], data.y[0].tolist()
    (['2', '.', '.', '.'], ['2', '3', '1', '2'])
    """
    _check_sizes(n_sequences, length)
    start = (_rng("seed", seed).random(n_sequences) * 3).astype(np.int64)
    labels = np.array(["1", "2", "3"])[(start[:, None] + np.arange(length)) % 3]
    X = [[str(row[0]), *["."] * (length - 1)] for row in labels]
    about = _about(
        "a deterministic cycle of three labels",
        "the first label at the first position, `.` at every other",
        "`1`, `2`, `3`",
        "Hao, MSc thesis, 2009, section 3.3",
    )
    return Dataset("cycle", f"seed {seed}", X, list(labels), about)


def _own_or_others(own: float, n_others: int, rng: np.random.Generator) -> _FLOATS:
    """Probabilities (40, 40): `own` on the diagonal, the rest evenly on `n_others` columns drawn for each row."""
    keys = rng.random((40, 40))
    np.fill_diagonal(keys, np.inf)
    others = np.argsort(keys, axis=1, kind="stable")[:, :n_others]
    table = own * np.eye(40)
    np.put_along_axis(table, others, (1 - own) / n_others, axis=1)
    return table


def _sample_hmm(
    transition: _FLOATS, emission: _FLOATS, n_sequences: int, length: int, rng: np.random.Generator
) -> tuple[list[list[str]], list[Any]]:
    """Sequences of observations o1, o2, ... and of labels l1, l2, ...; the first label is uniform."""
    n_labels, n_observations = emission.shape
    labels = np.empty((n_sequences, length), dtype=np.int64)
    observations = np.empty_like(labels)
    for t in range(length):
        rows = transition[labels[:, t - 1]] if t else np.full((n_sequences, n_labels), 1 / n_labels)
        labels[:, t] = _draw(rows, rng)
        observations[:, t] = _draw(emission[labels[:, t]], rng)
    label_names = np.array([f"l{i}" for i in range(1, n_labels + 1)])
    observation_names = np.array([f"o{i}" for i in range(1, n_observations + 1)])
    return [observation_names[row].tolist() for row in observations], list(label_names[labels])


def _draw(rows: _FLOATS, rng: np.random.Generator) -> _CODES:
    """A random column for each row, with the probabilities in the row."""
    cumulative = rows.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]  # the last entry is exactly 1, so that every draw is a column
    draw: _CODES = (rng.random(len(rows))[:, None] >= cumulative).sum(axis=1)
    return draw


def _rng(name: str, seed: int) -> np.random.Generator:
    if not _is_integer(seed) or seed < 0:
        raise InputError(f"{name} must be an integer of at least 0, not {seed!r}")
    return np.random.Generator(np.random.PCG64(seed))


def _check_sizes(n_sequences: int, length: int) -> None:
    for name, value in (("n_sequences", n_sequences), ("length", length)):
        if not _is_integer(value) or value < 1:
            raise InputError(f"{name} must be an integer of at least 1, not {value!r}")


def _is_integer(value: object) -> bool:
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(value, bool)


def _check_kind(kind: str, kinds: Any) -> None:
    if kind not in kinds:
        raise InputError(f"there is no kind {kind!r}; choose from {', '.join(kinds)}")


def _about(title: str, columns: str, labels: str, citation: str, note: str = "") -> About:
    return About(title, columns, labels, "generated by hedgerow.datasets", "", citation, note)
