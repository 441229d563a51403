"""The group of commands. The module of a command is imported only when that command is used."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from hedgerow.cli.failures import FAILED, warn_in_one_line
from hedgerow.cli.plain_values import PlainValues
from hedgerow.cli.sections import SectionedCommand
from hedgerow.cli.streams import close_quietly

#: Each command with the line that `hedgerow --help` shows; its module in this package has the same name.
VERBS = {
    "train": "Learn a model from a file of labelled sequences.",
    "tag": "Label a file or a stream with a model.",
    "evaluate": "Measure a model on a file of labelled sequences.",
    "inspect": "Show what a model is and what it learned.",
    "report": "Write a page that shows what a model does, and where it fails.",
    "tune": "Find the best estimator and setting by a race.",
    "encode": "Write files of any size as a folder that train takes.",
    "convert": "Convert between file formats and label schemes.",
    "datasets": "List, describe or write the data sets.",
    "demo": "Learn to pronounce English words, offline, in seconds.",
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
WITHOUT_RICH: dict[str, Any] = {  # rich would take longer to import than everything else that --help needs
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": CONTEXT,
}


class App(typer.Typer):
    """Makes commands that read their flags plainly and show them in sections."""

    def command(self, name: str | None = None, *, cls: Any = SectionedCommand, **settings: Any) -> Any:
        return super().command(name, cls=cls, **settings)


class Verbs(PlainValues, TyperGroup):
    """The commands by name; closed pipes end a command quietly."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = load(cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in VERBS:
            from hedgerow.cli.suggestions import did_you_mean

            nearest = did_you_mean(args[0], VERBS, otherwise=f"the commands are {', '.join(VERBS)}")
            ctx.fail(f"there is no command {args[0]!r}; {nearest}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            close_quietly()
            return FAILED
        return result


def group() -> Any:
    """The whole command line."""
    app = typer.Typer(cls=Verbs, name="hedgerow", invoke_without_command=True, **WITHOUT_RICH)
    app.callback()(_about)
    return get_command(app)


def load(name: str) -> TyperCommand:
    """The command of a module."""
    app = App(add_completion=False, **WITHOUT_RICH)
    importlib.import_module(f"hedgerow.cli.{name}").add_to(app)
    command = get_command(app)
    command.name = name
    return command  # type: ignore[return-value]


def _about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Label sequences: words with tags, letters with sounds, residues with structure, readings with activities.

    To start with a file that has one position a line, the label last, and a blank line after each sequence:

    \b
      hedgerow train train.txt --output m.hedgerow
      hedgerow tag m.hedgerow new.txt
    """
    import hedgerow

    if version:
        print(f"hedgerow {hedgerow.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit
    warn_in_one_line()
