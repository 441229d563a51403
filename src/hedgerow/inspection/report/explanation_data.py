"""Explanations of wrong and uncertain positions, in a compact form for the panel of the browser."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hedgerow.data.ragged import sequence_of
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.explaining.explanation import Explanation
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.markup import shown
from hedgerow.inspection.report.page import json_bytes
from hedgerow.inspection.report.sequence_data import LabelNames, Shown
from hedgerow.potentials.base import ScoredPotential

MOST_EXPLAINED = 2_000  # positions with an explanation; fewer if they take too many bytes
MOST_NUMBERS = 10**9  # scores of labels in their contexts that explanations compute, about ten seconds
MOST_CONTRIBUTIONS = 8  # of an explanation; the others are summed up
SCALE = 100  # contributions are stored in hundredths


def explained_positions(labelling: Labelling, chosen: Shown) -> list[int]:
    """Flat positions to explain, in the order of their importance: wrong ones first, then the least certain ones.

    With many labels there are fewer, because explanations then take long.
    """
    at = chosen.positions
    certainty = labelling.probability[at].astype(np.float64)
    if labelling.gold is not None:
        certainty = np.where(labelling.gold[at] != labelling.predicted[at], -1.0 + certainty, certainty)
    wanted: list[int] = at[np.argsort(certainty, kind="stable")[:MOST_EXPLAINED]].tolist()
    numbers, sequences, found = 0, set[int](), 0
    by_position = scores_at_a_position(labelling.estimator)
    for position in wanted:
        sequence = sequence_of(labelling.starts, position)
        length = int(labelling.starts[sequence + 1] - labelling.starts[sequence])
        numbers += by_position * (1 if sequence in sequences else length + 1)
        if numbers > MOST_NUMBERS:
            break
        sequences.add(sequence)
        found += 1
    return wanted[:found]


def scores_at_a_position(estimator: Estimator) -> int:
    """How many scores an explanation reads for each position of a sequence: of the labels in their contexts."""
    model, beam = estimator._fitted(), estimator._beam
    if not isinstance(model.potential, ScoredPotential):
        return len(model.labels)
    contexts = int(len(model.labels) ** model.topology.lattice_order)
    return len(model.labels) * (contexts if beam is None or beam < 1 else min(contexts, int(beam)))


def compared_label(labelling: Labelling, position: int) -> int | None:
    """The label that the prediction is compared with: the gold label if that is another one, otherwise the runner-up.

    None stands for the runner-up. Gold labels that training never saw have no log-odds.
    """
    gold = -1 if labelling.gold is None else int(labelling.gold[position])
    return gold if gold >= 0 and gold != labelling.predicted[position] else None


def explanation_data(found: Iterable[tuple[int, Explanation]], labels: LabelNames, room: int) -> dict[str, Any]:
    """Texts, the note of the model's explanations, and a row for each explanation, until `room` bytes are full.

    `found` are places with their explanations. A row is [place, label against, log-odds, number and sum of other
    contributions, text, amount, text, amount, ...]; rows are in the order of places.
    """
    codes: dict[str, int] = {}
    texts: list[str] = []
    rows, note = [], None
    for place, one in found:
        if room <= 0:
            break
        n_texts, n_labels = len(texts), len(labels.names)
        row, note = _row(place, one, texts, codes, labels), one.note
        room -= json_bytes([row, texts[n_texts:], labels.names[n_labels:]])
        rows.append(row)
    return {"texts": texts, "at": sorted(rows, key=lambda row: row[0]), "note": note}


def _row(place: int, one: Explanation, texts: list[str], codes: dict[str, int], labels: LabelNames) -> list[Any]:
    """The row of an explanation; texts that are new are added to `texts`, with their codes."""
    largest = sorted(one.contributions, key=lambda part: -abs(part.contribution))
    kept, others = largest[:MOST_CONTRIBUTIONS], largest[MOST_CONTRIBUTIONS:]
    row = [place, labels.named(one.against[0]), _hundredths(one.log_odds), len(others)]
    row.append(_hundredths(sum(part.contribution for part in others)))
    for part in kept:
        text = shown(part)
        if text not in codes:
            codes[text] = len(texts)
            texts.append(text)
        row += [codes[text], _hundredths(part.contribution)]
    return row


def _hundredths(amount: float) -> int | str:
    """A number in hundredths; what JSON has no number for is a text that JavaScript's Number() reads."""
    if math.isfinite(amount):
        return round(SCALE * amount)
    return "NaN" if math.isnan(amount) else "Infinity" if amount > 0 else "-Infinity"
