"""Find the smallest change of one value that flips a label: read what the user asked for, and answer it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.data.columns import NumericColumn, trusted
from hedgerow.data.plain_values import numbers
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.calibration import uncalibrated
from hedgerow.inspection.counterfactuals.result import Counterfactual
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.view_tables import label_code
from hedgerow.utilities import counted, is_count

VIEW = "counterfactual"


def counterfactual(model: Estimator, x: Any, position: int, to: Any = None) -> Counterfactual | None:
    """Find the smallest change of one value of a sequence that flips the predicted label of a position.

    One value of one column of x is changed at a time, at the position or near it, and the whole sequence is labelled
    again. Columns that `features` derive are derived again. A change at the position itself is smaller than any change
    of a neighbour, and a nearer neighbour comes before a farther one. At the same distance, a number changes by its
    difference divided by the standard deviation of its column in training (trees: of the edges of their bins). Where
    the model stores none, with `scale=False` or a single edge, the difference is in the units of the column. Every
    other change counts 1. Among equal changes, the one with the most probable new label is returned.

    These values are tried:

    - Numbers: the thresholds that trees test; where a model multiplies numbers by weights, or trees read numbers that
      are derived from them, numbers up to four standard deviations from the mean (powers of four up to 10^12 with
      `scale=False`). Between the value and the first one that flips the label, more numbers are tried, and the nearest
      one is found by division of an interval. What happens between two that keep the label is not seen.
    - Categories: all values of training, or 200 of a column with more. These are values that make one of the labels
      most probable in a sequence of the value alone. Every label has its share, labels that are probable at the
      position come first, and `to` has half. With very many labels and values, an even sample of the values is ranked.
    - Bags: each member is removed, and members are added, chosen like categories, with the weight 1.
    - Numbers and categories become missing, if the model takes missing values.

    Positions are tried as far away as the window and the derived columns reach, and five positions more if labels
    depend on their neighbours. The time grows with the length of the sequence and the number of columns, and is longest
    if nothing is found. The first call ranks the values of columns with more than 200, once for each model.

    Parameters
    ----------
    model : estimator
        Any fitted estimator.
    x : sequence
        One sequence, read as in `predict_single`. An encoded sequence has no raw columns and is refused.
    position : int
        The position, from 0.
    to : label, optional
        The new label; any other label by default.

    Returns
    -------
    Counterfactual or None
        The change, or None if no change that was tried flips the label.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If x does not fit the training data, is encoded or holds several sequences, the position is outside of it, or
        `to` is no label of the model or is what the model predicts.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.HMM(order=0).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> found = hr.inspection.counterfactual(model, "cot", 1, to="a")
    >>> found.column, found.offset, found.value, found.new_value
    ('symbol', 0, 'o', 'a')
    """
    estimator, frozen = fitted_model(model, VIEW)
    sequences, encoded = _one_sequence(estimator, x)
    place = _checked_position(position, sequences.n_positions)
    code = None if to is None else label_code(frozen, to, f"{VIEW}: to")
    return _found(estimator, sequences, encoded, place, code)


def _one_sequence(estimator: Estimator, x: Any) -> tuple[Sequences, Encoded]:
    """One sequence as raw columns, and encoded; raises InputError if x is something else."""
    if isinstance(x, Encoded):
        raise InputError(f"{VIEW}: x must be a raw sequence, but it is encoded; give the sequence before encoding")
    if isinstance(x, Iterator):
        x = list(x)  # read twice
    encoded = estimator._encode_single(x, VIEW)
    return (x if isinstance(x, Sequences) else Sequences([x])), encoded


def _checked_position(position: Any, n: int) -> int:
    if not is_count(position) or not 0 <= position < n:
        raise InputError(
            f"{VIEW}: position must be an integer from 0 to {n - 1}, because the sequence has "
            f"{counted(n, 'position')}; it is {position!r}"
        )
    return int(position)


def _found(
    estimator: Estimator, sequences: Sequences, encoded: Encoded, position: int, to: int | None
) -> Counterfactual | None:
    """The counterfactual of a position of one sequence, which is also encoded; `to` is the code of the new label."""
    from hedgerow.inspection.counterfactuals.search import FlipSearch  # imports every kind of potential
    from hedgerow.inspection.counterfactuals.variants import RawSequence

    model = estimator._fitted()
    label = int(estimator._predicted_codes(encoded)[position])
    classes = model.labels.classes.tolist()
    if label == to:
        raise InputError(
            f"{VIEW}: to must differ from what the model predicts at position {position}, which is {classes[label]!r}; "
            "leave it out to flip the label to any other"
        )
    raw = RawSequence.of(model.encoder, sequences)
    (marginals,) = estimator._ask(encoded, lambda answers: answers.marginals()[1][position])
    flip = FlipSearch(estimator, raw, position, label, to, marginals).smallest()
    if flip is None:
        return None
    column = raw.columns[flip.change.column]
    return Counterfactual(
        position=position,
        label=classes[label],
        new_label=classes[flip.label],
        column=column.name,
        kind=column.kind,
        offset=flip.change.place - position,
        value=_short(flip.change.value),
        new_value=_short(flip.change.new_value),
        probability=float(marginals[label]),
        new_probability=flip.probability,
        note=uncalibrated(estimator),
    )


def _short(value: str | float | None) -> str | float | None:
    """A number with the digits that identify it as a 32-bit float; texts and None as they are."""
    if not isinstance(value, float):
        return value
    return numbers(trusted(NumericColumn, "", np.array([value], np.float32)))[0]
