"""The explainer of one sequence, for each kind of inference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, Protocol

from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import Scope
from hedgerow.inspection.explaining.lattice_explainer import LatticeExplainer, Split
from hedgerow.inspection.explaining.search_explainer import SearchExplainer
from hedgerow.potentials.base import Potential, ScoredPotential
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats64


class SequenceExplainer(Protocol):
    """Splits the log-odds of labels of one sequence.

    `note` says what to know about these numbers.
    """

    note: str | None

    def log_probabilities(self, position: int) -> Floats64: ...

    def runner_up(self, position: int, label: int) -> int: ...

    def split(self, first: int, labels: Sequence[int], against: Sequence[int]) -> Split: ...


@singledispatch
def explainer_of(
    potential: Potential, encoded: Encoded, topology: Topology, scope: Scope, **options: Any
) -> SequenceExplainer:
    """The explainer of one encoded sequence; options are `predicted`, `beam` and `temperature`.

    `predicted` are the codes of the labels of the sequence, which a beam never drops.
    """
    raise NotImplementedError(type(potential).__name__)


@explainer_of.register
def _lattice(
    potential: ScoredPotential, encoded: Encoded, topology: Topology, scope: Scope, **options: Any
) -> SequenceExplainer:
    return LatticeExplainer(potential, encoded, topology, scope, **options)


@explainer_of.register
def _search(
    potential: SearchPotential, encoded: Encoded, topology: Topology, scope: Scope, **options: Any
) -> SequenceExplainer:
    return SearchExplainer(potential, encoded, topology, scope, **options)
