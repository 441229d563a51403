"""`hedgerow.report`: one HTML file that shows what a model does, and where it fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow import storage
from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.comparison import refuse_other_labels
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.report.content import content
from hedgerow.inspection.report.page import page
from hedgerow.inspection.report.view import View, raw_or_encoded
from hedgerow.typing import LabelsLike, SequencesLike


def report(
    model: Estimator,
    X: SequencesLike,
    y: LabelsLike | None = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    compare: Estimator | None = None,
    force: bool = False,
    title: str | None = None,
) -> Path:
    """Write an HTML page that shows what a model does, and where it fails.

    The page is one file, which needs no network: scores, learning curves, confusions, calibration, what the model
    learned, errors, and all sequences with probabilities and explanations.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : list of sequences
        Read as in `fit`, and with the same columns.
    y : list of lists of labels, optional
        The gold labels. Without them the page shows no errors.
    path : str or path, default="report.html"
        The file to write. It is written beside and renamed, so that no file is half-written.
    compare : estimator, optional
        A second fitted estimator: the page shows how the predictions of `model` differ from its predictions. Needs y.
    force : bool, default=False
        Whether to replace the file if it exists.
    title : str, optional
        The heading of the page. By default it names the estimator.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    NotFittedError
        If an estimator is not fitted.
    InputError
        If `path` exists and `force` is False or is a device or a pipe, `title` is empty, X does not fit the training
        data, y does not fit X, or `compare` is given without y.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.HMM().fit(X, y)
    >>> hr.report(model, X, y, "animals.html").name
    'animals.html'
    """
    fitted_model(model, "report", "model")
    if isinstance(y, (str, os.PathLike)):
        raise InputError(f"report: y must be a list of lists of labels, but it is {y!r}; name the file with path={y!r}")
    if not isinstance(force, (bool, np.bool_)):
        raise InputError(f"report: force must be True or False; it is {force!r}")
    target = check_target(path, force=bool(force))
    if title is not None and not isinstance(title, str):
        raise InputError(f"report: title must be a text; it is {type_name(title)}")
    if title is not None and not title.strip():
        raise InputError("report: title must not be empty; give a heading, or leave title out")
    if compare is not None:
        fitted_model(compare, "report", "compare")
        refuse_other_labels("report", model=model, compare=compare)
        if y is None:
            raise InputError("report: compare needs gold labels to say which model is right, but y is None; pass y")
    view = view_of(model, X, y, compare)
    heading = f"{type(model).__name__} report" if title is None else title
    text = page(heading, *content(view))
    storage.write_parts(target, [text.encode("utf-8")])
    return target


def view_of(model: Estimator, X: Any, y: Any, compare: Estimator | None) -> View:
    """The predictions of one or two estimators for X."""
    store = raw_or_encoded(X)
    if y is not None and not hasattr(y, "__len__"):
        y = list(y)  # an iterator, which two estimators read
    labelling = Labelling.of(model, store, y, name=None if compare is None else "report: model")
    other = None if compare is None else Labelling.of(compare, store, y, name="report: compare")
    return View(estimator=model, store=store, labelling=labelling, other=other)


def check_target(path: Any, *, force: bool) -> Path:
    """The file to write; raises InputError or OSError if it exists and must not be replaced, or cannot be written."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"report: path must be the name of a file; it is {type_name(path)}")
    storage.check_target(path)
    target = Path(path)
    if target.is_dir():
        raise InputError(f"report: {target} must be a file to write, but it is a folder; name a file in it")
    if target.exists() and not force:
        raise InputError(f"report: {target} exists already; pass force=True to replace it, or name another file")
    storage.check_writable(target)
    return target
