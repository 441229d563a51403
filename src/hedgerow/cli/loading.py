"""Models that commands load, and how the files that belong to them are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from hedgerow.cli.reading import FileChoice, name_of
from hedgerow.data.alphabet import Alphabet
from hedgerow.errors import InputError, ModelFileError

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Block, Corpus, Layout

LABEL = "label"  # the name of the label column for models that know no file
NAMELESS = {"conll", "crf++"}  # formats whose files do not name their columns


def load_model(path: str) -> Estimator:
    """The estimator of a model file."""
    from hedgerow.estimators.base import load

    return load(path)


def layout_of(model: Estimator, path: str) -> Layout | None:
    """The layout of the training file; None if the model was trained from Python."""
    stored = model.model_.layout
    if stored is None:
        return None
    from hedgerow.formats import Layout

    try:
        layout = Layout.from_json(stored)
    except InputError as error:
        raise ModelFileError(
            f"{path} holds no layout of a file that can be used ({error}); save the model again"
        ) from None
    needed = [*model.feature_names_in_.tolist(), layout.label]
    absent = [name for name in needed if name not in layout.columns]
    if absent:
        raise ModelFileError(
            f"{path} needs a column that its layout does not have ({absent[0]!r}); save the model again"
        )
    return layout


def arguments_for(model: Estimator, model_path: str, choice: FileChoice) -> dict[str, Any]:
    """Arguments of `hedgerow.read` for a file that the model shall label.

    The file is read as that of training was, where flags do not say otherwise. For a model that was trained from
    Python, it is read as a column file that has the columns of the model in their order, with or without a label behind
    them.
    """
    known = layout_of(model, model_path)
    layout = known or _layout_by_order(model)
    arguments = {**choice.arguments(), "layout": known}
    if choice.columns is not None or choice.sequence is not None:
        return arguments
    if choice.format is None and choice.label is None:
        return {"layout": layout, "encoding": arguments["encoding"]}
    file_format = choice.format or layout.format
    if {file_format, layout.format} <= NAMELESS:
        without_label = [name for name in layout.columns if name != layout.label]
        if choice.label is None:
            return {"layout": replace(layout, format=file_format), "encoding": arguments["encoding"]}
        arguments["columns"] = without_label if arguments["label"] is False else list(layout.columns)
    return {**arguments, "format": file_format}


def _layout_by_order(model: Estimator) -> Layout:
    from hedgerow.formats import Layout

    names = tuple(map(str, model.feature_names_in_))
    return Layout("conll", (*names, LABEL), LABEL, names)


def check_columns(model: Estimator, path: str, found: Iterable[str]) -> None:
    """Raise InputError unless a file has the columns that the model reads."""
    have = list(found)
    lacking = [name for name in model.feature_names_in_.tolist() if name not in have]
    if lacking:
        raise InputError(
            f"{name_of(path)} has no column {lacking[0]!r}, which the model reads; its columns are {', '.join(have)}; "
            "name them with --columns, or label a file with the columns of training"
        )


def check_items(model: Estimator, path: str, items: Corpus | Block) -> None:
    """Raise InputError if the label of a CRFsuite item is an attribute of the model: then the file has no labels.

    Other labels that the model does not have are in order: crfsuite ignores the labels of a file that it tags.
    """
    if items.layout.format != "crfsuite" or items.y is None:
        return
    labels = [str(label) for label in chain.from_iterable(items.y)]
    alphabets = [spec.alphabet for spec in model.model_.encoder.raw_columns if isinstance(spec.alphabet, Alphabet)]
    unknown = set(labels).difference(model.classes_.tolist())
    suspects = {label for label in unknown if any(label in alphabet for alphabet in alphabets)}
    at = next((i for i, label in enumerate(labels) if label in suspects), None)
    if at is not None:
        raise InputError(
            f"{name_of(path)}, line {items.lines[at]}: the first field of a crfsuite item must be its label, but "
            f"{labels[at]!r} is an attribute of the model; give --label none for a file without labels"
        )
