"""Constraints of an estimator as arrays over its labels, and known labels as codes; both are checked here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.data.ragged import place
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.utilities import counted


def constraints_of(choice: str | list[tuple[Any, Any]] | None, labels: Labels) -> Constraints | None:
    """The constraints that a parameter describes, checked and converted, over the labels of training.

    Pairs of labels that training does not have are left out. Raises InputError if a label is not one of the scheme.
    """
    if choice is None:
        return None
    classes = labels.classes.tolist()
    if isinstance(choice, str):
        from hedgerow.metrics.span_schemes import allowed_neighbours

        return Constraints(*allowed_neighbours(classes, choice))
    codes = {label: code for code, label in enumerate(classes)}
    follows = np.zeros((len(classes) + 1, len(classes)), np.bool_)
    for previous, label in choice:
        if label in codes and (previous is None or previous in codes):
            follows[0 if previous is None else codes[previous] + 1, codes[label]] = True
    return Constraints(follows, np.ones(len(classes), np.bool_))


def overriding_constraints(
    choice: str | list[tuple[Any, Any]] | None, labels: Labels, of_training: object
) -> Constraints | None:
    """The same for a prediction, where `of_training` is the parameter `constraints` of training.

    Raises InputError if a pair has a label that the model has never seen, or if a scheme is not that of the labels.
    """
    if isinstance(choice, list):
        classes = set(labels.classes.tolist())
        unseen = [label for pair in choice for label in pair if label is not None and label not in classes]
        if unseen:
            raise InputError(
                f"constraints must be pairs of labels of training, but {first_few(list(dict.fromkeys(unseen)))} never "
                f"occurred there; its labels are {first_few(labels.classes.tolist())}"
            )
    constraints = constraints_of(choice, labels)
    if isinstance(choice, str) and constraints is not None:
        _check_fits(choice, constraints, labels.classes.tolist(), of_training)
    return constraints


def _check_fits(scheme: str, constraints: Constraints, classes: list[str], of_training: object) -> None:
    """Raise InputError if the labels cannot be of a scheme: if no label with one of their letters could occur.

    Single labels that cannot occur, such as an I-X without any B-X, come from faults of the training data.
    """
    if isinstance(of_training, str) and of_training != scheme:
        raise InputError(
            f"constraints must be the scheme of the labels, which was {of_training!r} in training, but got {scheme!r}"
        )
    possible = constraints.possible()
    usable = {label[0] for label, can_occur in zip(classes, possible.tolist(), strict=True) if can_occur}
    wrong = next((label for label in classes if label[0] not in usable), None)
    if wrong is not None:
        raise InputError(
            f"constraints must be the scheme of the labels, but no label with the letter {wrong[0]}, such as "
            f"{wrong!r}, can occur under {scheme!r} beside the other labels of the model; give the scheme of training"
        )


def check_gold(
    constraints: Constraints | None,
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: Labels,
    source: str,
    cure: str = "correct the labels or change the constraints",
) -> None:
    """Raise InputError for the first pair of neighbouring labels that the constraints forbid."""
    wrong = None if constraints is None else constraints.first_violation(codes, starts)
    if wrong is None:
        return
    sequence, position = place(starts, wrong.position)
    classes = labels.classes.tolist()
    if wrong.label < 0:
        rule = f"label {classes[wrong.previous]!r} may not end a sequence"
    elif wrong.previous < 0:
        rule = f"label {classes[wrong.label]!r} may not begin a sequence"
    else:
        rule = f"label {classes[wrong.label]!r} may not follow {classes[wrong.previous]!r}"
    raise InputError(f"{source}: sequence {sequence}, position {position}: {rule} under the constraints; {cure}")


def known_codes(
    known: object, labels: Labels, encoded: Encoded, constraints: Constraints | None
) -> NDArray[np.int32] | None:
    """The code of each known label, -1 where none is known; None if no label is known at all.

    Raises InputError unless there is a label of training or None for each position, or if two neighbours, the first or
    the last label contradict the constraints.
    """
    if known is None:
        return None
    flat = _flat([_row(row, i) for i, row in enumerate(_listed(known))], encoded)
    code_of: dict[Any, int] = {label: code for code, label in enumerate(labels.classes.tolist())}
    try:
        codes = np.array([-1 if label is None else code_of.get(label, -2) for label in flat], np.int32)
    except TypeError as error:
        raise InputError(f"known must hold labels or None, but it holds other values ({error})") from None
    unseen = np.flatnonzero(codes == -2)
    if unseen.size:
        sequence, position = place(encoded.starts, int(unseen[0]))
        raise InputError(
            f"known: sequence {sequence}, position {position}: label {flat[unseen[0]]!r} never occurred in training; "
            f"use None if the label is not known, or one of {first_few(labels.classes.tolist())}"
        )
    check_gold(constraints, codes, encoded.starts, labels, "known", "correct it, or use None where it is not known")
    return codes if (codes >= 0).any() else None


def _listed(known: object) -> list[Any]:
    if isinstance(known, (str, bytes, dict, set, frozenset)) or not isinstance(known, Iterable):
        raise InputError(
            f"known must be a list with a list of labels or None for each sequence, but got {type_name(known)}"
        )
    return list(known)


def _row(row: Any, i: int) -> list[Any] | None:
    """The known labels of a sequence; None for a sequence without any."""
    if row is None:
        return None
    if isinstance(row, (str, bytes, dict, set, frozenset)) or not isinstance(row, Iterable):
        raise InputError(f"known: sequence {i} must be a list of labels or None, but got {type_name(row)}")
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


def _flat(rows: list[list[Any] | None], encoded: Encoded) -> list[Any]:
    """The known labels of all positions; raises InputError unless there is one, or None, for each."""
    if len(rows) != len(encoded):
        raise InputError(
            f"known must hold a list of labels for each sequence, but X has {counted(len(encoded), 'sequence')} and "
            f"known has {counted(len(rows), 'list')}"
        )
    flat: list[Any] = []
    for i, (row, length) in enumerate(zip(rows, encoded.lengths.tolist(), strict=True)):
        if row is not None and len(row) != length:
            raise InputError(
                f"known: sequence {i} has {counted(length, 'position')} but {counted(len(row), 'label')}; give a "
                "label or None for each position"
            )
        flat += [None] * length if row is None else row
    return flat
