"""The work of `hedgerow evaluate`: scores of a model on labelled sequences, as a dict and as text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from hedgerow.cli.corpus_folders import is_corpus, open_labelled, refuse_file_flags
from hedgerow.cli.loading import arguments_for, check_columns, check_items, load_model
from hedgerow.cli.plain_text import escaped
from hedgerow.cli.probabilities import label_probabilities, uncalibrated
from hedgerow.cli.reading import FileChoice, name_of, naming_flags, read_labelled
from hedgerow.cli.span_scheme import scheme_of
from hedgerow.errors import InputError, first_few
from hedgerow.inspection.reliability import binned
from hedgerow.metrics.text_table import text_table
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Corpus

#: Lower ends of the bins of probability; most predictions are nearly certain, so that the bins narrow towards 1.
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SHOWN = 10  # labels that training never saw


def evaluate(model_path: str, path: str, choice: FileChoice, *, constraints: str | None) -> dict[str, Any]:
    """The scores of a model on a file."""
    model = load_model(model_path)
    corpus = _labelled(model, model_path, path, choice)
    assert corpus.y is not None
    gold = [as_labels(labels, model.classes_) for labels in corpus.y]
    check_labels(path, gold, model.classes_)
    keywords: dict[str, Any] = {} if constraints is None else {"constraints": constraints}
    began = time.perf_counter()
    predicted = model.predict(corpus.X, **keywords)
    seconds = time.perf_counter() - began
    return {
        "model": model_path,
        "estimator": type(model).__name__,
        "file": path,
        **_scores(gold, predicted, model.classes_.tolist()),
        "calibration": _calibration(model, corpus, gold, predicted, keywords),
        "calibrated": uncalibrated(model) is None,
        "why_not_calibrated": uncalibrated(model),
        "temperature": model.model_.temperature,
        "seconds": seconds,
        "positions_per_second": corpus.X.n_positions / max(seconds, 1e-9),
    }


def compare(path: str, choice: FileChoice, predicted: str) -> dict[str, Any]:
    """The scores of labels that stand in a column of the file beside the right ones."""
    if choice.label is None:
        raise InputError("--predicted is compared with the right labels, but --label is not given; name their column")
    if path == "-":
        raise InputError("--predicted reads the file twice, but it is standard input; name a file")
    y, y_predicted = (read_labelled(path, replace(choice, label=label)).y for label in (choice.label, predicted))
    assert y is not None
    assert y_predicted is not None
    known = {label for labels in (*y, *y_predicted) for label in labels.tolist()}
    return {"file": path, **_scores(y, y_predicted, sorted(known, key=str))}


def _scores(gold: Sequence[Any], predicted: Sequence[Any], known: list[Any]) -> dict[str, Any]:
    """How far labels agree; `known` are those that could be predicted."""
    counts = hr.metrics.confusion(gold, predicted)
    scheme = scheme_of(gold, list(dict.fromkeys([*known, *counts.labels])))
    return {
        "sequences": len(gold),
        "positions": sum(map(len, gold)),
        "right": sum(count for label, other, count in counts.pairs if label == other),
        "right_sequences": sum(map(np.array_equal, gold, predicted)),
        "accuracy": hr.metrics.accuracy(gold, predicted),
        "sequence_accuracy": hr.metrics.sequence_accuracy(gold, predicted),
        "unseen_labels": sorted(set(counts.labels) - set(known), key=str),
        "spans": None if scheme is None else _spans(gold, predicted, scheme),
        "confusions": _confusions(counts),
    }


def _labelled(model: Estimator, model_path: str, path: str, choice: FileChoice) -> Corpus:
    if is_corpus(path):
        refuse_file_flags(path, **vars(choice))
        return open_labelled(path)
    try:
        with naming_flags():
            corpus = hr.read(path, **arguments_for(model, model_path, choice))
    except InputError as error:
        if "columns, but the training file had" not in str(error):
            raise
        raise InputError(f"{error}; to score predictions in a column of the file, use --predicted") from error
    if corpus.y is None:
        raise InputError(
            f"{name_of(path)} must have a column of labels to compare with, but it has none; add the right labels, or "
            "use hedgerow tag to predict them"
        )
    check_columns(model, path, (column.name for column in corpus.X.columns))
    check_items(model, path, corpus)
    return corpus


def as_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of a file, which are text, as integers or bools if those of the model are."""
    if classes.dtype.kind == "U" or labels.dtype.kind != "U":
        return labels
    known = {str(label): label for label in classes.tolist()}
    unknown = next((label for label in labels.tolist() if label not in known), None)
    if unknown is not None:
        raise InputError(f"label {unknown!r} is not a label of the model, whose labels are {', '.join(known)}")
    return np.array([known[label] for label in labels.tolist()])


def check_labels(path: str, gold: Sequence[NDArray[Any]], classes: NDArray[Any]) -> None:
    """Raise InputError if no gold label is a label of the model: the file has another label column or format."""
    found = list(dict.fromkeys(label for labels in gold for label in labels.tolist()))
    if not set(found) & set(classes.tolist()):
        raise InputError(
            f"{name_of(path)} must have labels of the model ({first_few(classes.tolist())}), but it has none of them; "
            f"its labels are {first_few([f'{label!s:.60}' for label in found])}; name the column of labels with "
            "--label, or the format with --format"
        )


def _spans(gold: Sequence[Any], predicted: Sequence[Any], scheme: str) -> dict[str, Any]:
    return {"scheme": scheme, **hr.metrics.span_report(gold, predicted, scheme=scheme).as_dict()}


def _confusions(counts: hr.metrics.Confusion) -> list[dict[str, Any]]:
    """Pairs of gold and predicted labels that differ, the most frequent first."""
    return [
        {"gold": gold, "predicted": predicted, "count": count}
        for gold, predicted, count in counts.pairs
        if gold != predicted
    ]


def _calibration(
    model: Estimator, corpus: Corpus, gold: Sequence[Any], predicted: list[NDArray[Any]], keywords: dict[str, Any]
) -> list[dict[str, Any]]:
    """For each bin of the probability of the predicted label: positions, mean probability, share that is right."""
    chances = np.concatenate(label_probabilities(model, corpus.X, predicted, **keywords))
    right = np.concatenate(gold) == np.concatenate(predicted)
    found = binned(chances, right, np.array([*BINS, 1.0]))
    ends = found.edges.tolist()
    return [
        {
            "from": ends[i],
            "to": ends[i + 1],
            "positions": int(found.counts[i]),
            "mean_probability": float(found.mean_probabilities[i]),
            "right": float(found.shares_right[i]),
        }
        for i in np.flatnonzero(found.counts).tolist()
    ]


def _some_are(some: int, n: int, noun: str) -> str:
    return f"{some:,} of {counted(n, noun)} {'is' if n == 1 else 'are'}"


def as_text(facts: dict[str, Any], top: int) -> str:
    """The scores as text of a few short tables."""
    parts = [
        f"accuracy           {facts['accuracy']:8.2%}  "
        f"{_some_are(facts['right'], facts['positions'], 'position')} right\n"
        f"sequence accuracy  {facts['sequence_accuracy']:8.2%}  "
        f"{_some_are(facts['right_sequences'], facts['sequences'], 'sequence')} entirely right"
    ]
    if facts["unseen_labels"]:
        parts[0] += f"\nlabels that training never saw, counted as wrong: {_some(facts['unseen_labels'])}"
    if facts["spans"] is not None:
        parts.append(_span_table(facts["spans"]))
    if facts["confusions"] and top:
        parts.append(_confusion_table(facts["confusions"], top))
    if "calibration" in facts:
        parts += [_calibration_table(facts), f"speed: {facts['positions_per_second']:,.0f} positions a second"]
    return escaped("\n\n".join(parts))


def _some(labels: list[Any]) -> str:
    """The first labels, and how many there are."""
    more = len(labels) - SHOWN
    shown = ", ".join(f"{label!s:.60}" for label in labels[:SHOWN])
    return shown if more <= 0 else f"{shown} and {more:,} others"


def _span_table(spans: dict[str, Any]) -> str:
    rows = [["spans", "precision", "recall", "F1", "gold", "predicted", "right"]]
    for name, one in [*spans["by_type"].items(), ("all", spans["micro"])]:
        shares = [f"{one[score]:.2%}" for score in ("precision", "recall", "f1")]
        rows.append([name or "(no type)", *shares, *(f"{one[count]:,}" for count in ("support", "found", "right"))])
    return f"{text_table(rows)}\n(labels read as {spans['scheme']})"


def _confusion_table(confusions: list[dict[str, Any]], top: int) -> str:
    rows = [["gold", "predicted", "positions"]]
    rows += [[str(c["gold"]), str(c["predicted"]), f"{c['count']:,}"] for c in confusions[:top]]
    more = len(confusions) - top
    return "most frequent confusions\n" + text_table(rows) + (f"\nand {more:,} other pairs" if more > 0 else "")


def _calibration_table(facts: dict[str, Any]) -> str:
    rows = [["probability", "positions", "mean", "right"]]
    rows += [
        [
            f"{b['from']:.2f} to {b['to']:.2f}",
            f"{b['positions']:,}",
            f"{b['mean_probability']:.1%}",
            f"{b['right']:.1%}",
        ]
        for b in facts["calibration"]
    ]
    why = facts["why_not_calibrated"]
    note = "" if why is None else f"\nnote: {why}"
    if facts["temperature"] != 1:
        note = f"\ncalibrated on dev data: scores are divided by {facts['temperature']:.4g}"
    return "probability of the predicted label, and how often it is right\n" + text_table(rows) + note
