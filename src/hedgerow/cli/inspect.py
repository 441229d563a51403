"""hedgerow inspect: show what a model is and what it learned."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("inspect")
    def _inspect(
        model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file.", show_default=False)],
        top: Annotated[int, typer.Option("--top", metavar="N", min=0, help="Number of weights or tests to show.")] = 20,
        as_json: options.Json = False,
    ) -> None:
        """Show what a model is and what it learned.

        Prints estimator, labels, columns, features and training, then the strongest weights of a linear model, or the
        most important tests of a model of trees.
        """
        from hedgerow.cli.model_facts import as_text, model_facts
        from hedgerow.cli.output import print_json

        facts = model_facts(model, top)
        if as_json:
            print_json(facts)
        else:
            print(as_text(facts))
