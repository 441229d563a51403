"""Small plots in a common style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def draw(path: Path, n_panels: int, draw_on: Callable[[list[Any]], None], columns: int = 2) -> None:
    """Write a figure of several panels; `draw_on` receives their axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = -(-n_panels // columns)
    figure, panels = pyplot.subplots(rows, columns, figsize=(4.2 * columns, 3 * rows), squeeze=False)
    axes = list(panels.ravel())
    draw_on(axes[:n_panels])
    for unused in axes[n_panels:]:
        unused.remove()
    for panel in axes[:n_panels]:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    pyplot.close(figure)
    _with_few_colours(path)


def _with_few_colours(path: Path) -> None:
    """Reduce the image to 16 colours, which thin lines do not need more of: the file shrinks to a third."""
    from PIL import Image

    with Image.open(path) as image:
        few = image.convert("RGB").quantize(16)
    few.save(path, optimize=True)
