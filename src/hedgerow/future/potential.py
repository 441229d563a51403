"""Potentials that look far ahead or back: trees over columns of which some say what bags of positions show.

The bag of position t is the next positions of its sequence, or the last. A future feature says how probable it is that
some position of the bag shows a pattern (dissertation, section 5.3):

    Q(B_t) = 1 - product over s in B_t of (1 - q_s),    q_s = 1 / (1 + exp(-G(x_s)))

G starts at `initial_log_odds`; each tree adds its value, and the sum is clipped to bounds. Top-level trees read Q as a
column with equally wide bins, and the label scores have a linear term: F^l = trees^l + sum over features of
weight_l * Q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import LocalNumericColumn, trusted
from hedgerow.encoding import HERE, AttributeReader, Binning, Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import ColumnSpec
from hedgerow.errors import InputError
from hedgerow.potentials.base import ScoredPotential, Scores, Stored, strip_prefix
from hedgerow.potentials.registry import register
from hedgerow.potentials.trees import TreePotential, Trees, stored_trees, trees_to_arrays
from hedgerow.potentials.trial import is_cheap

Floats = NDArray[np.float64]

REST = 2**62  # the size of a bag that goes on to the end of its sequence
WIDEST = 1e6  # log-odds of instances lie between this and its opposite
MOST_FEATURES = 1000


def logistic(scores: Floats) -> Floats:
    """Probabilities of log-odds, however large."""
    small = np.exp(-np.abs(scores))
    p: Floats = np.where(scores >= 0, 1.0, small) / (1 + small)
    return p


@dataclass(frozen=True)
class InstanceBags:
    """Which positions go into the bag of a position, and where the log-odds of their pattern begin and may go."""

    size: int
    initial_log_odds: float
    lowest: float
    highest: float

    def probabilities(self, scores: Floats, starts: NDArray[np.int64], back: bool, n_threads: int = 1) -> Floats:
        """Q of each position's bag."""
        p: Floats = _core.bag_probabilities(scores, starts, self.size, back, n_threads)[0]
        return p

    def stepped(self, scores: Floats, step: NDArray[np.floating[Any]]) -> Floats:
        """The scores after one more tree."""
        bounded: Floats = np.clip(scores + step, self.lowest, self.highest)
        return bounded


@dataclass(frozen=True, eq=False)
class FutureFeature:
    """`trees` say G, one for each round; `back` is for bags that go before their position; a weight for each label."""

    back: bool
    trees: Trees
    weights: NDArray[np.float32]
    _forest: _core.Forest = field(init=False, repr=False)

    def instance_scores(self, rows: AttributeReader, bags: InstanceBags, n_threads: int = 1) -> Floats:
        """G at each position; `rows` read the position itself alone."""
        if not hasattr(self, "_forest"):
            object.__setattr__(self, "_forest", self.trees.compiled(rows, len(self.trees), 0))
        values = np.zeros((rows.sequences.n_positions, 1, len(self.trees)), np.float32)
        self._forest.add_scores(rows.reader, values, n_threads)
        scores = np.full(len(values), bags.initial_log_odds)
        for tree in range(len(self.trees)):
            scores = bags.stepped(scores, values[:, 0, tree])
        return scores


def feature_name(number: int) -> str:
    """Of the column that holds a feature, the first is 0."""
    return f"future feature {number + 1}"


def feature_column(number: int, values: Floats) -> LocalNumericColumn:
    return trusted(LocalNumericColumn, feature_name(number), values.astype(np.float32))


def with_features(sequences: Encoded, features: Sequence[Floats]) -> Encoded:
    """The same sequences, not a copy, with a column for each feature after their own."""
    columns = tuple(feature_column(i, values) for i, values in enumerate(features))
    return sequences.with_columns(columns)


def feature_encoder(encoder: Encoder, n_features: int) -> Encoder:
    """The columns that trees over features read."""
    specs = (ColumnSpec(feature_name(i), "numeric", None, local=True) for i in range(n_features))
    return Encoder(encoder.columns + tuple(specs))


@register
@dataclass(frozen=True, eq=False)
class FuturePotential(ScoredPotential):
    """`trees` read the columns of the encoder, and then one for each feature."""

    trees: TreePotential
    instance_bags: InstanceBags
    features: tuple[FutureFeature, ...]
    kind: ClassVar[str] = "future"

    @property
    def n_labels(self) -> int:
        return self.trees.n_labels

    @property
    def binnings(self) -> Mapping[str, Binning]:
        return self.trees.binnings

    def instances(self, sequences: Encoded) -> AttributeReader:
        """What the trees of features read."""
        return AttributeReader(sequences, HERE, self.binnings)

    def values(self, sequences: Encoded, n_threads: int = 1) -> list[Floats]:
        """Q of each feature, at every position."""
        rows, found = self.instances(sequences), []
        for feature in self.features:
            scores = feature.instance_scores(rows, self.instance_bags, n_threads)
            found.append(self.instance_bags.probabilities(scores, sequences.starts, feature.back, n_threads))
        return found

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        values = self.values(encoded, n_threads)
        scores = self.trees.scores(with_features(encoded, values), n_threads).edge
        assert scores is not None
        for feature, value in zip(self.features, values, strict=True):
            scores += (value[:, None] * feature.weights).astype(np.float32)[:, None, :]
        return Scores(edge=scores)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        described, arrays = self.trees.to_arrays()
        bags, named = self.instance_bags, {f"of.{name}": array for name, array in arrays.items()}
        for i, feature in enumerate(self.features):
            named |= {f"features.{i}.{name}": array for name, array in trees_to_arrays(feature.trees).items()}
            named[f"features.{i}.weights"] = feature.weights
        metadata = {
            "of": described,
            "instance_bags": {
                "size": None if bags.size == REST else bags.size,
                "initial_log_odds": bags.initial_log_odds,
                "bounds": [bags.lowest, bags.highest],
            },
            "features": [{"back": feature.back} for feature in self.features],
        }
        return metadata, named

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        described = metadata["features"]
        if not isinstance(described, list) or not 1 <= len(described) <= MOST_FEATURES:
            raise InputError(f"there must be a list of future features, from 1 to {MOST_FEATURES}")
        features = tuple(
            _stored_feature(entry, strip_prefix(f"features.{i}.", arrays), n_labels)
            for i, entry in enumerate(described)
        )
        wider = feature_encoder(encoder, len(features))
        trees = TreePotential.from_arrays(Stored(metadata["of"], strip_prefix("of.", arrays), wider, n_labels, order))
        if trees.table is not None:
            raise InputError("trees over future features have no table of transitions")
        potential = cls(trees, _stored_instance_bags(metadata["instance_bags"]), features)
        if not is_cheap(n_labels, order):
            return potential
        try:
            potential.scores(encoder.nothing())
        except ValueError as error:
            raise InputError(f"the trees of future features do not fit the columns ({error})") from None
        return potential


def _stored_feature(entry: object, arrays: Mapping[str, NDArray[Any]], n_labels: int) -> FutureFeature:
    match entry:
        case {"back": bool(back)}:
            trees, weights = stored_trees(arrays), arrays.get("weights")
            if (trees.labels != np.arange(len(trees))).any() or not len(trees) or trees.values.shape[1:] != (1,):
                raise InputError("the trees of a future feature must be one or more, each with one value at a leaf")
            if (trees.nodes["lag"] >= 0).any():
                raise InputError("the trees of a future feature must not ask for previous labels")
            if weights is None or weights.dtype != np.float32 or weights.shape != (n_labels,):
                raise InputError(f"a future feature must have {n_labels} weights")
            if not np.isfinite(weights).all():
                raise InputError("the weights of a future feature must be finite")
            return FutureFeature(back, trees, weights)
    raise InputError(f"a future feature must say whether its bags go back, but {entry!r} came")


def _stored_instance_bags(stored: object) -> InstanceBags:
    match stored:
        case {"size": size, "initial_log_odds": float(initial_log_odds), "bounds": [float(lowest), float(highest)]}:
            fits = size is None or (type(size) is int and 1 <= size < REST)
            if fits and -WIDEST <= lowest <= initial_log_odds <= highest <= WIDEST:
                return InstanceBags(REST if size is None else size, initial_log_odds, lowest, highest)
    raise InputError(f"bags must have a size, and log-odds that begin between their bounds, but {stored!r} came")
