"""The frozen model: encoder, labels, potential and order; inference with it, and its file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.constraints import Constraints
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import DAMAGE, InputError, ModelFileError
from hedgerow.inference.answers import Answers
from hedgerow.potentials.base import KnownLabels, Potential, Stored, add_prefix, stored_temperature, strip_prefix
from hedgerow.potentials.registry import restore
from hedgerow.topology import Topology


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """`estimator` and `parameters` say how it was fitted, `training_log` how the fit went; all three are plain JSON.

    `layout` describes the file of training data, if there was one, so that files to label are read in the same way.
    """

    labels: Labels
    encoder: Encoder
    potential: Potential
    order: int
    estimator: str
    parameters: Mapping[str, Any]
    training_log: list[dict[str, Any]] = field(default_factory=list)
    origin: str | None = None  # of a checkpoint: which fit it belongs to
    constraints: Constraints | None = None  # which label sequences exist; None for all
    layout: Mapping[str, Any] | None = None  # plain JSON, as `hedgerow.formats` wrote it
    temperature: float = 1.0  # divisor of all scores of the potential, by `hedgerow.calibrate`

    @property
    def topology(self) -> Topology:
        return Topology(len(self.labels), self.order, self.constraints)

    def encode(self, X: object) -> Encoded:
        """Encode X with the columns and alphabets of training; `.unseen` counts values that training never saw."""
        return self.encoder.encode(X)

    def answers(self, encoded: Encoded, *, beam: float | None = None, n_threads: int = 1) -> Answers:
        """Inference over sequences that `encode` returned."""
        return self.potential.answers(
            encoded, self.topology, beam=beam, n_threads=n_threads, temperature=self.temperature
        )

    def answers_by_block(
        self,
        encoded: Encoded,
        *,
        constraints: Constraints | None = None,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
    ) -> Iterator[Answers]:
        """Inference over one block of sequences at a time, to bound memory; `constraints` replace those of the model.

        `known` has the label code of each position, -1 where it is not known.
        """
        topology = self.topology if constraints is None else replace(self.topology, constraints=constraints)
        return self.potential.answers_by_block(
            encoded, topology, known=known, beam=beam, n_threads=n_threads, temperature=self.temperature
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an existing file is replaced only when the new one is complete."""
        metadata, arrays = self._to_arrays()
        storage.write(path, arrays, metadata)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` would write."""
        metadata, arrays = self._to_arrays()
        return storage.to_bytes(arrays, metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)  # a copy is checked like a file

    def _to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `_from_arrays` builds an equal model."""
        encoder, encoder_arrays = self.encoder.to_arrays()
        potential, potential_arrays = self.potential.to_arrays()
        classes = self.labels.classes
        metadata = {
            "estimator": self.estimator,
            "parameters": dict(self.parameters),
            "training_log": self.training_log,
            "labels": {"kind": classes.dtype.kind, "values": classes.tolist()},
            "order": self.order,
            "encoder": encoder,
            "potential": {"kind": self.potential.kind, **potential},
        }
        if self.origin is not None:
            metadata["origin"] = self.origin
        if self.layout is not None:
            metadata["layout"] = dict(self.layout)
        if self.temperature != 1:
            metadata["temperature"] = self.temperature
        arrays = add_prefix("encoder.", encoder_arrays) | add_prefix("potential.", potential_arrays)
        if self.constraints is not None:
            arrays |= add_prefix("constraints.", self.constraints.to_arrays())
        return metadata, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file; raises ModelFileError if it is not complete, consistent and of a known kind."""
        return cls._checked(*storage.read(path), str(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The model of which `to_bytes` returned the content; raises ModelFileError as `load` does."""
        return cls._checked(*storage.from_bytes(content), "the copy of a model file")

    @classmethod
    def _checked(cls, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any], name: str) -> Self:
        try:
            return cls._from_arrays(metadata, arrays)
        except DAMAGE as error:
            raise ModelFileError(
                f"{name} holds no model that this version of hedgerow can use ({error}); save the model again"
            ) from error

    @classmethod
    def _from_arrays(cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        labels = _labels(metadata["labels"])
        encoder = Encoder.from_arrays(metadata["encoder"], strip_prefix("encoder.", arrays))
        order = metadata["order"]
        Topology(len(labels), order)  # refuses an order that is too high
        stored = Stored(metadata["potential"], strip_prefix("potential.", arrays), encoder, len(labels), order)
        potential = restore(stored)
        match metadata:
            case {"estimator": str(estimator), "parameters": dict(parameters), "training_log": list(log)}:
                return cls(
                    labels=labels,
                    encoder=encoder,
                    potential=potential,
                    order=order,
                    estimator=estimator,
                    parameters=parameters,
                    training_log=log,
                    origin=metadata.get("origin"),
                    constraints=Constraints.from_arrays(strip_prefix("constraints.", arrays), len(labels)),
                    layout=_layout(metadata.get("layout")),
                    temperature=stored_temperature(metadata.get("temperature", 1.0)),
                )
        raise InputError("estimator, parameters or training_log is absent, or is not of the right type")


def _layout(stored: object) -> dict[str, Any] | None:
    if stored is None or isinstance(stored, dict):
        return stored
    raise InputError(f"the layout must be an object, but it is {stored!r}")


def _labels(stored: Mapping[str, Any]) -> Labels:
    kinds = {"U": (str, np.str_), "i": (int, np.int64), "b": (bool, np.bool_)}
    python, dtype = kinds[stored["kind"]]
    if any(type(value) is not python for value in stored["values"]):
        raise InputError("the labels must all be of one type")
    return Labels(np.array(stored["values"], dtype=dtype))
