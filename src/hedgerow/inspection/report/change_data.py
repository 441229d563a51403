"""What a second model predicts otherwise, in a compact form for the browser of sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.inspection.comparison import Comparison
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.sequence_data import LabelNames, Shown

#: The kinds of changes from the other model to this one, with their names; their places are the codes on the page.
CHANGES = {
    "better": "better than the other model",
    "worse": "worse than the other model",
    "neither": "changed, with as many right labels",
}
UNCHANGED = -1


def change_data(
    found: Comparison, labelling: Labelling, other: Labelling, chosen: Shown, labels: LabelNames
) -> dict[str, Any]:
    """The code of the change of each sequence, and [place, label of the other model] where the models differ."""
    codes = np.full(found.n_sequences, UNCHANGED)
    for one in found.changed:
        codes[one.sequence] = list(CHANGES).index(one.change)
    own, theirs = (one.classes[one.predicted[chosen.positions]] for one in (labelling, other))
    places = np.flatnonzero(own != theirs)
    pairs = zip(places.tolist(), theirs[places].tolist(), strict=True)
    return {
        "names": list(CHANGES.values()),
        "at": codes[chosen.sequences].tolist(),
        "other": [[place, labels.named(label)] for place, label in pairs],
    }
