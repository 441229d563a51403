"""Inference with a fitted model: encode X, apply constraints and known labels, ask one block of sequences at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.data.lazy import is_lazy
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.missing_values import refuse_missing
from hedgerow.errors import ImpossibleLatticeError, InputError, no_path, not_fitted
from hedgerow.estimators.allowed_labels import known_codes, overriding_constraints
from hedgerow.estimators.conventions import Conventions
from hedgerow.estimators.dev_spans import marks_spans
from hedgerow.estimators.encoded_input import check_encoder
from hedgerow.estimators.threads import threads_to_label, threads_to_read
from hedgerow.estimators.value_types import lattice_beam
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, DecodeSetting, best_labels
from hedgerow.inference.spans import SpanRules
from hedgerow.model import Model

T = TypeVar("T")


class Evidence(NamedTuple):
    """What a prediction is told besides X: constraints instead of those of training, and codes of known labels."""

    constraints: Constraints | None = None
    known: NDArray[np.int32] | None = None


class ModelInference(Conventions):
    """What predictions are made of."""

    @property
    def _beam(self) -> float | None:
        """The beam of prediction; None for estimators without one."""
        return lattice_beam(self._value("beam")) if "beam" in self._parameters else None

    @property
    def _learns_paths(self) -> bool:
        """Whether training compares best paths, so that the scores are made for Viterbi and not for marginals."""
        return False

    def _decoding(self, classes: Sequence[Any], decode: DecodeSetting) -> Decode:
        """How labels are chosen if `decode` is the setting and `classes` are the labels."""
        if decode != "auto":
            return decode
        return "viterbi" if self._learns_paths or marks_spans(classes) else "marginal"

    @property
    def _takes_missing(self) -> bool:
        """Whether the model handles the missing values that the encoder leaves."""
        return False

    def _value(self, name: str, override: Any = None, owner: str | None = None) -> Any:
        """A parameter, or the value that overrides it, checked and converted."""
        parameter = self._parameters[name]
        value = getattr(self, name) if override is None else override
        parameter.check(owner or type(self).__name__, value)
        return parameter.convert(value)

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit(X, y) or hedgerow.load(path)")
        return model  # type: ignore[no-any-return]

    def _nothing(self) -> list[Any]:
        """The predictions for no sequences."""
        self._fitted()
        return []

    def _encode(self, X: object) -> Encoded:
        model = self._fitted()
        if is_lazy(X):
            raise InputError(
                "X is a Dask collection, which only predict and predict_proba label; compute X first, or map a "
                "function over its partitions"
            )
        return self._encode_checked(model.encoder, X, model.parameters)

    def _predict_lazily(self, method: str, X: object, known: object, constraints: object, **options: Any) -> Any:
        """The predictions for a Dask collection, as one of the same kind; raises InputError before work is done."""
        from hedgerow.distributed.prediction import lazy_predictions

        labels = self._fitted().labels
        if constraints is not None:
            choice = self._value("constraints", constraints, method)
            overriding_constraints(choice, labels, self._fitted().parameters.get("constraints"))
        return lazy_predictions(self, method, X, known, {"constraints": constraints, **options})  # type: ignore[arg-type]

    def _encode_checked(self, encoder: Encoder, X: object, fitted_with: Mapping[str, Any], data: str = "X") -> Encoded:
        """X as codes; raises InputError where a value is missing and neither encoder nor model handles that."""
        if isinstance(X, Encoded):
            check_encoder(encoder, X, data)
            encoded = X
        else:
            try:
                encoded = encoder.encode(X, n_threads=threads_to_read(self._value("n_jobs"), X))
            except InputError as error:
                raise error if data == "X" else InputError(f"{data}: {error}") from None
        if not (encoder.fills_missing or self._takes_missing):
            setting = f" with missing={fitted_with['missing']!r}" if "missing" in fitted_with else ""
            refuse_missing(encoded, data, f"this {type(self).__name__}{setting}")
        return encoded

    def _reads(self, X: object) -> bool:
        """Whether X is a list of sequences like those of training."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._encode(X)
        except InputError:
            return False
        return True

    def _span_rules(self, scheme: str, constraints: object) -> SpanRules:
        from hedgerow.metrics.span_schemes import scheme_of_letters, span_joins

        model = self._fitted()
        classes = model.labels.classes.tolist()
        if scheme == "auto":
            named = model.parameters.get("constraints") if constraints is None else constraints
            scheme = named if isinstance(named, str) else scheme_of_letters(classes)
        return SpanRules(*span_joins(classes, scheme))

    def _evidence(self, encoded: Encoded, known: object, constraints: object, owner: str) -> Evidence:
        """The known labels and constraints of a prediction; raises InputError if they break a rule."""
        model, own = self._fitted(), None
        if constraints is not None:
            choice = self._value("constraints", constraints, owner)
            own = overriding_constraints(choice, model.labels, model.parameters.get("constraints"))
        in_force = model.constraints if own is None else own
        return Evidence(own, known_codes(known, model.labels, encoded, in_force))

    def _answers(self, encoded: Encoded, evidence: Evidence | None = None) -> Iterator[Answers]:
        """Inference over one block of sequences at a time, to bound memory."""
        constraints, known = evidence or Evidence()
        threads = threads_to_label(self._value("n_jobs"), encoded.n_positions)
        return self._fitted().answers_by_block(
            encoded, constraints=constraints, known=known, beam=self._beam, n_threads=threads
        )

    def _ask(self, encoded: Encoded, question: Callable[[Answers], T], evidence: Evidence | None = None) -> Iterator[T]:
        """The replies of each block; an error about a sequence has its number among all sequences."""
        first = 0
        for answers in self._answers(encoded, evidence):
            try:
                yield question(answers)
            except ImpossibleLatticeError as error:
                raise no_path(first + error.sequence, beam=self._beam) from None
            first += len(answers.starts) - 1

    def _best_labels(self, encoded: Encoded, decode: Decode, evidence: Evidence | None = None) -> NDArray[np.int32]:
        return np.concatenate(list(self._ask(encoded, lambda answers: best_labels(answers, decode), evidence)))

    def _predicted_codes(self, encoded: Encoded) -> NDArray[np.int32]:
        """The codes of the labels that `predict` returns without further wishes."""
        return self._best_labels(encoded, self._decoding(self._fitted().labels.classes.tolist(), self._value("decode")))
