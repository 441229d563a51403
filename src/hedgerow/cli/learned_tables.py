"""What models without weights and trees learned: the transitions of an HMM, the code words of an output code."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.codes.potential import CodePotential
from hedgerow.potentials.table import TablePotential
from hedgerow.topology import Topology

if TYPE_CHECKING:
    from hedgerow.model import Model


def transition_probabilities(model: Model, top: int) -> list[dict[str, Any]] | None:
    """The `top` most probable transitions of an HMM; None for other models. None before a label is the start."""
    if not isinstance(model.potential, TablePotential):
        return None
    labels = model.labels.classes.tolist()
    contexts = Topology(len(labels), model.order).contexts()
    found = [
        {"labels": [*([labels[y] for y in reversed(context)] or [None]), label], "probability": probability}
        for context, row in zip(contexts, np.exp(model.potential.transitions).tolist(), strict=True)
        for label, probability in zip(labels, row, strict=True)
    ]
    return nlargest(top, found, key=lambda one: one["probability"])


def code_facts(model: Model) -> dict[str, int] | None:
    """The number of bits of an output code, and the number in which two labels differ at least; None without a code."""
    if not isinstance(model.potential, CodePotential):
        return None
    words = model.potential.code_words.astype(np.int64)
    distances = (words[:, None, :] != words[None, :, :]).sum(axis=2)
    apart = distances[~np.eye(len(words), dtype=np.bool_)]
    return {"bits": words.shape[1], "least_distance": int(apart.min()) if len(apart) else 0}
