"""Importances of the tests of trees: rows that can be sorted, summed by column, shown and plotted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

from hedgerow.errors import InputError
from hedgerow.inspection.svg_charts import bar_chart

ANY_VALUE = "any value"
MOST_BARS = 20


class Importance(NamedTuple):
    """Importance of a test; for numbers, of a column at an offset with all its thresholds.

    Attributes
    ----------
    column, offset, value
        The test: the column has the value at this offset from the position. The value of numbers is "any value".
        Label statistics and linear scores are columns of numbers at offset 0: their names say what they read.
    gain
        By how much all splits by this test lowered the squared error.
    splits
        The number of splits by this test.
    """

    column: str
    offset: int
    value: str
    gain: float
    splits: int


class ColumnImportance(NamedTuple):
    """Importance of a column: the sums over its values and offsets.

    Attributes
    ----------
    column
        The column. Label statistics and linear scores are columns too, and so is the previous label.
    gain
        By how much all splits by tests of the column lowered the squared error.
    splits
        The number of splits by tests of the column.
    """

    column: str
    gain: float
    splits: int


Row = TypeVar("Row", Importance, ColumnImportance)


class Importances(Sequence[Row]):
    """The importances of a model's tests, or of its columns; an immutable sequence of named tuples.

    It is equal to a list or tuple of the same rows. `str()` is a table of the first rows.

    Parameters
    ----------
    rows : iterable of Importance or ColumnImportance
        In the order in which they are shown.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> model.feature_importances_[0].column
    'symbol'
    >>> len(model.feature_importances_.by_column())
    2
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: tuple[Row, ...] = tuple(rows)

    @property
    def _header(self) -> tuple[str, ...]:
        return self._rows[0]._fields if self._rows else Importance._fields

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Importances[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Importances[Row]:
        return Importances(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Importances, list, tuple)):
            return self._rows == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows)

    def sort(self, by: str = "gain") -> Importances[Row]:
        """Return the rows in another order; these rows keep theirs.

        Parameters
        ----------
        by : {"gain", "splits"}, default="gain"
            The number of which the greatest comes first.

        Returns
        -------
        Importances
            Rows with equal numbers are in the order of their tests or columns.

        Raises
        ------
        InputError
            If `by` is another word.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> rows = model.feature_importances_.sort(by="splits")
        >>> rows[0].splits >= rows[-1].splits
        True
        """
        if by not in ("gain", "splits"):
            raise InputError(f'importances are sorted by "gain" or "splits", but by is {by!r}')
        return Importances(sorted(self._rows, key=lambda row: (-getattr(row, by), row[:-2])))

    def by_column(self) -> Importances[ColumnImportance]:
        """Return the sums over the values and offsets of each column.

        Returns
        -------
        Importances
            One `ColumnImportance` for a column, the greatest gain first.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> [row.column for row in model.feature_importances_.by_column()]
        ['symbol', 'previous label']
        """
        sums: dict[str, tuple[float, int]] = {}
        for row in self._rows:
            gain, splits = sums.get(row.column, (0.0, 0))
            sums[row.column] = gain + row.gain, splits + row.splits
        return Importances(ColumnImportance(column, *both) for column, both in sums.items()).sort()

    def to_frame(self) -> Any:
        """Return the rows as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; a column for each field of the rows.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> list(model.feature_importances_.to_frame().columns)
        ['column', 'offset', 'value', 'gain', 'splits']
        """
        from hedgerow.inspection.view_tables import frame_of

        return frame_of(self._header, self._rows)

    def plot(self, n: int = 20, axes: Any = None) -> Any:
        """Plot the first rows as bars.

        Parameters
        ----------
        n : int, default=20
            The most rows to plot.
        axes : matplotlib axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib axes
            matplotlib is installed by the extra `plot`.

        Raises
        ------
        InputError
            If n is not an integer of at least 1.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib
        >>> matplotlib.use("Agg")
        >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.feature_importances_.plot(n=3).get_xlabel()
        'gain'
        """
        from hedgerow.inspection.view_tables import axes_or_new, check_count, plain_text

        rows = self._rows[: check_count("plot", "n", n)]
        axes = axes_or_new(axes, 0.8 + 0.25 * len(rows))
        axes.barh(range(len(rows)), [row.gain for row in rows])
        axes.set_yticks(range(len(rows)), [plain_text(_words(row)) for row in rows])
        axes.invert_yaxis()
        axes.set_xlabel("gain")
        return axes

    def to_svg(self, n: int = MOST_BARS) -> str:
        """Return a bar chart of the gains of the first rows.

        Parameters
        ----------
        n : int, default=20
            The most rows to draw.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        InputError
            If n is not an integer of at least 1.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=5, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.feature_importances_.to_svg()[:4]
        '<svg'
        """
        from hedgerow.inspection.view_tables import check_count

        bars = [(_words(row), row.gain) for row in self._rows[: check_count("to_svg", "n", n)]]
        described = f"Gain of {len(bars)} of {len(self):,}, one bar for each."
        return bar_chart(bars, title="Importances", description=described)

    def __str__(self) -> str:
        from hedgerow.inspection.view_tables import top_table

        return top_table(self._header, self._shown)

    def __repr__(self) -> str:
        return f"Importances({list(self._rows)!r})"

    def _repr_html_(self) -> str:
        from hedgerow.inspection.view_tables import top_html_table

        return f"<div>{top_html_table(self._header, self._shown, MOST_BARS)}</div>"

    @property
    def _shown(self) -> list[list[object]]:
        return list(map(_cells, self._rows))


def _cells(row: Importance | ColumnImportance) -> list[object]:
    return [*row[:-1], f"{row.splits:,}"]


def _words(row: Importance | ColumnImportance) -> str:
    if isinstance(row, ColumnImportance):
        return row.column
    place = f"{row.column}{f'[{row.offset:+d}]' if row.offset else ''}"
    return place if row.value == ANY_VALUE else f"{place} {row.value}"
