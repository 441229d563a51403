"""Values of flags without pydantic: typer would import it for text and integers too, which takes 0.1 s of CPU."""

from __future__ import annotations

from typing import Any

import typer


class _Plain:
    """Reads text, integers or switches, in the place of typer's own reader of values."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None or isinstance(value, self._kind):
            return value
        try:
            number = self._kind(value)
        except ValueError:
            raise typer.BadParameter(f"it must be an integer, but it is {value!r}", ctx=ctx, param=param) from None
        if getattr(param, "min", None) is not None and number < param.min:
            raise typer.BadParameter(f"it must be at least {param.min}, but it is {value!r}", ctx=ctx, param=param)
        return number


class PlainValues:
    """For commands and groups: flags read their values plainly. Versions of typer without pydantic stay as they are."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
            if kind in (str, int, bool) and getattr(param, "_runtime_param", self) is None:
                param._runtime_param = _Plain(kind)
        return params
