"""How commands fail: exit codes, and one line on standard error."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Any

from hedgerow.cli.plain_text import escaped
from hedgerow.errors import CorpusError, ImpossibleLatticeError, InputError, ModelFileError

FAILED, REFUSED, INTERRUPTED = 1, 2, 130

#: What a command raises for input, flags and files that it cannot use; any other error is a bug.
BAD_INPUT = (InputError, ModelFileError, CorpusError, ImpossibleLatticeError, OSError)


#: Errors of the system that are not about the input: no space, too much for a quota, a broken device.
_NO_FAULT_OF_INPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def complain(error: Any) -> int:
    """Print one line on standard error and return the exit code."""
    say(_words(error))
    return FAILED if isinstance(error, OSError) and error.errno in _NO_FAULT_OF_INPUT else REFUSED


def say(message: str) -> None:
    """Print one line on standard error."""
    if sys.stderr is not None:
        print(f"hedgerow: {escaped(' '.join(message.split()))}", file=sys.stderr)


def _words(error: Any) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    place = "" if error.filename is None else f"{os.fspath(error.filename)}: "
    return f"{place}{error.strerror[0].lower()}{error.strerror[1:]}"


def warn_in_one_line() -> None:
    """Print warnings of the library as one line each, without the line of code that called it."""

    def show(message: Warning | str, *others: Any, **more: Any) -> None:
        say(f"warning: {message}")

    warnings.showwarning = show
