"""hedgerow datasets: which data sets there are, and what is in one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer


def add_to(app: typer.Typer) -> None:
    import typer

    @app.command("datasets")
    def _datasets(
        name: Annotated[str | None, typer.Argument(help="a data set to describe; without one all are listed")] = None,
        split: Annotated[str, typer.Option(help="which part of it")] = "train",
        as_json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
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
