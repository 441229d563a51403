"""Recognises sequences that are not computed yet: collections of Dask, which is not imported for that."""

from __future__ import annotations


def is_lazy(X: object) -> bool:
    """Whether X is a Dask collection, a list of delayed values or futures, or the X of `distributed.from_frame`."""
    kind = type(X[0]) if isinstance(X, (list, tuple)) and X else type(X)
    if hasattr(kind, "__dask_graph__") or getattr(kind, "is_lazy", False):
        return True
    return kind.__name__ == "Future" and kind.__module__.startswith("distributed.")
