"""Ozone days (UCI, eight-hour peak): one long sequence of days with real missing measurements."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/ozone/eighthr.data"
_FILE = DataFile(
    "ozone/eighthr.data",
    "0c10d1e216db3249c565e3ed5474302032067f6df0ea6fd49e6f06ec061f83a9",
    f"the UCI archive, {_URL}",
    _URL,
)
_KNOWN = {"days": 2534, "ozone days": 160, "missing values": 14937, "days with missing values": 687}
_COLUMNS = 72
_LABELS = {"0.": "normal", "1.": "ozone"}


def _parse(line: str) -> tuple[date, list[float], str]:
    """(date, measurements with NaN for `?`, label); ValueError or KeyError if the line has another format."""
    day, *values, label = line.split(",")
    if len(values) != _COLUMNS:
        raise ValueError
    numbers = [float("nan") if value == "?" else float(value) for value in values]
    return datetime.strptime(day, "%m/%d/%Y").date(), numbers, _LABELS[label]


def _read(split: str) -> SplitData:
    rows = []
    for number, line in enumerate(read_text(_FILE).splitlines(), start=1):
        try:
            rows.append(_parse(line))
        except (ValueError, KeyError):
            rule = f"a date, {_COLUMNS} numbers or ?, and 0. or 1."
            raise bad_line(_FILE, number, rule, line) from None
    rows.sort(key=lambda row: row[0])
    X, y = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    missing = np.isnan(X).sum(axis=1) if len(X) else np.zeros(0)
    counted = {
        "days": len(X),
        "ozone days": int((y == "ozone").sum()),
        "missing values": int(missing.sum()),
        "days with missing values": int((missing > 0).sum()),
    }
    verify(_FILE, _KNOWN, counted)
    two_thirds = len(X) * 2 // 3
    days = {"train": slice(two_thirds), "test": slice(two_thirds, None), "all": slice(None)}[split]
    return SplitData([X[days]], [y[days]])


ENTRIES = {
    "ozone": Entry(
        About(
            title="days of weather measurements to days of high ozone",
            columns="72 numbers: wind speeds, temperatures, humidity, pressure; NaN where not measured",
            labels="`ozone` for a day above the eight-hour limit, `normal`",
            source=_FILE.origin,
            licence="as the UCI archive states",
            citation="Zhang & Fan, Forecasting skewed biased stochastic ozone days, 2008",
            note="one sequence of days in chronological order: train is the first two thirds of the days (to "
            "5 September 2002), test the rest. 23 days of the seven years have no row",
        ),
        ("train", "test", "all"),
        _read,
        (_FILE,),
    )
}
