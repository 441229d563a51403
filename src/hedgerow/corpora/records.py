"""Progress of `encode`: one record for each shard of each pass, and a bar that shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hedgerow.callbacks import can_draw

#: "pass" ("read", "pairs" or "codes"), "step" (shards done, counted from 1), "total" (None while the source is read),
#: "sequences", "positions", "seconds".
EncodingRecord: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[EncodingRecord], Any]

_TITLES = {"read": "reading", "pairs": "collecting pairs", "codes": "encoding"}


class ProgressBar:
    """Shows each pass as a bar on standard error, if that is a terminal or a notebook."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __call__(self, record: EncodingRecord) -> None:
        """Show a record."""
        if not can_draw():
            return
        if self._bar is None:
            self._bar = _started_bar()
        name = record["pass"]
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(_TITLES[name], total=record["total"])
        text = f"{_TITLES[name]}, {record['positions']:,} positions"
        self._bar.update(self._tasks[name], completed=record["step"], total=record["total"], description=text)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _started_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar
