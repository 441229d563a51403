"""Align the letters of words to their phonemes by expectation maximisation.

Every letter speaks a chunk of 0, 1 or 2 phonemes, independently of the other letters, and the chunks of a
word concatenate to its phonemes:

    P(phonemes, chunks | word) = Π_i P(chunk_i | letter_i)

Words of the same shape (I letters, J phonemes) are worked on together; a cell (i, j) of the lattice says that
the first i letters have spoken the first j phonemes. A word has few letters, so products of probabilities
stay far inside the range of a double and nothing is scaled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class Batch(NamedTuple):
    """Words of one shape: codes of their letters (N, I) and of their phonemes (N, J)."""

    letters: Codes
    phonemes: Codes


@dataclass(frozen=True)
class Chunks:
    """A number for each (letter, chunk): probabilities in a model, expected counts after a sweep."""

    silent: Floats  # (letters,)
    single: Floats  # (letters, phonemes)
    double: Floats  # (letters, phonemes, phonemes)

    @classmethod
    def start(cls, n_letters: int, n_phonemes: int) -> Chunks:
        """Equal probabilities within a chunk size; two phonemes on one letter are the exception."""
        return cls(
            np.full(n_letters, 0.30),
            np.full((n_letters, n_phonemes), 0.65 / n_phonemes),
            np.full((n_letters, n_phonemes, n_phonemes), 0.05 / n_phonemes**2),
        )

    def __add__(self, other: Chunks) -> Chunks:
        return Chunks(self.silent + other.silent, self.single + other.single, self.double + other.double)

    def normalised(self) -> Chunks:
        """P(chunk | letter) from counts; a letter never seen has no chunk."""
        total = self.silent + self.single.sum(1) + self.double.sum((1, 2))
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        return Chunks(self.silent * share, self.single * share[:, None], self.double * share[:, None, None])


def _moves(model: Chunks, batch: Batch, i: int) -> tuple[Floats, Floats, Floats]:
    """P of letter i speaking nothing (N,), phoneme j (N, J), and phonemes j, j+1 (N, J-1)."""
    letter, phonemes = batch.letters[:, i], batch.phonemes
    return (
        model.silent[letter],
        model.single[letter[:, None], phonemes],
        model.double[letter[:, None], phonemes[:, :-1], phonemes[:, 1:]],
    )


def _forward(model: Chunks, batch: Batch) -> Floats:
    """alpha[i, n, j]: probability that the first i letters of word n speak its first j phonemes."""
    (n, n_letters), n_phonemes = batch.letters.shape, batch.phonemes.shape[1]
    alpha = np.zeros((n_letters + 1, n, n_phonemes + 1))
    alpha[0, :, 0] = 1.0
    for i in range(n_letters):
        silent, single, double = _moves(model, batch, i)
        alpha[i + 1] = alpha[i] * silent[:, None]
        alpha[i + 1, :, 1:] += alpha[i, :, :-1] * single
        alpha[i + 1, :, 2:] += alpha[i, :, :-2] * double
    return alpha


def expected_counts(model: Chunks, batch: Batch) -> tuple[Chunks, Floats]:
    """Expected number of each (letter, chunk) under the model, and the log-likelihood of each word.

    A word that no alignment explains has log-likelihood −∞ and counts nothing.
    """
    letters, phonemes = batch
    alpha = _forward(model, batch)
    total = alpha[-1, :, -1]
    weight = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)[:, None]
    counts = Chunks(*(np.zeros_like(table) for table in (model.silent, model.single, model.double)))
    beta = np.zeros_like(alpha[0])
    beta[:, -1] = 1.0
    for i in range(letters.shape[1] - 1, -1, -1):
        silent, single, double = _moves(model, batch, i)
        letter = letters[:, i]
        # posterior of a move = alpha(before) · P(chunk) · beta(after) / total
        stay = alpha[i] * silent[:, None] * beta * weight
        one = alpha[i, :, :-1] * single * beta[:, 1:] * weight
        two = alpha[i, :, :-2] * double * beta[:, 2:] * weight
        np.add.at(counts.silent, letter, stay.sum(1))
        np.add.at(counts.single, (letter[:, None], phonemes), one)
        np.add.at(counts.double, (letter[:, None], phonemes[:, :-1], phonemes[:, 1:]), two)
        earlier = beta * silent[:, None]
        earlier[:, :-1] += single * beta[:, 1:]
        earlier[:, :-2] += double * beta[:, 2:]
        beta = earlier
    with np.errstate(divide="ignore"):
        return counts, np.log(total)


def fit(batches: Iterable[Batch], model: Chunks, n_rounds: int) -> tuple[Chunks, list[float]]:
    """The model after `n_rounds` of EM, and the log-likelihood before each round (it never falls)."""
    batches = list(batches)
    history = []
    for _ in range(n_rounds):
        sweeps = [expected_counts(model, batch) for batch in batches]
        history.append(float(sum(loglik[np.isfinite(loglik)].sum() for _, loglik in sweeps)))
        total = sweeps[0][0]
        for counts, _ in sweeps[1:]:
            total = total + counts
        model = total.normalised()
    return model, history


def best_alignment(model: Chunks, batch: Batch) -> tuple[Codes, Floats]:
    """Phonemes spoken by each letter (N, I) in the most probable alignment, and its log-probability.

    Ties go to one phoneme, then to none. A word without alignment has −∞ and a meaningless row.
    """
    (n, n_letters), n_phonemes = batch.letters.shape, batch.phonemes.shape[1]
    best = np.zeros((n, n_phonemes + 1))
    best[:, 0] = 1.0
    sizes = np.empty((n_letters, n, n_phonemes + 1), dtype=np.int64)
    for i in range(n_letters):
        silent, single, double = _moves(model, batch, i)
        options = np.zeros((3, n, n_phonemes + 1))
        options[0, :, 1:] = best[:, :-1] * single
        options[1] = best * silent[:, None]
        options[2, :, 2:] = best[:, :-2] * double
        choice = options.argmax(0)
        sizes[i] = np.array([1, 0, 2])[choice]
        best = np.take_along_axis(options, choice[None], 0)[0]
    spoken = np.empty((n, n_letters), dtype=np.int64)
    words, j = np.arange(n), np.full(n, n_phonemes)
    for i in range(n_letters - 1, -1, -1):
        spoken[:, i] = sizes[i, words, j]
        j = np.maximum(j - spoken[:, i], 0)
    with np.errstate(divide="ignore"):
        return spoken, np.log(best[:, -1])
