"""Command-line flags for the parameters of an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import Conventions
from hedgerow.estimators.parameters import AUTO, Parameter, parameters


def with_parameters(command: Callable[..., None], estimator: type[Conventions], **defaults: Any) -> Callable[..., None]:
    """The command with a flag for each parameter of an estimator.

    The argument `estimator` of the command is an estimator with the values of the flags. `defaults` replace defaults
    of the estimator.
    """
    declared = parameters(estimator)
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "estimator"]
    flags = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name, p.default), annotation=_flag(p)
        )
        for name, p in declared.items()
    ]

    def run(**values: Any) -> None:
        configured = estimator(**{name: values.pop(name) for name in declared})
        configured.check_parameters()
        command(**values, estimator=configured)

    signature = inspect.Signature([*own, *flags])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _flag(parameter: Parameter) -> Any:
    """The annotation from which typer derives the flag."""
    help_text = f"{parameter.help} ({parameter.describe()})"
    if parameter.automatic:
        option = typer.Option(help=help_text, parser=partial(_number_or_auto, parameter), metavar="VALUE")
        return Annotated[Any, option]
    if parameter.value_type is None:
        return Annotated[parameter.annotation, typer.Option(help=help_text)]
    option = typer.Option(help=help_text, parser=parameter.value_type.parse, metavar="VALUE")
    return Annotated[Any, option]


def _number_or_auto(parameter: Parameter, text: Any) -> Any:
    if text == AUTO:
        return AUTO
    try:
        return parameter.type(text)
    except ValueError:
        raise InputError(f"{parameter.name} must be {parameter.describe()}; it is {text!r}") from None
