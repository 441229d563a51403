"""The formats by name, and their detection."""

from __future__ import annotations

from hedgerow.errors import InputError
from hedgerow.formats import conll, conllu, crfpp
from hedgerow.formats.column_text import ColumnRules

COLUMN_FORMATS: dict[str, ColumnRules] = {rules.format: rules for rules in (conll.RULES, conllu.RULES, crfpp.RULES)}
NAMES = tuple(COLUMN_FORMATS)


def check_format(name: object) -> str:
    """The name of a format; raises InputError if there is none."""
    if not isinstance(name, str) or name not in NAMES:
        raise InputError(f"format is {name!r}; choose one of {', '.join(NAMES)}")
    return name


def detect(head: bytes, name: str) -> str:
    """The format of a file, by the beginning of its content and the end of its name."""
    del name
    for line in head.split(b"\n"):
        fields = line.rstrip(b"\r").split(b"\t")
        if not line.startswith(b"#") and line.strip():
            is_id = fields[0].replace(b"-", b"").replace(b".", b"").isdigit()
            return "conllu" if len(fields) == len(conllu.NAMES) and is_id else "conll"
    return "conll"
