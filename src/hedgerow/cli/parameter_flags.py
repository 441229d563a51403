"""The parameters of estimators as flags and as values of a TOML file, from their declarations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from hedgerow.cli.models import MODELS, command_line_name, estimator_class
from hedgerow.errors import InputError
from hedgerow.estimators.parameters import AUTO, Parameter, parameters, unknown_parameter
from hedgerow.estimators.parameters import ELSEWHERE as NAMES_ELSEWHERE

#: Parameters that --help shows; --help-all shows the others as well.
COMMON = frozenset(
    [
        "base",
        "C",
        "code",
        "constraints",
        "epochs",
        "l1",
        "l2",
        "learner",
        "learning_rate",
        "linear",
        "max_future",
        "max_iter",
        "max_leaves",
        "n_bits",
        "n_jobs",
        "n_models",
        "n_rounds",
        "order",
        "random_state",
        "share",
        "smoothing",
        "subsets",
        "update",
        "window",
    ]
)
#: Parameters that the command line sets in other ways: --template, --quiet; a fit always starts anew.
ELSEWHERE = frozenset({"features", "verbose", "warm_start"})
#: Parameters with values that only a TOML file can hold.
ONLY_IN_FILES = frozenset({"future"})


def offered(estimator: type[Any]) -> dict[str, Parameter]:
    """The parameters that a file of settings may have."""
    return {name: p for name, p in parameters(estimator).items() if name not in ELSEWHERE}


def flags_of(estimator: type[Any], *, in_full: bool) -> list[inspect.Parameter]:
    """Arguments of a function from which typer makes the flags; each is None where the flag is not used.

    Without `in_full`, the help of uncommon parameters is hidden, and that of the others is shortened.
    """
    section = f"Parameters of {estimator.__name__}"
    if not in_full:
        section += " (all: --help-all)"
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=_annotation(p, section, in_full=in_full),
        )
        for name, p in offered(estimator).items()
        if name not in ONLY_IN_FILES
    ]


def flag(name: str) -> str:
    """The flag of a parameter."""
    return "--" + name.replace("_", "-")


def is_switch(parameter: Parameter) -> bool:
    """Whether the flag has no value: --scale and --no-scale."""
    return parameter.type is bool and parameter.value_type is None


def _annotation(parameter: Parameter, section: str, *, in_full: bool) -> Any:
    switch = is_switch(parameter)
    names = f"{flag(parameter.name)}/--no-{flag(parameter.name)[2:]}" if switch else flag(parameter.name)
    help_text = _full_help(parameter) if in_full else _short_help(parameter)
    if in_full or parameter.default is not None:
        help_text += f" [default: {_shown(parameter.default)}]"
    option = typer.Option(
        names,
        help=help_text,
        metavar=None if switch else _metavar(parameter),
        hidden=not (in_full or parameter.name in COMMON),
        rich_help_panel=section,
    )
    return Annotated[bool | None if switch else str | None, option]


def _short_help(parameter: Parameter) -> str:
    """The first clause of the help."""
    return re.split(r"[.;:,](?= |$)", parameter.help, maxsplit=1)[0] + "."


def _full_help(parameter: Parameter) -> str:
    return f"{parameter.help} ({parameter.describe()})"


def _shown(default: Any) -> str:
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)


def _metavar(parameter: Parameter) -> str:
    if parameter.choices:
        choices = "|".join(map(str, parameter.choices))
        return choices if len(choices) <= 20 else "CHOICE"
    return {int: "INT", float: "NUMBER"}.get(parameter.type, "VALUE")


def from_text(estimator: type[Any], name: str, text: str) -> Any:
    """The value of a flag; raises InputError if the parameter cannot have it."""
    parameter, owner = offered(estimator)[name], estimator.__name__
    if name == "base":
        return None if text == "none" else estimator_class(text)()
    if text.lower() == "none" and _holds(parameter, None):
        return None
    if parameter.value_type is not None:
        value = parameter.value_type.parse(text)
        is_number = isinstance(value, str) and value.isdecimal() and not parameter.value_type.holds(value)
        return int(value) if is_number else value
    if parameter.type not in (int, float) or (parameter.automatic and text == AUTO):
        return next((choice for choice in parameter.choices or () if str(choice) == text), text)
    try:
        return parameter.type(text)
    except ValueError:
        raise InputError(f"{owner}: {name} must be {parameter.describe()}; it is {text!r}") from None


def _holds(parameter: Parameter, value: Any) -> bool:
    try:
        parameter.check("", value)
    except InputError:
        return False
    return True


def from_file(estimator: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a table of a TOML file; raises InputError for a name that the estimator does not have."""
    known = offered(estimator)
    for name in values:
        if name not in known:
            raise InputError(_not_here(estimator, name))
    return {name: _from_file(estimator, name, value) for name, value in values.items()}


def _from_file(estimator: type[Any], name: str, value: Any) -> Any:
    if name in ("base", "future") and isinstance(value, dict):
        nested = dict(value)
        inner = estimator_class(nested.pop("model", "treecrf" if name == "base" else "future"))
        return configured(inner, from_file(inner, nested))
    if name == "constraints" and isinstance(value, list):
        return list(map(_pair, value))
    return from_text(estimator, name, value) if isinstance(value, str) else value


def _pair(value: Any) -> Any:
    """Two neighbouring labels. TOML has no None: "" stands for what is before the first label."""
    if not isinstance(value, list):
        return value
    return tuple(None if i == 0 and label == "" else label for i, label in enumerate(value))


def configured(estimator: type[Any], values: Mapping[str, Any]) -> Any:
    """An estimator with these parameters, checked."""
    made = estimator(**values)
    made.check_parameters()
    return made


def unknown_flag(estimator: type[Any], used: str) -> str:
    """The message for a flag that this estimator does not have."""
    return _not_here(estimator, _parameter_name(used), used)


def is_parameter_somewhere(used: str) -> bool:
    """Whether the flag is one of another model, or named after a parameter of another library."""
    name = _parameter_name(used)
    return name in NAMES_ELSEWHERE or any(name in offered(estimator_class(model)) for model in MODELS)


def _parameter_name(used: str) -> str:
    return used.lstrip("-").removeprefix("no-").replace("-", "_")


def _not_here(estimator: type[Any], name: str, used: str | None = None) -> str:
    have = [other for other in MODELS if name in offered(estimator_class(other))]
    known = list(offered(estimator))
    subject, nearest = used or repr(name), unknown_parameter(estimator.__name__, name, known).partition("; ")[2]
    if nearest.startswith("it has"):
        nearest = f"see hedgerow train --model {command_line_name(estimator.__name__)} --help-all"
    if used is not None:
        nearest = re.sub(r"'(\w+)'", lambda found: flag(found[1]) if found[1] in known else found[0], nearest)
    if have:
        return f"{subject} is a parameter of {', '.join(have)}, but not of {estimator.__name__}; {nearest}"
    return f"{estimator.__name__} has no parameter {subject}; {nearest}"
