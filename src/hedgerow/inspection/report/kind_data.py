"""The kinds of errors of each position, in a compact form for the browser of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.inspection.error_analysis import ErrorAnalysis
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.sequence_data import Shown
from hedgerow.inspection.span_errors import RIGHT, SPURIOUS, Codes, kinds_of_one_side, kinds_of_spans


def kind_data(found: ErrorAnalysis, labelling: Labelling, chosen: Shown) -> dict[str, Any]:
    """Names of kinds of errors, and [place, kind] of each position that is not right.

    A position in two wrong spans, a gold one and a predicted one, has the kinds of both: [place, kind, kind].
    """
    kinds = found.kinds_by_position[chosen.positions]
    predicted = kinds_of_predicted(labelling)[chosen.positions]
    rows = []
    for place in np.flatnonzero(kinds).tolist():
        own, other = int(kinds[place]), int(predicted[place])
        rows.append([place, own] if other in (own, RIGHT) else [place, own, other])
    return {"names": list(found.kinds), "at": rows}


def kinds_of_predicted(labelling: Labelling) -> Codes:
    """The kind of the predicted span of each position; RIGHT outside of spans, or if the labels mark none."""
    n = len(labelling.predicted)
    if labelling.spans is None:
        return np.full(n, RIGHT, np.uint8)
    spans = labelling.spans.coded
    return kinds_of_one_side(n, spans, kinds_of_spans(spans, labelling.gold_spans(), SPURIOUS))


def kinds_on_page(data: Mapping[str, Any]) -> set[int]:
    """The kinds of errors that some position on the page has."""
    rows = data["kinds"]["at"] if data.get("kinds") else []
    return {kind for _, *kinds in rows for kind in kinds}
