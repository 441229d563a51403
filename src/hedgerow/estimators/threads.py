"""The number of threads that `n_jobs` asks for."""

from __future__ import annotations

import os

MOST_THREADS = 256  # results do not depend on how many there are


def n_threads(n_jobs: int | None) -> int:
    """The number of threads; -1 and None stand for every processor this process may run on."""
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
