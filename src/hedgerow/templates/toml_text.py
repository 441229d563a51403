"""The text of a TOML file. Python reads TOML, but does not write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hedgerow.errors import InputError


def to_toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a TOML file with these sections."""
    return "\n".join(_section(name, parameters) for name, parameters in sections.items())


def _section(name: str, parameters: Mapping[str, Any]) -> str:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in parameters.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _text(value) if isinstance(value, str) else str(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """A basic string of TOML: that of JSON, where the control character 127 is written as a code too."""
    if not text.isascii() and re.search(r"[\ud800-\udfff]", text):
        raise InputError(f"TOML holds text of UTF-8 only, but the template names {text!r}; rename the column")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
