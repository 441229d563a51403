"""Every error and warning of the library. A message names the subject, the rule, the value found, and a cure."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

__all__ = [
    "AbsentColumnWarning",
    "AbsentPartError",
    "BagWarning",
    "BeamWarning",
    "CodeWarning",
    "ConvergenceWarning",
    "CorpusError",
    "DataNotFoundError",
    "ImpossibleLatticeError",
    "InputError",
    "MissingColumnWarning",
    "ModelFileError",
    "NotFittedError",
    "PaddingWarning",
    "StopTraining",
    "UnseenLabelWarning",
]

_PACKAGE = str(Path(__file__).parent)
LONGEST_MESSAGE = 2000


def type_name(value: object) -> str:
    """The type of a value, for messages."""
    return "None" if value is None else type(value).__name__


def first_few(values: Sequence[object]) -> str:
    """The first five values, for messages; dots stand for the others."""
    return ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")


WarningHandler: TypeAlias = Callable[[str, type[Warning]], None]
_HANDLER: ContextVar[WarningHandler | None] = ContextVar("warning handler of hedgerow", default=None)


@contextmanager
def warnings_to(handler: WarningHandler) -> Iterator[None]:
    """Hand the warnings of this thread to a function; filters of `warnings` would be those of all threads."""
    token = _HANDLER.set(handler)
    try:
        yield
    finally:
        _HANDLER.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that called the library, however deep the call is."""
    handler = _HANDLER.get()
    if handler is not None:
        handler(message, category)
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class InputError(ValueError):
    """The data or a parameter breaks a rule; raised before any work is done."""

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) <= LONGEST_MESSAGE:
            return text
        half = LONGEST_MESSAGE // 2  # a long value stands between the rule and the cure: it loses its middle
        return f"{text[:half]} ... {text[-half:]}"


class AbsentPartError(InputError, AttributeError):
    """The model has no such part, such as trees or weights; `hasattr` of the attribute that shows the part is False."""


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before `fit`."""


def not_fitted(message: str) -> NotFittedError:
    """A NotFittedError; where scikit-learn is in use, one that `except sklearn.exceptions.NotFittedError` catches."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFittedError(message)
    return _not_fitted_of_both(theirs.NotFittedError)(message)


@cache
def _not_fitted_of_both(theirs: type[Exception]) -> type[NotFittedError]:
    def reduce(self: NotFittedError) -> tuple[Any, ...]:
        return not_fitted, self.args  # a class that is made at run time cannot be pickled by name

    return type("NotFittedError", (NotFittedError, theirs), {"__reduce__": reduce, "__module__": __name__})


class StopTraining(Exception):  # noqa: N818 - like StopIteration: no error
    """Raised by a callback to end a fit; the model has what was learned until then.

    Examples
    --------
    >>> import hedgerow as hr
    >>> def stop(record):
    ...     raise hr.StopTraining
    >>> len(hr.TreeCRF(n_rounds=9).fit(["ab", "ba"], [["x", "y"], ["y", "x"]], callbacks=[stop]).training_log_)
    1
    """


#: What reading a damaged file can raise, besides errors in the code that reads it.
DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class ModelFileError(ValueError):
    """A model file is truncated, damaged, foreign, or newer than this library."""


class CorpusError(ValueError):
    """A file of an encoded corpus is absent, cut short, damaged, foreign, or newer than this library."""


class DataNotFoundError(FileNotFoundError):
    """A data set is neither in HEDGEROW_DATA nor in the cache, and could not be downloaded."""


class ImpossibleLatticeError(ValueError):
    """The constraints, or known labels, forbid every path of a sequence: `sequence` is its number."""

    sequence: int = 0


def no_path(sequence: int, n_more: int = 0, beam: float | None = None) -> ImpossibleLatticeError:
    """The error for a sequence without an allowed path, and perhaps more of them."""
    more = f" (and {n_more} more)" if n_more else ""
    change = "raise" if beam is None or beam >= 1 else "lower"
    cure = "" if beam is None else f", or {change} beam={beam}, which may have lost the paths that are allowed"
    error = ImpossibleLatticeError(
        f"sequence {sequence} has no allowed path{more}; the constraints, known labels or scores of minus infinity "
        f"forbid every way to label it: allow more labels or pairs of labels{cure}"
    )
    error.sequence = sequence
    return error


class UnseenLabelWarning(UserWarning):
    """Labels that training never saw: they count as wrong, and `dev_loss` leaves their sequences out."""


class ConvergenceWarning(UserWarning):
    """Learning ended before it was done; the best model so far is kept."""


class BeamWarning(UserWarning):
    """A beam that is wider than the lattice: everything is kept, and the answers are exact."""


class BagWarning(UserWarning):
    """Instance bags that are longer than any sequence, or patterns that every position shows before learning."""


class CodeWarning(UserWarning):
    """An output code that has nothing to do: there are two labels."""


class AbsentColumnWarning(UserWarning):
    """Columns of training are absent from the sequences to label; the message says how each is read."""


class PaddingWarning(UserWarning):
    """Labels that look like padding are learned as a class; `hedgerow.from_padded` removes padding."""


class MissingColumnWarning(UserWarning):
    """A column in which every value of training is missing: nothing can be learned from it."""
