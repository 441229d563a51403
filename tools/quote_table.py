"""Print some rows of the tables that commands filled in docs/benchmarks.md, as one table.

    python tools/quote_table.py % dutch protein
    python tools/quote_table.py missing occupancy ozone --columns metric weighting learned

The first argument is the heading of the first column of the tables, the others are rows. Guides quote figures this way,
in blocks of `tools/fill_docs.py`, so that nobody copies figures by hand and a test can compare them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fill_docs import find_blocks

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
ABSENT = "–"
COLUMNS = (
    "metric", "TreeCRF", "TreeCRF, linear", "StructuredSVM", "LinearCRF", "SearchTagger", "python-crfsuite", "LightGBM",
)  # fmt: skip
NAMES = {
    "armenian": "parts of speech, Armenian",
    "conll2000": "chunks, CoNLL-2000",
    "dutch": "names, Dutch",
    "gesture": "gestures",
    "hyphen": "hyphenation",
    "letters": "handwriting",
    "nettalk": "letters to sounds",
    "nettalk-stress": "word stress",
    "occupancy": "occupied rooms",
    "ozone": "ozone days",
    "protein": "protein structure",
    "snips": "slots, spoken commands",
}


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of the filled blocks of a page: lists of rows, the head first, without the line of dashes."""
    lines = text.splitlines()
    for block in find_blocks(text):
        rows: list[list[str]] = []
        for line in [*lines[block.first : block.last], ""]:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            elif rows:
                yield [rows[0], *rows[2:]]
                rows = []


def quote(text: str, heading: str, names: Sequence[str], columns: Sequence[str]) -> list[list[str]]:
    """Return the head and the rows `names`, of all tables whose first column has this heading.

    Columns that none of the rows has are left out. Raises KeyError for a row that no table has.
    """
    found: dict[str, dict[str, str]] = {}
    for head, *body in tables(text):
        if head[0] == heading:
            found |= {row[0]: dict(zip(head, row, strict=True)) for row in body}
    there = [column for column in columns if any(column in found[name] for name in names)]
    rows = [[NAMES.get(name, name), *(found[name].get(column, ABSENT) for column in there)] for name in names]
    return [[heading, *there], *rows]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heading", help="heading of the first column")
    parser.add_argument("rows", nargs="+", help="first cells of rows")
    parser.add_argument("--columns", nargs="+", default=COLUMNS, help="headings of columns")
    options = parser.parse_args(arguments)
    try:
        rows = quote(PAGE.read_text(encoding="utf-8"), options.heading, options.rows, options.columns)
    except KeyError as error:
        print(f"error: no table of {PAGE.name} with the heading {options.heading} has the row {error}", file=sys.stderr)
        return 1
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    print(head, "|" + "---|" * len(rows[0]), *body, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
