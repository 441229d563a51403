"""The command line: one file for each command. Bad input gives one line on standard error and exit code 2."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `hedgerow ...`."""
    try:
        _run()
    except KeyboardInterrupt:  # also during imports
        sys.exit(130)


def _run() -> None:
    import typer

    from hedgerow.cli import datasets, demo
    from hedgerow.errors import DataNotFoundError, ImpossibleLatticeError, InputError, ModelFileError

    app = typer.Typer(name="hedgerow", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_about)
    for command in (datasets, demo):
        command.add_to(app)
    try:
        app()
    except (InputError, ModelFileError, DataNotFoundError, ImpossibleLatticeError, OSError) as error:
        print(f"hedgerow: {error}", file=sys.stderr)
        sys.exit(2)


def _about() -> None:
    """Label sequences: words with tags, letters with sounds, residues with structure, readings with activities."""
