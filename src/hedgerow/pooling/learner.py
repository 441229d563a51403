"""The learner of opinion pools: a step is a model, learned from its subset of the attributes alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from hedgerow.inference.decoding import Decode
from hedgerow.learning.base import Learner, Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.pooling.potential import PooledModel, Pooling, PoolPotential
from hedgerow.pooling.subsets import Subset, encoder_of, read_columns
from hedgerow.potentials.base import ScoredPotential


class ModelLearnerFactory(Protocol):
    """Creates the learner of each model."""

    def decode(self, training: TrainingData) -> Decode:
        """How a model is decoded when its dev accuracy is computed."""
        ...

    def learner(self, training: TrainingData, number: int, subset: Subset) -> Learner:
        """The learner of a model, on the columns of its subset."""
        ...


class PoolLearner:
    """The learner of OpinionPool."""

    def __init__(
        self, training: TrainingData, factory: ModelLearnerFactory, subsets: Sequence[Subset], pool: Pooling
    ) -> None:
        self.training, self.factory, self.subsets, self.pool = training, factory, subsets, pool
        self.training_log: list[Record] = []
        self._models: list[PooledModel] = []

    @property
    def potential(self) -> PoolPotential:
        """The pool of the models so far."""
        return PoolPotential(
            models=tuple(self._models),
            pool=self.pool,
            n_labels=len(self.training.labels),
            order=self.training.order,
        )

    def __iter__(self) -> Iterator[Record]:
        for number, subset in enumerate(self.subsets):
            learner = self.factory.learner(self._reduced(subset), number, subset)
            n_steps, last = 0, Record()
            for last in learner:  # noqa: B007 - the last record is used
                n_steps += 1
            potential = learner.potential
            assert isinstance(potential, ScoredPotential)
            self._models.append(PooledModel(potential, subset.columns))
            record: Record = {
                "unit": "model",
                "step": number + 1,
                "loss": last.get("loss"),
                "subset": subset.described(),
                "model_steps": n_steps,
            }
            if "dev_accuracy" in last:
                record["model_dev_accuracy"] = last["dev_accuracy"]
            yield {**record, **Evaluator(self.training).of_potential(self.potential)}

    def _reduced(self, subset: Subset) -> TrainingData:
        """The training data with the columns of a subset alone."""
        whole = self.training
        dev = whole.dev
        return replace(
            whole,
            encoder=encoder_of(whole.encoder, subset.columns),
            sequences=read_columns(whole.sequences, subset.columns),
            dev=None if dev is None else replace(dev, sequences=read_columns(dev.sequences, subset.columns)),
            decode=self.factory.decode(whole),
        )
