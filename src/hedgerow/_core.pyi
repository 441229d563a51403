"""
Kernels of hedgerow; private, see hedgerow.Sequences and hedgerow.lattice.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class LatticeBatch32:
    def __init__(self, n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, edge: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, beam: int, n_threads: int, general: bool) -> None:
        """Checked scores of a batch of sequences; no beam is 0."""

    def sum_over_paths(self, want_state: bool, want_pair: bool) -> tuple:
        """(log Z, state marginals or None, pair marginals or None)"""

    def best_path(self) -> tuple:
        """(scores, labels)"""

    def best_paths(self, n: int) -> tuple:
        """(scores by sequence and rank, labels by rank)"""

    def sample_paths(self, n: int, seed: int) -> tuple:
        """(log Z, labels by draw)"""

    def path_entropy(self) -> object:
        """Entropy of each sequence's paths, in nats."""

    def log_path_count(self) -> object:
        """Log of the number of allowed paths."""

    def path_score(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
        """Score of the given path."""

class LatticeBatch64:
    def __init__(self, n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, edge: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, beam: int, n_threads: int, general: bool) -> None:
        """Checked scores of a batch of sequences; no beam is 0."""

    def sum_over_paths(self, want_state: bool, want_pair: bool) -> tuple:
        """(log Z, state marginals or None, pair marginals or None)"""

    def best_path(self) -> tuple:
        """(scores, labels)"""

    def best_paths(self, n: int) -> tuple:
        """(scores by sequence and rank, labels by rank)"""

    def sample_paths(self, n: int, seed: int) -> tuple:
        """(log Z, labels by draw)"""

    def path_entropy(self) -> object:
        """Entropy of each sequence's paths, in nats."""

    def log_path_count(self) -> object:
        """Log of the number of allowed paths."""

    def path_score(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
        """Score of the given path."""

def instruction_sets() -> list[str]:
    """The vector instruction sets this processor has, best first."""

def instruction_set() -> str:
    """The one in use."""

def use_instruction_set(name: str) -> None:
    """Chooses another one, for tests and benchmarks."""
