"""What published algorithms fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.errors import InputError


def refuse_fixed(owner: str, fixed: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise InputError if a parameter is given that the published algorithm fixes."""
    for name in fixed:
        if name in given:
            raise InputError(
                f"{owner}: the published algorithm has {name}={fixed[name]!r}, but {name}={given[name]!r} was given; "
                f"leave it out, or change the estimator by set_params"
            )
