"""What all sections of a report read: the estimator, the data, and the predictions, which are computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.calibration import uncalibrated
from hedgerow.inspection.comparison import Comparison, comparison_of
from hedgerow.inspection.error_analysis import ErrorAnalysis, errors_of
from hedgerow.inspection.labelling import Labelling
from hedgerow.utilities import once


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """An estimator with sequences and its predictions for them; `other` has those of a second estimator."""

    estimator: Estimator
    store: ColumnStore
    labelling: Labelling
    other: Labelling | None = None

    @property
    def has_gold(self) -> bool:
        """Whether there are positions with gold labels, so that there can be errors."""
        return self.labelling.gold is not None and self.store.n_positions > 0

    @property
    def raw(self) -> Sequences | None:
        """The sequences before they were encoded, if they are known."""
        return self.store if isinstance(self.store, Sequences) else None

    @once
    def doubt(self) -> str | None:
        """Why the probabilities of the model cannot be trusted; None if they can."""
        return uncalibrated(self.estimator)

    @once
    def predicted(self) -> list[NDArray[Any]]:
        """The predicted labels of each sequence."""
        return self._split(self.labelling.classes[self.labelling.predicted])

    @once
    def comparison(self) -> Comparison | None:
        """Changes from the second estimator to the first; None with one estimator or without gold labels."""
        return comparison_of(self.other, self.labelling) if self.other is not None and self.has_gold else None

    @once
    def errors(self) -> ErrorAnalysis | None:
        """Kinds and rates of errors; None without gold labels."""
        return errors_of(self.labelling, self.raw) if self.has_gold else None

    @once
    def gold(self) -> list[NDArray[Any]]:
        """The gold labels of each sequence, as the user gave them."""
        return self.labelling.gold_labels or []

    @once
    def scheme(self) -> str | None:
        """The scheme in which labels mark spans; None if they mark none.

        Gold labels that are well-formed in no scheme are read as IOB2, as conlleval reads them.
        """
        from hedgerow.errors import InputError
        from hedgerow.estimators.dev_spans import marks_spans
        from hedgerow.formats import detect_scheme

        labels = self.labelling.classes.tolist()
        if self.has_gold:
            labels = list(dict.fromkeys([*labels, *(label for one in self.gold for label in one.tolist())]))
        if not marks_spans(labels):
            return None
        try:
            return detect_scheme(self.gold if self.has_gold else self.predicted)
        except InputError:
            return "IOB2"

    def _split(self, flat: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(flat, self.store.starts[1:-1]) if len(self.store) else []


def raw_or_encoded(X: Any) -> ColumnStore:
    """X as it is if it is encoded; otherwise its sequences, read once."""
    return X if isinstance(X, Encoded) else Sequences(X, allow_empty=True)
