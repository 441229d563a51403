"""Templates: which columns to derive from the words, letters or numbers of X. Every estimator takes one as `features`.

words      words, their endings and shapes, their neighbours, and pairs of words; tags beside them
tags       text of few values, around a position, with pairs and triples
letters    letters around a position, and strings of two to five of them
numbers    changes of numbers, and their mean and spread around a position
columns    any columns, described one by one
edges      columns for weights of two labels that follow each other
read       the template of a file
choose     the template that fits the columns of X
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hedgerow.templates.base import Template as Template
from hedgerow.templates.base import parse_template as parse_template
from hedgerow.templates.base import template_from_json as template_from_json

if TYPE_CHECKING:
    from hedgerow.templates.choosing import choose as choose
    from hedgerow.templates.column_template import columns as columns
    from hedgerow.templates.column_template import edges as edges
    from hedgerow.templates.files import read as read
    from hedgerow.templates.letter_template import letters as letters
    from hedgerow.templates.number_template import numbers as numbers
    from hedgerow.templates.tag_template import tags as tags
    from hedgerow.templates.word_template import words as words

# Names are loaded on first use: a model needs its own template only.
_HOME = {
    "choose": "choosing",
    "columns": "column_template",
    "edges": "column_template",
    "letters": "letter_template",
    "numbers": "number_template",
    "read": "files",
    "tags": "tag_template",
    "words": "word_template",
}
__all__ = ["choose", "columns", "edges", "letters", "numbers", "read", "tags", "words"]


if not TYPE_CHECKING:  # a type checker that saw __getattr__ would accept every misspelled name

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
