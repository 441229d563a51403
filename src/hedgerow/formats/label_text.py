"""Labels as text: what is written behind the positions of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError


def flat_texts(probabilities: Sequence[Sequence[float]] | None, X: Sequences) -> list[str]:
    """The probability of each position with four digits; "" without probabilities."""
    if probabilities is None:
        return [""] * X.n_positions
    if [len(listed) for listed in probabilities] != X.lengths.tolist():
        raise InputError("probabilities must have a number for each label, but they do not; give those of the labels")
    return [f"{p:.4f}" for listed in probabilities for p in listed]


def label_codes(
    labels: Sequence[Any],
    X: Sequences,
    probabilities: Sequence[Sequence[float]] | None = None,
    separator: str = "\t",
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
    """(blob, offsets, code of each position) of the labels as printable UTF-8, with probabilities behind a separator.

    Raises InputError unless they fit X.
    """
    flat = read_labels(labels, X)
    if probabilities is not None:
        pairs = zip(flat.tolist(), flat_texts(probabilities, X), strict=True)
        behind = [f"{printable(str(label))}{separator}{p}" for label, p in pairs]
        distinct = {text: code for code, text in enumerate(dict.fromkeys(behind))}
        return *_blob(distinct), np.array([distinct[text] for text in behind], np.int32)
    if flat.alphabet is None:
        flat = read_labels([[str(label) for label in flat.tolist()]], None)
        assert flat.alphabet is not None
    return *_blob(map(printable, flat.alphabet)), flat.values


def _blob(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(all texts as UTF-8, where each begins and the end)."""
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def printable(text: str) -> str:
    """The text with escapes such as \\n for what cannot be printed."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
