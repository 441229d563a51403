"""What a script prints: progress on standard error; a line about the machine and Markdown tables on standard output."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# Trees on columns as they are, with fixed settings: tables compare like with like, whatever the defaults are.
PLAIN_TREES: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_leaves": 50,
    "min_leaf": 1,
    "max_features": 1.0,
    "influence_trim": 0.0,
    "trees": "per-label",
    "label_statistics": False,
}


def log(*parts: object, sep: str = " ") -> None:
    """Tell on standard error how far a script has come."""
    print(*parts, sep=sep, file=sys.stderr, flush=True)


def processor() -> str:
    """The name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def print_machine(details: str = "") -> None:
    """Print date, processor, cores and Python in one line, then the details."""
    print(
        f"{datetime.date.today()}; {processor()}; {os.cpu_count()} cores; {platform.system()}; "
        f"Python {platform.python_version()}. {details}".rstrip(),
        flush=True,
    )


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a blank line and a Markdown table, each row as soon as it comes."""
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)
