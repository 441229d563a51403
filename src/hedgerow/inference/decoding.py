"""Labels and likelihoods from the answers of any kind of inference."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.answers import Answers

Decode = Literal["viterbi", "marginal"]
DecodeSetting = Literal["auto", "viterbi", "marginal"]


def best_labels(answers: Answers, decode: Decode) -> NDArray[np.int32]:
    """Label codes of the best path, or the most probable label of each position."""
    return answers.viterbi()[1] if decode == "viterbi" else answers.most_probable_labels()


def log_likelihood(answers: Answers, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """log P(labels) of each sequence; -inf where a label is unknown (-1). A beam never drops this path."""
    answers = answers.keeping(codes)
    known = np.logical_and.reduceat(codes >= 0, answers.starts[:-1])
    values = answers.score(np.maximum(codes, 0)) - answers.log_partition()
    return np.where(known, np.minimum(values, 0.0), -np.inf)
