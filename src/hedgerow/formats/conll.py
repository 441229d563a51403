"""CoNLL columns: any number of columns between blanks or tabs, comments, and -DOCSTART- lines, which are dropped."""

from __future__ import annotations

from hedgerow.formats.column_text import ColumnFormat

FORMAT = ColumnFormat("conll", comments=True, documents=True)
