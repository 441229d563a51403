"""Models of CRFsuite as fitted LinearCRFs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.compat.crfsuite_files import MAGIC, Weights, read_binary, read_dump
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BAG
from hedgerow.encoding import Encoder, Labels, Window
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.imputation import FillBag
from hedgerow.errors import InputError, type_name
from hedgerow.estimators import LinearCRF
from hedgerow.formats import Layout
from hedgerow.model import Model
from hedgerow.potentials.linear import Features, LinearPotential, NGrams

#: How `hedgerow tag` reads the files of a model of attributes: as CRFsuite's items.
LAYOUT = Layout("crfsuite", ("label", BAG), "label", (BAG,), separator="\t")


def from_crfsuite(source: Any) -> LinearCRF:
    """Build a fitted `LinearCRF` from a model of CRFsuite.

    Parameters
    ----------
    source : path, str or object
        The path of a binary model file, or of a file with the text that `crfsuite dump` prints; this text itself; a
        `pycrfsuite.Tagger` with an open model, or what its `info()` returns. The binary file has the weights in full;
        the text and `info()` have six decimals.

    Returns
    -------
    LinearCRF
        It predicts CRFsuite's labels and marginals for lists of attributes, for dicts, and for what `read_items`
        returns. It is saved and loaded like any model, and `hedgerow tag` labels files of CRFsuite's format with it.

    Raises
    ------
    InputError
        If the source is something else.
    ModelFileError
        If a file or text is damaged.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import hedgerow as hr
    >>> dump = '''LABELS = {
    ...       0: DT
    ...       1: NN
    ... }
    ... ATTRIBUTES = {
    ...       0: word:the
    ... }
    ... TRANSITIONS = {
    ...   (1) DT --> NN: 1.500000
    ... }
    ... STATE_FEATURES = {
    ...   (0) word:the --> DT: 2.000000
    ... }
    ... '''
    >>> model = hr.compat.from_crfsuite(dump)
    >>> model.predict_single([{"word": "the"}, {"word": "cat"}]).tolist()
    ['DT', 'NN']
    """
    return _linear_crf(_weights(source))


def is_crfsuite_file(path: str | os.PathLike[str]) -> bool:
    """Whether the file begins as a binary model of CRFsuite does."""
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _weights(source: Any) -> Weights:
    if isinstance(source, str) and "\n" in source:
        return read_dump(source, "the dump")
    if isinstance(source, (str, os.PathLike)):
        content, name = Path(source).read_bytes(), str(source)
        if content.startswith(MAGIC):
            return read_binary(content, name)
        return read_dump(content.decode("utf-8", "replace"), name)
    info = source.info() if callable(getattr(source, "info", None)) else source
    if not all(hasattr(info, name) for name in ("labels", "state_features", "transitions")):
        raise InputError(
            "source must be a model file of CRFsuite, a text of `crfsuite dump`, a Tagger or its info(), but it is "
            f"a {type_name(source)}"
        )
    return Weights(
        sorted(info.labels, key=lambda label: int(info.labels[label])), info.state_features, info.transitions
    )


def _linear_crf(weights: Weights) -> LinearCRF:
    labels = Labels(np.array(weights.labels, dtype=np.str_))  # in CRFsuite's order: ties go to the same labels
    codes = {label: code for code, label in enumerate(labels.classes.tolist())}
    k = len(labels)
    attributes = Alphabet.of({attribute for attribute, _ in weights.states})
    if len(attributes) == 0:
        raise InputError("a model must have a weight for an attribute at least, but this one has none")
    ids = attributes.ids([attribute for attribute, _ in weights.states]).astype(np.int64)
    outputs = np.array([codes[label] for _, label in weights.states], np.int32)
    order = np.lexsort((outputs, ids))
    starts = np.searchsorted(ids[order], np.arange(len(attributes) + 1))
    # The transition table begins with the row of the first position, which has no previous label.
    cells = np.array([(1 + codes[a]) * k + codes[b] for a, b in weights.transitions], np.int64)
    by_cell = np.argsort(cells)
    estimator = LinearCRF(decode="viterbi", scale=False)
    estimator._set_model(
        Model(
            labels=labels,
            encoder=Encoder((ColumnSpec(BAG, "bag", attributes, FillBag((), ())),)),
            potential=LinearPotential(
                window=Window.of(0),
                scalings={},
                state_features=Features(starts.astype(np.int64), outputs[order], k),
                state_weights=_single(weights.states.values())[order],
                edge_features=None,
                edge_weights=None,
                n_grams=NGrams(cells[by_cell], k, 1),
                n_gram_weights=_single(weights.transitions.values())[by_cell],
            ),
            order=1,
            estimator="LinearCRF",
            parameters=estimator._converted()._plain_params(),
            layout=LAYOUT.to_json(),
        )
    )
    return estimator


def with_layout(estimator: Any) -> None:
    """Let `hedgerow tag` read files of CRFsuite's format for a model of attributes."""
    estimator._set_model(replace(estimator.model_, layout=LAYOUT.to_json()))


def _single(values: Any) -> Any:
    weights = np.fromiter(values, np.float64)
    if not (np.abs(weights) <= np.finfo(np.float32).max).all():
        raise InputError("the weights of a model must be finite as 32-bit floats, but one is not; train it again")
    return weights.astype(np.float32)
