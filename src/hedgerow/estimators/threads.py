"""The number of threads that `n_jobs` asks for, and how many of them a piece of work is worth."""

from __future__ import annotations

import os

MOST_THREADS = 256  # results do not depend on how many there are
FEW_POSITIONS = 64  # about a sentence: waking another thread takes as long as labelling it


def n_threads(n_jobs: int | None) -> int:
    """The number of threads; -1 and None stand for every processor this process may run on."""
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_to_read(n_jobs: int | None, X: object) -> int:
    """The number of threads that read X: one for a few short sequences."""
    if isinstance(X, list) and len(X) <= FEW_POSITIONS and all(isinstance(x, (list, str)) for x in X):
        return threads_to_label(n_jobs, sum(map(len, X)))
    return n_threads(n_jobs)


def threads_to_label(n_jobs: int | None, n_positions: int) -> int:
    """The number of threads that label so many positions."""
    return 1 if n_positions <= FEW_POSITIONS else n_threads(n_jobs)
