"""Future features: patterns learned by trees, and the columns that hold their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import LocalNumericColumn, trusted
from hedgerow.encoding import AttributeReader, Encoder
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.future.instance_bags import Floats, InstanceBags
from hedgerow.potentials.trees import Trees


@dataclass(frozen=True, eq=False)
class FutureFeature:
    """A pattern, the side of its instance bags, and its weight for each label.

    `trees` give the log-odds G of the pattern, one tree for each round. With `back`, an instance bag lies before its
    position.
    """

    back: bool
    trees: Trees
    weights: NDArray[np.float32]
    _forest: _core.Forest = field(init=False, repr=False)

    @property
    def side(self) -> Literal["after", "before"]:
        """Where an instance bag lies, seen from its position."""
        return "before" if self.back else "after"

    def log_odds(self, instances: AttributeReader, bags: InstanceBags, n_threads: int = 1) -> Floats:
        """G at each position; `instances` reads each position without its neighbours."""
        if not hasattr(self, "_forest"):
            object.__setattr__(self, "_forest", self.trees.compiled(instances, len(self.trees), 0))
        values = np.zeros((instances.sequences.n_positions, 1, len(self.trees)), np.float32)
        self._forest.add_scores(instances.reader, values, n_threads)
        log_odds = np.full(len(values), bags.initial_log_odds)
        for tree in range(len(self.trees)):
            log_odds = bags.stepped(log_odds, values[:, 0, tree])
        return log_odds


def feature_name(number: int) -> str:
    """The name of the column that holds a feature; the first feature is number 0."""
    return f"future feature {number + 1}"


def check_names(sequences: Encoded, max_future: int) -> None:
    """Raise InputError if a column has the name of a future feature."""
    names = {column.name for column in sequences.columns}
    for name in map(feature_name, range(max_future)):
        if name in names:
            raise InputError(f"column {name!r} has the name of a future feature; rename the column")


def with_features(sequences: Encoded, features: Sequence[Floats]) -> Encoded:
    """The same sequences, not copied, with a column for each feature after their own columns."""
    return sequences.with_columns(
        trusted(LocalNumericColumn, feature_name(i), values.astype(np.float32)) for i, values in enumerate(features)
    )


def feature_encoder(encoder: Encoder, n_features: int) -> Encoder:
    """The encoder of sequences with a column for each feature."""
    specs = (ColumnSpec(feature_name(i), "numeric", None, local=True) for i in range(n_features))
    return Encoder(encoder.columns + tuple(specs))
