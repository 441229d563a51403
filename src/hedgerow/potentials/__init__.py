"""Potentials: scores of labels, from sequences. What they give fits a lattice over the same labels and order."""

from hedgerow.potentials.base import Potential, Scores
from hedgerow.potentials.future import FuturePotential
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.search import SearchPotential
from hedgerow.potentials.table import TablePotential
from hedgerow.potentials.trees import TreePotential
from hedgerow.potentials.votes import VotedPotential

#: The kinds of potential that speak of labels themselves, not of words of a code.
KINDS: dict[str, type[Potential]] = {
    kind.kind: kind
    for kind in (LinearPotential, LocalPotential, SearchPotential, TablePotential, TreePotential, VotedPotential)
}

__all__ = [
    "KINDS",
    "FuturePotential",
    "LinearPotential",
    "LocalPotential",
    "Potential",
    "Scores",
    "SearchPotential",
    "TablePotential",
    "TreePotential",
    "VotedPotential",
]
