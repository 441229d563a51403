"""hedgerow evaluate: measure a model on a file of labelled sequences."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("evaluate")
    def _evaluate(
        model: Annotated[
            str,
            typer.Argument(metavar="MODEL", help="Model file; leave it out with --predicted.", show_default=False),
        ],
        file: Annotated[
            str | None,
            typer.Argument(metavar="FILE", help="Labelled sequences; - is standard input.", show_default=False),
        ] = None,
        predicted: Annotated[
            str | None,
            typer.Option("--predicted", metavar="NAME|N", help="Compare this column with that of --label; no MODEL."),
        ] = None,
        constraints: options.Constraints = None,
        top: Annotated[int, typer.Option("--top", metavar="N", min=0, help="Number of confusions to show.")] = 10,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        file_format: options.Format = None,
        encoding: options.Encoding = None,
        as_json: options.Json = False,
    ) -> None:
        """Measure a model on a file of labelled sequences.

        Prints accuracy, the table of spans where labels mark spans, the most frequent confusions, how far the
        probabilities can be trusted, and the speed.
        """
        from hedgerow.cli.evaluation import as_text, compare, evaluate
        from hedgerow.cli.output import print_json
        from hedgerow.cli.reading import FileChoice
        from hedgerow.errors import InputError

        choice = FileChoice(format=file_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        if predicted is not None:
            if file is not None or constraints is not None:
                raise InputError("--predicted compares two columns of FILE; leave MODEL and --constraints out")
            facts = compare(model, choice, predicted)
        elif file is None:
            raise InputError("evaluate needs MODEL and FILE, but FILE is not given; name it, or use --predicted")
        else:
            facts = evaluate(model, file, choice, constraints=constraints)
        if as_json:
            print_json(facts)
        else:
            print(as_text(facts, top))
