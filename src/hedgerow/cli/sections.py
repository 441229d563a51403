"""Help with options in named sections."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from hedgerow.cli.plain_values import PlainValues


class SectionedCommand(PlainValues, TyperCommand):
    """A command whose help shows each option under the heading that `rich_help_panel` names."""

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
