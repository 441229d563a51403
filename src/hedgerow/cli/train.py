"""hedgerow train: learn a model from a file. The flags depend on the model, so that it is found first."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from hedgerow.cli import options
from hedgerow.cli.config import read_config
from hedgerow.cli.flag_spelling import naming_parameters
from hedgerow.cli.models import AUTO, DEFAULT, MODELS, estimator_class
from hedgerow.cli.parameter_flags import flag, flags_of, from_text, is_parameter_somewhere, offered, unknown_flag
from hedgerow.cli.sections import SectionedCommand
from hedgerow.cli.suggestions import did_you_mean
from hedgerow.cli.training import TrainOptions, train
from hedgerow.errors import InputError

_USAGE_ERROR: Any = typer.BadParameter.__base__


def add_to(app: typer.Typer) -> None:
    app.command("train", cls=TrainCommand, help=train.__doc__)(_without_parameters)


class TrainCommand(SectionedCommand):
    """Has the flags of the model that the arguments, or the file of --config, name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            model = _chosen_model(args)
        except (InputError, OSError):
            if not ctx.resilient_parsing:  # true while the shell completes a line that may be wrong so far
                raise
            model = DEFAULT
        in_full = "--help-all" in args
        made = _command(model, in_full=in_full)
        self.params, self.callback = made.params, made.callback
        try:
            return super().parse_args(ctx, ["--help"] if in_full else args)
        except _USAGE_ERROR as error:
            unknown = getattr(error, "option_name", None)
            own = [name for p in self.params for name in (*p.opts, *p.secondary_opts)]
            if unknown is None or not unknown.startswith("--") or unknown in own:
                raise
            raise InputError(_no_such_flag(model, unknown, own)) from None


def _chosen_model(arguments: Sequence[str]) -> str:
    """The model that the arguments name; raises InputError if no model has that name."""
    model, config = (_value_of(flags, arguments) for flags in (("--model", "-m"), ("--config",)))
    if model is None and config is not None:
        model = read_config(config).get("model")
    if model not in (None, AUTO):
        estimator_class(model)
    return DEFAULT if model is None else model


def _value_of(flags: tuple[str, ...], arguments: Sequence[str]) -> str | None:
    found = None
    for i, argument in enumerate(arguments):
        if argument in flags and i + 1 < len(arguments):
            found = arguments[i + 1]
        elif argument.startswith(f"{flags[0]}="):
            found = argument.partition("=")[2]
    return found


def _no_such_flag(model: str, used: str, own: Sequence[str]) -> str:
    """The message for a flag that the command does not have."""
    if used == "--budget":
        return f"--budget is the time of the race, but the model is {model}; use it with --model {AUTO}"
    meant = "" if is_parameter_somewhere(used) else did_you_mean(used, own, otherwise="")
    of_model = [] if model == AUTO else map(flag, offered(estimator_class(model)))
    if meant and meant not in [f"did you mean {one}?" for one in of_model]:
        return f"there is no flag {used}; {meant}"
    if model == AUTO:
        return f"{used} is no flag of --model {AUTO}, which chooses the parameters itself; name a model with --model"
    return unknown_flag(estimator_class(model), used)


def _command(model: str, *, in_full: bool) -> Any:
    """The command with the flags of a model."""
    own = list(inspect.signature(_without_parameters, eval_str=True).parameters.values())
    if model == AUTO:
        flags = []
    else:
        own = [p for p in own if p.name != "budget"]
        flags = flags_of(estimator_class(model), in_full=in_full)

    def run(**values: Any) -> int:
        used = {one.name: values.pop(one.name) for one in flags}
        if model == AUTO:
            return train(TrainOptions(**values), {})
        cls = estimator_class(model)
        with naming_parameters(cls):
            parameters = {
                name: from_text(cls, name, value) if isinstance(value, str) else value
                for name, value in used.items()
                if value is not None
            }
            return train(TrainOptions(**values), parameters)

    run.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in [*own, *flags]}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command("train")(run)
    return get_command(app)


def _without_parameters(
    *,
    train_file: Annotated[
        str, typer.Argument(metavar="TRAIN", help="Labelled sequences; - is standard input.", show_default=False)
    ],
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Model file to write.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help=f"{DEFAULT} (default), {', '.join(name for name in MODELS if name != DEFAULT)}, or {AUTO}.",
            autocompletion=lambda: [*MODELS, AUTO],
        ),
    ] = None,
    dev: Annotated[
        str | None, typer.Option("--dev", metavar="FILE", help="Labelled sequences to score each step on.")
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            "--template",
            "-t",
            metavar="TEMPLATE",
            help="File, words, tags, letters:N, numbers or none. [default: by the columns]",
        ),
    ] = None,
    label: options.Label = None,
    columns: options.Columns = None,
    sequence: options.Sequence = None,
    file_format: options.Format = None,
    encoding: options.Encoding = None,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="TOML file with options and [parameters].")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="TIME", help="Time of the race, such as 90s, 10m, 1h. [default: 10m]"),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    help_all: Annotated[bool, typer.Option("--help-all", help="Show the help of all parameters, and exit.")] = False,
) -> None:
    """Only the signature is used."""
