"""hedgerow tag: label a file or a stream, block by block in constant memory."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("tag")
    def _tag(
        model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file.", show_default=False)],
        file: Annotated[str, typer.Argument(metavar="FILE", help="Sequences to label; - is standard input.")] = "-",
        proba: Annotated[bool, typer.Option("--proba", help="Write the probability of each label as well.")] = False,
        nbest: Annotated[
            int | None, typer.Option("--nbest", metavar="N", help="Write the N best label sequences of each sequence.")
        ] = None,
        spans: Annotated[
            bool, typer.Option("--spans", help="Write spans with their probabilities as JSON lines.")
        ] = False,
        constraints: options.Constraints = None,
        output: Annotated[
            str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to standard output.")
        ] = None,
        label: options.Label = None,
        columns: options.Columns = None,
        file_format: options.Format = None,
        encoding: options.Encoding = None,
        force: options.Force = False,
        as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object for each sequence.")] = False,
    ) -> None:
        """Label a file or a stream with a model.

        Each line is written with its label behind it, and sent on at the end of each sequence: tag fits in a pipe.
        """
        from hedgerow.cli.reading import FileChoice
        from hedgerow.cli.tag_writer import TagOptions
        from hedgerow.cli.tagging import tag

        choice = FileChoice(format=file_format, label=label, columns=columns, encoding=encoding)
        wanted = TagOptions(
            proba=proba, nbest=nbest, spans=spans, constraints=constraints, as_json=as_json, choice=choice
        )
        tag(model, file, wanted, output=output, force=force)
