"""Views of boosted trees: importances of tests, trees as text, and transition scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding import AttributeReader, Binning
from hedgerow.encoding.attributes import PADDING
from hedgerow.errors import InputError
from hedgerow.future.features import feature_encoder
from hedgerow.future.potential import FuturePotential
from hedgerow.inspection.frozen_model import absent_part, check_model, once_per_model
from hedgerow.inspection.importances import ANY_VALUE, Importance, Importances
from hedgerow.inspection.view_tables import label_code
from hedgerow.model import Model
from hedgerow.potentials.local import unnormalised
from hedgerow.potentials.trees import TreePotential, Trees
from hedgerow.utilities import counted, is_count

PREVIOUS = "previous label"
START = "start"


@dataclass(frozen=True)
class Names:
    """Readable names of the tests of a model's trees."""

    model: Model
    trees: Trees
    attributes: AttributeReader
    binnings: Mapping[str, Binning]
    words: Mapping[str, str] = field(default_factory=dict)  # what to call columns that the encoder does not have

    @classmethod
    def of(cls, model: Model) -> Names:
        check_model(model)
        potential, encoder = unnormalised(model.potential), model.encoder
        if isinstance(potential, FuturePotential):
            encoder, potential = feature_encoder(encoder, len(potential.features)), potential.trees
        if not isinstance(potential, TreePotential):
            raise absent_part(model, "trees", "fit a TreeCRF")
        attributes = AttributeReader(potential.read(encoder.nothing()).sequences, potential.window, potential.binnings)
        words = {} if potential.columns is None else potential.columns.in_words(encoder, model.labels.classes.tolist())
        return cls(model, potential.trees, attributes, potential.binnings, words)

    def label(self, code: int) -> str:
        return START if code == len(self.model.labels) else str(self.model.labels.classes[code])

    def attribute(self, attribute: int) -> tuple[str, int, str]:
        """(column, offset, value) of an attribute; the value of a number is a threshold, such as "< 3.5"."""
        column, offset, value = self.attributes.name(attribute)
        shown = self.words.get(column, column)
        if value is PADDING:
            return shown, offset, "(outside)"
        if isinstance(self.attributes.sequences.column(column), NumericColumn):
            edges = self.binnings[column].edges
            return shown, offset, f"< {edges[int(value)]:g}" if int(value) < len(edges) else "a number"
        return shown, offset, str(value)

    def test(self, node: np.void) -> tuple[str, int, str]:
        """(column, offset, value) of the test of a node; several values are joined with "or"."""
        others = self.trees.alternatives_of(node)
        if node["attribute"] < 0:
            return PREVIOUS, -1 - int(node["lag"]), " or ".join(map(self.label, [int(node["label"]), *others]))
        column, offset, value = self.attribute(int(node["attribute"]))
        return column, offset, " or ".join([value, *(self.attribute(other)[2] for other in others)])

    def feature(self, node: np.void) -> tuple[str, int, str]:
        """(column, offset, value) of the test of a node; the tests of numbers with a threshold have one value."""
        if node["attribute"] >= 0:
            column, offset, value = self.attributes.name(int(node["attribute"]))
            if value is not PADDING and isinstance(self.attributes.sequences.column(column), NumericColumn):
                return self.words.get(column, column), offset, ANY_VALUE
        return self.test(node)

    def missing(self, node: np.void) -> str:
        """The branch of positions without the tested value: what surrogates decide, then the share of each branch."""
        fraction = float(node["true_fraction"])
        last = "yes" if fraction == 1 else "no" if fraction == 0 else f"{fraction:.0%} yes"
        surrogates = self.trees.surrogates_of(node)
        first = [("" if i >= 0 else "not ") + in_words(*self.attribute(i if i >= 0 else ~i)) for i in surrogates]
        return ", else ".join([*first, last])


def importances(model: Model) -> Importances[Importance]:
    """Importances of the tests of a model's trees.

    Parameters
    ----------
    model : Model
        `model_` of a fitted estimator with trees.

    Returns
    -------
    Importances
        One row for each test that occurs, the greatest gain first. All thresholds of a column of numbers at an offset
        are one test. There are no rows if no tree has a split.

    Raises
    ------
    InputError
        If the model has no trees.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=5).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> best = hr.inspection.importances(model.model_)[0]
    >>> best.column, best.offset, best.value
    ('symbol', 0, 'o')
    """
    return _ranked(model)


@once_per_model
def _ranked(model: Model) -> Importances[Importance]:
    names = Names.of(model)
    trees = names.trees
    inner = trees.nodes[~trees.is_leaf]
    gains: dict[tuple[str, int, str], float] = {}
    counts: dict[tuple[str, int, str], int] = {}
    for key, gain, count in _by_test(names, inner):
        gains[key] = gains.get(key, 0.0) + gain
        counts[key] = counts.get(key, 0) + count
    ranked = sorted(gains, key=lambda key: (-gains[key], key))
    return Importances(Importance(*key, gains[key], counts[key]) for key in ranked)


def _by_test(names: Names, inner: NDArray[np.void]) -> list[tuple[tuple[str, int, str], float, int]]:
    """(test, sum of gains, number of nodes); nodes that test sets of values or thresholds are not merged here."""
    own_list = np.where(inner["n_alternatives"] > 0, inner["first_alternative"], -1)
    keys = np.stack([inner["attribute"], inner["lag"], inner["label"], own_list], axis=1)
    _, first, which, counts = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    gains = np.bincount(which.ravel(), inner["gain"].astype(np.float64), minlength=len(first))
    return [(names.feature(inner[i]), float(g), int(n)) for i, g, n in zip(first, gains, counts, strict=True)]


def tree_text(model: Model, round: int, label: Any) -> str:  # noqa: A002
    """The tree of a round for a label, as indented text.

    If values were missing in training, each test also has the branch of missing values.

    Parameters
    ----------
    model : Model
        `model_` of a fitted estimator with trees.
    round : int
        The boosting round; the first is 1.
    label
        One of the labels of training. With `trees="shared"` all labels have the same tree, with values of their own.

    Returns
    -------
    str
        One line for each node.

    Raises
    ------
    InputError
        If the model has no trees, or if there is no such round or label.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=5).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> print(hr.inspection.tree_text(model.model_, 1, "a").splitlines()[0])
    symbol is a?  (gain 1.25, 6 positions)
    """
    names = Names.of(model)
    return text_of(names, *find_tree(names, round, label))


def find_tree(names: Names, round: int, label: Any) -> tuple[int, int]:  # noqa: A002
    """(number of the tree, column of its leaf values); raises InputError if there is no such round or label."""
    trees, n_labels = names.trees, len(names.model.labels)
    shared = trees.values.shape[1] > 1
    code = label_code(names.model, label, "label")
    n_rounds = len(trees) // (1 if shared else n_labels)
    if not is_count(round) or not 1 <= round <= n_rounds:
        raise InputError(f"round must be an integer from 1 to {n_rounds}; it is {round!r}")
    return (round - 1, code) if shared else ((round - 1) * n_labels + code, 0)


def text_of(names: Names, number: int, column: int = 0) -> str:
    """Tree `number` as indented text; `column` is the column of the leaf values."""
    trees, model = names.trees, names.model
    first = int(trees.starts[number])
    show_missing = any("missing" in record for record in model.training_log[:1]) and not model.encoder.fills_missing
    lines: list[str] = []
    stack = [(0, 0, "")]  # a tree may be deeper than Python's recursion limit
    while stack:
        at, depth, lead = stack.pop()
        node, indent = trees.nodes[first + at], "  " * depth
        n = counted(int(node["count"]), "position")
        if node["attribute"] < 0 and node["lag"] < 0:
            lines.append(f"{indent}{lead}{trees.values[first + at, column]:+.4f}  ({n})")
            continue
        test, gain = in_words(*names.test(node)), node["gain"]
        missing = f"; missing: {names.missing(node)}" if show_missing and node["attribute"] >= 0 else ""
        lines.append(f"{indent}{lead}{test}?  (gain {gain:.3g}, {n}{missing})")
        stack.append((int(node["if_false"]), depth + 1, "no:  "))
        stack.append((int(node["if_true"]), depth + 1, "yes: "))
    return "\n".join(lines)


def in_words(column: str, offset: int, value: str) -> str:
    """A test as text, such as `word[-1] is the`, `size < 3.5` or `size, any value`."""
    place = f"{column}{f'[{offset:+d}]' if offset else ''}"
    if value == ANY_VALUE:
        return f"{place}, {value}"
    return f"{place} {'' if value.startswith('< ') else 'is '}{value}"


def transition_table(model: Model) -> NDArray[np.float32]:
    """Transition scores (log scale) of a TreeCRF.

    If the trees test previous labels, the scores are means over the training positions.

    Parameters
    ----------
    model : Model
        `model_` of a fitted TreeCRF.

    Returns
    -------
    array of shape (label contexts, labels)
        The first row is the start of a sequence; the next rows are the previous labels, in the order of the labels.
        It is the table of the model itself, and read-only.

    Raises
    ------
    InputError
        If the model is not a TreeCRF.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=5).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> hr.inspection.transition_table(model.model_).shape
    (4, 3)
    """
    check_model(model)
    potential = model.potential
    if not isinstance(potential, TreePotential):
        raise InputError(
            f"transition scores are those of a TreeCRF, but the model is a {model.estimator}; use a TreeCRF"
        )
    scores = potential.mean_edges if potential.table is None else potential.table
    if scores is None:
        raise InputError("the model has no mean transition scores; fit the TreeCRF again")
    read_only = scores.view()
    read_only.flags.writeable = False
    return read_only
