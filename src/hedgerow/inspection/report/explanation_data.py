"""Explanations of wrong and uncertain positions, in a compact form for the panel of the browser."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inspection.explaining.explanation import Explanation
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.markup import shown
from hedgerow.inspection.report.sequence_data import Shown

MOST_EXPLAINED = 2_000  # positions with an explanation
MOST_CONTRIBUTIONS = 8  # of an explanation; the others are summed up
SCALE = 100  # contributions are stored in hundredths


def explained_places(labelling: Labelling, chosen: Shown) -> NDArray[np.int64]:
    """Flat positions to explain: wrong ones first, then the least certain ones; in the order of the data."""
    at = chosen.positions
    certainty = labelling.probability[at].astype(np.float64)
    if labelling.gold is not None:
        certainty = np.where(labelling.gold[at] != labelling.predicted[at], -1.0 + certainty, certainty)
    order = np.argsort(certainty, kind="stable")[:MOST_EXPLAINED]
    return np.sort(at[order])


def explanation_data(
    explanations: Iterable[Explanation], places: NDArray[np.int64], label_code: Callable[[Any], int]
) -> dict[str, Any]:
    """Texts, the note of the model's explanations, and a row for each place.

    A row is [place, label against, log-odds, number and sum of other contributions, text, amount, text, amount, ...].
    """
    texts: dict[str, int] = {}
    rows, note = [], None
    for place, one in zip(places.tolist(), explanations, strict=True):
        largest = sorted(one.contributions, key=lambda part: -abs(part.contribution))
        kept, others = largest[:MOST_CONTRIBUTIONS], largest[MOST_CONTRIBUTIONS:]
        row = [place, label_code(one.against[0]), _hundredths(one.log_odds), len(others)]
        row.append(_hundredths(sum(part.contribution for part in others)))
        for part in kept:
            row += [texts.setdefault(shown(part), len(texts)), _hundredths(part.contribution)]
        rows.append(row)
        note = one.note
    return {"texts": list(texts), "at": rows, "note": note}


def _hundredths(amount: float) -> int | None:
    """A number in hundredths; None for an infinite one, which JSON does not have."""
    return round(SCALE * amount) if math.isfinite(amount) else None
