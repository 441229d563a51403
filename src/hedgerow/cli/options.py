"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Format = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="File format; detected by content if not given.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of the text. [default: utf-8]")
]
Label = Annotated[
    str | None, typer.Option("--label", metavar="NAME|N", help="Label column: name or number. [default: the last]")
]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="A,B,...", help="Names of columns; with a header: those to read.")
]
Sequence = Annotated[
    str | None, typer.Option("--sequence", metavar="A,B,...", help="Columns of a table that name the sequence.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
Constraints = Annotated[
    str | None,
    typer.Option("--constraints", metavar="SCHEME", help="Predict only labels that a scheme allows, such as IOB2."),
]
