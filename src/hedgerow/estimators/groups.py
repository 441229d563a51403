"""Groups of sequences, as `fit`, `tune` and `cross_val_predict` take them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError, type_name
from hedgerow.estimators.parameters import python_scalar
from hedgerow.utilities import counted


def group_codes(groups: object, n_sequences: int) -> NDArray[np.int64]:
    """The group of each sequence, numbered by first occurrence; without `groups` each sequence is one."""
    if groups is None:
        return np.arange(n_sequences)
    rule = f"groups must hold one value for each of the {counted(n_sequences, 'sequence')} of X"
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise InputError(f"{rule}, but it is {type_name(groups)}; it must be a list")
    values = [python_scalar(value) for value in groups]
    if len(values) != n_sequences:
        raise InputError(f"{rule}, but it holds {len(values)}; pass one value a sequence, not one a position")
    if not all(isinstance(value, Hashable) for value in values):
        raise InputError(f"{rule}, but some are lists; pass strings or integers")
    known = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return np.array([known[value] for value in values], np.int64)
