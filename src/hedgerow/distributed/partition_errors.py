"""Errors and warnings of one partition: they name it, and warnings reach the process of the user."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.errors import ImpossibleLatticeError, InputError, warnings_to


@contextmanager
def about_partition(number: int) -> Iterator[None]:
    """Name the partition in every error and warning of hedgerow; a short traceback shows the error itself."""

    def warn(message: str, category: type[Warning]) -> None:
        _warn_client(f"partition {number}: {message}", category)

    try:
        with warnings_to(warn):
            yield
    except InputError as error:
        raise InputError(f"partition {number}: {error}") from None
    except ImpossibleLatticeError as error:
        named = ImpossibleLatticeError(f"partition {number}: {error}")
        named.sequence = error.sequence
        raise named from None


def _warn_client(message: str, category: type[Warning]) -> None:
    """Warn in the process of the client if this is a worker of a cluster; otherwise in this process."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            distributed.get_worker()
        except ValueError:  # another scheduler of Dask, in the process of the user
            pass
        else:
            distributed.warn(message, category)
            return
    warnings.warn(message, category, stacklevel=2)
