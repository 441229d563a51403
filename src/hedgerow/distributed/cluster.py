"""The cluster: checks of a client and its workers before any work is sent to them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import hedgerow
from hedgerow.errors import InputError, first_few, type_name


def checked_client(client: Any) -> Any:
    """The client; raises InputError unless it is connected to workers that have this version of hedgerow."""
    try:
        import distributed
    except ImportError as error:
        raise InputError("client needs Dask, which is not installed; pip install hedgerow[dask]") from error
    rule = "client must be a distributed.Client that is connected to a cluster"
    if client is None:
        raise InputError(f"{rule}, but there is none; pass client=distributed.Client(...)")
    if not isinstance(client, distributed.Client):
        raise InputError(f"{rule}, but it is {type_name(client)}; pass client=distributed.Client(...)")
    if client.asynchronous:
        raise InputError(f"{rule} and not asynchronous, but this one is; pass distributed.Client(asynchronous=False)")
    if client.status != "running":
        raise InputError(f"{rule}, but it is {client.status}; connect a new one")
    if not worker_addresses(client):
        raise InputError(
            f"client must have at least one worker, but the cluster {client.scheduler.address} has none; start "
            "workers, or wait for them with client.wait_for_workers(1)"
        )
    check_workers(client)
    return client


def kept(client: Any, value: Any, **options: Any) -> Any:
    """A future of a value; options are those of `submit`.

    Unlike scattered data it survives the loss of its workers. It travels as bytes that a task reads, so that an error,
    such as a file that is not there, is one of the task and not of the worker.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        return client.submit(pickle.loads, pickle.dumps(value), pure=False, **options)


def worker_addresses(client: Any) -> list[str]:
    """The addresses of the workers, sorted."""
    return sorted(client.nthreads())


def check_workers(client: Any) -> None:
    """Raise InputError if a worker has another version of hedgerow."""
    here = hedgerow.__version__
    others = {address: version for address, version in client.run(_version_reader()).items() if version != here}
    if others:
        found = [f"{address}: {version or 'not installed'}" for address, version in sorted(others.items())]
        raise InputError(
            f"workers must have hedgerow {here}, as this process has, but {len(found)} have another: "
            f"{first_few(found)}; install the same version on every worker and restart it"
        )


def _version_reader() -> Callable[[], str | None]:
    def version() -> str | None:  # a nested function travels by value: the worker may lack this module
        try:
            import hedgerow
        except ImportError:
            return None
        return hedgerow.__version__

    return version
