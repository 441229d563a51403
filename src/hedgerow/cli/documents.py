"""Documents in column files, which the command line does not keep together when it holds out sequences."""

from __future__ import annotations

import re
from pathlib import Path

from hedgerow.cli.failures import say
from hedgerow.cli.reading import name_of

_BORDER = re.compile(rb"^(-DOCSTART-|# ?newdoc\b)", re.MULTILINE)


def note_documents(path: str) -> None:
    """Say that scores on held-out sequences may be too high, if the file has two documents or more."""
    if path == "-" or not Path(path).is_file():
        return
    borders = _BORDER.finditer(Path(path).read_bytes())
    if next(borders, None) is not None and next(borders, None) is not None:
        say(
            f"note: {name_of(path)} has documents, but its sequences are held out one by one, so that scores may be "
            "too high for new documents; in Python, groups= keeps documents together"
        )
