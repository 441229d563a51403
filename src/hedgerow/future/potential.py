"""Potentials with future features: trees over columns, some of which hold what instance bags show.

Trees read the value Q of each feature as a column with equally wide bins, and the label scores have a linear term:
F^l = trees^l + sum over features of weight_l * Q. Where the log-odds of a pattern come from is in instance_bags.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import HERE, AttributeReader, Binning
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.future.features import FutureFeature, feature_encoder, with_features
from hedgerow.future.instance_bags import MAX_LOG_ODDS, REST, Floats, InstanceBags
from hedgerow.potentials.base import ScoredPotential, Scores, Stored, add_prefix, numbered_arrays, strip_prefix
from hedgerow.potentials.registry import register
from hedgerow.potentials.trees import TreePotential, stored_trees, trees_to_arrays
from hedgerow.potentials.trial import is_cheap, try_once

MAX_FEATURES = 1000


@register
@dataclass(frozen=True, eq=False)
class FuturePotential(ScoredPotential):
    """`trees` read the columns of the encoder, and then a column for each feature."""

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
        """The reader of single positions, for the trees of features."""
        return AttributeReader(sequences, HERE, self.binnings)

    def values(self, sequences: Encoded, n_threads: int = 1) -> list[Floats]:
        """Q of each feature, at every position."""
        instances, values = self.instances(sequences), []
        for feature in self.features:
            log_odds = feature.log_odds(instances, self.instance_bags, n_threads)
            values.append(self.instance_bags.probabilities(log_odds, sequences.starts, feature.back, n_threads))
        return values

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        values = self.values(encoded, n_threads)
        scores = self.trees.scores(with_features(encoded, values), n_threads).edge
        assert scores is not None
        for feature, value in zip(self.features, values, strict=True):
            scores += (value[:, None] * feature.weights).astype(np.float32)[:, None, :]
        return Scores(edge=scores)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        trees, tree_arrays = self.trees.to_arrays()
        bags, arrays = self.instance_bags, add_prefix("of.", tree_arrays)
        for i, feature in enumerate(self.features):
            arrays |= add_prefix(f"features.{i}.", {**trees_to_arrays(feature.trees), "weights": feature.weights})
        metadata = {
            "of": trees,
            "instance_bags": {
                "size": None if bags.size == REST else bags.size,
                "initial_log_odds": bags.initial_log_odds,
                "bounds": [bags.lowest, bags.highest],
            },
            "features": [{"back": feature.back} for feature in self.features],
        }
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        described = metadata["features"]
        if not isinstance(described, list) or not 1 <= len(described) <= MAX_FEATURES:
            raise InputError(f"there must be a list of future features, from 1 to {MAX_FEATURES}")
        nested = numbered_arrays("features.", arrays, len(described))
        features = tuple(_stored_feature(*one, n_labels) for one in zip(described, nested, strict=True))
        wider = feature_encoder(encoder, len(features))
        trees = TreePotential.from_arrays(Stored(metadata["of"], strip_prefix("of.", arrays), wider, n_labels, order))
        if trees.table is not None:
            raise InputError("trees over future features must not have a transition table")
        potential = cls(trees, _stored_instance_bags(metadata["instance_bags"]), features)
        if is_cheap(n_labels, order):
            try_once("the trees of future features", lambda: potential.scores(encoder.nothing()))
        return potential


def _stored_feature(entry: object, arrays: Mapping[str, NDArray[Any]], n_labels: int) -> FutureFeature:
    match entry:
        case {"back": bool(back)}:
            trees, weights = stored_trees(arrays), arrays.get("weights")
            if (trees.labels != np.arange(len(trees))).any() or not len(trees) or trees.values.shape[1:] != (1,):
                raise InputError("a future feature must have at least one tree, with a single value at each leaf")
            if (trees.nodes["lag"] >= 0).any():
                raise InputError("the trees of a future feature must not test previous labels")
            if weights is None or weights.dtype != np.float32 or weights.shape != (n_labels,):
                raise InputError(f"a future feature must have {n_labels} weights")
            if not np.isfinite(weights).all():
                raise InputError("the weights of a future feature must be finite")
            return FutureFeature(back, trees, weights)
    raise InputError(f'a future feature must have the entry "back", true or false; it is {entry!r}')


def _stored_instance_bags(stored: object) -> InstanceBags:
    match stored:
        case {"size": size, "initial_log_odds": float(start), "bounds": [float(lowest), float(highest)]}:
            size_fits = size is None or (type(size) is int and 1 <= size < REST)
            if size_fits and -MAX_LOG_ODDS <= lowest <= start <= highest <= MAX_LOG_ODDS:
                return InstanceBags(
                    size=REST if size is None else size, initial_log_odds=start, lowest=lowest, highest=highest
                )
    raise InputError(f"instance bags must have a size, and initial log-odds between their bounds; they are {stored!r}")
