"""What every member of a distributed fit needs besides its sequences. It travels as plain values and arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.estimators.allowed_labels import constraints_of
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.dev_spans import span_f1_function
from hedgerow.estimators.fitting import training_data
from hedgerow.estimators.registry import REGISTRY
from hedgerow.group import Group
from hedgerow.learning.base import DevData, Learner, TrainingData
from hedgerow.model import Model

Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # metadata for JSON, and arrays


@dataclass(frozen=True, eq=False)
class DevShard:
    """The dev sequences of one member, and the gold labels and starts of those of all members."""

    sequences: Encoded
    codes: NDArray[np.int32]
    gold: list[Any]
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Blueprint:
    """The estimator with its parameters, the encoder, the labels, and the model to continue from."""

    estimator: str
    parameters: dict[str, Any]
    stored_encoder: Stored
    classes: NDArray[Any]
    earlier: Stored | None = None

    @classmethod
    def of(cls, settings: Estimator, encoder: Encoder, labels: Labels, earlier: Model | None) -> Blueprint:
        return cls(
            estimator=type(settings).__name__,
            parameters=settings._plain_params(),
            stored_encoder=encoder.to_arrays(),
            classes=labels.classes,
            earlier=None if earlier is None else earlier._to_arrays(),
        )

    def encoder(self) -> Encoder:
        return Encoder.from_arrays(*self.stored_encoder)

    def settings(self, n_threads: int) -> Estimator:
        """The estimator, with the threads of this worker."""
        settings: Estimator = REGISTRY[self.estimator]._from_plain(self.parameters)
        settings.n_jobs = n_threads
        return settings

    def training(
        self, settings: Estimator, sequences: Encoded, codes: NDArray[np.int32], own: Own, group: Group
    ) -> TrainingData:
        labels = Labels(self.classes)
        dev = None
        if own.dev is not None:
            shard = own.dev
            span_f1 = span_f1_function(labels.classes.tolist(), shard.gold, shard.starts)
            dev = DevData(shard.sequences, shard.codes, span_f1, group)
        return training_data(
            settings,
            encoder=own.encoder,
            labels=labels,
            sequences=sequences,
            codes=codes,
            weights=own.weights,
            groups=own.groups,
            dev=dev,
            constraints=constraints_of(settings.constraints, labels),
            group=group,
        )

    def learner(self, settings: Estimator, training: TrainingData) -> Learner:
        earlier = None
        if self.earlier is not None:
            earlier = replace(Model._from_arrays(*self.earlier), encoder=training.encoder)
        return settings._learner(training, earlier)


@dataclass(frozen=True, eq=False)
class Own:
    """What one member has besides its sequences."""

    encoder: Encoder
    weights: NDArray[np.float64]
    groups: NDArray[np.int64] | None
    dev: DevShard | None
