"""What machine this is, for the head of a table."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path


def describe_machine() -> str:
    """Date, processor, cores and Python in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return (
        f"{datetime.date.today()}; {model}; {os.cpu_count()} cores; {platform.system()}; "
        f"Python {platform.python_version()}."
    )
