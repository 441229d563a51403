"""The content of a report: its sections, and the data of the browser of sequences, within a limit of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from hedgerow.inspection.report.browser_section import browser_section
from hedgerow.inspection.report.buttons import Buttons
from hedgerow.inspection.report.calibration_section import calibration_section
from hedgerow.inspection.report.comparison_section import comparison_section
from hedgerow.inspection.report.confusion_section import confusion_section
from hedgerow.inspection.report.error_section import error_section
from hedgerow.inspection.report.learned_section import learned_section
from hedgerow.inspection.report.markup import Section
from hedgerow.inspection.report.page import json_bytes
from hedgerow.inspection.report.page_data import PageData
from hedgerow.inspection.report.summary_section import summary_section
from hedgerow.inspection.report.training_section import training_section
from hedgerow.inspection.report.view import View

MOST_POSITIONS = 150_000  # of all sequences that the browser has; fewer if they take too many bytes
MOST_BYTES = 2_900_000  # of sections and data; style, script and notes are added, and the page stays below 3 MB
FOR_EXPLANATIONS = 500_000  # bytes that columns of the panel leave free
SMALLER = 0.9  # the next try has this share of the positions that would fit if all positions took as many bytes


class Content(NamedTuple):
    """What `page` writes."""

    sections: list[Section]
    data: dict[str, Any] | None  # None without sequences


def content(view: View) -> Content:
    """All sections that the model and the data have.

    If the page has no room for all data, it leaves out columns of the panel first, then sequences, then explanations.
    """
    if not view.store.n_positions:
        return Content(_there([summary_section(view), training_section(view), learned_section(view)]), None)
    allowed, most = MOST_BYTES - FOR_EXPLANATIONS, MOST_POSITIONS
    while True:
        found = PageData.of(view, most)
        sections = _sections(view, Buttons(found.data, found.labels))
        browser = browser_section(view, found.data, [])
        needed = json_bytes(found.data) + _bytes([*sections, browser])
        if needed <= allowed or found.n_positions == 1:
            break
        most = max(1, int(SMALLER * found.n_positions * allowed / needed))
    left = found.add_columns(allowed - needed)
    found.add_explanations(left + FOR_EXPLANATIONS)
    return Content([*sections, browser_section(view, found.data, found.notes())], found.data)


def _sections(view: View, buttons: Buttons) -> list[Section]:
    """The sections in the order of the page; the browser of sequences comes after them."""
    return _there(
        [
            summary_section(view),
            training_section(view),
            comparison_section(view, buttons),
            error_section(view, buttons),
            confusion_section(view, buttons),
            calibration_section(view),
            learned_section(view),
        ]
    )


def _there(sections: Iterable[Section | None]) -> list[Section]:
    return [section for section in sections if section is not None]


def _bytes(sections: Iterable[Section]) -> int:
    return sum(len(section.body.encode("utf-8")) for section in sections)
