"""hedgerow tune: find the best estimator and setting by a race."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("tune")
    def _tune(
        train_file: Annotated[
            str, typer.Argument(metavar="TRAIN", help="Labelled sequences; - is standard input.", show_default=False)
        ],
        budget: Annotated[
            str, typer.Option("--budget", metavar="TIME", help="Time of the race, such as 90s, 10m, 1h.")
        ] = "10m",
        models: Annotated[
            str | None,
            typer.Option("--models", metavar="A,B,...", help="Models to race. [default: by the columns and labels]"),
        ] = None,
        scoring: Annotated[
            str | None,
            typer.Option(metavar="SCORE", help="accuracy, span_f1 or log_likelihood. [default: by the labels]"),
        ] = None,
        output: Annotated[
            str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the winner, trained on all data.")
        ] = None,
        random_state: Annotated[int, typer.Option("--random-state", metavar="INT", help="Seed of the race.")] = 0,
        n_jobs: Annotated[
            int, typer.Option("--n-jobs", metavar="INT", help="Fits at the same time; -1: all processors.")
        ] = -1,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        file_format: options.Format = None,
        encoding: options.Encoding = None,
        force: options.Force = False,
        quiet: options.Quiet = False,
        as_json: options.Json = False,
    ) -> int:
        """Find the best estimator and setting by a race.

        Prints the table of all settings, scored by cross-validation, and which of them are as good as the best.
        """
        from hedgerow.cli.racing import RaceOptions, race
        from hedgerow.cli.reading import FileChoice

        choice = FileChoice(format=file_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        wanted = RaceOptions(
            budget=budget,
            models=models,
            scoring=scoring,
            random_state=random_state,
            n_jobs=n_jobs,
            output=output,
            force=force,
            quiet=quiet,
            as_json=as_json,
        )
        return race(train_file, choice, wanted)
