"""Files that commands write: refused before work starts if they cannot be written; and JSON on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hedgerow.errors import InputError


def check_output(path: str, *, force: bool, inputs: Iterable[str | None] = ()) -> None:
    """Raise InputError or OSError unless the file can be written, and does not exist or may be replaced.

    It must not be one of the `inputs`, even if it may be replaced; None and - are no files.
    """
    from hedgerow.storage import check_target, check_writable

    check_target(path)
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path} must be a file to write, but it is a folder; name a file in it")
    same = next((one for one in inputs if one not in (None, "-") and _is_same_file(target, Path(one))), None)
    if same is not None:
        raise InputError(f"the output must be another file than the input {same}, but it is {path}; name another file")
    if target.exists() and not force:
        raise InputError(f"{path} exists already; use --force to replace it, or name another file")
    check_writable(path)


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def print_json(facts: Any) -> None:
    """Print one JSON object on standard output; infinite numbers and NaN become null."""
    print(json.dumps(_finite(facts), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    return None if isinstance(value, float) and value - value != 0 else value
