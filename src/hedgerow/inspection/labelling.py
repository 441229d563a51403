"""What a model predicts for labelled or unlabelled sequences, computed once for all views of trust and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.ragged import starts_of
from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.dev_spans import fit_a_scheme, marks_spans
from hedgerow.estimators.label_codes import label_codes
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, best_labels, log_likelihood
from hedgerow.inference.spans import CodedSpans, SpanRules
from hedgerow.utilities import Floats

MOST_LISTED = 5  # labels listed for a position, the most probable first


@dataclass(frozen=True, eq=False, kw_only=True)
class Labelling:
    """The predictions of a model for all sequences, position by position, as codes of its labels.

    Arrays have a row for each position, sequence after sequence; `encoded.starts` has the first position of each
    sequence, and the number of positions at the end.
    """

    estimator: Estimator
    encoded: Encoded
    predicted: NDArray[np.int32]
    gold: NDArray[np.int32] | None  # -1 for labels that training never saw; None without y
    gold_labels: list[NDArray[Any]] | None  # as the user gave them
    probability: NDArray[np.float32]  # of the predicted label
    gold_probability: NDArray[np.float32] | None  # of the gold label, 0 for one that training never saw; None without y
    listed: NDArray[np.int32]  # (positions, at most MOST_LISTED): the most probable labels
    listed_probability: NDArray[np.float32]
    path_log_probability: NDArray[np.float64]  # by sequence: of all predicted labels together
    spans: ScoredSpans | None  # None if the labels mark no spans

    @classmethod
    def of(cls, estimator: Estimator, X: Any, y: Any = None, *, name: str | None = None) -> Labelling:
        """Predict with a fitted estimator; raises InputError as its methods do.

        X may hold no sequence; the arrays are then empty. An InputError because X does not fit the training data begins
        with `name`, which says which of several estimators rejects X.
        """
        try:
            encoded = encoded_or_empty(estimator, X)
        except InputError as error:
            if name is None:
                raise
            raise InputError(f"{name}: {error}") from None
        gold, gold_labels = (None, None) if y is None else _gold(estimator, y, encoded)
        question = _Question.of(estimator)
        first = 0

        def ask(answers: Answers) -> _Block:
            nonlocal first
            end = first + int(answers.starts[-1])
            own, first = None if gold is None else gold[first:end], end
            return question.ask(answers, own)

        blocks = list(estimator._ask(encoded, ask)) if len(encoded) else [question.nothing()]
        predicted, probability, listed, listed_probability, path, gold_probability = (
            np.concatenate([block[i] for block in blocks]) for i in range(6)
        )
        return cls(
            estimator=estimator,
            encoded=encoded,
            predicted=predicted,
            gold=gold,
            gold_labels=gold_labels,
            probability=probability,
            gold_probability=None if gold is None else gold_probability,
            listed=listed,
            listed_probability=listed_probability,
            path_log_probability=path,
            spans=None if question.rules is None else ScoredSpans.joined(blocks, question.rules),
        )

    def non_empty(self, view: str) -> Self:
        """This object; raises InputError, in which `view` is the function that was called, if there is no sequence."""
        if len(self.starts) < 2:
            raise InputError(f"{view} needs at least one sequence, but X is empty; pass sequences")
        return self

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of the model; codes are their places."""
        return self.estimator._fitted().labels.classes

    @property
    def starts(self) -> NDArray[np.int64]:
        return self.encoded.starts

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each position has its gold label; raises InputError without gold labels."""
        right: NDArray[np.bool_] = self.predicted == self._known_gold()
        return right

    def _known_gold(self) -> NDArray[np.int32]:
        if self.gold is None:
            raise InputError("predictions are compared with gold labels here, but there are none; pass y")
        return self.gold

    def gold_spans(self) -> CodedSpans:
        """The spans of the gold labels; types that training never saw have numbers after those of the model.

        Raises InputError without gold labels, or if the labels of the model mark no spans.
        """
        gold, rules = self._known_gold(), self._scored_spans().rules
        unseen = np.flatnonzero(gold < 0)
        if not len(unseen) or self.gold_labels is None:
            return rules.spans(gold, self.starts)
        from hedgerow.metrics.span_schemes import span_joins

        scheme, labels = span_scheme(self.estimator), np.concatenate(self.gold_labels)[unseen]
        assert scheme is not None
        names, places = np.unique(labels, return_inverse=True)
        known = self.classes.tolist()
        wider = SpanRules(*span_joins([*known, *(_of_scheme(name, scheme) for name in names.tolist())], scheme))
        codes = gold.copy()
        codes[unseen] = len(known) + places.ravel()
        return wider.spans(codes, self.starts)

    @property
    def right_spans(self) -> NDArray[np.bool_]:
        """Whether each predicted span is exactly a gold span, with its type; raises InputError as `gold_spans`."""
        found, gold = self._scored_spans().coded, self.gold_spans()
        ends, types = (np.full(len(self.predicted), -1, np.int64) for _ in range(2))
        ends[gold.firsts], types[gold.firsts] = gold.ends, gold.types
        right: NDArray[np.bool_] = (ends[found.firsts] == found.ends) & (types[found.firsts] == found.types)
        return right

    def _scored_spans(self) -> ScoredSpans:
        if self.spans is None:
            raise InputError(
                "spans are needed here, but the labels of the model mark none; they must be such as B-NP, I-NP and "
                "O, or fit a scheme that the model has as its constraints"
            )
        return self.spans


def encoded_or_empty(estimator: Estimator, X: Any) -> Encoded:
    """X as codes; no sequence if X is empty."""
    if hasattr(X, "__len__") and not isinstance(X, str) and len(X) == 0:
        return estimator._fitted().encoder.nothing()[:0]
    return estimator._encode(X)


def _gold(estimator: Estimator, y: Any, encoded: Encoded) -> tuple[NDArray[np.int32], list[NDArray[Any]]]:
    """(codes of gold labels, the labels of each sequence)."""
    if not len(encoded):
        n = len(y) if hasattr(y, "__len__") else len(list(y))
        if n:
            raise InputError(f"X has no sequence, but y has {n}; give both the same sequences")
        return np.zeros(0, np.int32), []
    labels = read_labels(y, encoded)  # once, because y may be an iterator
    return label_codes(estimator._fitted().labels, labels, encoded), _by_sequence(labels)


def _by_sequence(labels: FlatLabels) -> list[NDArray[Any]]:
    values = labels.values if labels.alphabet is None else np.array(list(labels.alphabet), np.str_)[labels.values]
    return np.split(values, labels.starts[1:-1])


class _Block(NamedTuple):
    predicted: NDArray[np.int32]
    probability: NDArray[np.float32]
    listed: NDArray[np.int32]
    listed_probability: NDArray[np.float32]
    path_log_probability: NDArray[np.float64]
    gold_probability: NDArray[np.float32]
    spans: CodedSpans | None
    span_probabilities: NDArray[np.float64] | None


@dataclass(frozen=True)
class _Question:
    """What is asked about each block of sequences."""

    decode: Decode
    rules: SpanRules | None
    n_listed: int
    prunes: bool  # a beam may lose the predicted path: log Z is then computed with this path kept
    is_free: bool  # without constraints the most probable labels are those of the marginals

    @classmethod
    def of(cls, estimator: Estimator) -> _Question:
        model = estimator._fitted()
        classes = model.labels.classes.tolist()
        decode = estimator._decoding(classes, estimator._value("decode"))
        scheme = span_scheme(estimator)
        rules = None if scheme is None else estimator._span_rules(scheme, None)
        n_listed = min(MOST_LISTED, len(classes))
        return cls(decode, rules, n_listed, estimator._beam is not None, model.constraints is None)

    def ask(self, answers: Answers, gold: NDArray[np.int32] | None) -> _Block:
        """The answers for a block, and the gold labels of its positions, if there are any."""
        log_z, marginals = answers.marginals()
        if self.decode == "marginal" and self.is_free:
            predicted = marginals.argmax(axis=1).astype(np.int32)
        else:
            predicted = best_labels(answers, self.decode)
        path = log_likelihood(answers, predicted) if self.prunes else answers.score(predicted) - log_z
        rows = np.arange(len(predicted))
        probability = marginals[rows, predicted].astype(np.float32)
        of_gold = np.zeros_like(probability) if gold is None else np.where(gold < 0, 0, marginals[rows, gold])
        listed, listed_probability = most_probable(marginals, self.n_listed)
        spans = None if self.rules is None else self.rules.spans(predicted, answers.starts)
        chances = None if self.rules is None or spans is None else answers.span_probabilities(spans, self.rules)
        return _Block(
            predicted,
            probability,
            listed,
            listed_probability,
            np.minimum(path, 0.0),
            of_gold.astype(np.float32),
            spans,
            chances,
        )

    def nothing(self) -> _Block:
        """The block without sequences."""
        codes, floats = np.zeros((0, self.n_listed), np.int32), np.zeros((0, self.n_listed), np.float32)
        nowhere, types = np.zeros(0, np.int64), np.zeros(0, np.int32)
        spans = CodedSpans(nowhere, nowhere, types)
        single = np.zeros(0, np.float32)
        return _Block(types, single, codes, floats, np.zeros(0), single, spans, np.zeros(0))


def most_probable(marginals: Floats, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(codes, probabilities) of the n most probable labels of each position; of equal ones the lowest code first.

    The time is that of n passes, and no array is sorted.
    """
    left = marginals.copy()
    rows = np.arange(len(left))
    codes, probabilities = np.empty((len(left), n), np.int32), np.empty((len(left), n), np.float32)
    for rank in range(n):
        best = left.argmax(axis=1)
        codes[:, rank], probabilities[:, rank] = best, left[rows, best]
        left[rows, best] = -1.0
    return codes, probabilities


class ScoredSpans(NamedTuple):
    """The predicted spans of all sequences by flat position, with their probabilities; `rules` has their names."""

    coded: CodedSpans
    probability: NDArray[np.float64]
    rules: SpanRules

    @classmethod
    def joined(cls, blocks: list[_Block], rules: SpanRules) -> ScoredSpans:
        firsts, ends, types, probability = [], [], [], []
        for block, first in zip(blocks, starts_of([len(block.predicted) for block in blocks]).tolist(), strict=False):
            assert block.spans is not None
            assert block.span_probabilities is not None
            firsts.append(block.spans.firsts + first)
            ends.append(block.spans.ends + first)
            types.append(block.spans.types)
            probability.append(block.span_probabilities)
        coded = CodedSpans(np.concatenate(firsts), np.concatenate(ends), np.concatenate(types))
        return cls(coded, np.concatenate(probability), rules)


def span_scheme(estimator: Estimator) -> str | None:
    """The scheme of the constraints if they name one, or that of the labels; None if the labels mark no spans."""
    model = estimator._fitted()
    named = model.parameters.get("constraints")
    return named if isinstance(named, str) else scheme_of_labels(model.labels.classes.tolist())


def scheme_of_labels(labels: list[Any]) -> str | None:
    """The scheme that has the letters of all labels; None if they mark no spans."""
    from hedgerow.metrics.span_schemes import scheme_of_letters

    if not marks_spans(labels):
        return None
    scheme = scheme_of_letters(labels)
    return scheme if has_letters(scheme, labels) else None


def has_letters(scheme: str, labels: list[Any]) -> bool:
    """Whether each label has a letter of the scheme, alone or with a type."""
    from hedgerow.metrics.scheme_names import LETTERS

    return fit_a_scheme(labels) and all(label[0] in LETTERS[scheme] for label in labels)


def _of_scheme(label: str, scheme: str) -> str:
    """The label, or "O" if it does not belong to the scheme."""
    from hedgerow.metrics.span_schemes import span_joins

    try:
        span_joins([label], scheme)
    except InputError:
        return "O"
    return label
