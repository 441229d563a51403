"""The data of the browser of sequences: codes, small integers and distinct texts, so that the page stays small."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.ragged import ranges, starts_of
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.markup import shown
from hedgerow.inspection.report.shown_columns import position_texts

LONGEST_PIECE = 500  # positions; longer sequences are divided into pieces, which the browser shows one by one
UNSURE = 0.995  # below this probability of the predicted label, other labels are listed
MOST_LISTED = 3
SCALE = 1000  # probabilities are stored in thousandths


class Shown(NamedTuple):
    """The pieces of sequences that the browser has: the number of each sequence, and where in it the piece begins.

    A sequence that is not too long is one piece. `positions` are the flat positions of all pieces.
    """

    sequences: NDArray[np.int64]
    firsts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    positions: NDArray[np.int64]

    @classmethod
    def of(cls, labelling: Labelling, most: int) -> Shown:
        """All pieces; if they have more than `most` positions, the most important ones, in their order in X."""
        longest = min(LONGEST_PIECE, most)
        whole = np.diff(labelling.starts)
        counts = -(-whole // longest)
        sequences = np.repeat(np.arange(len(whole)), counts)
        firsts = longest * (np.arange(len(sequences)) - starts_of(counts)[sequences])
        lengths = np.minimum(whole[sequences] - firsts, longest)
        chosen = np.arange(len(sequences))
        if lengths.sum() > most:
            order = _most_important(labelling, lengths, most)
            chosen = np.sort(order[np.cumsum(lengths[order]) <= most])
        sequences, firsts, lengths = sequences[chosen], firsts[chosen], lengths[chosen]
        return cls(sequences, firsts, lengths, ranges(labelling.starts[sequences] + firsts, lengths))

    def places(self, flat: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index in `positions` of each flat position; -1 for those that the browser does not have."""
        where = np.searchsorted(self.positions, flat)
        found = np.minimum(where, max(len(self.positions) - 1, 0))
        there = self.positions[found] == flat if len(self.positions) else np.zeros(len(flat), np.bool_)
        return np.where(there, found, -1)


class LabelNames:
    """The labels that occur on the page as texts; labels that training never saw come after those of the model."""

    def __init__(self, labelling: Labelling, shown_positions: Shown) -> None:
        at = shown_positions.positions
        used = [labelling.predicted[at], labelling.listed[at, :MOST_LISTED].ravel()]
        unseen: list[Any] = []
        if labelling.gold is not None and labelling.gold_labels is not None:
            gold = labelling.gold[at]
            used.append(gold[gold >= 0])
            flat = np.concatenate([np.asarray(labels, dtype=object) for labels in labelling.gold_labels])
            self._of_unseen = {int(t): str(flat[t]) for t in at[gold < 0].tolist()}
            unseen = sorted(set(self._of_unseen.values()))
        codes = np.unique(np.concatenate(used))
        self._codes = {int(code): i for i, code in enumerate(codes.tolist())}
        self._unseen = {name: len(codes) + i for i, name in enumerate(unseen)}
        self._classes = labelling.classes
        values = [*(str(labelling.classes[code]) for code in codes.tolist()), *unseen]
        self._by_name = {value: code for code, value in enumerate(values)}
        self.names = [shown(value) for value in values]

    def code(self, label: int) -> int:
        """The code on the page of a label of the model; the label is added if it is not there yet."""
        if label not in self._codes:
            self._codes[label] = self.named(self._classes[label])
        return self._codes[label]

    def named(self, label: Any) -> int:
        """The code on the page of a label by its value, which may be one of another model; it is added if it is new."""
        name = str(label)
        if name not in self._by_name:
            self._by_name[name] = len(self.names)
            self.names.append(shown(name))
        return self._by_name[name]

    def known(self, label: Any) -> int | None:
        """The code on the page of a label by its value; None if the page has no such label."""
        return self._by_name.get(str(label))

    def gold(self, label: int, flat_position: int) -> int:
        """The code on the page of a gold label."""
        return self._codes[label] if label >= 0 else self._unseen[self._of_unseen[flat_position]]


def sequence_data(labelling: Labelling, store: ColumnStore, chosen: Shown, labels: LabelNames) -> dict[str, Any]:
    """What the browser shows of each position; explanations are added elsewhere."""
    at = chosen.positions
    whole = np.diff(labelling.starts)[chosen.sequences]
    divided = np.flatnonzero(whole > chosen.lengths)
    text = position_texts(store, at)
    return {
        "labels": labels.names,
        "sequences": chosen.sequences.tolist(),
        "lengths": chosen.lengths.tolist(),
        "pieces": {str(i): [int(chosen.firsts[i]), int(whole[i])] for i in divided.tolist()},
        "text": None if text is None else text.to_json(),
        "predicted": [labels.code(code) for code in labelling.predicted[at].tolist()],
        "gold": _gold(labelling, at, labels),
        "probability": _thousandths(labelling.probability[at]),
        "listed": _listed(labelling, at, labels),
    }


def _gold(labelling: Labelling, at: NDArray[np.int64], labels: LabelNames) -> list[list[int]] | None:
    """(index of the position, gold label) where the prediction is wrong; None without gold labels."""
    if labelling.gold is None:
        return None
    gold = labelling.gold[at]
    wrong = np.flatnonzero(gold != labelling.predicted[at]).tolist()
    return [[i, labels.gold(int(gold[i]), int(at[i]))] for i in wrong]


def _listed(labelling: Labelling, at: NDArray[np.int64], labels: LabelNames) -> list[list[int]]:
    """[index of the position, label, thousandths, label, ...] for positions that are wrong or not certain.

    The gold label of a wrong position comes last, if it is not among the most probable ones.
    """
    listed, probability = labelling.listed[at, :MOST_LISTED], labelling.listed_probability[at, :MOST_LISTED]
    gold, of_gold = labelling.gold, labelling.gold_probability
    wrong = np.zeros(len(at), np.bool_) if gold is None else (gold[at] != labelling.predicted[at]) & (gold[at] >= 0)
    found = []
    for i in np.flatnonzero(wrong | (labelling.probability[at] < UNSURE)).tolist():
        pairs = zip(listed[i].tolist(), _thousandths(probability[i]), strict=True)
        row = {code: amount for code, amount in pairs if amount}
        if wrong[i] and gold is not None and of_gold is not None:
            row.setdefault(int(gold[at[i]]), *_thousandths(of_gold[at[i : i + 1]]))
        found.append([i, *(number for code, amount in row.items() for number in (labels.code(code), amount))])
    return found


def _thousandths(probability: NDArray[Any]) -> list[int]:
    bounded = np.clip(np.nan_to_num(probability), 0, 1)
    whole: list[int] = np.round(bounded * SCALE).astype(np.int64).tolist()
    return whole


def _most_important(labelling: Labelling, lengths: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The order in which pieces of all sequences come on the page, which has `most` positions.

    The first half of the page is for the pieces with most wrong positions, the rest for the least certain ones.
    """
    starts = starts_of(lengths)
    unsure = np.argsort(np.minimum.reduceat(labelling.probability, starts[:-1]), kind="stable")
    if labelling.gold is None:
        return unsure
    wrong = np.diff(starts_of(~labelling.right)[starts])
    worst = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
    first = worst[: np.searchsorted(np.cumsum(lengths[worst]), most / 2) + 1]
    return np.concatenate([first, unsure[~np.isin(unsure, first)]])
