"""The kinds of potentials that a model file may hold, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TypeVar

from hedgerow.errors import InputError
from hedgerow.potentials.base import Potential, ScoredPotential, Stored

P = TypeVar("P", bound=type[Potential])

# Where the class of each kind is: a model file decides which of them are imported.
_MODULES = {
    "linear": "hedgerow.potentials.linear",
    "trees": "hedgerow.potentials.trees",
    "table": "hedgerow.potentials.table",
    "local": "hedgerow.potentials.local",
    "votes": "hedgerow.potentials.votes",
    "future": "hedgerow.future.potential",
    "search": "hedgerow.search.potential",
    "code": "hedgerow.codes.potential",
    "pool": "hedgerow.pooling.potential",
}
_KINDS: dict[str, type[Potential]] = {}


def register(cls: P) -> P:
    """Add a class of potentials under its `kind`; a class decorator."""
    _KINDS[cls.kind] = cls
    return cls


def restore(stored: Stored) -> Potential:
    """The potential whose arrays and metadata a model file holds; raises InputError for an unknown kind."""
    kind = stored.metadata.get("kind") if isinstance(stored.metadata, Mapping) else None
    if not isinstance(kind, str) or kind not in _MODULES:
        raise InputError(f"the potential is of the unknown kind {kind!r}; known are {', '.join(sorted(_MODULES))}")
    import_module(_MODULES[kind])
    return _KINDS[kind].from_arrays(stored)


def restore_scored(stored: Stored) -> ScoredPotential:
    """The stored potential; raises InputError unless its kind has local scores."""
    potential = restore(stored)
    if not isinstance(potential, ScoredPotential):
        raise InputError(f"a potential of the kind {potential.kind!r} has no local scores")
    return potential
