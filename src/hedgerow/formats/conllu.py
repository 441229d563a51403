"""CoNLL-U, the format of Universal Dependencies: ten columns. Multiword tokens and empty nodes are skipped.

X has the column "form" unless `columns` names others: the other columns are the results of an analysis, which new text
does not have.
"""

from __future__ import annotations

from hedgerow.formats.column_text import ColumnFormat

NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
FORMAT = ColumnFormat(
    "conllu",
    tabs=True,
    numbered=True,
    absent_from=NAMES.index("lemma"),  # a form is never absent: "_" is an underscore
    n_columns=len(NAMES),
    names=NAMES,
    attributes=("form",),
    label="upos",
)
