"""Templates that commands name, and what they derive, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.reading import name_of
from hedgerow.cli.suggestions import did_you_mean
from hedgerow.data.columns import is_local
from hedgerow.encoding.rules import Part
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


@contextmanager
def naming_template(path: str, corpus: Corpus) -> Iterator[None]:
    """Let errors about columns that a template needs name --template and the file."""
    try:
        yield
    except InputError as error:
        message = re.sub(r"^(\w+): X must", lambda found: f"--template {found[1]}: {name_of(path)} must", str(error))
        message = message.replace("use words(), which", "use --template words, which")
        if message.startswith("--template numbers: ") and corpus.layout.separator is not None:
            message += f"; a file of format {corpus.layout.format} holds text only: make it a CSV"
        raise InputError(message) from error


def reads_through_window(template: Any, corpus: Corpus) -> bool:
    """Whether a column is left that is read through the window: templates replace text by columns of their own."""
    if template is None:
        return not all(map(is_local, corpus.X.columns))  # those of a folder that was encoded with a template are
    replaced = {column.rule.source for column in template.plan(corpus.X) if isinstance(column.rule, Part)}
    return any(column.name not in replaced for column in corpus.X.columns)


def features_in_words(template: Any, corpus: Corpus, *, chosen: bool) -> str:
    """Which columns a template derives."""
    if template is None:
        return "features: the columns as they are"
    return f"features: {template.describe(corpus.X)}{' (chosen by the columns; see --template)' if chosen else ''}"
