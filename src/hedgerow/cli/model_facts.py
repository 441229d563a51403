"""The work of `hedgerow inspect`: facts about a model file, as a dict and as text."""

from __future__ import annotations

from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.learned_tables import code_facts, transition_probabilities
from hedgerow.cli.loading import layout_of, load_model
from hedgerow.cli.plain_text import escaped, size
from hedgerow.errors import InputError
from hedgerow.inspection import importances
from hedgerow.inspection.training_summary import calibration_in_words, training_facts, training_in_words
from hedgerow.inspection.tree_views import in_words
from hedgerow.inspection.weights import standardisation_note, strongest_features, transition_features
from hedgerow.metrics.text_table import text_table
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.model import Model

LABELS_SHOWN = 40


def model_facts(path: str, top: int) -> dict[str, Any]:
    """What a model file holds, and the `top` strongest weights or tests."""
    estimator = load_model(path)
    model, layout = estimator.model_, layout_of(estimator, path)
    template, weights = estimator.features, _weights(model, top)
    return {
        "file": path,
        "bytes": Path(path).stat().st_size,
        "estimator": model.estimator,
        "setting": repr(estimator),
        "order": estimator._label_order,
        "temperature": model.temperature,
        "labels": model.labels.classes.tolist(),
        "columns": estimator.feature_names_in_.tolist(),
        "template": None if template is None else repr(template),
        "layout": None if layout is None else layout.to_json(),
        "training": training_facts(model.training_log),
        "weights": weights,
        "weights_note": None if weights is None else standardisation_note(model),
        "transitions": _transitions(model, top),
        "transition_probabilities": transition_probabilities(model, top),
        "code": code_facts(model),
        "importances": _importances(model, top),
    }


def _weights(model: Model, top: int) -> list[dict[str, Any]] | None:
    try:
        found = strongest_features(model, top)
    except InputError:  # it has no weights
        return None
    return [{"attribute": name, "label": label, "weight": weight} for (name, label), weight in found.items()]


def _transitions(model: Model, top: int) -> list[dict[str, Any]] | None:
    try:
        found = transition_features(model)
    except InputError:
        return None
    strongest = nlargest(top, found.items(), key=lambda item: abs(item[1]))
    return [{"labels": list(labels), "weight": weight} for labels, weight in strongest]


def _importances(model: Model, top: int) -> list[dict[str, Any]] | None:
    try:
        found = importances(model)
    except InputError:  # it has no trees
        return None
    total = sum(one.gain for one in found) or 1.0
    return [
        {
            "test": in_words(one.column, one.offset, one.value),
            "column": one.column,
            "offset": one.offset,
            "value": one.value,
            "share_of_gain": one.gain / total,
            "splits": one.splits,
        }
        for one in found[:top]
    ]


def as_text(facts: dict[str, Any]) -> str:
    """The facts as a list and a few short tables."""
    labels = list(map(str, facts["labels"]))
    more = f", and {len(labels) - LABELS_SHOWN} more" if len(labels) > LABELS_SHOWN else ""
    rows = [
        ("file", f"{facts['file']}, {size(facts['bytes'])}"),
        ("model", facts["setting"]),
        ("labels", f"{len(labels)}: {', '.join(labels[:LABELS_SHOWN])}{more}"),
        ("columns", ", ".join(facts["columns"])),
        ("features", facts["template"] or "the columns as they are"),
        ("order", str(facts["order"])),
        ("code", _code_in_words(facts["code"])),
        ("trained on", _layout_in_words(facts["layout"])),
        ("training", training_in_words(facts["training"])),
        ("calibrated", calibration_in_words(facts["temperature"])),
    ]
    parts = ["\n".join(f"{name:<10}  {text}" for name, text in rows if text)]
    tables = _weight_table, _transition_table, _probability_table, _importance_table
    parts += [part for part in (table(facts) for table in tables) if part]
    return escaped("\n\n".join(parts))


def _layout_in_words(layout: dict[str, Any] | None) -> str:
    if layout is None:
        return ""
    others = ", ".join(name for name in layout["columns"] if name != layout["label"])
    return f"a file of format {layout['format']} with the columns {others}; labels in {layout['label']}"


def _code_in_words(code: dict[str, int] | None) -> str:
    if code is None:
        return ""
    return f"{counted(code['bits'], 'bit')}; two labels differ in at least {counted(code['least_distance'], 'bit')}"


def _weight_table(facts: dict[str, Any]) -> str:
    if not facts["weights"]:
        return ""
    rows = [["attribute", "label", "weight"]]
    rows += [[w["attribute"], str(w["label"]), f"{w['weight']:+.3f}"] for w in facts["weights"]]
    note = f" ({facts['weights_note']})" if facts["weights_note"] else ""
    return f"strongest weights{note}\n{text_table(rows)}"


def _transition_table(facts: dict[str, Any]) -> str:
    if not facts["transitions"]:
        return ""
    rows = [["labels that follow each other", "weight"]]
    rows += [
        [" ".join("outside" if y is None else str(y) for y in t["labels"]), f"{t['weight']:+.3f}"]
        for t in facts["transitions"]
    ]
    return "strongest transitions\n" + text_table(rows)


def _probability_table(facts: dict[str, Any]) -> str:
    if not facts["transition_probabilities"]:
        return ""
    rows = [["labels before", "label", "probability"]]
    for one in facts["transition_probabilities"]:
        *before, label = one["labels"]
        rows.append(
            [" ".join("(start)" if y is None else str(y) for y in before), str(label), f"{one['probability']:.1%}"]
        )
    return "most probable transitions\n" + text_table(rows)


def _importance_table(facts: dict[str, Any]) -> str:
    if not facts["importances"]:
        return ""
    rows = [["test", "share of gain", "splits"]]
    rows += [[one["test"], f"{one['share_of_gain']:.1%}", f"{one['splits']:,}"] for one in facts["importances"]]
    return "most important tests of the trees\n" + text_table(rows)
