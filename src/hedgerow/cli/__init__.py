"""The command line: one file for each command. Bad input gives one line on standard error and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


def main() -> None:
    """Run `hedgerow ...` with the arguments of the process, and end the process."""
    try:
        from hedgerow.cli.streams import flush_output, open_streams

        open_streams()
        code = run(sys.argv[1:])
        sys.exit(flush_output(code))
    except KeyboardInterrupt:  # also during imports
        sys.exit(130)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; docs/command-line.md lists the codes."""
    import typer

    from hedgerow.cli.failures import BAD_INPUT, INTERRUPTED, complain
    from hedgerow.cli.verbs import group

    usage_error: Any = typer.BadParameter.__base__
    try:
        result = group().main(list(arguments), prog_name="hedgerow", standalone_mode=False)
    except usage_error as error:
        return complain(f"{error.format_message().rstrip('.')}{_hint(error)}")
    except BAD_INPUT as error:
        return complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _hint(error: Any) -> str:
    """Where to find help, as the end of a message about wrong usage."""
    return "" if error.ctx is None else f" ({error.ctx.command_path} -h shows how to use it)"
