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

from hedgerow.templates.base import Template as Template
from hedgerow.templates.base import parse_template as parse_template
from hedgerow.templates.base import template_from_json as template_from_json
from hedgerow.templates.choosing import choose
from hedgerow.templates.columns import columns, edges
from hedgerow.templates.files import read
from hedgerow.templates.letters import letters
from hedgerow.templates.numbers import numbers
from hedgerow.templates.tags import tags
from hedgerow.templates.words import words

__all__ = ["choose", "columns", "edges", "letters", "numbers", "read", "tags", "words"]
