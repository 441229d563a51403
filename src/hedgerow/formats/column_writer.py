"""Writing of column files. What would be read back otherwise is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hedgerow.errors import InputError
from hedgerow.formats.content import Content, check_texts

_BREAKS = re.compile(r"[\t\n\r\0]")
_BLANKS = re.compile(r"[ \t\n\r\0]|^$")
_DOCUMENT = "-DOCSTART-"


def write_columns(content: Content, file_format: str) -> Iterator[bytes]:
    """The lines of a CoNLL or CRF++ file."""
    content.refuse_weights(file_format)
    columns = content.in_order(content.text_columns(file_format))
    separator = _separator(content, columns, file_format)
    allowed = _BREAKS if separator == "\t" else _BLANKS
    rule = "must hold no tab, line break or NUL" if separator == "\t" else "must hold values without blanks"
    for name, texts in columns.items():
        check_texts(set(texts), f"column {name!r}", lambda text: not allowed.search(text), rule)
    lines = [separator.join(row) for row in zip(*columns.values(), strict=True)]
    _check_lines(content, lines, len(columns), file_format)
    for sequence in content.sequences(lines):
        yield ("\n".join(sequence) + "\n\n").encode()


def write_numbered(content: Content, names: tuple[str, ...]) -> Iterator[bytes]:
    """The lines of a CoNLL-U file; columns that X does not have are `_`, and ids are counted."""
    content.refuse_weights("conllu")
    columns = content.text_columns("conllu", "upos")
    for name, texts in columns.items():
        if name not in names:
            raise InputError(f"conllu has no column {name!r}; rename it to one of {', '.join(names)}")
        check_texts(
            set(texts), f"column {name!r}", lambda text: not _BREAKS.search(text), "must hold no tab, line break or NUL"
        )
    if "" in columns.get("form", [""]):
        raise InputError("a word of conllu must have a form, but X has none at some position; name a column 'form'")
    n = content.X.n_positions
    filled = {name: [text or "_" for text in columns.get(name, [""] * n)] for name in names}
    if "id" not in columns:
        filled["id"] = [str(t + 1) for length in content.X.lengths.tolist() for t in range(length)]
    check_texts(set(filled["id"]), "column 'id'", str.isdecimal, "must hold numbers")
    lines = ["\t".join(row) for row in zip(*filled.values(), strict=True)]
    for sequence in content.sequences(lines):
        yield ("\n".join(sequence) + "\n\n").encode()


def _separator(content: Content, columns: dict[str, list[str]], file_format: str) -> str:
    """A blank for CRF++ and where the layout has it; otherwise a tab, which can be read in every case."""
    if file_format == "crf++":
        return " "
    if content.layout is None or content.layout.separator != " ":
        return "\t"
    first, *others = columns.values()
    firsts = {first[start] for start in content.X.starts[:-1].tolist()}
    plain = not any(_BLANKS.search(text) for texts in columns.values() for text in set(texts))
    certain = "#" not in firsts and not all(text.startswith("#") for text in set(first))  # no line looks like a comment
    return " " if plain and others and certain else "\t"


def _check_lines(content: Content, lines: list[str], n_columns: int, file_format: str) -> None:
    """Raise InputError for a line that would be read as something else."""
    for at, line in enumerate(lines):
        if not line.strip(" \t"):
            raise content.fail(at, "every value is absent or blank, which is the end of a sequence in a file")
        if file_format == "conll" and line.startswith(_DOCUMENT):
            raise content.fail(at, f"{line!r:.60} begins with {_DOCUMENT}, which conll drops; write crf++")
        if n_columns == 1 and file_format == "conll" and (line.startswith("#") or " " in line):
            raise content.fail(at, f"{line!r:.60} is a comment or several columns in conll; write jsonl")
    if lines[0].startswith("\ufeff"):
        raise content.fail(0, "a file cannot begin with a byte order mark that is text; write jsonl")
