"""Labels as text: what is written behind the positions of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences


def label_codes(labels: Sequence[Any], X: Sequences) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
    """(blob, offsets, code of each position) of the labels as printable UTF-8; raises InputError unless they fit X."""
    flat = read_labels(labels, X)
    if flat.alphabet is None:
        flat = read_labels([[str(label) for label in flat.tolist()]], None)
        assert flat.alphabet is not None
    texts = [printable(label).encode() for label in flat.alphabet]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return np.frombuffer(b"".join(texts), np.uint8), offsets, flat.values


def printable(text: str) -> str:
    """The text with escapes such as \\n for what cannot be printed."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
