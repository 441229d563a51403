"""hedgerow datasets: list the data sets, describe one, or write one to a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("datasets")
    def _datasets(
        name: Annotated[
            str | None, typer.Argument(metavar="NAME", help="Data set to describe; without it all are listed.")
        ] = None,
        split: Annotated[str, typer.Option("--split", metavar="SPLIT", help="Split to describe or write.")] = "train",
        output: Annotated[
            str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the split to a file.")
        ] = None,
        to_format: Annotated[
            str | None, typer.Option("--to", metavar="FORMAT", help="Format of the file. [default: by its name]")
        ] = None,
        force: options.Force = False,
        as_json: options.Json = False,
    ) -> None:
        """List, describe or write the data sets."""
        from hedgerow.cli.set_list import describe_without_file, list_sets
        from hedgerow.datasets import load, names
        from hedgerow.errors import DataNotFoundError, InputError

        if name is None:
            if output is not None:
                raise InputError(f"--output writes one data set; name it: {', '.join(names())}")
            list_sets(as_json=as_json)
            return
        try:
            data = load(name, split)
        except DataNotFoundError:
            if output is None and not as_json:
                print(describe_without_file(name))
            raise
        if output is not None:
            from hedgerow import write
            from hedgerow.cli.output import check_output

            check_output(output, force=force)
            write(output, data.X, data.y, format=to_format, overwrite=force)
        if as_json:
            facts = {"name": data.name, "split": data.split, "sequences": len(data), "positions": sum(map(len, data.y))}
            print(json.dumps(facts))
        elif output is None:
            print(data.describe())
