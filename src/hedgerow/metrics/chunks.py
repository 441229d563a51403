"""Spans from labels such as `B-NP I-NP O`, by the rules of conlleval, which reads ill-formed labels too.

A label is a letter, a dash and a type; the type is all after the first dash. A bare letter has the type "".
`O` lies outside, whatever follows its dash.

A span runs on from one position to the next when both have the same type and the letters are one of
`B I`, `I I`, `B E`, `I E`; everywhere else it ends, and it always ends with its sequence. So a span starts at
`I` or `E` after `O`, at a change of type, and after an `E`, whether or not the scheme allows that.

- IOB1, IOB2, IOE1, IOE2 share the letters `B I E O`, as in conlleval, and so give the same spans. conlleval
  also runs on from `E` to `B`, which no well-formed sequence of these four schemes contains.
- IOBES adds `S`, a span of one position. BILOU writes `L` for `E` and `U` for `S`. In both, `B` always
  starts.

What does not begin with a letter of the scheme (`S-NP` in IOB2, `OTHER`, `B_NP`) is refused; conlleval
would join neighbouring spans, or make up some without a type, in silence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.pairing import Flat, flatten

_OUTSIDE, _BEGIN, _INSIDE, _END, _SINGLE = range(5)
_CONLLEVAL = {"B": _BEGIN, "I": _INSIDE, "E": _END, "O": _OUTSIDE}
_ROLES = {
    "IOB1": _CONLLEVAL,
    "IOB2": _CONLLEVAL,
    "IOE1": _CONLLEVAL,
    "IOE2": _CONLLEVAL,
    "IOBES": {"B": _BEGIN, "I": _INSIDE, "E": _END, "S": _SINGLE, "O": _OUTSIDE},
    "BILOU": {"B": _BEGIN, "I": _INSIDE, "L": _END, "U": _SINGLE, "O": _OUTSIDE},
}


class Chunks(NamedTuple):
    """Spans in the order of their positions: start, end (exclusive), and type as an index."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    types: NDArray[np.intp]


def spans(labels: object, scheme: str = "IOB2") -> list[tuple[int, int, str]]:
    """The spans of one label sequence as (start, end exclusive, type), in order; the module tells the rules.

    InputError for an unknown scheme, and for a label that is no string or has a letter of another scheme.
    """
    check_scheme(scheme)
    names: dict[str, int] = {}
    found = chunks(flatten([labels], "labels"), scheme, names, "labels")
    by_index = list(names)
    return [(int(start), int(end), by_index[kind]) for start, end, kind in zip(*found, strict=True)]


def check_scheme(scheme: str) -> None:
    """InputError unless `scheme` is one of the six."""
    if scheme not in _ROLES:
        raise InputError(f"scheme is {scheme!r}; choose one of {', '.join(_ROLES)}")


def chunks(flat: Flat, scheme: str, names: dict[str, int], source: str) -> Chunks:
    """The spans of all sequences by flat position; `names` indexes the types and takes in new ones."""
    if flat.labels and not isinstance(flat.labels[0], str):
        raise InputError(f"{source}: labels are integers; spans need strings such as 'B-NP'")
    code = {label: _parse(label, flat, scheme, names, source) for label in dict.fromkeys(flat.labels)}
    role = np.array([code[label][0] for label in flat.labels], dtype=np.intp)
    kind = np.array([code[label][1] for label in flat.labels], dtype=np.intp)
    count = len(role)
    # runs_on[t]: the span of position t - 1 also covers position t. One entry more than positions.
    runs_on = np.zeros(count + 1, dtype=bool)
    runs_on[1:count] = _joins(scheme)[role[:-1], role[1:]] & (kind[:-1] == kind[1:])
    runs_on[np.cumsum(flat.lengths, dtype=np.intp)] = False
    inside = role != _OUTSIDE
    starts = np.flatnonzero(inside & ~runs_on[:-1])
    ends = np.flatnonzero(inside & ~runs_on[1:]) + 1
    return Chunks(starts, ends, kind[starts])


def _joins(scheme: str) -> NDArray[np.bool_]:
    """[previous role, role]: whether a span runs on between two positions of one type."""
    joins = np.zeros((5, 5), dtype=bool)
    for previous in (_BEGIN, _INSIDE):
        joins[previous, [_INSIDE, _END]] = True
    joins[_END, _BEGIN] = _ROLES[scheme] is _CONLLEVAL
    return joins


def _parse(label: str, flat: Flat, scheme: str, names: dict[str, int], source: str) -> tuple[int, int]:
    """(role, index of the type) of a label; labels outside share the index -1."""
    roles = _ROLES[scheme]
    letter, _, name = label.partition("-")
    if letter not in roles:
        raise InputError(
            f"{source}: {flat.place(flat.labels.index(label))}: label {label!r} does not begin with "
            f"a letter of {scheme} ({', '.join(roles)}) and a dash; "
            f"name the scheme the labels are written in, one of {', '.join(_ROLES)}"
        )
    if letter == "O":
        return _OUTSIDE, -1
    return roles[letter], names.setdefault(name, len(names))
