"""Explain the predictions of a fitted estimator: read what the user asked for, and answer it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.inference.spans import Span
from hedgerow.inspection.explaining import (  # noqa: F401 - each registers its kind of potential
    code_attributions,
    future_attributions,
    linear_attributions,
    local_attributions,
    pool_attributions,
    table_attributions,
    tree_attributions,
    vote_attributions,
)
from hedgerow.inspection.explaining.explanation import Explanation, Explanations
from hedgerow.inspection.explaining.predicted_sequence import PredictedSequence
from hedgerow.inspection.explaining.shown_values import RawValues
from hedgerow.inspection.view_tables import label_code
from hedgerow.utilities import counted, is_count


def explain(estimator: Estimator, x: object, position: object = None, against: object = None) -> Any:
    """The explanation of a position or span of one sequence; without one, the explanations of all positions."""
    if isinstance(x, Iterator):
        x = list(x)  # read twice
    encoded = estimator._encode_single(x, "explain")
    model, n = estimator._fitted(), encoded.n_positions
    if len(model.labels) < 2:
        raise InputError(f"explain compares two labels, but the model has only {model.labels.classes[0]!r}")
    if position is None:
        codes = None if against is None else _codes(estimator, against)
        return Explanations(_everywhere(_predicted(estimator, encoded, x), n, codes))
    first, end = _place(position, n)
    codes = None if against is None else _codes(estimator, against, end - first)
    sequence = _predicted(estimator, encoded, x)
    if codes is not None and codes == sequence.codes[first:end].tolist():
        labels = ", ".join(map(str, model.labels.decode(np.array(codes, np.int32)).tolist()))
        raise InputError(
            f"against must differ from what the model predicts there, which is {labels}; leave it out to compare with "
            "the runner-up"
        )
    return sequence.explanation(first, end, codes)


def _predicted(estimator: Estimator, encoded: Encoded, x: object) -> PredictedSequence:
    """A sequence, which was read from x, with its predicted labels."""
    raw = None if isinstance(x, Encoded) else RawValues(estimator._fitted().encoder, x)
    return PredictedSequence(estimator, encoded, estimator._predicted_codes(encoded), raw)


def explain_many(
    estimator: Estimator,
    encoded: Encoded,
    codes: NDArray[np.int32],
    positions: Sequence[int],
    raw: Sequences | None = None,
    against: Sequence[int | None] | None = None,
) -> Iterator[Explanation]:
    """Explanations of positions, which are counted over all sequences and rise.

    `codes` are the predicted labels, `raw` the sequences before they were encoded, if they are known. `against` has for
    each explained position the label that it is compared with, or None for the runner-up.
    """
    sequence, current = None, -1
    for position, other in zip(positions, against or [None] * len(positions), strict=True):
        number = int(np.searchsorted(encoded.starts, position, side="right")) - 1
        first, end = int(encoded.starts[number]), int(encoded.starts[number + 1])
        if sequence is None or number != current:
            own, current = slice(number, number + 1), number
            values = None if raw is None else RawValues(estimator._fitted().encoder, raw[own])
            sequence = PredictedSequence(estimator, encoded[own], codes[first:end], values)
        yield sequence.explanation(position - first, position - first + 1, None if other is None else [other])


def _everywhere(sequence: PredictedSequence, n: int, codes: list[int] | None) -> Iterator[Explanation]:
    """Against the label of `codes`, except where it is the prediction."""
    for position in range(n):
        own = codes if codes is not None and codes[0] != sequence.codes[position] else None
        yield sequence.explanation(position, position + 1, own)


def _place(position: Any, n: int) -> tuple[int, int]:
    """(first position, position after the last one); raises InputError if they are outside of the sequence."""
    size = f"the sequence has {counted(n, 'position')}"
    if is_count(position):
        if 0 <= position < n:
            return int(position), int(position) + 1
        raise InputError(f"position must be from 0 to {n - 1}, because {size}; it is {position}")
    bounds = position[:2] if isinstance(position, Span) else position
    match bounds.tolist() if isinstance(bounds, np.ndarray) else bounds:
        case (start, end) if is_count(start) and is_count(end) and not isinstance(bounds, range):
            if 0 <= start < end <= n:
                return int(start), int(end)
            raise InputError(
                f"a span must start before its end and lie in 0 to {n}, because {size}; it is ({start}, {end})"
            )
    raise InputError(
        f"position must be a number, a pair (start, end), a Span of predict_spans, or None for all; it is {position!r}"
    )


def _codes(estimator: Estimator, against: object, n: int = 1) -> list[int]:
    """The codes of a label, n times, or of n labels; raises InputError if the model does not know one."""
    given = against.tolist() if isinstance(against, np.ndarray) else against
    labels = list(given) if isinstance(given, (list, tuple)) else [given] * n
    if len(labels) != n:
        rule = "one label" if n == 1 else f"one label, or one for each of the {n} positions"
        raise InputError(f"against must be {rule}; it has {len(labels)}")
    return [label_code(estimator._fitted(), label, "against") for label in labels]
