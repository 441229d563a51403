"""Spans of labels such as `B-NP I-NP O`, by the rules of conlleval, which also define ill-formed label sequences.

A label is a letter, a dash and a type. The type is the text after the first dash; a single letter has the type "".
`O` is outside of every span, whatever follows its dash.

A span continues from one position to the next if both have the same type and the letters are one of
`B I`, `I I`, `B E`, `I E`. Everywhere else the span ends, and it always ends with its sequence. So a span starts at
`I` or `E` after `O`, at a change of type, and after an `E`, whether or not the scheme allows that.

- IOB1, IOB2, IOE1, IOE2 share the letters `B I E O`, as in conlleval, and so give the same spans. As in conlleval, a
  span also continues from `E` to `B`, which no well-formed sequence of these four schemes contains.
- IOBES adds `S`, a span of one position. BILOU writes `L` for `E` and `U` for `S`. In both, `B` always
  starts a span.

A label that does not begin with a letter of the scheme (`S-NP` in IOB2, `OTHER`, `B_NP`) is an error. conlleval
would silently join neighbouring spans, or add spans without a type.

A span is well-formed if each of its letters has the neighbours that the scheme requires: `_AFTER` and `_BEFORE`. Strict
reading leaves the other spans out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.flat_labels import Flat, flatten
from hedgerow.metrics.scheme_names import LETTERS, check_scheme, refuse_label

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


class SpanArrays(NamedTuple):
    """Spans in the order of their positions: start, end (exclusive), and the index of the type."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    types: NDArray[np.intp]


def spans(labels: object, scheme: str = "IOB2", *, strict: bool = False) -> list[tuple[int, int, str]]:
    """Spans of one label sequence, in order.

    The rules are those of conlleval. A span continues where two neighbours have the same type and the letters are
    `B I`, `I I`, `B E` or `I E`; so an `I-NP` after `O` starts a span.

    Parameters
    ----------
    labels
        One sequence of strings such as `B-NP`, `I-NP`, `O`.
    scheme
        The scheme of the labels: "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    strict
        Whether to return only the spans that are written correctly in the scheme, so that an `I-NP` after `O` is no
        span of IOB2. Letters of other schemes are an error then.

    Returns
    -------
    list of (start, end, type)
        `end` is the position after the last one of the span.

    Raises
    ------
    InputError
        If the scheme is unknown, or a label is not a string or does not belong to the scheme.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.metrics.spans(["B-NP", "I-NP", "O", "B-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    >>> hr.metrics.spans(["O", "I-NP", "B-VP"]), hr.metrics.spans(["O", "I-NP", "B-VP"], strict=True)
    ([(1, 2, 'NP'), (2, 3, 'VP')], [(2, 3, 'VP')])
    """
    check_scheme(scheme)
    names: dict[str, int] = {}
    arrays = find_spans(flatten([labels], "labels"), scheme, names, "labels", strict=strict)
    by_index = list(names)
    return [(int(start), int(end), by_index[kind]) for start, end, kind in zip(*arrays, strict=True)]


def find_spans(flat: Flat, scheme: str, names: dict[str, int], source: str, *, strict: bool = False) -> SpanArrays:
    """Spans of all sequences, by flat position; if strict, only those that are well-formed in the scheme.

    `names` maps types to indices; new types are added to it. `source` is the name of the argument in messages.
    """
    if flat.labels and not isinstance(flat.labels[0], str):
        raise InputError(f"{source}: labels are integers; spans need strings such as 'B-NP'")
    distinct = dict.fromkeys(flat.labels)
    _check_letters(distinct, scheme, lambda label: f"{source}: {flat.place(flat.labels.index(label))}", strict=strict)
    code = {label: _parse(label, scheme, names) for label in distinct}
    role = np.array([code[label][0] for label in flat.labels], dtype=np.intp)
    kind = np.array([code[label][1] for label in flat.labels], dtype=np.intp)
    count = len(role)
    # continues[t]: the span of position t - 1 also covers position t. It has one entry more than there are positions.
    continues = np.zeros(count + 1, dtype=bool)
    continues[1:count] = _joins(scheme)[role[:-1], role[1:]] & (kind[:-1] == kind[1:])
    continues[np.cumsum(flat.lengths, dtype=np.intp)] = False
    inside = role != _OUTSIDE
    starts = np.flatnonzero(inside & ~continues[:-1])
    ends = np.flatnonzero(inside & ~continues[1:]) + 1
    if strict:
        n_wrong = np.concatenate([[0], np.cumsum(_misplaced(role, kind, flat.lengths, scheme))])
        kept = n_wrong[starts] == n_wrong[ends]
        starts, ends = starts[kept], ends[kept]
    return SpanArrays(starts, ends, kind[starts])


# Letters that must continue a span, with the roles that may be before them; and letters that a span must continue
# after, with the roles that may be behind them. The neighbour has the same type.
_AFTER = {
    "IOB1": {_BEGIN: (_BEGIN, _INSIDE)},  # B only separates two spans of one type
    "IOB2": {_INSIDE: (_BEGIN, _INSIDE)},
    "IOE1": {},
    "IOE2": {},
    "IOBES": {_INSIDE: (_BEGIN, _INSIDE), _END: (_BEGIN, _INSIDE)},
}
_BEFORE = {
    "IOB1": {},
    "IOB2": {},
    "IOE1": {_END: (_INSIDE, _END)},  # E only separates two spans of one type
    "IOE2": {_INSIDE: (_INSIDE, _END)},
    "IOBES": {_BEGIN: (_INSIDE, _END), _INSIDE: (_INSIDE, _END)},
}
_AFTER["BILOU"], _BEFORE["BILOU"] = _AFTER["IOBES"], _BEFORE["IOBES"]


def _misplaced(role: NDArray[np.intp], kind: NDArray[np.intp], lengths: list[int], scheme: str) -> NDArray[np.bool_]:
    """Whether the neighbours of a position are not those that the scheme requires for its letter."""
    n, begins = len(role), np.cumsum([0, *lengths])
    joined = np.zeros(n + 1, dtype=bool)  # whether a position and the one before it have the same type and sequence
    joined[1:n] = kind[:-1] == kind[1:]
    joined[begins] = False
    padded = np.concatenate([[_OUTSIDE], role, [_OUTSIDE]])
    wrong = np.zeros(n, dtype=bool)
    for letter, others in _AFTER[scheme].items():
        wrong |= (role == letter) & ~(joined[:-1] & np.isin(padded[:-2], others))
    for letter, others in _BEFORE[scheme].items():
        wrong |= (role == letter) & ~(joined[1:] & np.isin(padded[2:], others))
    return wrong


def allowed_neighbours(classes: list[str], scheme: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which labels a scheme allows next to each other.

    Returns an array with a row for the start of a sequence and then one for each previous label, and an array of the
    labels that may end a sequence. Raises InputError if a label does not belong to the scheme.
    """
    parsed = parse_labels(classes, scheme, strict=True)
    after, before, n = _AFTER[scheme], _BEFORE[scheme], len(parsed)
    follows, last = np.ones((n + 1, n), np.bool_), np.ones(n, np.bool_)
    for j, (role, kind) in enumerate(parsed):
        follows[0, j], last[j] = role not in after, role not in before
        for i, (earlier, earlier_kind) in enumerate(parsed):
            fits = role not in after or (earlier in after[role] and kind == earlier_kind)
            goes_on = earlier not in before or (role in before[earlier] and kind == earlier_kind)
            follows[i + 1, j] = fits and goes_on
    return follows, last


def scheme_of_letters(classes: list[str]) -> str:
    """A scheme that reads spans of these labels, by their letters; IOB2 if they have none of E, S, L and U."""
    letters = {label[:1] for label in classes if isinstance(label, str)}
    if letters & {"L", "U"}:
        return "BILOU"
    if "S" in letters or {"B", "E"} <= letters:
        return "IOBES"
    return "IOE2" if "E" in letters else "IOB2"


def span_joins(classes: list[str], scheme: str) -> tuple[NDArray[np.bool_], NDArray[np.int32], list[str]]:
    """(whether a span continues from each label to each other, the type of each label, the names of types).

    The type is -1 for labels outside of spans. Raises InputError if a label does not belong to the scheme.
    """
    check_scheme(scheme)
    names: dict[str, int] = {}
    roles, kinds = np.array(parse_labels(classes, scheme, names), np.intp).T
    joins = _joins(scheme)[roles[:, None], roles] & (kinds[:, None] == kinds)
    return joins, kinds.astype(np.int32), list(names)


def parse_labels(
    classes: list[str], scheme: str, names: dict[str, int] | None = None, *, strict: bool = False
) -> list[tuple[int, int]]:
    """(role, index of the type) of each label; raises InputError if one does not belong to the scheme.

    `names` maps types to indices; new types are added to it.
    """
    names = {} if names is None else names
    if any(not isinstance(label, str) for label in classes):
        raise InputError(f"labels of the scheme {scheme} must be strings such as 'B-NP', but they are {classes[:5]}")
    _check_letters(classes, scheme, lambda _: "labels of training", strict=strict)
    return [_parse(label, scheme, names) for label in classes]


def _check_letters(labels: Iterable[str], scheme: str, where: Callable[[str], str], *, strict: bool) -> None:
    """Raise InputError for a letter of another scheme; if not strict, the four schemes of conlleval share B, I, E, O.

    `where` returns the place of a label for messages.
    """
    letters: Collection[str] = LETTERS[scheme] if strict else _ROLES[scheme]
    wrong = next((label for label in labels if label.partition("-")[0] not in tuple(letters)), None)
    if wrong is not None:
        refuse_label(wrong, labels, scheme, where(wrong))


def _joins(scheme: str) -> NDArray[np.bool_]:
    """[previous role, role]: whether a span continues between two positions of the same type."""
    joins = np.zeros((5, 5), dtype=bool)
    for previous in (_BEGIN, _INSIDE):
        joins[previous, [_INSIDE, _END]] = True
    joins[_END, _BEGIN] = _ROLES[scheme] is _CONLLEVAL
    return joins


def _parse(label: str, scheme: str, names: dict[str, int]) -> tuple[int, int]:
    """(role, index of the type) of a label; the index of labels outside of spans is -1."""
    letter, _, name = label.partition("-")
    if letter == "O":
        return _OUTSIDE, -1
    return _ROLES[scheme][letter], names.setdefault(name, len(names))
