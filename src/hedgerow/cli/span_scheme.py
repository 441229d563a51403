"""The scheme of labels that mark spans."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import InputError
from hedgerow.estimators.dev_spans import marks_spans


def scheme_of(gold: Any, classes: list[Any]) -> str | None:
    """The scheme in which the gold labels are well-formed; None if the labels of the model and the file mark no spans.

    Labels that are well-formed in none are read as IOB2, as conlleval reads them.
    """
    from hedgerow.formats import detect_scheme

    if not marks_spans(classes):
        return None
    try:
        return detect_scheme(gold)
    except InputError:
        return "IOB2"
