"""One small cluster in this process for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """A client of two workers in threads of this process."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
