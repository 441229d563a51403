"""Messages about parameters of an estimator, as `train` shows them: with the names of flags."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hedgerow.cli.parameter_flags import ONLY_IN_FILES, flag, is_switch, offered
from hedgerow.errors import InputError


@contextmanager
def naming_parameters(estimator: type[Any]) -> Iterator[None]:
    """Let errors and warnings name the flags of an estimator."""
    shown = warnings.showwarning

    def show(message: Warning | str, *others: Any, **more: Any) -> None:
        shown(spelled(estimator, str(message)), *others, **more)

    warnings.showwarning = show
    try:
        yield
    except InputError as error:
        raise InputError(spelled(estimator, str(error))) from error
    finally:
        warnings.showwarning = shown


def spelled(estimator: type[Any], message: str) -> str:
    """The message with --n-rounds 5 for n_rounds=5, --no-scale for scale=False, and --n-rounds for n_rounds.

    A name of one word, such as order, is also a word of English: it is changed before = and as the subject of a rule.
    """
    names = [name for name in offered(estimator) if name not in ONLY_IN_FILES]
    rule = re.fullmatch(rf"(?:{estimator.__name__}: )?({'|'.join(names)}) must be (.*)", message, re.DOTALL)
    if rule is not None:
        return f"{flag(rule[1])} must be {_plain(rule[2])}"
    message = re.sub(
        rf"""\b({"|".join(names)})=(['"]?)([\w-]+)\2""", lambda found: _setting(estimator, found[1], found[3]), message
    )
    of_two_words = "|".join(name for name in names if "_" in name)
    return re.sub(rf"(?<![\w'-])({of_two_words})(?![\w'])", lambda found: flag(found[1]), message)


def _setting(estimator: type[Any], name: str, value: str) -> str:
    """The flag, with its value or, for a switch, without."""
    if is_switch(offered(estimator)[name]):
        return flag(name) if value == "True" else flag(f"no_{name}")
    return f"{flag(name)} {_plain(value)}"


def _plain(text: str) -> str:
    """The text with true, false and none for the constants of Python."""
    return re.sub(r"(?<!['\w])(True|False|None)(?!['\w])", lambda found: found[1].lower(), text)
