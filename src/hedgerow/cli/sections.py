"""Help with options in named sections."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import Any

from typer.core import TyperCommand

from hedgerow.cli.plain_values import PlainValues


class SectionedCommand(PlainValues, TyperCommand):
    """A command whose help shows each option under the heading that `rich_help_panel` names.

    A flag is not taken for the value of the flag before it.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = {name: param for param in self.params for name in (*param.opts, *param.secondary_opts)}
        for name, value in pairwise(takewhile(lambda argument: argument != "--", args)):
            if value in flags and name in flags and not getattr(flags[name], "is_flag", True):
                ctx.fail(f"{name} needs a value, but the flag {value} comes after it")
        found: list[str] = super().parse_args(ctx, args)
        return found

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                heading = getattr(parameter, "rich_help_panel", None) or ("Arguments" if is_argument else "Options")
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)
