"""hedgerow report: write a page that shows what a model does, and where it fails."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("report")
    def _report(
        model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file.", show_default=False)],
        file: Annotated[
            str,
            typer.Argument(
                metavar="FILE", help="Sequences, with or without labels; - is standard input.", show_default=False
            ),
        ],
        output: Annotated[
            str, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")
        ] = "report.html",
        compare: Annotated[
            str | None, typer.Option("--compare", metavar="MODEL", help="Show what changes from this model to MODEL.")
        ] = None,
        title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
        force: options.Force = False,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        file_format: options.Format = None,
        encoding: options.Encoding = None,
        quiet: options.Quiet = False,
        as_json: options.Json = False,
    ) -> None:
        """Write a page that shows what a model does, and where it fails.

        The page is one HTML file without a network: scores, learning curves, confusions, calibration, what the model
        learned, and all sequences with probabilities and explanations.
        """
        from hedgerow.cli.reading import FileChoice
        from hedgerow.cli.reporting import Page, write_report

        choice = FileChoice(format=file_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        page = Page(output=output, compare=compare, title=title, force=force, quiet=quiet, as_json=as_json)
        write_report(model, file, choice, page)
