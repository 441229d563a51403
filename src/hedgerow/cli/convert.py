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
        labels: Annotated[
            str | None, typer.Option("--labels", metavar="SCHEME", help="Write labels as IOB1, IOB2, IOBES, BILOU, ...")
        ] = None,
        labels_from: Annotated[
            str | None, typer.Option("--labels-from", metavar="SCHEME", help="Scheme of IN. [default: by its labels]")
        ] = None,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        encoding: options.Encoding = None,
        force: options.Force = False,
        as_json: options.Json = False,
    ) -> None:
        """Convert between file formats and label schemes, or a model of CRFsuite to one of hedgerow.

        The formats are conll, conllu, crf++, crfsuite, jsonl, csv, tsv and parquet. OUT is a model if its name ends
        with .hedgerow: IN is then a model of CRFsuite, or what crfsuite dump prints.
        """
        from hedgerow.cli.conversion import Target, convert
        from hedgerow.cli.reading import FileChoice

        choice = FileChoice(format=from_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        wanted = Target(path=target, format=to_format, scheme=labels, scheme_before=labels_from, force=force)
        convert(source, wanted, choice, as_json=as_json)
