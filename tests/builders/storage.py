"""Small content for model files, and when two contents are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

ARRAYS = {
    "weights": np.array([[1.5, -2.0, 0.25], [0.0, 1e300, -0.0]]),
    "labels": np.array([1, 2, 3], dtype=np.int32),
    "flags": np.array([True, False, True]),
    "none": np.zeros((0, 4), dtype=np.float32),
    "bias": np.array(7.5, dtype=np.float32),
}
METADATA: dict[str, Any] = {
    "labels": ["a", "é", "\ud800", '"'],
    "order": 1,
    "l2": 0.1,
    "nested": {"none": None, "yes": True},
}


def same(arrays: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    """Equal names, dtypes, shapes and bytes (so NaN equals NaN and 0 differs from −0)."""
    return arrays.keys() == expected.keys() and all(
        (a.dtype, a.shape, a.tobytes()) == (e.dtype, e.shape, e.tobytes())
        for a, e in ((arrays[name], expected[name]) for name in expected)
    )
