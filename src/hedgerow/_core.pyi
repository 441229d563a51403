"""Compiled kernels of hedgerow; private."""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


def sort_strings(values: list[str]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Return (blob, offsets) of the distinct strings of a list, sorted.

    Raises InputError if a value is not a str.
    """

class SortedSet:
    """Sorted distinct strings, as a blob of UTF-8 and n + 1 offsets."""

    def __init__(self, blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Raises InputError unless the offsets go from 0 to the size of the blob and do not fall.
        """

    def __len__(self) -> int: ...

    def text(self, i: int) -> str:
        """Return string i."""

    def check(self) -> None:
        """Raise InputError unless the strings are UTF-8, distinct and sorted."""

    def ids(self, values: list[str]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """
        Return the index of each str of a list, -1 if the set does not have it.
        """

    def codes(self, values: list[str | None]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """
        Return the index of each str of a list, -2 for None and if the set does not have it.
        """

    def part_codes(self, texts: SortedSet, part: str, outside: str, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """
        Return (the index of a part of each string of `texts`, -2 if the text or the set does not have it; the texts whose part is undecided).

        Lower case and shapes of texts that are not ASCII are undecided. A text or lower-case text that begins with `outside` has an apostrophe at its end.
        """

    def part_alphabets(self, names: Sequence[str], more: Sequence[list[str]], outside: str, n_threads: int = 1) -> list[tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]]:
        """
        Return (blob, offsets) of the distinct parts of all strings, sorted, for each name of a part; also the strings of its list in `more`.

        Parts are those of part_codes; undecided ones are left out.
        """

    def into(self, other: SortedSet) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
        """
        Return the index in `other` of each string, -1 if `other` does not have it.
        """

    def merged(self, other: SortedSet) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
        """Return (blob, offsets) of the strings of both sets, sorted, each once."""

    def recode(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], other: SortedSet, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], int]:
        """
        Return (codes in `other`, -2 where `other` lacks the string; the number of such codes).
        """

def bag_sums(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, back: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Return for each position the sum over its bag: the next `size` positions of its sequence, or with
    back=True the last `size`.
    """

def bag_probabilities(scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, back: bool, n_threads: int) -> tuple:
    """
    Return (p, 1 - p) for each position: the noisy-or over its bag, with scores as log-odds.
    """

def read_columns(text: bytes, tabs: bool, comments: bool, documents: bool, numbered: bool, absent_from: int, n_columns: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], list[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]], int, tuple[str, int, int, int] | None]:
    """
    Return (starts, lines, ends, columns, number of lines, fault) of a text of columns.

    A column is (codes, blob, offsets). A fault is (kind, line, column), with kind 'columns', 'encoding',
    kind 'columns', 'encoding', 'nul' or 'carriage return'; for 'columns', `column` is the number found.
    """

def read_items(text: bytes, labelled: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')] | None, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], int, tuple[str, int, int, int] | None]:
    """
    Return (starts, lines, labels, bags, sequence weights, number of lines, fault) of CRFsuite's format.

    Labels are (codes, blob, offsets), bags (starts, ids, weights or None, blob, offsets). A fault is as in
    read_columns, or of kind 'number'.
    """

def has_tabs(text: bytes) -> bool:
    """Whether the first line that cannot be a comment holds a tab."""

def end_of_sequences(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int) -> int:
    """
    Return the offset behind the last blank line that begins at or after `begin`, -1 without one.
    """

def with_labels(text: bytes, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], separator: bytes, blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """Return the text with separator and label inserted at each end."""

def neighbours(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: int, outside: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
    """
    Return for each position ids[code] of the position `offset` after it, outside[d - 1] where that lies d positions
    before the sequence or after it. Negative codes stay as they are.
    """

def distinct_pairs(left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_left: int, n_right: int, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
    """
    Return (starts, rights): left code l occurs with the right codes rights[starts[l]:starts[l + 1]].
    """

def check_pairs(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_right: int) -> None:
    """
    Raise InputError unless the right codes rise within each left code and are below n_right.
    """

def pair_codes(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]:
    """
    Return the code of each pair, its index in `rights`; -1 if a code is -1, otherwise -2 if a code is -2
    or the pair is not there.
    """

def number_statistic(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], name: str, first: int, last: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
    """
    Return a statistic of the numbers from `first` to `last` positions after each position.

    name: change, mean, deviation, lowest or highest. NaN is ignored; outside the sequence is nothing.
    """

class DualTrainer:
    """Dual coordinate ascent on the penalised log-likelihood."""

    def __init__(self, reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sequences: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: LinearFeatures, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: int, forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, l1: float, l2: float, pull: float, n_batches: int) -> None:
        """
        sequences: those to learn from, dealt out to the batches in turn; cells: the n-grams with a weight, as cells of the transition table; forbidden: cells that no
        label sequence uses; never_last: labels that end none; pull: an L2 penalty on the distance of
        the weights from a centre.
        """

    def sweep(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], caution: float, n_threads: int) -> float:
        """
        Visit the batches in `order`; return the mean step, between 0 and 1.

        caution: a factor of each step.
        """

    def move_centre(self) -> None:
        """Move the centre to the weights."""

    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Return the weights of features, then of cells."""

def exact_sum(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], int]:
    """
    Return (limbs, lowest): the sum of finite numbers is the sum over j of limbs[j] * 2^(lowest + j).

    With weights, the numbers are the products weight * value; the weight 0 leaves a value out.
    """

class FrankWolfeTrainer:
    """A structured SVM, learned by steps that raise its dual."""

    def __init__(self, reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, order: int, forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, bias: bool, hamming: bool, cost: float) -> None:
        """
        Minimise |w|^2 / 2 + cost * (weighted sum of the hinge losses).

        hamming: the loss of a path is the number of its wrong labels instead of 1; forbidden: cells of
        the transition table that no label sequence uses; never_last: labels that end none.
        """

    def epoch(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch: int, n_threads: int) -> float:
        """
        Find the most violating path of each sequence in `order` and step; return the rise of the dual.

        Paths are found with the weights before each batch of sequences.
        """

    def improve(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Step with the paths found so far; return the rise of the dual."""

    def objectives(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple:
        """
        Return (primal, dual) of the sequences in `order`, which must be all that have been learned from.

        Their most violating paths are kept for later steps.
        """

    def weights(self, n_threads: int) -> tuple:
        """
        Return ((starts, labels, weights) by attribute, n-gram weights).

        Weights of 0 are left out, but not those of n-grams.
        """

def ingest_dicts(parts: list[Any], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], known: dict = {}, n_threads: int = 1) -> list[tuple[Any, ...]]:
    """
    Return the columns of dicts, one dict per position, in lists or tuples that are read end to end.

    A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or
    (name, 'bag', starts, ids, weights or None, blob, offsets). Columns come in the order of their
    first occurrence. A nested dict of numbers is a bag. If many numeric keys are absent at most
    positions, they become one bag (None, 'folded', ...), the last column. `starts` is where each sequence begins, and the end.
    known: {name: (kind, alphabet)}. In a column of this name and kind texts are looked up in the
    alphabet, and the number of texts that it lacks, which are left out, comes instead of blob, offsets.
    Raises InputError with sequence, position and column.
    """

def ingest_values(parts: list[Any], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], name: str, known: dict = {}, n_threads: int = 1) -> tuple[Any, ...]:
    """
    Return the column of values, in lists or tuples that are read end to end, in the form of ingest_dicts.
    """

def count_labels(reader: AttributeReader, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, folds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_folds: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    Count labels by attribute and fold; return (starts, labels, counts).

    Attribute v occurs with labels[starts[v]:starts[v + 1]]; counts holds n_folds numbers for each of these entries.
    """

class LogRatios:
    """Sums of log P(label | attribute) / P(label) over families."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], smoothing: float, families: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_families: int, fold_counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, folds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, n_folds: int = 0) -> None:
        """
        The arrays must not change. With fold_counts and folds, the counts of a position's own fold are
        left out.
        """

    def sum(self, reader: AttributeReader, n_threads: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C')]:
        """
        Return (families, labels + 1, positions): sums over the attributes of each family, then those of
        log(1 + count of the attribute).
        """

@overload
def add_pairs_by_row(n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pair: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def add_pairs_by_row(n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pair: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add pair marginals, times the weights of the sequences, to the rows of a transition table.

    Each product is rounded to a multiple of the unit, a power of two; 0 rounds nothing.
    """

class LatticeBatch32:
    def __init__(self, n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, edge: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, beam: float, keep: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, general: bool) -> None:
        """
        Scores of a batch of sequences. beam=0 keeps every node; one below 1 is a bound on the divergence.
        """

    def sum_over_paths(self, want_state: bool, want_pair: bool) -> tuple:
        """(log Z, state marginals or None, pair marginals or None)"""

    def sum_pairs(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, unit: float, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple:
        """
        (log Z, state marginals, pair marginals summed over positions by row of the table)

        What is added is rounded to multiples of the unit, a power of two; 0 rounds nothing.
        Of cells that are not listed only the sum of each label is defined.
        """

    def pseudo_sums(self, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float) -> tuple:
        """
        (log pseudo-likelihood, gold minus its derivative by edge or state score, the same summed by
        row of the table or None)

        allowed: labels that the probability of a position is over. Terms of the table are rounded to
        multiples of the unit, a power of two.
        """

    def evidence_sums(self, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        (log-likelihood of the labels under virtual evidence, gold minus its derivative by pair of
        labels)
        """

    def best_path(self) -> tuple:
        """(scores, labels)"""

    def best_paths(self, n: int) -> tuple:
        """(scores by sequence and rank, labels by rank)"""

    def sample_paths(self, n: int, seed: int) -> tuple:
        """(log Z, labels by sample)"""

    def path_entropy(self) -> object:
        """Entropy of the distribution over each sequence's paths, in nats."""

    def log_path_count(self) -> object:
        """Log of the number of each sequence's allowed paths."""

    def path_score(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
        """Score of the given path of each sequence."""

class LatticeBatch64:
    def __init__(self, n_labels: int, order: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, edge: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, beam: float, keep: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, general: bool) -> None:
        """
        Scores of a batch of sequences. beam=0 keeps every node; one below 1 is a bound on the divergence.
        """

    def sum_over_paths(self, want_state: bool, want_pair: bool) -> tuple:
        """(log Z, state marginals or None, pair marginals or None)"""

    def sum_pairs(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, unit: float, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple:
        """
        (log Z, state marginals, pair marginals summed over positions by row of the table)

        What is added is rounded to multiples of the unit, a power of two; 0 rounds nothing.
        Of cells that are not listed only the sum of each label is defined.
        """

    def pseudo_sums(self, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float) -> tuple:
        """
        (log pseudo-likelihood, gold minus its derivative by edge or state score, the same summed by
        row of the table or None)

        allowed: labels that the probability of a position is over. Terms of the table are rounded to
        multiples of the unit, a power of two.
        """

    def evidence_sums(self, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        (log-likelihood of the labels under virtual evidence, gold minus its derivative by pair of
        labels)
        """

    def best_path(self) -> tuple:
        """(scores, labels)"""

    def best_paths(self, n: int) -> tuple:
        """(scores by sequence and rank, labels by rank)"""

    def sample_paths(self, n: int, seed: int) -> tuple:
        """(log Z, labels by sample)"""

    def path_entropy(self) -> object:
        """Entropy of the distribution over each sequence's paths, in nats."""

    def log_path_count(self) -> object:
        """Log of the number of each sequence's allowed paths."""

    def path_score(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
        """Score of the given path of each sequence."""

def instruction_sets() -> list[str]:
    """Names of the vector instruction sets of this processor, best first."""

def instruction_set() -> str:
    """Name of the instruction set in use."""

def use_instruction_set(name: str) -> None:
    """Use another instruction set, for tests and benchmarks."""

class LinearFeatures:
    """The features (attribute, output) of a linear model."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> None:
        """
        Attribute i has the outputs outputs[starts[i]:starts[i + 1]], rising and below width.
        """

def count_features(reader: AttributeReader, first: int, last: int, outputs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> tuple:
    """
    Return (starts, outputs, counts): how often each attribute occurs with each output.

    Of the positions first..last; a position with a negative output is not counted.
    """

def largest_values(reader: AttributeReader) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
    """
    Return the largest absolute value of each attribute, 0 if the attribute does not occur.
    """

def whole_residuals(probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], residuals: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Fill residuals with factor * (probability - 1 for the gold output), rounded to whole numbers.

    factors: one for each sequence, at most 2^25. A position with a negative output has no gold.
    """

class LinearScorer:
    """The weights of features, laid out for scoring."""

    def __init__(self, features: LinearFeatures, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def score(self, reader: AttributeReader, first: int, last: int, skip: int, scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
        """
        Fill scores (positions first..last, width).

        A position with fewer than `skip` positions before it in its sequence gets 0.
        """

class LinearScorer64:
    """The same in double precision; slower."""

    def __init__(self, features: LinearFeatures, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def score(self, reader: AttributeReader, first: int, last: int, skip: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
        """
        Fill scores (positions first..last, width).

        A position with fewer than `skip` positions before it in its sequence gets 0.
        """

class LinearPostings:
    """Where the attributes of positions first..last occur."""

    def __init__(self, reader: AttributeReader, features: LinearFeatures, first: int, last: int, skip: int, largest: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        largest: by attribute, what no absolute value exceeds; None if all values are 1.
        """

    def add_gradient(self, residuals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        Add the sum of value * residual over the occurrences of each feature to the gradient.

        residuals: (positions first..last, width).
        """

    def add_whole_gradient(self, residuals: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, value_unit: float, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        The same with residuals in whole multiples of a unit, and exact sums.

        A product with a value is rounded to a multiple of unit * value_unit * the power of two that is
        not below the largest value of the attribute.
        """

    @property
    def n_bytes(self) -> int:
        """The memory that the occurrences take."""

def dot(a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float:
    """Return the dot product. It does not depend on the number of threads."""

def penalize(weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: float, l2: float, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> float:
    """
    Return l1 * sum |w| + l2 * sum w^2; add the derivative 2 * l2 * w to the gradient.
    """

def slope(weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: float, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """Return the pseudo-gradient: the gradient plus that of l1 * sum |w|."""

def step(weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: float, within: bool, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    Return (weights + step, step) with step = length * direction.

    within: a weight that would change its sign becomes 0.
    """

class QuasiNewton:
    """Limited-memory BFGS: an estimate of the inverse Hessian."""

    def __init__(self, n: int, memory: int) -> None: ...

    def remember(self, step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], change: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None:
        """Add a step and the change of the gradient along it."""

    def forget(self) -> bool:
        """Reset the estimate to the identity; return False if it already was."""

    def down(self, slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], within: bool, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """
        Return minus the estimate times the slope.

        within: components that do not descend become 0.
        """

def sequence_digests(reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
    """
    Return a number per sequence that depends only on its attributes, gold labels and weight.
    """

class MarginTrainer:
    """A structured perceptron or SVM, learned in batches of sequences."""

    def __init__(self, reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, order: int, forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, bias: bool, hamming: bool, margin: float, growth: float, beam: float, early: bool, summed: bool, recorded: bool) -> None:
        """
        At example t, gold must beat a wrong path by margin + growth * t.

        hamming: the margin applies to each wrong label instead of once to a path; early: learn only
        up to the position where the beam drops gold; summed: keep sums for the mean of the weights;
        recorded: keep all changes, for voting; forbidden: cells of the transition table that no label
        sequence uses; never_last: labels that end none.
        """

    def start_from(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_grams: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_seen: int) -> None:
        """
        Set the first weights, instead of 0, in the form that weights() returns.

        They were learned from n_seen examples. They do not count in the mean, where the last of these
        examples has counted them.
        """

    def epoch(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch: int, n_threads: int) -> int:
        """
        Learn from the sequences in `order`; return how many of them changed the weights.

        Paths are found with the weights before each batch of sequences.
        """

    def weights(self, mean: bool, scale: float, n_threads: int) -> tuple:
        """
        Return ((starts, labels, weights) by attribute, n-gram weights), times scale.

        Weights of 0 are left out, but not those of n-grams. With mean=True: the mean of all weight
        vectors so far, one after each example and the first of 0; otherwise the current weights.
        """

    def objective(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: bool, scale: float, n_threads: int) -> tuple:
        """
        Return (|w|^2, the weighted sum of the hinge losses of the sequences in `order`).

        w: as weights() returns them. Paths are exact, also if learning uses a beam.
        """

    def changes(self) -> tuple:
        """
        Return (starts, features, amounts, survived): the changes that make each weight vector, and
        the number of examples that the vector survived.
        """

    def stay(self, n: int) -> None:
        """Count n more examples that change no weight."""

    @property
    def n_seen(self) -> int:
        """The number of examples so far."""

class StochasticTrainer:
    """Stochastic gradient descent on the negative log-likelihood."""

    def __init__(self, reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, order: int, forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, rate: float, decay: float) -> None:
        """
        starts and outputs: the features of each attribute; cells: the n-grams with a weight, as cells
        of the transition table; forbidden: cells that no label sequence uses; never_last: labels that
        end none.
        """

    def epoch(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """
        Learn from the sequences in `order`.

        Returns the weighted sum of their negative log-likelihoods, each before its own step.
        """

    def loss(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """
        Return the weighted sum of the negative log-likelihoods of the sequences in `order`.
        """

    @property
    def squared_size(self) -> float:
        """The sum of squares of the current weights."""

    def mean(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Return the mean of the weights so far."""

def votes(reader: AttributeReader, n_labels: int, order: int, beam: float, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], amounts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], survived: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], known: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """
    Return the votes (positions, labels) of a voted perceptron.

    Each weight vector votes for the labels of its best path, with the number of examples that it
    survived.
    """

class PathStepTrainer:
    """Passive-aggressive learning and AROW, one sequence at a time."""

    def __init__(self, reader: AttributeReader, features: LinearFeatures, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, loss_power: float, slack: float, largest_step: float, variance: float, shrinks: bool, averaged: bool) -> None:
        """
        cells: the pairs of labels with a weight, as cells of the transition table of order 1.

        A wrong path costs the number of its wrong labels to the power loss_power, plus its lead over
        gold. A step is the cost / (slack + the sum of variances times squared differences), at most
        largest_step. shrinks: variances shrink with each step, as in AROW; averaged: weights are the
        mean over all sequences so far.
        """

    def epoch(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        Learn from the sequences in `order`.

        Returns (number of sequences with a wrong path, weighted sum of costs).
        """

    def stay(self, n: int) -> None:
        """Count n more sequences without a wrong path."""

    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
        """Return the weights of the features, then of the cells."""

def bin_edges(columns: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], max_bins: Sequence[int], n_threads: int) -> list[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]]:
    """
    Return for each column the edges of its bins, at most max_bins of them, with about equal counts.
    """

def find_bins(columns: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], edges: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_threads: int) -> list[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]]:
    """
    Return for each value of each column how many of the rising edges are at or below it; 255 for NaN.
    """

class BinEdges:
    """The edges of the bins of many columns, checked once."""

    def __init__(self, edges: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> None:
        """edges: for each column at most 254 numbers, rising."""

class Conjunctions:
    """Sets of attributes that a position must have together."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Conjunction c has the attributes members[starts[c]:starts[c + 1]], rising.
        """

class AttributeReader:
    """Reads columns through a window; checks every array when it is added."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        starts: where each sequence begins, and the end; offsets: of the window.
        """

    def add_categorical(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_values: int, local: bool = False) -> None:
        """
        Add a column with one code per position: -1 where missing, -2 where absent.

        A local column is read at offset 0 only.
        """

    def add_bins(self, bins: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: int, local: bool = False) -> None:
        """Add a column with one bin per position, 255 where missing."""

    def add_rows(self, numbers: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], edges: BinEdges, n_threads: int) -> None:
        """
        Add a local column of bins for each row of numbers (columns, positions).
        """

    def add_numbers(self, numbers: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], local: bool = False) -> None:
        """
        Add a column with one number per position, the weight of a single attribute; NaN where missing.
        """

    def add_bag(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_values: int, local: bool = False) -> None:
        """
        Add a column of bags.

        starts: where the ids of each position begin, and the end; ids: a single -1 where missing;
        weights: one per id, or None if all weights are 1.
        """

    def add_conjunctions(self, conjunctions: Conjunctions) -> None:
        """
        Add one attribute per conjunction of attributes of the columns; no column may follow.
        """

    @property
    def n_ids(self) -> int:
        """The number of attribute ids."""

    @property
    def n_positions(self) -> int:
        """The number of positions."""

    def ids(self, first: int, last: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
        """
        Return (starts, ids): position first + i has the attributes ids[starts[i]:starts[i + 1]].
        """

    def weights(self, first: int, last: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C')]:
        """Return the weight of each id that ids(first, last) returns."""

    def missing(self, first: int, last: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C')]:
        """
        Return a mask (positions, slots) of missing values; a slot is a column at an offset.
        """

class SearchTrainer:
    """Learner of a beam search from batches of sequences."""

    def __init__(self, reader: AttributeReader, gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, order: int, *, bias: bool, forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], never_final: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], update: str, beam: int, backward: bool, tie: float, summed: bool) -> None:
        """
        forbidden: n-grams that no labelling has; never_final: labels that the last step of a search
        does not give.
        """

    def epoch(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch: int, n_threads: int) -> tuple:
        """
        Learn from the given sequences in order. Returns (sequences that changed the weights, updates).

        A batch of sequences is searched with the weights before it.
        """

    def stay(self, n: int) -> None:
        """Count n more examples that leave the weights unchanged."""

    def weights(self, mean: bool, n_threads: int) -> tuple:
        """
        ((starts, labels, weights) by attribute, cells of n-grams, their weights) that are not 0: current or
        averaged.
        """

class SparseNGramWeights:
    """
    Weights of label n-grams; cell = number of the label context * K + label.
    """

    def __init__(self, n_labels: int, order: int, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], forbidden: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class SearchBatch:
    """Beam searches of many sequences."""

    def __init__(self, n_grams: SparseNGramWeights, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], beam: int, backward: bool, keep: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> None: ...

    def best(self) -> tuple:
        """(score of each sequence's best hypothesis, its labels)"""

    def sums(self, temperature: float, want_marginals: bool) -> tuple:
        """(log Z, marginals or None) over the paths that each search kept."""

    def ranked(self, temperature: float, n: int) -> tuple:
        """
        (scores by sequence and rank, labels by rank) of the best paths that each search kept.
        """

    def score(self, temperature: float, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
        """Score of the given labels of each sequence."""

@overload
def span_probabilities(order: int, pair: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], joins: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], span_types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

@overload
def span_probabilities(order: int, pair: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], joins: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], span_types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Probability that the labels mark exactly each span, from pair marginals.

    joins: whether a span continues from a label to the next; types: the type of each label.
    """

@overload
def log_gold(scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

@overload
def log_gold(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]:
    """
    Return log P(gold) of each position, from scores (positions, labels) plus q * eta.

    A negative code stands for label 0.
    """

@overload
def softmax(scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

@overload
def softmax(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """
    Return P(label) at each position, from scores (positions, labels) plus q * eta.
    """

def direction_sums(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, unit: float, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    Return, by label, the weighted sums over positions of q (gold - P) and of q^2 P, with terms rounded
    to multiples of a unit, a power of two.
    """

def along_direction(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    Return, by position, the weighted sum over labels of eta (gold - P), and the variance of eta under P.
    """

def induce(reader: AttributeReader, features: LinearFeatures, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: float, min_count: int, observed_only: bool, n_wanted: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """
    Return the candidate features with the largest gains, best first.

    A candidate is an attribute of a column, in conjunction with a partner (an attribute of the
    model, or -1 for none), and a label. The result is (attributes, partners, labels, gains,
    weights). starts and members: the conjunctions that were added to the reader.
    """

def tree_shapley(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], if_true: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], if_false: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], players: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], input_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], training_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_players: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], float]:
    """
    (Shapley value of each player, value of the trees without players), summed over cases with weights. Player -2 is a leaf; -1 is a test whose outcome is given: a row of `given` has it for each case.
    """

class GrowthRules:
    """How trees grow; see growth_rules.hpp."""

    def __init__(self, *, l2: float = 1.0, newton: bool = True, max_step: float = 1.0, min_leaf: int = 1, max_leaves: int = 50, influence_trim: float = 0.0, trim_by: str = 'position', example_share: float = 1.0, category_splits: str = 'one-hot', max_features: float = 1.0, missing: str = 'weighting') -> None: ...

    @property
    def l2(self) -> float: ...

    @property
    def newton(self) -> bool: ...

    @property
    def max_step(self) -> float: ...

    @property
    def min_leaf(self) -> int: ...

    @property
    def max_leaves(self) -> int: ...

    @property
    def influence_trim(self) -> float: ...

    @property
    def trim_by(self) -> str: ...

    @property
    def example_share(self) -> float: ...

    @property
    def category_splits(self) -> str: ...

    @property
    def max_features(self) -> float: ...

    @property
    def missing(self) -> str: ...

    def for_weights_times(self, factor: float) -> GrowthRules:
        """
        The rules that grow the same trees where all weights are multiplied by `factor`.
        """

class TreeData:
    """
    The attributes of all training positions as codes, laid out for growing trees. Growers of the same order, min_leaf and category_splits can share it.
    """

    def __init__(self, reader: AttributeReader, order: int, rules: GrowthRules, n_threads: int, exchange: object | None = None) -> None:
        """
        `exchange`: the group whose members each have some of the sequences; see exchange.hpp.
        """

    @property
    def row_bytes(self) -> int:
        """The bytes of the codes of a position, without bags."""

class TreeGrower:
    def __init__(self, data: TreeData, n_labels: int, rules: GrowthRules, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, exchange: object | None = None) -> None:
        """
        Grows trees on tree data; a weight, at most 1, for each position. `exchange`: the group that built the tree data, whose members all grow the same trees.
        """

    def adds_scores(self, samples: bool) -> bool:
        """
        Whether growing, with a sample or without, adds the values of the trees to the scores; if not, a Forest has to.
        """

    def measure(self) -> None:
        """Measure the phases of grow() from now on, for benchmarks."""

    @property
    def times(self) -> dict:
        """Seconds of each phase since measure(), of all threads together."""

    @property
    def n_counted(self) -> int:
        """
        How many positions the trees of the last grow() counted, over all labels.
        """

    def grow(self, marginals: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], in_sample: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, step: float, seed: int, n_threads: int) -> tuple:
        """
        Grow one tree for each label; (starts, bytes of nodes, values, alternatives, surrogates).
        """

    def grow_shared(self, marginals: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], in_sample: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, step: float, seed: int, n_threads: int) -> tuple:
        """
        Grow one tree for all labels; as grow(), with a row of values for each node.
        """

    def fit(self, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> tuple:
        """
        Fit one tree to a target and a weight for each position; (the tree as grow() returns trees, its value at each position).
        """

class Forest:
    def __init__(self, reader: AttributeReader, n_labels: int, order: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], alternatives: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], surrogates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Trees compiled for evaluation; raises ValueError if they do not fit the reader.
        """

    def add_scores(self, reader: AttributeReader, scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], n_threads: int) -> None:
        """Add the values of the trees to (positions, label contexts, labels)."""
