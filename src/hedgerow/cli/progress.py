"""Progress of a fit: a bar on a terminal, silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.estimators.base import Callback


@contextmanager
def progress(title: str, n_rounds: int) -> Iterator[Callback]:
    """A callback for `fit` that moves the bar; the bar is on standard error and gone when the work is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=n_rounds)
        yield lambda record: bar.update(task, completed=record["round"])
