"""All data of the browser of sequences, and notes about what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.inspection.explaining.entry import explain_many
from hedgerow.inspection.report.change_data import change_data
from hedgerow.inspection.report.explanation_data import compared_label, explained_positions, explanation_data
from hedgerow.inspection.report.kind_data import kind_data
from hedgerow.inspection.report.page import json_bytes
from hedgerow.inspection.report.sequence_data import LabelNames, Shown, sequence_data
from hedgerow.inspection.report.shown_columns import panel_columns
from hedgerow.inspection.report.summary_section import some
from hedgerow.inspection.report.view import View
from hedgerow.utilities import counted


@dataclass(kw_only=True)
class PageData:
    """The data of the sequences that the page has; columns of the panel and explanations are added where they fit."""

    view: View
    chosen: Shown
    labels: LabelNames
    data: dict[str, Any]
    absent_columns: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, view: View, most: int) -> PageData:
        """The data of at most `most` positions, without columns and explanations."""
        labelling = view.labelling
        chosen = Shown.of(labelling, most)
        labels = LabelNames(labelling, chosen)
        data = sequence_data(labelling, view.store, chosen, labels)
        data["doubt"] = view.doubt
        if view.errors is not None:
            data["kinds"] = kind_data(view.errors, labelling, chosen)
        if view.comparison is not None and view.other is not None:
            data["changes"] = change_data(view.comparison, labelling, view.other, chosen, labels)
        data["columns"] = []
        data["explanations"] = None
        data["negative"] = (
            "The log-odds are negative: alone, the other label is more probable here. The predicted one belongs to the "
            "best label sequence."
        )
        data["unexplained"] = "The report has no explanation of this position; model.explain computes it."
        return cls(view=view, chosen=chosen, labels=labels, data=data)

    @property
    def n_positions(self) -> int:
        return len(self.chosen.positions)

    def add_columns(self, room: int) -> int:
        """Add columns of the panel that fit into `room` bytes; returns how many bytes are left."""
        columns, self.absent_columns = panel_columns(self.view.store, self.chosen.positions, room)
        self.data["columns"] = [column.to_json() for column in columns]
        return room - json_bytes(self.data["columns"])

    def add_explanations(self, room: int) -> None:
        """Add explanations of the most important positions, until `room` bytes are full."""
        labelling = self.view.labelling
        wanted = explained_positions(labelling, self.chosen)
        rising = sorted(wanted)
        codes, against = labelling.predicted, [compared_label(labelling, position) for position in rising]
        explained = explain_many(self.view.estimator, labelling.encoded, codes, rising, self.view.raw, against)
        by_position = dict(zip(rising, explained, strict=True))
        places = self.chosen.places(np.array(wanted, np.int64)).tolist()
        found = ((place, by_position[t]) for place, t in zip(places, wanted, strict=True))
        self.data["explanations"] = explanation_data(found, self.labels, room)

    def notes(self) -> list[str]:
        """What the page does not have."""
        return [note for note in (self._about_sequences(), self._about_pieces(), self._about_columns()) if note]

    def _about_sequences(self) -> str:
        n, all_positions = self.n_positions, self.view.store.n_positions
        if n == all_positions:
            return ""
        rule = "those with the least certain positions"
        if self.view.has_gold:
            rule = f"about half of the page is for those with most errors, the rest for {rule}"
        sequences = counted(len(np.unique(self.chosen.sequences)), "sequence")
        if self.data["pieces"]:
            sequences = f"pieces of {sequences}"
        return (
            f"The page has {n:,} of {all_positions:,} positions, in {sequences}: {rule}. The others are left out, to "
            "keep the page small."
        )

    def _about_pieces(self) -> str:
        if not self.data["pieces"]:
            return ""
        return f"Longer sequences are divided into pieces of {int(self.chosen.lengths.max()):,} positions."

    def _about_columns(self) -> str:
        names = self.absent_columns
        if not names:
            return ""
        return f"The panel leaves out {counted(len(names), 'column')}: {some(names)}."
