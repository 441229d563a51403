"""Conversion of labels between the schemes IOB1, IOB2, IOE1, IOE2, IOBES and BILOU, by way of their spans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.ragged import ranges, starts_of
from hedgerow.errors import InputError
from hedgerow.formats.base import split_labels
from hedgerow.metrics.flat_labels import Flat, flatten
from hedgerow.metrics.scheme_names import check_scheme
from hedgerow.metrics.span_schemes import SpanArrays, find_spans
from hedgerow.typing import LabelsLike

_ALL_LETTERS = "OIBESLU"
_O, _I, _B, _E, _S, _L, _U = range(len(_ALL_LETTERS))
_ORDER = ("IOB2", "IOE2", "IOBES", "BILOU", "IOB1", "IOE1")  # of detection: the strict schemes first


def convert_labels(y: LabelsLike, to: str, scheme: str | None = None) -> list[NDArray[np.str_]]:
    """Convert labels of spans to another scheme.

    Parameters
    ----------
    y : list of label sequences
        Labels such as `B-NP`, `I-NP`, `O`.
    to : str
        The scheme to write: "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    scheme : str, optional
        The scheme of `y`; by default it is detected. Labels that are ill-formed in a scheme that is given are read by
        the rules of conlleval, as in `hedgerow.metrics.spans`, so that the result is well-formed.

    Returns
    -------
    list of 1-D arrays of str
        Labels with the same spans.

    Raises
    ------
    InputError
        If a scheme is unknown, a label does not belong to it, or no scheme fits.

    Examples
    --------
    >>> import hedgerow as hr
    >>> [labels.tolist() for labels in hr.formats.convert_labels([["B-NP", "I-NP", "O", "B-VP"]], "IOBES")]
    [['B-NP', 'E-NP', 'O', 'S-VP']]
    """
    check_scheme(to)
    if scheme is not None:
        check_scheme(scheme)
    flat = flatten(y, "y")
    return split_labels(_converted(flat, scheme or _detect(flat), to), starts_of(flat.lengths))


def detect_scheme(y: LabelsLike) -> str:
    """Return the scheme in which all labels are well-formed.

    Parameters
    ----------
    y : list of label sequences
        Labels such as `B-NP`, `I-NP`, `O`.

    Returns
    -------
    str
        The first that fits of "IOB2", "IOE2", "IOBES", "BILOU", "IOB1" and "IOE1".

    Raises
    ------
    InputError
        If none fits.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.formats.detect_scheme([["I-NP", "I-NP", "B-NP", "O"]])
    'IOB1'
    """
    return _detect(flatten(y, "y"))


def _detect(flat: Flat) -> str:
    """The first scheme in which writing the spans that were read gives the same labels."""
    labels = np.array(flat.labels, dtype=object)
    for scheme in _ORDER:
        try:
            if (_converted(flat, scheme, scheme) == labels).all():
                return scheme
        except InputError:
            continue
    raise InputError(
        f"y must be labels of spans that are well-formed in one of {', '.join(_ORDER)}, but they are in none; "
        "name the scheme in which they are written"
    )


def _converted(flat: Flat, scheme: str, to: str) -> NDArray[np.str_]:
    """The labels of all positions in another scheme."""
    names: dict[str, int] = {}
    spans = find_spans(flat, scheme, names, "y")
    n, lengths = len(flat.labels), spans.ends - spans.starts
    positions = ranges(spans.starts, lengths)
    letters, kinds = np.full(n, _O), np.zeros(n, np.intp)
    kinds[positions] = np.repeat(spans.types, lengths) + 1
    letters[positions] = _I
    _mark(letters, spans, flat, to)
    labels: NDArray[np.str_] = _texts(["", *names])[letters * (len(names) + 1) + kinds]
    return labels


def _mark(letters: NDArray[np.intp], spans: SpanArrays, flat: Flat, scheme: str) -> None:
    """Replace I at the positions of a span that have another letter in the scheme."""
    starts, lasts, long = spans.starts, spans.ends - 1, spans.ends - spans.starts > 1
    if scheme == "IOB1":
        letters[starts[1:][_touching(spans, flat)]] = _B
    elif scheme == "IOB2":
        letters[starts] = _B
    elif scheme == "IOE1":
        letters[lasts[:-1][_touching(spans, flat)]] = _E
    elif scheme == "IOE2":
        letters[lasts] = _E
    else:
        last, only = (_E, _S) if scheme == "IOBES" else (_L, _U)
        letters[starts[long]], letters[lasts[long]], letters[starts[~long]] = _B, last, only


def _touching(spans: SpanArrays, flat: Flat) -> NDArray[np.bool_]:
    """Whether a span and the one before it are neighbours of the same type in one sequence."""
    touching: NDArray[np.bool_] = (spans.starts[1:] == spans.ends[:-1]) & (spans.types[1:] == spans.types[:-1])
    touching &= ~np.isin(spans.starts[1:], starts_of(flat.lengths))
    return touching


def _texts(types: list[str]) -> NDArray[np.str_]:
    """Every letter with every type; the letter alone where the type is empty, and for O."""
    return np.array([f"{c}-{kind}" if kind and c != "O" else c for c in _ALL_LETTERS for kind in types], np.str_)
