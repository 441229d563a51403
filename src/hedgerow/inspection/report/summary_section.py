"""The summary: the model, the data, and how often the model is right."""

from __future__ import annotations

from html import escape

import numpy as np

import hedgerow
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.parameters import parameters
from hedgerow.inspection.report.markup import Prose, Section, count, details, note, paragraph, safe, share, shown, table
from hedgerow.inspection.report.view import View
from hedgerow.inspection.training_summary import calibration_in_words, training_facts, training_in_words
from hedgerow.metrics import accuracy, sequence_accuracy, span_report
from hedgerow.metrics.span_scores import SpanReport
from hedgerow.utilities import counted

MOST_NAMES = 30  # labels or columns that are listed
MOST_TYPES = 100  # types of spans in the table


def summary_section(view: View) -> Section:
    """Figures, the table of spans, and the settings."""
    report = spans_of(view)
    parts = [_tiles(view, report)]
    if not len(view.store):
        parts.append(paragraph("There are no sequences: the report shows what the model is, and nothing about data."))
    elif view.labelling.gold is None:
        parts.append(paragraph("The sequences have no gold labels, so that the report shows no errors."))
    unseen = _unseen_labels(view)
    if unseen:
        parts.append(paragraph(f"Gold labels that training never saw, which count as wrong: {some(unseen)}."))
    if report is not None:
        parts.append(_span_table(report, view))
    parts += [_model_table(view), details("All settings of the estimator", _settings(view.estimator))]
    return Section("summary", "Summary", "".join(parts))


def spans_of(view: View) -> SpanReport | None:
    """The scores of spans; None without gold labels or spans."""
    if not view.has_gold or view.scheme is None:
        return None
    return span_report(view.gold, view.predicted, scheme=view.scheme)


def _tiles(view: View, report: SpanReport | None) -> str:
    store = view.store
    tiles = []
    if view.has_gold:
        wrong = int(np.count_nonzero(~view.labelling.right))
        errors = "1 position is wrong" if wrong == 1 else f"{wrong:,} positions are wrong"
        tiles.append((share(accuracy(view.gold, view.predicted)), "accuracy", errors))
        if report is not None:
            tiles.append((share(report.micro.f1), "F1 of spans", f"{report.micro.support:,} gold spans"))
        tiles.append((share(sequence_accuracy(view.gold, view.predicted)), "sequences all right", ""))
    tiles.append((count(len(store)), "sequences", ""))
    tiles.append((count(store.n_positions), "positions", ""))
    if len(store) and store.n_positions:
        name = "mean probability" if view.doubt is None else "mean score"
        tiles.append((share(float(view.labelling.probability.mean())), name, "of the predicted label"))
    cells = "".join(
        f'<div class="tile"><dt>{escape(name)}'
        + (f' <span class="small">{escape(more)}</span>' if more else "")
        + f"</dt><dd>{escape(value)}</dd></div>"
        for value, name, more in tiles
    )
    return f'<dl class="tiles">{cells}</dl>'


def _span_table(report: SpanReport, view: View) -> str:
    by_support = sorted(report.by_type.items(), key=lambda item: (-item[1].support, item[0]))
    rows = [
        [name or "(no type)", *map(share, (one.precision, one.recall, one.f1)), count(one.support), count(one.found)]
        for name, one in [("all", report.micro), *by_support[:MOST_TYPES]]
    ]
    head = ["spans", "#precision", "#recall", "#F1", "#gold", "#predicted"]
    more = len(by_support) - MOST_TYPES
    hidden = note(f"{more:,} types with fewer spans are not listed.") if more > 0 else ""
    return table(head, rows, f"Spans by type; labels are read as {view.scheme}") + hidden


def _unseen_labels(view: View) -> list[str]:
    """The gold labels that training never saw."""
    gold = view.labelling.gold
    if gold is None or not (gold < 0).any():
        return []
    found: list[str] = np.unique(np.concatenate(view.gold)[gold < 0].astype(np.str_)).tolist()
    return found


def _model_table(view: View) -> str:
    estimator = view.estimator
    columns = [str(name) for name in estimator.feature_names_in_]
    labels = [str(label) for label in estimator.classes_.tolist()]
    rows = [
        ("estimator", type(estimator).__name__),
        ("settings that are not the default", own_settings(estimator)),
        ("labels", f"{len(labels):,}: {some(labels)}"),
        ("columns", some(columns)),
        ("order", str(estimator._label_order)),
        ("data", _data_in_words(view)),
        ("training", training_in_words(training_facts(estimator.training_log_))),
        ("calibrated", calibration_in_words(estimator.model_.temperature)),
        ("written with", f"hedgerow {hedgerow.__version__}"),
    ]
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><bdi>{safe(text, 1000)}</bdi></td></tr>'
        for name, text in rows
        if text
    )
    return f"<table><caption>Model and data</caption><tbody>{body}</tbody></table>"


def _data_in_words(view: View) -> str:
    words = f"{counted(len(view.store), 'sequence')}, {counted(view.store.n_positions, 'position')}"
    names = [column.name for column in view.store.columns]
    return f"{words}; columns: {some(names)}" if names else words


def some(names: list[str]) -> str:
    """The first names, and how many others there are."""
    more = len(names) - MOST_NAMES
    text = ", ".join(shown(name, 40) for name in names[:MOST_NAMES])
    return text if more <= 0 else f"{text} and {more:,} others"


def own_settings(estimator: Estimator) -> str:
    """The parameters of an estimator that are not the default."""
    own = [
        f"{name}={getattr(estimator, name)!r}"
        for name, parameter in parameters(type(estimator)).items()
        if repr(getattr(estimator, name)) != repr(parameter.default)
    ]
    return ", ".join(own) or "none"


def _settings(estimator: Estimator) -> str:
    declared = parameters(type(estimator))
    rows = [[name, repr(getattr(estimator, name)), Prose(one.help)] for name, one in declared.items()]
    return table(["name", "value", "meaning"], rows, f"Settings of {type(estimator).__name__}")
