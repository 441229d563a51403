"""The generators of the literature. The same seeds give the same data (numpy's PCG64)."""

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
    """A hidden Markov model with labels l1 l2 l3 and observations o1 ... o24.

    A label stays with probability 0.6 and goes to either other with 0.2. Label i speaks one of its own eight
    observations (evenly) with probability 0.6, one of the other sixteen with 0.4. The first label is uniform.
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


# p_o, k_o, p_l, k_l: how likely a label speaks its own observation, among how many others it chooses
# otherwise; how likely it stays, among how many others it chooses otherwise.
_FORTY = {"transition": (0.2, 8, 0.6, 2), "both": (0.6, 2, 0.6, 2)}


def hmm_forty(
    n_sequences: int,
    length: int,
    *,
    kind: Literal["transition", "both"] = "transition",
    seed: int,
    structure_seed: int = 0,
) -> Dataset:
    """A hidden Markov model with labels l1 ... l40 and observations o1 ... o40, drawn at random.

    Label i speaks o_i with probability p_o, otherwise one of k_o others; it stays with probability p_l,
    otherwise goes to one of k_l others; the others are drawn for each label by `structure_seed`. So training
    and test data from one model have the same `structure_seed` and different `seed`. In "transition" the
    observations say little (p_o 0.2, k_o 8), in "both" much (0.6, 2); p_l 0.6 and k_l 2 in either.
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


def future(
    kind: Literal["xor", "or", "extra"], n_sequences: int = 400, length: int = 30, *, seed: int
) -> Dataset:
    """Eight random bits a position; the label needs a look at up to six positions ahead.

    local: at least 4 of the first 6 bits. bag: one of the next 6 positions has at most 1 of its first 6 bits
    (near the end fewer positions follow; after the last none, and its bag is 0). The label is local XOR bag,
    local OR bag, or for "extra" at least 4 of the 7 bits (bag, first six). The last 2 bits are noise.
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
    """Labels that go 1 → 2 → 3 → 1 for ever: the counter example to independently trained output codes.

    The first label is drawn, and the first observation names it; every later observation is `.`. So the
    labels follow exactly from the input by a first-order chain over three labels, while a binary chain for
    "is it label k" forgets: after a 0 it expects 0 and 1 evenly, and settles at probability 1/3.
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
    """Rows over 40: `own` on the diagonal, the rest evenly on `n_others` columns drawn for each row."""
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
    """One column for each row, with the probabilities in it."""
    cumulative = rows.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]  # ends in exactly 1, so that no draw falls behind the last column
    draw: _CODES = (rng.random(len(rows))[:, None] >= cumulative).sum(axis=1)
    return draw


def _rng(name: str, seed: int) -> np.random.Generator:
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"{name} must be a whole number of at least 0, not {seed!r}")
    return np.random.Generator(np.random.PCG64(seed))


def _check_sizes(n_sequences: int, length: int) -> None:
    for name, value in (("n_sequences", n_sequences), ("length", length)):
        if not _is_whole(value) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")


def _is_whole(value: object) -> bool:
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
