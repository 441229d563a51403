"""Templates that commands name, and what they derive, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.suggestions import did_you_mean
from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.formats import Corpus, Layout

TEMPLATES = ("words", "tags", "letters", "numbers", "none")


def template_of(text: str, layout: Layout | None = None) -> Any:
    """The template of --template; None for none. A CRF++ file names the columns of the layout by number."""
    from hedgerow import templates

    if text == "none":
        return None
    if Path(text).exists():
        if layout is None:
            return templates.read(text)
        return templates.read(text, [name if name in layout.attributes else None for name in layout.columns])
    try:
        return templates.parse_template(text)
    except InputError:
        kind = text.partition(":")[0]
        if kind == "letters":
            cure = "give the number of letters on each side, as in letters:5"
        else:
            cure = did_you_mean(kind, TEMPLATES, otherwise="there is no such file")
        raise InputError(
            f"--template must be a file, words, words:COLUMN, tags, letters:N, numbers or none; it is {text!r}; {cure}"
        ) from None


def features_in_words(template: Any, corpus: Corpus, *, chosen: bool) -> str:
    """Which columns a template derives."""
    if template is None:
        return "features: the columns as they are"
    return f"features: {template.describe(corpus.X)}{' (chosen by the columns; see --template)' if chosen else ''}"
