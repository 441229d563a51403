"""Error rates of groups of positions: by gold label, length, and the values of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import html_table
from hedgerow.inspection.view_tables import frame_of, top_table

_Z = 1.959963984540054  # 97.5 % of a standard normal variable are below
N_LENGTH_BINS = 5
FREQUENCY_BINS = (1, 3, 10, 100, 1000)  # the highest frequency of each group but the last

Mask = NDArray[np.bool_]


class ErrorGroup(NamedTuple):
    """How many positions of a group have a wrong label.

    Attributes
    ----------
    group : str
        The name of the group.
    positions, wrong : int
        Number of positions, and of those with a wrong label.
    rate : float
        wrong / positions; NaN without positions.
    low, high : float
        The ends of the Wilson interval of the rate, at 95 %.
    """

    group: str
    positions: int
    wrong: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class ErrorTable:
    """Error rates of groups of positions; `str()` is a table of the first rows.

    Attributes
    ----------
    by : str
        What the groups differ in.
    rows : tuple of ErrorGroup
        The groups. `to_frame()` has the same as a data frame.
    """

    by: str
    rows: tuple[ErrorGroup, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> ErrorGroup:
        return self.rows[index]

    def to_frame(self) -> Any:
        """Return the rows as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> list(hr.inspection.errors(hr.HMM().fit(X, y), X, y).by_label.to_frame().columns)
        ['group', 'positions', 'wrong', 'rate', 'low', 'high']
        """
        return frame_of(ErrorGroup._fields, self.rows)

    @property
    def _header(self) -> list[str]:
        return [self.by, "positions", "wrong", "rate", "95% interval"]

    def _shown(self) -> list[list[str]]:
        return [
            [row.group, f"{row.positions:,}", f"{row.wrong:,}", f"{row.rate:.2%}", f"{row.low:.2%} to {row.high:.2%}"]
            for row in self.rows
        ]

    def __str__(self) -> str:
        return top_table(self._header, self._shown())

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._header, self._shown(), f'Error rate by {self.by}')}</div>"


def wilson_interval(wrong: int, positions: int) -> tuple[float, float]:
    """The Wilson interval of a share at 95 %; (NaN, NaN) without positions.

    It holds every p with (share - p)² <= z² p (1 - p) / n, and so stays between 0 and 1.
    """
    if not positions:
        return nan, nan
    share, z2 = wrong / positions, _Z * _Z / positions
    middle = (share + z2 / 2) / (1 + z2)
    reach = sqrt(share * (1 - share) * z2 + z2 * z2 / 4) / (1 + z2)
    low = 0.0 if wrong == 0 else middle - reach
    return low, 1.0 if wrong == positions else middle + reach


def error_group(name: object, positions: int, wrong: int) -> ErrorGroup:
    """The group with its error rate and interval."""
    rate = wrong / positions if positions else nan
    return ErrorGroup(str(name), positions, wrong, rate, *wilson_interval(wrong, positions))


def grouped_errors(by: str, names: Sequence[object], groups: NDArray[Any], wrong: Mask) -> ErrorTable:
    """The table of groups that are numbered by position; those without positions are left out."""
    positions = np.bincount(groups, minlength=len(names)).tolist()
    wrongs = np.bincount(groups[wrong], minlength=len(names)).tolist()
    listed = zip(names, positions, wrongs, strict=True)
    return ErrorTable(by, tuple(error_group(name, n, bad) for name, n, bad in listed if n))


def errors_by_label(labels: Sequence[object], gold: NDArray[Any], wrong: Mask) -> ErrorTable:
    """Error rates by gold label, the label with the most wrong positions first."""
    table = grouped_errors("gold label", labels, gold, wrong)
    return ErrorTable(table.by, tuple(sorted(table.rows, key=lambda row: -row.wrong)))


def errors_by_length(starts: NDArray[np.int64], wrong: Mask) -> ErrorTable:
    """Error rates by the length of the sequence, in groups of about equally many sequences."""
    lengths = np.diff(starts)
    if not len(lengths):
        return ErrorTable("sequence length", ())
    shares = np.arange(1, N_LENGTH_BINS + 1) / N_LENGTH_BINS
    longest = np.unique(np.quantile(lengths, shares, method="inverted_cdf"))
    group = np.searchsorted(longest, lengths)
    shortest = [int(lengths[group == i].min()) for i in range(len(longest))]
    names = [_range(low, int(high)) for low, high in zip(shortest, longest, strict=True)]
    return grouped_errors("sequence length", names, np.repeat(group, lengths), wrong)


def errors_by_frequency(codes: NDArray[np.int32], n_values: int, wrong: Mask) -> ErrorTable:
    """Error rates by how often the value of a position occurs in these codes; codes below 0 are no value."""
    some = codes >= 0
    counts = np.bincount(codes[some], minlength=n_values)
    lows = [1, *(high + 1 for high in FREQUENCY_BINS)]
    names = [*map(_range, lows, FREQUENCY_BINS), f"{lows[-1]:,} or more"]
    return grouped_errors("frequency", names, np.searchsorted(FREQUENCY_BINS, counts[codes[some]]), wrong[some])


def errors_by_column(by: str, marked: Iterable[tuple[str, Mask]], wrong: Mask) -> ErrorTable:
    """Error rates of the positions that are marked in no column, in some of several columns, and in each column.

    The columns with the most wrong positions come first. Columns without marked positions are left out; without any,
    the table is empty.
    """
    anywhere, rows = np.zeros(len(wrong), np.bool_), []
    for name, mask in marked:
        if mask.any():
            anywhere |= mask
            rows.append(_errors_at(name, mask, wrong))
    if not rows:
        return ErrorTable(by, ())
    rows.sort(key=lambda row: -row.wrong)
    if len(rows) > 1:
        rows.insert(0, _errors_at("(some column)", anywhere, wrong))
    none = _errors_at("(no column)", ~anywhere, wrong)
    return ErrorTable(by, tuple(row for row in [none, *rows] if row.positions))


def _errors_at(name: str, mask: Mask, wrong: Mask) -> ErrorGroup:
    return error_group(name, int(np.count_nonzero(mask)), int(np.count_nonzero(mask & wrong)))


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
