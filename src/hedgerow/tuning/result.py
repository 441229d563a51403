"""The result of `tune`: the fitted winner, a table of all settings, and a summary in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hedgerow.estimators.base import Estimator
from hedgerow.metrics.text_table import text_table
from hedgerow.utilities import counted

SHOWN = 5  # settings within noise that the summary names
BEST, WITHIN_NOISE, WORSE = "best", "within noise", "worse"
NOT_RUN, NOT_FINISHED = "not run", "not finished"  # without any trial; with a score of an earlier rung only
TOO_SLOW = f"{NOT_RUN}: a fit takes about"


@dataclass(frozen=True)
class TuningResult:
    """Result of `tune`; `str()` is the table and the summary.

    Attributes
    ----------
    model
        The best estimator, fitted on all data.
    scoring
        Name of the score.
    best_score, standard_error
        Cross-validated score of the best setting, and its standard error.
    rows
        One dict for each setting, the best first: "setting", "score", "standard_error", "behind" (by how much the score
        is below the best one on the same data), "seconds", "rung" (counted from 1), "folds", "share" of the training
        part that each fit learned from, and "status".
    is_complete
        Whether the whole plan was run. If not, `stopped` says why: "out of time", "interrupted" or "stopped
        by a callback".
    notes
        Sentences about the data and the plan that the summary ends with.
    """

    model: Estimator
    scoring: str
    best_score: float
    standard_error: float
    rows: list[dict[str, Any]]
    stopped: str | None = None
    notes: Sequence[str] = field(default=())

    @property
    def is_complete(self) -> bool:
        """Whether the whole plan was run."""
        return self.stopped is None

    def summary(self) -> str:
        """Say which setting won, and which ones the race cannot tell from it.

        Returns
        -------
        str
            A few sentences, one on each line.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog", "cot", "dag"] * 5, [["-", "v", "-"]] * 20
        >>> print(hr.tune(X, y, estimators=["HMM"], random_state=0).summary().splitlines()[0])
        Best of 2 settings: HMM(), accuracy 1.0000.
        """
        best, n_scored = self.rows[0], sum(row["score"] is not None for row in self.rows)
        error = f" ± {self.standard_error:.4f}" if self.standard_error > 0 else ""
        lines = [
            f"Best of {counted(n_scored, 'setting')}: {best['setting']}, {self.scoring} {self.best_score:.4f}{error}."
        ]
        lines += [line for line in (self._noise(), self._dropped(), self._too_slow(), self._cut_off()) if line]
        return "\n".join([*lines, *self.notes])

    def _noise(self) -> str:
        rivals = [row["setting"] for row in self.rows if row["status"] == WITHIN_NOISE]
        others = [row for row in self.rows if row["status"] == WORSE]
        if rivals:
            more = f" and {len(rivals) - SHOWN} more" if len(rivals) > SHOWN else ""
            named = ", ".join(rivals[:SHOWN])
            return f"Within noise of the best, so that the race does not tell them apart: {named}{more}."
        if others:
            return "The difference from every other setting of its rung is larger than noise (two standard errors)."
        return ""

    def _dropped(self) -> str:
        dropped = [row for row in self.rows if row["status"].startswith("dropped")]
        close = sum(row["status"].endswith("within noise") for row in dropped)
        if not dropped:
            return ""
        noise = f", {close} of them within noise of the best of their rung" if close else ""
        return f"{counted(len(dropped), 'setting')} dropped on earlier rungs{noise}."

    def _too_slow(self) -> str:
        slow = [row["setting"] for row in self.rows if row["status"].startswith(TOO_SLOW)]
        return f"Too slow for the budget, so not raced: {', '.join(slow)}; raise budget to race them." if slow else ""

    def _cut_off(self) -> str:
        if self.stopped is None:
            return ""
        cut_off = [f"{status}: {self.stopped}" for status in (NOT_RUN, NOT_FINISHED)]
        left = sum(row["status"] in cut_off for row in self.rows)
        cure = "; raise budget for a full race" if self.stopped == "out of time" else ""
        return f"The race was cut off ({self.stopped}): {counted(left, 'setting')} not run to the end{cure}."

    def to_frame(self) -> Any:
        """Return the table as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed.

        Raises
        ------
        ImportError
            If neither is installed; `rows` has the same values.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog", "cot", "dag"] * 5, [["-", "v", "-"]] * 20
        >>> hr.tune(X, y, estimators=["HMM"], random_state=0).to_frame().shape
        (2, 9)
        """
        for library in ("pandas", "polars"):
            try:
                module = __import__(library)
            except ImportError:
                continue
            return module.DataFrame(self.rows)
        raise ImportError("to_frame needs pandas or polars; install one of them, or use rows")

    def __str__(self) -> str:
        head = ["setting", "score", "error", "behind", "seconds", "rung", "folds", "share", "status"]
        return "\n".join([text_table([head, *map(_cells, self.rows)]), self.summary()])


def _cells(row: dict[str, Any]) -> list[str]:
    numbers = [_number(row[name], 4) for name in ("score", "standard_error", "behind")]
    rung, folds = (str(row[name] or "") for name in ("rung", "folds"))
    share = f"{row['share']:.0%}" if row["share"] else ""
    return [row["setting"], *numbers, _number(row["seconds"], 1), rung, folds, share, row["status"]]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"
