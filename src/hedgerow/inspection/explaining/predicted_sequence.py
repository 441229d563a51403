"""One sequence with its predicted labels, and the explanations of its positions and spans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ImpossibleLatticeError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.model_inference import Evidence
from hedgerow.inspection.calibration import uncalibrated
from hedgerow.inspection.explaining.attributions import Scope
from hedgerow.inspection.explaining.explanation import INSIDE, LEFT, RIGHT, Contribution, Explanation, contribution_of
from hedgerow.inspection.explaining.lattice_explainer import Split
from hedgerow.inspection.explaining.sequence_explainer import explainer_of
from hedgerow.inspection.explaining.shown_values import RawValues, texts_at
from hedgerow.inspection.frozen_model import once_per_model
from hedgerow.inspection.future_features import future_features
from hedgerow.model import Model

MOST_CONDITIONS = 3  # of the pattern of a future feature, in words
N_BEST = (2, 8, 32, 128)  # how many paths are searched for one that labels a span in another way


class PredictedSequence:
    """An encoded sequence, and the codes of the labels that an estimator predicts for it.

    `raw` are its values before it was encoded, if they are known.
    """

    def __init__(
        self, estimator: Estimator, encoded: Encoded, codes: NDArray[np.int32], raw: RawValues | None = None
    ) -> None:
        model = estimator._fitted()
        self.codes = codes
        self._estimator, self._encoded, self._labels = estimator, encoded, model.labels
        self._encoder, self._raw = model.encoder, raw
        self._explainer = explainer_of(
            model.potential,
            encoded,
            model.topology,
            Scope(model.encoder, _patterns(model), raw=raw),
            predicted=codes,
            beam=estimator._beam,
            temperature=model.temperature,
        )
        self._note = "; ".join(filter(None, (self._explainer.note, uncalibrated(estimator)))) or None

    def explanation(self, first: int, end: int, against: Sequence[int] | None = None) -> Explanation:
        """Why the positions have their labels, and not those of `against`; without these, not the runner-up."""
        labels = self.codes[first:end].tolist()
        if against is None:
            against = self._runner_up(first, labels)
        split = self._explainer.split(first, labels, against)
        certainty = min(self._explainer.log_probabilities(first + i)[label] for i, label in enumerate(labels))
        return Explanation(
            start=first,
            end=end,
            labels=self._decoded(labels),
            against=self._decoded(against),
            log_odds=split.log_odds,
            contributions=_contributions(split, first),
            probability=float(np.exp(certainty)),
            values=texts_at(self._encoder, self._encoded, range(first, end), self._raw),
            note=self._note,
        )

    def _decoded(self, codes: Sequence[int]) -> tuple[object, ...]:
        return tuple(self._labels.decode(np.array(codes, np.int32)).tolist())

    def _runner_up(self, first: int, labels: list[int]) -> list[int]:
        """The labels of the best path that labels the positions in another way.

        If no such path is among the best ones, that of the best path with another label at the least certain position.
        """
        if len(labels) == 1:
            return [self._explainer.runner_up(first, labels[0])]
        answers = next(self._estimator._answers(self._encoded))
        for n in N_BEST:
            scores, paths = answers.nbest(n)
            for path in paths[scores[0] > -np.inf, first : first + len(labels)].tolist():
                if path != labels:
                    return list(path)
        doubts = [self._explainer.log_probabilities(first + i)[label] for i, label in enumerate(labels)]
        least = int(np.argmin(doubts))
        known = np.full(len(self.codes), -1, np.int32)
        known[first + least] = other = self._explainer.runner_up(first + least, labels[least])
        try:
            path = next(self._estimator._answers(self._encoded, Evidence(known=known))).viterbi()[1]
        except ImpossibleLatticeError:  # no other label is possible
            return [*labels[:least], other, *labels[least + 1 :]]
        return list(path[first : first + len(labels)].tolist())


@once_per_model
def _patterns(model: Model) -> list[str]:
    """The pattern of each future feature in words."""
    return [" or ".join(words for words, _ in one.pattern[:MOST_CONDITIONS]) for one in future_features(model)]


def _contributions(split: Split, first: int) -> tuple[Contribution, ...]:
    """All contributions that are not zero, the largest first; contexts are always there."""
    found = [contribution_of(part, first + i) for i, parts in enumerate(split.parts) for part in parts if part.amount]
    found.append(Contribution(LEFT, 0, None, split.left, first))
    if len(split.parts) > 1:
        found.append(Contribution(INSIDE, 0, None, split.inside, first))
    found.append(Contribution(RIGHT, 0, None, split.right, first + len(split.parts) - 1))
    return tuple(sorted(found, key=lambda one: -abs(one.contribution)))
