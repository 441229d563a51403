"""What views share: checks of labels and counts, text tables, data frames, and empty axes of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.data.html_repr import html_table, visible, without_middle
from hedgerow.errors import InputError
from hedgerow.metrics.text_table import text_table
from hedgerow.model import Model
from hedgerow.utilities import is_count

MOST_ROWS = 20


def label_code(model: Model, label: object, name: str) -> int:
    """The code of a label of the model; raises InputError, in which `name` is the argument, if it is something else.

    True is no label of a model with the labels 0 and 1, although Python takes them as equal.
    """
    classes: list[Any] = model.labels.classes.tolist()
    plain = label.item() if isinstance(label, np.generic) else label
    if type(plain) is not type(classes[0]) or plain not in classes:
        shown = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
        raise InputError(f"{name} must be a label of the model ({shown}), but it is {plain!r}")
    return classes.index(plain)


def check_count(view: str, name: str, value: object, least: int = 1) -> int:
    """The value as an int; raises InputError unless it is an integer of at least `least`."""
    if not is_count(value) or int(value) < least:  # type: ignore[call-overload]
        raise InputError(f"{view}: {name} must be an integer of at least {least}; it is {value!r}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def cell(value: object) -> str:
    """A value in a text table: four digits of a number, one line of a text."""
    return f"{value:.4g}" if isinstance(value, float) else without_middle(visible(value))


def top_table(header: Sequence[str], rows: Sequence[Sequence[object]], most: int = MOST_ROWS) -> str:
    """The first rows as an aligned table; a last line counts the others."""
    table = text_table([[cell(name) for name in header], *([cell(value) for value in row] for row in rows[:most])])
    return f"{table}\n… {len(rows) - most:,} more" if len(rows) > most else table


def top_html_table(header: Sequence[str], rows: Sequence[Sequence[object]], most: int = MOST_ROWS) -> str:
    """The first rows as HTML; a line below them counts the others."""
    more = f"<p>… {len(rows) - most:,} more</p>" if len(rows) > most else ""
    return html_table(header, rows[:most]) + more


def frame_of(header: Sequence[str], rows: Sequence[Sequence[object]]) -> Any:
    """The rows as a data frame of pandas, or of polars if pandas is not installed."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    for library in ("pandas", "polars"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        return module.DataFrame(columns)
    raise ImportError("to_frame needs pandas or polars; install one of them")


def axes_or_new(axes: Any, height: float = 4.0) -> Any:
    """The axes, or those of a new figure of matplotlib, which the extra `plot` installs."""
    if axes is not None:
        return axes
    from matplotlib import pyplot  # optional dependency, slow to import

    return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]


def plain_text(value: object) -> str:
    """A text for matplotlib, which reads formulas between dollar signs."""
    return without_middle(visible(value), 48).replace("$", r"\$")
