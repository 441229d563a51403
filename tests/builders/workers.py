"""Data for fits on workers, and the comparison of their models."""

from __future__ import annotations

from typing import Any

import numpy as np

N = 60


def data(seed: int = 0, n: int = N, missing: float = 0.0) -> tuple[list[Any], list[list[str]]]:
    """n sequences with words, numbers and letters, and three labels."""
    draw = np.random.default_rng(seed)

    def position() -> dict[str, Any]:
        number = None if draw.random() < missing else float(draw.normal())
        return {"word": f"w{draw.integers(70)}", "number": number, "kind": "abc"[draw.integers(3)]}

    X = [[position() for _ in range(draw.integers(1, 9))] for _ in range(n)]
    y = [["A" if p["kind"] == "a" or p["word"] > "w6" else "BC"[(p["number"] or 0) > 0] for p in x] for x in X]
    return X, y


def arrays(model: Any) -> dict[str, Any]:
    return dict(model.model_._to_arrays()[1])


def assert_identical(one: Any, other: Any) -> None:
    """All arrays of two models, and their logs but for times, are equal."""
    a, b = arrays(one), arrays(other)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    for mine, theirs in zip(one.training_log_, other.training_log_, strict=True):
        timeless = [{k: v for k, v in record.items() if not k.endswith("seconds")} for record in (mine, theirs)]
        assert timeless[0] == timeless[1]
