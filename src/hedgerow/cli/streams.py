"""Standard streams as a command needs them: always there, able to print any text, and quiet when nobody reads it."""

from __future__ import annotations

import os
import sys

from hedgerow.cli.failures import FAILED, complain


def open_streams() -> None:
    """Replace streams that the process was started without, and print characters that cannot be encoded as escapes."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for the whole process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for the whole process
    elif hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def flush_output(code: int) -> int:
    """Write what is left; the exit code, or that of failure if nobody takes it, or no space is left."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        close_quietly()
        return code or FAILED
    except OSError as error:
        close_quietly()
        return code or complain(error)
    return code


def close_quietly() -> None:
    """Forget standard output: nobody reads it, and nothing must complain when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
