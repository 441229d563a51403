"""Callbacks for `fit`: functions of one training record, called at every step of a fit.

A callback that returns True, or raises `StopTraining`, ends the fit with what has been learned so far. If a callback
has a method `begin`, `fit` calls it before the first step, with the name of the estimator; if it has a method `close`,
`fit` calls it at the end, also after an error.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hedgerow.utilities import counted

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from hedgerow.model import Model

__all__ = ["Callback", "Progress", "TrainingRecord", "TrialRecord"]

log = logging.getLogger("hedgerow")
WIDTH, BESIDE = 20, 20  # of the bar, and of steps, time left and spaces beside it
SECONDS_WITHOUT_LINE = 10.0


class TrainingRecord(dict[str, Any]):
    """One record of the training log, as a callback gets it.

    It is the dict that `training_log_` holds: "unit" ("round", "iteration", "epoch", "bit" or "model"), "step" (counted
    from 1), "loss", "seconds", scores on the dev data if there are any, and fields of the algorithm.

    Attributes
    ----------
    estimator : str
        Name of the estimator that is fitted.
    total : int or None
        Number of steps at most, if it is known. A TreeCRF with `n_rounds="auto"` knows it in its second fit.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["ab", "ba"], [["x", "y"], ["y", "x"]]
    >>> def stop_at_two(record):
    ...     return record["step"] == 2
    >>> len(hr.TreeCRF(n_rounds=9).fit(X, y, callbacks=[stop_at_two]).training_log_)
    2
    """

    def __init__(
        self, record: Mapping[str, Any], *, estimator: str, total: int | None, make_model: Callable[[], Model]
    ) -> None:
        super().__init__(record)
        self.estimator = estimator
        self.total = total
        self._make_model: Callable[[], Model] | None = make_model

    def model(self) -> Model:
        """Return the model as it is after this step.

        Returns
        -------
        Model
            The frozen model. It is built when this method is called; a record without this call costs nothing.

        Raises
        ------
        RuntimeError
            If the callback has already returned: the fit has continued since.

        Examples
        --------
        >>> import hedgerow as hr
        >>> models = []
        >>> X, y = ["ab", "ba"], [["x", "y"], ["y", "x"]]
        >>> fitted = hr.TreeCRF(n_rounds=3).fit(X, y, callbacks=[lambda record: models.append(record.model())])
        >>> len(models)
        3
        """
        if self._make_model is None:
            raise RuntimeError("record.model() works only inside the callback; the fit has continued since")
        return self._make_model()

    def _expire(self) -> None:
        """Forget the fit; `model` no longer works."""
        self._make_model = None


class TrialRecord(dict[str, Any]):
    """One trial of `hedgerow.tune`, as a callback gets it.

    A trial is a setting on one rung of the race: "unit" ("trial"), "step" (counted from 1), "setting", "score",
    "standard_error", "best_score" of its rung so far, "rung", "folds", "share" of the data, "failure", and "seconds"
    since the race began.

    Attributes
    ----------
    estimator : str
        "tune".
    total : int
        Number of trials of the plan.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot", "dag"] * 5, [["-", "v", "-"]] * 20
    >>> settings = []
    >>> def note(record):
    ...     settings.append(record["setting"])
    >>> result = hr.tune(X, y, estimators=["HMM"], random_state=0, callbacks=[note])
    >>> settings
    ['HMM()', 'HMM(order=2)']
    """

    def __init__(self, record: Mapping[str, Any], *, estimator: str, total: int | None) -> None:
        super().__init__(record)
        self.estimator = estimator
        self.total = total


Callback = Callable[[TrainingRecord], Any]


class Progress:
    """Show the progress of a fit.

    A terminal or a notebook gets a bar on standard error; one line stays of it at the end: the number of steps, the
    scores of the last one, and the seconds; with early stopping also the best step. A TreeCRF with `n_rounds="auto"`
    has a bar and a line for its search, and others for its fit on all sequences. Elsewhere each record becomes a line
    of the logger "hedgerow" at level INFO if logging is configured. Otherwise standard error gets lines, but not one
    for each of many steps: the first ten have one, then every tenth up to 100, every hundredth up to 1000 and so on,
    the last one, and at least one every ten seconds.

    Examples
    --------
    >>> import hedgerow as hr
    >>> progress = hr.callbacks.Progress()
    >>> model = hr.HMM().fit(["ab", "ba"], [["x", "y"], ["y", "x"]], callbacks=[progress])
    """

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: Any = None
        self._last: TrainingRecord | TrialRecord | None = None
        self._written = 0.0  # seconds of the last line

    def begin(self, estimator: str) -> None:
        """Show the name of the estimator. `fit` calls this before the first step.

        Parameters
        ----------
        estimator : str
            Name of the estimator that is fitted.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.callbacks.Progress().begin("TreeCRF")
        """
        if can_draw() and self._bar is None:
            self._bar = _started_bar()
            self._task = self._bar.add_task(estimator, total=None)

    def __call__(self, record: TrainingRecord | TrialRecord) -> None:
        """Show a record."""
        if self._last is not None and _fit(self._last) != _fit(record):
            self.close()
        if not can_draw():
            self._write(record)
            return
        self.begin(record.estimator)
        assert self._bar is not None
        self._last = record
        text = _fitting(_summary(record), self._bar.console.width - WIDTH - BESIDE)
        self._bar.update(self._task, description=text, completed=record["step"], total=record.total)

    def close(self) -> None:
        """Replace the bar by one line, or write the last line. `fit` calls this at the end.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.callbacks.Progress().close()
        """
        if self._bar is not None:
            self._bar.stop()
            if self._last is not None:
                self._bar.console.print(_last_line(self._last), highlight=False, markup=False, soft_wrap=True)
        elif self._last is not None:
            _write_line(_line(self._last))
        self._bar = self._last = None
        self._written = 0.0

    def _write(self, record: TrainingRecord | TrialRecord) -> None:
        """Write a line, or keep the record: it may be the last one."""
        is_late = record["seconds"] - self._written >= SECONDS_WITHOUT_LINE
        if is_late or log.hasHandlers() or _has_line(record):
            _write_line(_line(record))
            self._last, self._written = None, record["seconds"]
        else:
            self._last = record


def _has_line(record: TrainingRecord | TrialRecord) -> bool:
    """Whether the step is one of 1, 2, ..., 10, 20, ..., 100, 200, ..., or a trial, each of which is something else."""
    magnitude = 10 ** (len(str(record["step"])) - 1)
    return isinstance(record, TrialRecord) or record["step"] % magnitude == 0 or record["step"] == record.total


def can_draw() -> bool:
    """Whether standard error is a terminal, or a notebook that can show a bar."""
    if "ipykernel" in sys.modules:
        return importlib.util.find_spec("ipywidgets") is not None
    return sys.stderr is not None and sys.stderr.isatty()


def _started_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = text, BarColumn(WIDTH), MofNCompleteColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar


def _fit(record: TrainingRecord | TrialRecord) -> str:
    """Which fit of an estimator a record belongs to; empty where there is only one."""
    return {"search": " (search)", "all": " (all sequences)"}.get(record.get("fit", ""), "")


def _summary(record: TrainingRecord | TrialRecord) -> list[str]:
    """The loss, a score on the dev data, and the estimator; what matters comes first, because the last may not fit."""
    dev = next((name for name in ("dev_span_f1", "dev_accuracy", "dev_loss") if record.get(name) is not None), None)
    shown = [name for name in ("loss", dev, "score", "best_score") if name and record.get(name) is not None]
    figures = [f"{name.replace('_', ' ')} {record[name]:.3g}" for name in shown]
    setting = [record["setting"]] if "setting" in record else []
    return [*figures, f"{record.estimator} {record['unit']}s{_fit(record)}", *setting]


def _fitting(parts: list[str], room: int) -> str:
    """The first parts, as many as there is room for: in a narrow window the bar, the steps and the time left stay."""
    texts = (", ".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((text for text in texts if len(text) <= room), "")


def _last_line(record: TrainingRecord | TrialRecord) -> str:
    steps = counted(record["step"], record["unit"]) + _fit(record)
    return ", ".join([f"{record.estimator}: {steps}", *_details(record)])


def _line(record: TrainingRecord | TrialRecord) -> str:
    of_total = "" if record.total is None else f" of {record.total}"
    head = f"{record.estimator}: {record['unit']} {record['step']}{of_total}{_fit(record)}"
    return ", ".join([head, *_details(record)])


def _details(record: TrainingRecord | TrialRecord) -> list[str]:
    best = [f"best {record['unit']} {record['best_step']}"] if "best_step" in record else []
    return [*best, *_figures(record), f"{record['seconds']:.1f} s"]


def _figures(record: TrainingRecord | TrialRecord) -> list[str]:
    shown = ("loss", "dev_loss", "dev_accuracy", "dev_span_f1", "score", "best_score")
    setting = [record["setting"]] if "setting" in record else []
    return setting + [f"{name.replace('_', ' ')} {record[name]:.4g}" for name in shown if record.get(name) is not None]


def _write_line(line: str) -> None:
    if log.hasHandlers():
        log.info(line)
    elif sys.stderr is not None:
        print(line, file=sys.stderr)
