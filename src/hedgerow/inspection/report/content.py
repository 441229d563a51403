"""The content of a report: its sections, and the data of the browser of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.inspection.error_analysis import ErrorAnalysis
from hedgerow.inspection.explaining.entry import explain_many
from hedgerow.inspection.report.browser_section import browser_section
from hedgerow.inspection.report.calibration_section import calibration_section
from hedgerow.inspection.report.change_data import change_data
from hedgerow.inspection.report.comparison_section import comparison_section
from hedgerow.inspection.report.confusion_section import confusion_section
from hedgerow.inspection.report.error_section import error_section
from hedgerow.inspection.report.explanation_data import explained_places, explanation_data
from hedgerow.inspection.report.learned_section import learned_section
from hedgerow.inspection.report.markup import Section
from hedgerow.inspection.report.sequence_data import LONGEST_SEQUENCE, LabelNames, Shown, sequence_data
from hedgerow.inspection.report.summary_section import summary_section
from hedgerow.inspection.report.training_section import training_section
from hedgerow.inspection.report.view import View
from hedgerow.utilities import counted

#: The sections in the order of the page; the browser of sequences comes after them.
SECTIONS: tuple[Callable[[View], Section | None], ...] = (
    summary_section,
    training_section,
    comparison_section,
    error_section,
    confusion_section,
    calibration_section,
    learned_section,
)


class Content(NamedTuple):
    """What `page` writes."""

    sections: list[Section]
    data: dict[str, Any] | None  # None without sequences


def content(view: View) -> Content:
    """All sections that the model and the data have."""
    sections = [found for found in (section(view) for section in SECTIONS) if found is not None]
    if not view.store.n_positions:
        return Content(sections, None)
    data, notes = browser_data(view)
    return Content([*sections, browser_section(view, data, notes)], data)


def browser_data(view: View) -> tuple[dict[str, Any], list[str]]:
    """(the data of the browser, notes about what it does not have)."""
    labelling = view.labelling
    chosen = Shown.of(labelling)
    labels = LabelNames(labelling, chosen)
    data = sequence_data(labelling, view.store, chosen, labels)
    data["doubt"] = view.doubt
    if view.errors is not None:
        data["kinds"] = kind_data(view.errors, chosen)
    if view.comparison is not None and view.other is not None:
        data["changes"] = change_data(view.comparison, labelling, view.other, chosen, labels)
    data["unexplained"] = "The report has no explanation of this position; model.explain computes it."
    places = explained_places(labelling, chosen)
    explanations = explain_many(view.estimator, labelling.encoded, labelling.predicted, places.tolist(), view.raw)
    data["explanations"] = explanation_data(explanations, chosen.places(places), labels.named)
    return data, _notes(view, data, chosen)


def kind_data(found: ErrorAnalysis, chosen: Shown) -> dict[str, Any]:
    """Names of kinds of errors, and [place, kind] of each position that is not right."""
    kinds = found.kinds_by_position[chosen.positions]
    places = np.flatnonzero(kinds)
    return {"names": list(found.kinds), "at": np.stack([places, kinds[places]], axis=1).tolist()}


def _notes(view: View, data: dict[str, Any], chosen: Shown) -> list[str]:
    left_out = len(view.store) - len(chosen.sequences)
    notes = []
    if left_out:
        notes.append(
            f"The page has the {counted(len(chosen.sequences), 'sequence')} with the least certain positions; "
            f"{left_out:,} others are left out, to keep the page small."
        )
    if data["cut"]:
        longer = counted(len(data["cut"]), "longer sequence")
        notes.append(f"The browser has the first {LONGEST_SEQUENCE:,} positions of {longer}.")
    return notes
