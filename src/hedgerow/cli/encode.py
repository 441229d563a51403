"""hedgerow encode: write files of any size as a corpus, a folder of mapped files."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli import options


def add_to(app: typer.Typer) -> None:
    @app.command("encode")
    def _encode(
        sources: Annotated[
            list[str], typer.Argument(metavar="FILE...", help="Sequences; - is standard input.", show_default=False)
        ],
        output: Annotated[
            str | None, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write.", show_default=False)
        ] = None,
        template: Annotated[
            str | None,
            typer.Option(
                "--template",
                "--features",
                "-t",
                metavar="TEMPLATE",
                help="File, words, tags, letters:N, numbers or none. [default: none]",
            ),
        ] = None,
        min_freq: Annotated[
            int, typer.Option("--min-freq", metavar="N", help="Leave out values at fewer than N positions.")
        ] = 1,
        missing: Annotated[
            str | None,
            typer.Option(
                "--missing",
                metavar="HOW",
                help="Replace missing values: impute, indicator or published-indicator.",
            ),
        ] = None,
        like: Annotated[
            str | None, typer.Option("--like", metavar="FOLDER|MODEL", help="Use its alphabets; for dev and test data.")
        ] = None,
        shard_positions: Annotated[
            int, typer.Option("--shard-positions", metavar="N", help="Positions of a shard.")
        ] = 1_000_000,
        jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Number of threads; -1 for all.")] = -1,
        label: options.Label = None,
        columns: options.Columns = None,
        sequence: options.Sequence = None,
        file_format: options.Format = None,
        encoding: options.Encoding = None,
        force: options.Force = False,
        quiet: options.Quiet = False,
        as_json: options.Json = False,
    ) -> int:
        """Encode files of any size into a folder, in bounded memory.

        train, evaluate and report take the folder in place of a file. If the command is interrupted, or the disk is
        full, the same command continues.
        """
        from hedgerow.cli.encode_files import EncodeOptions, encode
        from hedgerow.cli.reading import FileChoice

        choice = FileChoice(format=file_format, label=label, columns=columns, sequence=sequence, encoding=encoding)
        return encode(
            sources,
            output,
            choice,
            EncodeOptions(
                template=template,
                min_freq=min_freq,
                missing=missing,
                like=like,
                shard_positions=shard_positions,
                jobs=jobs,
                force=force,
                quiet=quiet,
                as_json=as_json,
            ),
        )
