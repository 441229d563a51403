"""Columns of CRF++ and Wapiti: between blanks or tabs, without comments, because # may be a token."""

from __future__ import annotations

from hedgerow.formats.column_text import ColumnFormat

FORMAT = ColumnFormat("crf++", tabs=False)
