"""Align the letters of words to their phonemes by expectation maximisation.

Every letter has a chunk of 0, 1 or 2 phonemes, independently of the other letters. The chunks of a word,
concatenated, are its phonemes:

    P(phonemes, chunks | word) = Π_i P(chunk_i | letter_i)

Words of the same shape (I letters, J phonemes) form a batch. Cell (i, j) of the lattice stands for the first i letters
and the first j phonemes. A word has few letters, so products of probabilities stay inside the range of a double
without scaling.
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
    """A number for each (letter, chunk): a probability in a model, an expected count after a sweep."""

    silent: Floats  # (letters,)
    single: Floats  # (letters, phonemes)
    double: Floats  # (letters, phonemes, phonemes)

    @classmethod
    def start(cls, n_letters: int, n_phonemes: int) -> Chunks:
        """Equal probabilities for all chunks of the same size; chunks of two phonemes are rare."""
        return cls(
            np.full(n_letters, 0.30),
            np.full((n_letters, n_phonemes), 0.65 / n_phonemes),
            np.full((n_letters, n_phonemes, n_phonemes), 0.05 / n_phonemes**2),
        )

    def __add__(self, other: Chunks) -> Chunks:
        return Chunks(self.silent + other.silent, self.single + other.single, self.double + other.double)

    def normalised(self) -> Chunks:
        """P(chunk | letter) from counts; the probabilities of a letter without counts are 0."""
        total = self.silent + self.single.sum(1) + self.double.sum((1, 2))
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        return Chunks(self.silent * share, self.single * share[:, None], self.double * share[:, None, None])


def _moves(model: Chunks, batch: Batch, i: int) -> tuple[Floats, Floats, Floats]:
    """P(chunk | letter i) of no phoneme (N,), of phoneme j (N, J), and of phonemes j, j+1 (N, J-1)."""
    letter, phonemes = batch.letters[:, i], batch.phonemes
    return (
        model.silent[letter],
        model.single[letter[:, None], phonemes],
        model.double[letter[:, None], phonemes[:, :-1], phonemes[:, 1:]],
    )


def _forward(model: Chunks, batch: Batch) -> Floats:
    """alpha[i, n, j]: probability that the chunks of the first i letters of word n are its first j phonemes."""
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

    A word without a possible alignment has log-likelihood −∞ and adds no counts.
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
    """The model after `n_rounds` rounds of EM, and the log-likelihood before each round, which never decreases."""
    batches = list(batches)
    log_likelihoods = []
    for _ in range(n_rounds):
        sweeps = [expected_counts(model, batch) for batch in batches]
        log_likelihoods.append(float(sum(loglik[np.isfinite(loglik)].sum() for _, loglik in sweeps)))
        total = sweeps[0][0]
        for counts, _ in sweeps[1:]:
            total = total + counts
        model = total.normalised()
    return model, log_likelihoods


def best_alignment(model: Chunks, batch: Batch) -> tuple[Codes, Floats]:
    """Number of phonemes of each letter (N, I) in the most probable alignment, and its log-probability.

    In a tie one phoneme is preferred, then none. The row of a word without a possible alignment (−∞) has no meaning.
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
    chunk_sizes = np.empty((n, n_letters), dtype=np.int64)
    words, j = np.arange(n), np.full(n, n_phonemes)
    for i in range(n_letters - 1, -1, -1):
        chunk_sizes[:, i] = sizes[i, words, j]
        j = np.maximum(j - chunk_sizes[:, i], 0)
    with np.errstate(divide="ignore"):
        return chunk_sizes, np.log(best[:, -1])
