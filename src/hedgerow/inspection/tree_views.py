"""Views of boosted trees: importances of tests, trees as text, and transition scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding import AttributeReader, Binning
from hedgerow.encoding.attributes import PADDING
from hedgerow.errors import InputError
from hedgerow.future.features import feature_encoder
from hedgerow.future.potential import FuturePotential
from hedgerow.model import Model
from hedgerow.potentials.local import unnormalised
from hedgerow.potentials.trees import TreePotential, Trees

PREVIOUS = "previous label"
START = "start"


class Importance(NamedTuple):
    """A test, by how much its splits lowered the squared error in total, and how many splits there are."""

    column: str
    offset: int
    value: str
    gain: float
    splits: int


@dataclass(frozen=True)
class Names:
    """Readable names of the tests of a model's trees."""

    model: Model
    trees: Trees
    rows: AttributeReader
    binnings: Mapping[str, Binning]

    @classmethod
    def of(cls, model: Model) -> Names:
        potential, encoder = unnormalised(model.potential), model.encoder
        if isinstance(potential, FuturePotential):
            encoder, potential = feature_encoder(encoder, len(potential.features)), potential.trees
        if not isinstance(potential, TreePotential):
            raise InputError(f"{model.estimator} has no trees to look at; fit a TreeCRF")
        rows = AttributeReader(encoder.nothing(), potential.window, potential.binnings)
        return cls(model, potential.trees, rows, potential.binnings)

    def label(self, code: int) -> str:
        return START if code == len(self.model.labels) else str(self.model.labels.classes[code])

    def attribute(self, attribute: int) -> tuple[str, int, str]:
        """(column, offset, value): a numeric value is what the threshold says."""
        column, offset, value = self.rows.name(attribute)
        if value is PADDING:
            return column, offset, "padding"
        if isinstance(self.rows.sequences.column(column), NumericColumn):
            edges = self.binnings[column].edges
            return column, offset, f"< {edges[int(value)]:g}" if int(value) < len(edges) else "any number"
        return column, offset, str(value)

    def test(self, node: np.void) -> tuple[str, int, str]:
        """(column, offset, value) of the test of a node; alternatives are joined with "or"."""
        others = self.trees.alternatives_of(node)
        if node["attribute"] < 0:
            return PREVIOUS, -1 - int(node["lag"]), " or ".join(map(self.label, [int(node["label"]), *others]))
        column, offset, value = self.attribute(int(node["attribute"]))
        return column, offset, " or ".join([value, *(self.attribute(other)[2] for other in others)])

    def missing(self, node: np.void) -> str:
        """Where positions go if the tested value is missing: as surrogates decide, and then by fractions."""
        fraction = float(node["true_fraction"])
        last = "yes" if fraction == 1 else "no" if fraction == 0 else f"{fraction:.0%} yes"
        surrogates = self.trees.surrogates_of(node)
        first = [("" if i >= 0 else "not ") + in_words(*self.attribute(i if i >= 0 else ~i)) for i in surrogates]
        return ", else ".join([*first, last])


def importances(model: Model) -> list[Importance]:
    """Importances of all tests that occur, the greatest gain first."""
    names = Names.of(model)
    trees = names.trees
    inner = trees.nodes[~trees.is_leaf]
    gains: dict[tuple[str, int, str], float] = {}
    counts: dict[tuple[str, int, str], int] = {}
    for key, gain, count in _by_test(names, inner):
        gains[key] = gains.get(key, 0.0) + gain
        counts[key] = counts.get(key, 0) + count
    ranked = sorted(gains, key=lambda key: (-gains[key], key))
    return [Importance(*key, gains[key], counts[key]) for key in ranked]


def _by_test(names: Names, inner: NDArray[np.void]) -> list[tuple[tuple[str, int, str], float, int]]:
    """(test, sum of gains, number of nodes); nodes with alternatives stay apart, for their lists differ."""
    own_list = np.where(inner["n_alternatives"] > 0, inner["first_alternative"], -1)
    keys = np.stack([inner["attribute"], inner["lag"], inner["label"], own_list], axis=1)
    _, first, which, counts = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    gains = np.bincount(which.ravel(), inner["gain"].astype(np.float64), minlength=len(first))
    return [(names.test(inner[i]), float(g), int(n)) for i, g, n in zip(first, gains, counts, strict=True)]


def tree_text(model: Model, round: int, label: Any) -> str:  # noqa: A002
    """The tree of a round (the first is 1) for a label, as indented text; of shared trees, the label's values.

    Where training had missing values, every test also says where they go.
    """
    names = Names.of(model)
    trees, classes = names.trees, model.labels.classes.tolist()
    shared = trees.values.shape[1] > 1
    if label not in classes:
        raise InputError(f"label must be one of the model's; it is {label!r}, and they are {classes}")
    code = classes.index(label)
    n_rounds = len(trees) // (1 if shared else len(classes))
    if not 1 <= round <= n_rounds:
        raise InputError(f"round must be from 1 to {n_rounds}; it is {round}")
    return text_of(names, round - 1 if shared else (round - 1) * len(classes) + code, code if shared else 0)


def text_of(names: Names, number: int, column: int = 0) -> str:
    """A tree as indented text, with the values of a column."""
    trees, model = names.trees, names.model
    first = int(trees.starts[number])
    says_missing = any("missing" in record for record in model.training_log[:1]) and not model.encoder.fills
    lines: list[str] = []

    def write(at: int, indent: str, lead: str) -> None:
        node = trees.nodes[first + at]
        n = int(node["count"])
        if node["attribute"] < 0 and node["lag"] < 0:
            lines.append(f"{indent}{lead}{trees.values[first + at, column]:+.4f}  ({n} positions)")
            return
        asked, gain = in_words(*names.test(node)), node["gain"]
        missing = f"; missing: {names.missing(node)}" if says_missing and node["attribute"] >= 0 else ""
        lines.append(f"{indent}{lead}{asked}?  (gain {gain:.3g}, {n} positions{missing})")
        write(int(node["if_true"]), indent + "  ", "yes: ")
        write(int(node["if_false"]), indent + "  ", "no:  ")

    write(0, "", "")
    return "\n".join(lines)


def in_words(column: str, offset: int, value: str) -> str:
    return f"{column}{f'[{offset:+d}]' if offset else ''} {'' if value.startswith('< ') else 'is '}{value}"


def transition_table(model: Model) -> NDArray[np.float32]:
    """Log-scores by label context and label; rows as in the table of a lattice: `start`, then each previous label.

    Where trees test previous labels, the mean of their scores over the positions of training.
    """
    Names.of(model)  # which says so if there are no trees
    potential = unnormalised(model.potential)
    assert isinstance(potential, TreePotential)
    if potential.table is not None:
        return potential.table
    if potential.mean_edges is None:
        raise InputError("this model was saved without its mean transitions")
    return potential.mean_edges
