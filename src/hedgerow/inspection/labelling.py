"""What a model predicts for labelled or unlabelled sequences, computed once for all views of trust and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.label_codes import label_codes
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import best_labels, log_likelihood
from hedgerow.inference.spans import CodedSpans, SpanRules

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
    listed: NDArray[np.int32]  # (positions, at most MOST_LISTED): the most probable labels
    listed_probability: NDArray[np.float32]
    path_log_probability: NDArray[np.float64]  # by sequence: of all predicted labels together
    spans: ScoredSpans | None  # None if the labels mark no spans

    @classmethod
    def of(cls, estimator: Estimator, X: Any, y: Any = None) -> Labelling:
        """Predict with a fitted estimator; raises NotFittedError or InputError as its methods do."""
        if not isinstance(estimator, Estimator):
            raise InputError(f"the model must be a fitted estimator, but got {type_name(estimator)}")
        labels = estimator._fitted().labels
        encoded = estimator._encode(X)
        gold = None if y is None else label_codes(labels, y, encoded)
        decode = estimator._decoding(labels.classes.tolist(), estimator._value("decode"))
        rules = _span_rules(estimator)
        n_listed = min(MOST_LISTED, len(labels))

        def of_block(answers: Answers) -> _Block:
            predicted = best_labels(answers, decode)
            marginals = answers.marginals()[1]
            listed = np.argsort(-marginals, axis=1, kind="stable")[:, :n_listed].astype(np.int32)
            spans = None if rules is None else rules.spans(predicted, answers.starts)
            return _Block(
                predicted,
                np.take_along_axis(marginals, predicted[:, None], axis=1)[:, 0].astype(np.float32),
                listed,
                np.take_along_axis(marginals, listed, axis=1).astype(np.float32),
                log_likelihood(answers, predicted),
                spans,
                None if rules is None or spans is None else answers.span_probabilities(spans, rules),
            )

        blocks = list(estimator._ask(encoded, of_block))
        predicted, probability, listed, listed_probability, path = (
            np.concatenate([block[i] for block in blocks]) for i in range(5)
        )
        return cls(
            estimator=estimator,
            encoded=encoded,
            predicted=predicted,
            gold=gold,
            gold_labels=None if y is None else [np.asarray(labels) for labels in y],
            probability=probability,
            listed=listed,
            listed_probability=listed_probability,
            path_log_probability=path,
            spans=None if rules is None else ScoredSpans.joined(blocks, rules),
        )

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
        if self.gold is None:
            raise InputError("this view compares predictions with gold labels, but there are none; pass y")
        right: NDArray[np.bool_] = self.predicted == self.gold
        return right


class _Block(NamedTuple):
    predicted: NDArray[np.int32]
    probability: NDArray[np.float32]
    listed: NDArray[np.int32]
    listed_probability: NDArray[np.float32]
    path_log_probability: NDArray[np.float64]
    spans: CodedSpans | None
    span_probabilities: NDArray[np.float64] | None


class ScoredSpans(NamedTuple):
    """The predicted spans of all sequences by flat position, with their probabilities; `rules` has their names."""

    coded: CodedSpans
    probability: NDArray[np.float64]
    rules: SpanRules

    @classmethod
    def joined(cls, blocks: list[_Block], rules: SpanRules) -> ScoredSpans:
        firsts, ends, types, probability = [], [], [], []
        first = 0
        for block in blocks:
            assert block.spans is not None
            assert block.span_probabilities is not None
            firsts.append(block.spans.firsts + first)
            ends.append(block.spans.ends + first)
            types.append(block.spans.types)
            probability.append(block.span_probabilities)
            first += len(block.predicted)
        coded = CodedSpans(np.concatenate(firsts), np.concatenate(ends), np.concatenate(types))
        return cls(coded, np.concatenate(probability), rules)


def _span_rules(estimator: Estimator) -> SpanRules | None:
    """How the labels of a model mark spans; None if they mark none."""
    from hedgerow.estimators.dev_spans import marks_spans

    classes = estimator._fitted().labels.classes.tolist()
    return estimator._span_rules("auto", None) if marks_spans(classes) else None
