"""hedgerow convert: from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("convert")
    def _convert(
        source: Annotated[
            str, typer.Argument(metavar="IN", help="File to read; - is standard input.", show_default=False)
        ],
        target: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is standard output.")] = "-",
        from_format: Annotated[
            str | None,
            typer.Option("--from", metavar="FORMAT", help="Format of IN, or crfsuite-model. [default: by content]"),
        ] = None,
        to_format: Annotated[
            str | None, typer.Option("--to", metavar="FORMAT", help="Format of OUT. [default: by its name]")
        ] = None,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        encoding: options.Encoding = None,
        force: options.Force = False,
        as_json: options.Json = False,
    ) -> None:
        """Convert between file formats, or a model of CRFsuite to a model of hedgerow.

        The formats are conll, conllu, crf++, crfsuite, jsonl, csv, tsv and parquet. OUT is a model if its name ends
        with .hedgerow: IN is then a model of CRFsuite, or what crfsuite dump prints.
        """
        from hedgerow.cli.conversion import convert
        from hedgerow.cli.reading import FileChoice

        choice = FileChoice(format=from_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        convert(source, target, choice, to_format=to_format, force=force, as_json=as_json)
