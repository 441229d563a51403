"""Evaluation on dev data: the dev scores of a training-log record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import best_labels, log_likelihood
from hedgerow.learning.base import Record, TrainingData
from hedgerow.potentials.base import Potential

NO_CODES = np.zeros(0, np.int32)
NO_LIKELIHOODS = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Scores on the dev data of a fit; the record is empty when there are none.

    dev_accuracy  share of positions labelled right
    dev_loss      mean of -log P(gold labels) over the sequences whose labels training knows; None if there are no
                  such sequences, or if the model gives the labels of one of them the probability 0
    dev_span_f1   only if the labels mark spans
    """

    training: TrainingData

    def of_potential(self, potential: Potential) -> Record:
        """The scores of a potential, computed one block of sequences at a time."""
        training = self.training
        if training.dev is None:
            return {}
        return self.of_answers(
            potential.answers_by_block(
                training.dev.sequences, training.topology, beam=training.beam, n_threads=training.n_threads
            )
        )

    def of_answers(self, answers: Iterable[Answers]) -> Record:
        """The scores of inference over all dev sequences, in consecutive blocks."""
        dev = self.training.dev
        if dev is None:
            return {}
        predicted: list[NDArray[np.int32]] = []
        likelihoods: list[NDArray[np.float64]] = []
        first = 0
        for block in answers:
            last = first + int(block.starts[-1])
            predicted.append(best_labels(block, self.training.decode))
            likelihoods.append(log_likelihood(block, dev.codes[first:last]))
            first = last
        codes = dev.group.concatenated(np.concatenate([NO_CODES, *predicted]))
        record: Record = {
            "dev_accuracy": float(np.mean(codes == dev.group.concatenated(dev.codes))),
            "dev_loss": self._loss(np.concatenate([NO_LIKELIHOODS, *likelihoods])),
        }
        if dev.span_f1 is not None:
            record["dev_span_f1"] = dev.span_f1(codes)
        return record

    def _loss(self, likelihoods: NDArray[np.float64]) -> float | None:
        dev = self.training.dev
        assert dev is not None
        known = np.logical_and.reduceat(dev.codes >= 0, dev.sequences.starts[:-1]) if len(dev.codes) else NO_CODES > 0
        compared = dev.group.concatenated(likelihoods[known])
        if not len(compared) or np.isneginf(compared).any():
            return None
        return -float(compared.mean())
