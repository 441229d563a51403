"""Files of settings for `train`: TOML with options at the top and a table of parameters."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hedgerow.errors import InputError

OPTIONS = ("output", "model", "dev", "template", "label", "columns", "sequence", "format", "encoding", "budget")
PARAMETERS = "parameters"


def read_config(path: str) -> dict[str, Any]:
    """The settings of a file; raises InputError for text that is no TOML, unknown keys and values of a wrong type."""
    try:
        settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be a TOML file, but it is not: {error}") from None
    for name, value in settings.items():
        if name not in (*OPTIONS, PARAMETERS):
            raise InputError(
                f"{path}: there is no option {name!r}; the options are {', '.join(OPTIONS)}, and parameters of the "
                f"model stand under [{PARAMETERS}]"
            )
        settings[name] = _checked(path, name, value)
    return settings


def _checked(path: str, name: str, value: Any) -> Any:
    if name == PARAMETERS:
        if not isinstance(value, dict):
            raise InputError(f"{path}: {PARAMETERS} must be a table, but it is {value!r}; write [{PARAMETERS}]")
        return value
    if name in ("columns", "sequence") and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    if name == "label" and type(value) is int:
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{path}: {name} must be text, but it is {value!r}; put it between quotes")
    return value
