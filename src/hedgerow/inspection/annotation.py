"""Ranking of unlabelled sequences for annotation: the most doubtful first, without repetitions of the same doubt.

With diversity, sequences are chosen one after the other by maximal marginal relevance (Carbonell & Goldstein 1998):
the next one has the highest (1 - diversity) * doubt - diversity * similarity, where doubt is divided by the greatest
doubt, and similarity is the greatest cosine between its attribute counts and those of a chosen sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding import HERE, AttributeReader
from hedgerow.encoding.binning import Binning
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.answers import Answers
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.inference.decoding import log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import encoded_or_empty
from hedgerow.utilities import Floats64, is_count

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator
    from hedgerow.typing import SequencesLike

Doubt = Literal["confidence", "margin", "entropy"]
N_BEST = 20  # label sequences of a beam search whose entropy is computed
MAX_POSITIONS = 2**18  # whose attributes are counted at once, to bound memory
MAX_BINS = 10  # of a numeric column, for similarity


class RankedSequence(NamedTuple):
    """A sequence of X that is worth annotating.

    Attributes
    ----------
    index : int
        Its place in X.
    score : float
        How doubtful its labels are; higher is more doubtful.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index
    score: float


def rank_for_annotation(
    model: Estimator,
    X: SequencesLike,
    n: int,
    *,
    by: Doubt = "confidence",
    per_position: bool = False,
    diversity: float = 0.0,
) -> list[RankedSequence]:
    """Find the sequences whose labels a model is most doubtful about, to annotate them next.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : list of sequences
        Unlabelled sequences, read as in `fit` and with the same columns.
    n : int >= 1
        How many sequences to return; all if there are fewer.
    by : {"confidence", "margin", "entropy"}, default="confidence"
        What makes a sequence doubtful. "confidence" is 1 - P, where P is the probability of its most probable label
        sequence. "margin" is 1 - (P - Q), where Q is the probability of the second one. "entropy" is that of the
        distribution over label sequences, in nats. `SearchTagger` computes it over its 20 best label sequences.
    per_position : bool, default=False
        Whether to make sequences of different lengths comparable. Long sequences have more labels to doubt. If True,
        P and Q are replaced by their geometric means per position, and the entropy is divided by the length.
    diversity : float, default=0.0
        From 0 to 1: how much a sequence loses by being similar to one that is ranked before it. 0 ranks by doubt
        alone. The time grows with n times the number of distinct attributes of all sequences.

    Returns
    -------
    list of RankedSequence
        Tuples (index, score), the first to annotate first. Of equally good sequences the one with the lower index
        comes first.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InputError
        If X does not fit the training data, or an argument breaks a rule.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> [ranked.index for ranked in hr.rank_for_annotation(model, ["cat", "zzz", "dog"], 1)]
    [1]
    """
    fitted_model(model, "rank_for_annotation")
    _check(n, by, per_position, diversity)
    encoded = encoded_or_empty(model, X)
    if not len(encoded):
        return []
    blocks = list(model._ask(encoded, lambda answers: _doubts(answers, by, per_position)))
    doubt, key = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    n = min(int(n), len(encoded))
    if diversity == 0:
        chosen = np.lexsort((-key, -doubt))[:n]
    else:
        chosen = _diverse(doubt, key, AttributeCounts.of(encoded), n, float(diversity))
    return [RankedSequence(int(i), float(doubt[i])) for i in chosen]


def _check(n: object, by: object, per_position: object, diversity: object) -> None:
    if not is_count(n) or n < 1:  # type: ignore[operator]
        raise InputError(f"n must be an integer of at least 1, the number of sequences to annotate; it is {n!r}")
    if by not in get_args(Doubt):
        raise InputError(f'by must be "confidence", "margin" or "entropy"; it is {by!r}')
    if not isinstance(per_position, (bool, np.bool_)):
        raise InputError(f"per_position must be True or False; it is {per_position!r}")
    is_number = isinstance(diversity, (int, float, np.number)) and not isinstance(diversity, bool)
    if not is_number or not 0 <= diversity <= 1:  # type: ignore[operator]
        raise InputError(f"diversity must be a number from 0 to 1; it is {diversity!r}")


def _doubts(answers: Answers, by: Doubt, per_position: bool) -> tuple[Floats64, Floats64]:
    """(doubt, a key that orders equal doubts) of each sequence.

    1 - P is 1 for every small P; the key -log P still orders these.
    """
    lengths = np.diff(answers.starts) if per_position else np.ones(len(answers.starts) - 1)
    if by == "entropy":
        entropy = answers.entropy() if isinstance(answers, Lattice) else _nbest_entropy(answers)
        return entropy / lengths, np.zeros(len(lengths))
    if by == "confidence":
        first = log_likelihood(answers, answers.viterbi()[1]) / lengths
        return -np.expm1(first), -first
    scores, paths = answers.nbest(2)
    log_z = answers.keeping(paths[0]).log_partition()
    first, second = np.minimum(scores - log_z[:, None], 0.0).T / lengths
    return 1.0 - (np.exp(first) - np.exp(second)), -first


def _nbest_entropy(answers: Answers) -> Floats64:
    """The entropy of the distribution over the N_BEST best label sequences."""
    scores = answers.nbest(N_BEST)[0]
    odds = np.exp(scores - scores[:, :1])
    shares = odds / odds.sum(axis=1, keepdims=True)
    entropy: Floats64 = -(shares * np.log(shares, where=shares > 0, out=np.zeros_like(shares))).sum(axis=1)
    return entropy


class AttributeCounts(NamedTuple):
    """How often each attribute occurs in each sequence, divided by the norm of the counts: a sparse matrix by rows."""

    sequences: NDArray[np.int64]  # rising; the row of each number
    attributes: NDArray[np.int64]
    shares: Floats64
    shape: tuple[int, int]

    @classmethod
    def of(cls, encoded: Encoded) -> AttributeCounts:
        """The counts of the values at the positions themselves; numbers are counted by bin."""
        numbers = [column for column in encoded.columns if isinstance(column, NumericColumn)]
        binnings = Binning.fit_all([column.values for column in numbers], [MAX_BINS] * len(numbers))
        numeric = {column.name: binning for column, binning in zip(numbers, binnings, strict=True)}
        reader = AttributeReader(encoded, HERE, numeric)
        parts = []
        for block in sequence_blocks(encoded.starts, MAX_POSITIONS):
            starts, ids = reader.ids(int(encoded.starts[block.start]), int(encoded.starts[block.stop]))
            of_position = np.repeat(np.arange(block.start, block.stop), encoded.lengths[block])
            cells = np.repeat(of_position, np.diff(starts)) * reader.n_ids + ids
            parts.append(np.unique(cells, return_counts=True))
        cells, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        sequences, attributes = np.divmod(cells, max(reader.n_ids, 1))
        norms = np.sqrt(np.bincount(sequences, counts.astype(np.float64) ** 2, minlength=len(encoded)))
        return cls(sequences, attributes, counts / norms[sequences], (len(encoded), reader.n_ids))

    def similarities(self, i: int) -> Floats64:
        """The cosine between sequence i and each sequence; 0 for sequences without attributes."""
        own = slice(*np.searchsorted(self.sequences, [i, i + 1]).tolist())
        dense = np.zeros(self.shape[1])
        dense[self.attributes[own]] = self.shares[own]
        sums = np.bincount(self.sequences, self.shares * dense[self.attributes], minlength=self.shape[0])
        return np.minimum(sums, 1.0)


def _diverse(doubt: Floats64, key: Floats64, counts: AttributeCounts, n: int, diversity: float) -> NDArray[np.int64]:
    """The indices of n sequences, by maximal marginal relevance. Memory does not grow with n times sequences."""
    relevance = (1 - diversity) * doubt / (doubt.max() or 1.0)
    by_key = np.lexsort((-key, -doubt))  # argmax takes the first of equal values
    relevance, similar = relevance[by_key], np.zeros(len(doubt))
    chosen = np.empty(n, np.int64)
    for rank in range(n):
        value = relevance - diversity * similar
        best = int(value.argmax())
        relevance[best] = -np.inf
        chosen[rank] = by_key[best]
        similar = np.maximum(similar, counts.similarities(int(by_key[best]))[by_key])
    return chosen
