"""Templates that commands name, and what they derive, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.formats import Corpus


def template_of(text: str) -> Any:
    """The template of --template; None for none."""
    from hedgerow import templates

    if text == "none":
        return None
    if Path(text).exists():
        return templates.read(text)
    try:
        return templates.parse_template(text)
    except InputError:
        raise InputError(
            "--template must be a file, words, words:COLUMN, tags, letters:N, numbers or none; "
            f"there is no file {text!r}"
        ) from None


def features_in_words(template: Any, corpus: Corpus, *, chosen: bool) -> str:
    """Which columns a template derives."""
    if template is None:
        return "features: the columns as they are"
    return f"features: {template.describe(corpus.X)}{' (chosen by the columns; see --template)' if chosen else ''}"
