"""hedgerow datasets: list the data sets, or describe one."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    @app.command("datasets")
    def _datasets(
        name: Annotated[str | None, typer.Argument(help="the data set to describe; without it all are listed")] = None,
        split: Annotated[str, typer.Option(help="the split to describe")] = "train",
        as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
    ) -> None:
        """List the data sets, or describe one."""
        from hedgerow.datasets import load, names

        if name is None:
            print(json.dumps(names()) if as_json else "\n".join(names()))
            return
        data = load(name, split)
        if as_json:
            facts = {"name": data.name, "split": data.split, "sequences": len(data), "positions": sum(map(len, data.y))}
            print(json.dumps(facts))
        else:
            print(data.describe())
