"""The lattice: inference over label sequences from local scores.

A path assigns a label to each position of a sequence. Its score is the sum over positions of
`state[t, y] + edge[t, c, y] + table[row(c), y]`, where c is the number of the label context and `row(c)` its row in the
transition table (see hedgerow.topology). A score of minus infinity forbids a label or a transition.

Constraints are applied to copies of the scores whenever the lattice is asked, so the scores themselves stay as they
are. Scores of order 0 with constraints, which depend on the previous label, make a lattice of order 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._core import LatticeBatch32, LatticeBatch64
from hedgerow.constraints import Constraints
from hedgerow.errors import InputError, no_path
from hedgerow.inference.spans import CodedSpans, SpanRules
from hedgerow.topology import Topology
from hedgerow.utilities import BEAM_RULE, Floats, Floats32, is_beam, is_count

LARGEST_SCORE = 1e290  # sums of so many scores as memory can hold stay below the largest double


class Lattice:
    """Scores of a batch of sequences over one topology; every method answers for all of them.

    Float32 scores are processed in single precision, except that log Z is summed in double precision. The lattice reads
    contiguous arrays of the right type in place: it does not copy them.

    Parameters
    ----------
    starts
        The first position of each sequence, and the number of positions at the end.
    allowed
        (positions, labels): False forbids a label at a position. A position with a known label has a single True.
    beam
        Number of nodes to keep at a position, the best ones. None, or at least `topology.n_nodes`, is exact. A number
        below 1 is a bound: as few nodes are kept as hold so much of the position's mass that -log of it is at most the
        bound. The mass of a node is exp of its value: of the sum over the paths to it, or of the best of them.
    keep
        A label for each position (-1 for none): a path that the beam never drops. Its nodes are kept besides the best.
    normalised
        Whether the scores of a path add up to its log-probability: then log Z is 0, whatever a beam keeps.
    general
        Never use the fast kernels; for tests and benchmarks.
    """

    def __init__(
        self,
        topology: Topology,
        starts: NDArray[np.int64],
        *,
        state: Floats | None = None,
        edge: Floats | None = None,
        table: Floats | None = None,
        normalised: bool = False,
        allowed: NDArray[np.bool_] | None = None,
        beam: float | None = None,
        keep: NDArray[np.int32] | None = None,
        n_threads: int = 1,
        general: bool = False,
    ) -> None:
        if beam is not None and not is_beam(beam):
            raise InputError(f"beam must be {BEAM_RULE} for an exact lattice; it is {beam!r}")
        scores = [x for x in (state, edge, table) if x is not None]
        single = bool(scores) and all(x.dtype == np.float32 for x in scores)
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self.topology = topology
        self._normalised = normalised and allowed is None and topology.constraints is None
        self.beam = None if beam is None or beam >= topology.n_nodes else beam
        self._options: dict[str, Any] = {"beam": float(self.beam or 0), "n_threads": n_threads, "general": general}
        self._keep = None if keep is None else _labels("keep", keep)
        self.starts = np.ascontiguousarray(starts, dtype=np.int64)
        self.state, self.edge, self.table = (
            self._checked("state", state), self._checked("edge", edge), self._checked("table", table)
        )  # fmt: skip
        self._unmasked: Any = self._make_plain(self.state, self.edge, self.table)  # checks the shapes
        self._allowed = self._with_ends(allowed)
        if self.beam is not None and topology.constraints is not None:
            self._allowed = topology.constraints.on_some_path(self._allowed, self.starts)

    @property
    def _state_shape(self) -> tuple[int, int]:
        return int(self.starts[-1]), self.topology.n_labels

    def _checked(self, name: str, values: Floats | None) -> Floats | None:
        if values is None:
            return None
        values = np.ascontiguousarray(values, dtype=self._dtype)
        highest = values.max(initial=-np.inf)
        if not highest < np.inf:
            raise InputError(f"{name} scores must be numbers below infinity; they hold {highest}")
        if self._dtype == np.float64:
            lowest = values.min(initial=np.inf)
            if lowest == -np.inf:
                lowest = values.min(initial=np.inf, where=values > -np.inf)
            if max(highest, -lowest) > LARGEST_SCORE:
                raise InputError(
                    f"{name} scores must lie between {-LARGEST_SCORE:g} and {LARGEST_SCORE:g}, or be -inf to forbid; "
                    f"they go from {lowest:g} to {highest:g}: scale them down"
                )
        return values

    def _with_ends(self, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """The labels allowed at each position, with the rule about last labels; None if all are."""
        if allowed is not None and allowed.shape != self._state_shape:
            raise InputError(f"allowed must have shape {self._state_shape}; its shape is {allowed.shape}")
        constraints = self.topology.constraints
        if constraints is None or constraints.last.all():
            return allowed
        allowed = np.ones(self._state_shape, np.bool_) if allowed is None else allowed.copy()
        allowed[self.starts[1:] - 1] &= constraints.last
        return allowed

    @property
    def _is_masked(self) -> bool:
        return self._allowed is not None or self.topology.constraints is not None

    @property
    def _order(self) -> int:
        return self.topology.lattice_order

    @property
    def _batch(self) -> Any:
        return self._make(self.state) if self._is_masked else self._unmasked

    def _make(self, state: Floats | None) -> Any:
        """The batch of the scores with these state scores, under the constraints."""
        return self._make_plain(*self._masked(state), self._order)

    @property
    def kept_path(self) -> NDArray[np.int32] | None:
        """The labels that the beam never drops, -1 for none; None if there are no such labels."""
        return self._keep

    def masked_scores(self) -> tuple[Floats | None, Floats | None, Floats | None]:
        """(state, edge, table) under the constraints, for a lattice of the order `topology.lattice_order`."""
        return self._masked(self.state)

    def _masked(self, state: Floats | None) -> tuple[Floats | None, Floats | None, Floats | None]:
        edge, table, constraints = self.edge, self.table, self.topology.constraints
        if constraints is not None:
            if self._order > self.topology.order and edge is not None:
                state, edge = edge[:, 0] if state is None else edge[:, 0] + state, None
            table = self._forbid(table, constraints.table(self._order))
        if self._allowed is not None:
            state = self._forbid(state, self._allowed)
        return state, edge, table

    def _forbid(self, scores: Floats | None, allowed: NDArray[np.bool_]) -> Floats:
        zero, never = self._dtype.type(0), self._dtype.type(-np.inf)
        return np.where(allowed, zero if scores is None else scores, never)

    def _make_plain(
        self, state: Floats | None, edge: Floats | None, table: Floats | None, order: int | None = None
    ) -> Any:
        make: Any = LatticeBatch32 if self._dtype == np.float32 else LatticeBatch64
        scores = {"state": state, "edge": edge, "table": table}
        order = self.topology.order if order is None else order
        try:
            return make(self.topology.n_labels, order, self.starts, **scores, keep=self._keep, **self._options)
        except ValueError as rule:
            arrays = scores | {"keep": self._keep}
            shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items() if x is not None)
            raise InputError(f"the scores do not fit the lattice: {rule}; got {shapes}") from None

    def keeping(self, labels: NDArray[np.int32]) -> Lattice:
        """This lattice with another path that the beam never drops; the scores are the same arrays."""
        if self.beam is None:
            return self
        other = copy(self)
        other._keep = _labels("labels", labels)
        other._unmasked = other._make_plain(other.state, other.edge, other.table)
        return other

    def _answer(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values; raises ImpossibleLatticeError if a sequence has no path."""
        impossible = np.flatnonzero(np.isneginf(values))
        if impossible.size:
            raise no_path(int(impossible[0]), impossible.size - 1, self.beam)
        return values

    def log_partition(self) -> NDArray[np.float64]:
        """Log of the sum over paths of exp(score), for each sequence."""
        if self._normalised:
            return np.zeros(len(self.starts) - 1)
        return self._answer(self._batch.sum_over_paths(False, False)[0])

    def marginals(self) -> tuple[NDArray[np.float64], Floats]:
        """(log Z by sequence, P(y_t) by position and label)."""
        log_z, state, _ = self._batch.sum_over_paths(True, False)
        return self._answer(log_z), state

    def pair_marginals(self) -> tuple[NDArray[np.float64], Floats, Floats]:
        """(log Z, P(y_t), P(label context, y_t)); contexts that a first position cannot have are 0."""
        log_z, state, pair = self._batch.sum_over_paths(True, True)
        if self._order > self.topology.order:
            pair = state[:, None, :].copy()
        return self._answer(log_z), state, pair

    def summed_pairs(
        self,
        weights: NDArray[np.float64] | None = None,
        unit: float = 0.0,
        cells: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.float64], Floats, NDArray[np.float64]]:
        """(log Z, P(y_t), expected count of each cell of the transition table), sequences times `weights`.

        With a `unit`, a power of two, what a sequence adds to a count is rounded to a multiple of it. The counts of
        groups of sequences then add up to the same bits for any division into groups, while they are below 2^51 units.

        With `cells`, numbers of cells of the table, only their counts are wanted, and the sum of the others for each
        label: much faster where most of many labels never follow each other.
        """
        log_z, state, table = self._batch.sum_pairs(weights, unit, cells)
        if self._order > self.topology.order:
            table = table.sum(axis=0, keepdims=True)
        return self._answer(log_z), state, table

    def pseudo_sums(
        self,
        gold: NDArray[np.int32],
        allowed: NDArray[np.bool_] | None,
        weights: NDArray[np.float64],
        unit: float = 0.0,
    ) -> tuple[NDArray[np.float64], Floats32, NDArray[np.float64] | None]:
        """(log of the pseudo-likelihood by sequence, stand-ins for marginals, stand-ins for expected counts).

        The pseudo-likelihood is the product over positions of the probability of the gold label among the `allowed`
        ones, all other labels being gold. No beam and no constraints apply to it. A stand-in is gold minus the
        derivative by a score: an array in the shape of the edge scores, or (positions, 1, labels) without edge scores;
        and its sums by row of the table, sequences times their weights, None without a table. `unit` is that of
        `summed_pairs`.
        """
        log_likelihood, marginals, table = self._unmasked.pseudo_sums(gold, allowed, weights, unit)
        return self._answer(log_likelihood), marginals, table

    def evidence_sums(self, gold: NDArray[np.int32]) -> tuple[NDArray[np.float64], Floats32]:
        """(log-likelihood by sequence under virtual evidence, stand-ins for pair marginals); order 1 and no beam.

        The likelihood is the product over positions of the probability of the gold label given the evidence that all
        other positions have on its neighbours. A stand-in is gold minus the derivative by the score of a pair of
        labels, where the evidence stays as it is.
        """
        log_likelihood, marginals = self._batch.evidence_sums(gold)
        return self._answer(log_likelihood), marginals

    def viterbi(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(score, labels) of the best path; ties go to the lowest label, last position first."""
        score, labels = self._batch.best_path()
        return self._answer(score), labels

    def most_probable_labels(self) -> NDArray[np.int32]:
        """The label of each position with the highest marginal; see the function of the same name."""
        options = {"n_threads": self._options["n_threads"], "general": self._options["general"]}
        constraints = self.topology.constraints
        return most_probable_labels(self.marginals()[1], self.starts, constraints, self._allowed, **options)

    def span_probabilities(self, spans: CodedSpans, rules: SpanRules) -> NDArray[np.float64]:
        """The probability that the labels mark exactly each span: the sum over all label sequences that do."""
        independent = self._order == 0
        log_z, state, pair = self._batch.sum_over_paths(independent, not independent)
        self._answer(log_z)
        joint = state[:, None, :] if independent else pair
        return _core.span_probabilities(
            self._order, joint, self.starts, rules.joins, rules.types, *spans, self._options["n_threads"]
        )

    def loss_augmented(
        self, gold: NDArray[np.int32], margin: float = 1.0
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The best path after `margin` is added to the score of every label that differs from gold (Hamming loss)."""
        state = np.zeros(self._state_shape, dtype=self._dtype) if self.state is None else self.state
        raised = state + self._dtype.type(margin)
        at = np.arange(len(gold))
        raised[at, gold] = state[at, gold]
        score, labels = self._make(raised).best_path()
        return self._answer(score), labels

    def nbest(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(scores by sequence and rank, labels by rank and position); a score of -inf means there is no such path."""
        if not is_count(n) or n < 1:
            raise InputError(f"n must be an integer of at least 1 to ask for the n best paths; it is {n!r}")
        scores, labels = self._batch.best_paths(n)
        self._answer(scores[:, 0])
        return scores, labels

    def sample(self, n: int, seed: int = 0) -> NDArray[np.int32]:
        """n exact samples: labels by draw and position. The same seed gives the same draws."""
        if not is_count(n) or n < 1:
            raise InputError(f"n must be an integer of at least 1 to draw samples; it is {n!r}")
        log_z, labels = self._batch.sample_paths(n, seed % 2**64)
        self._answer(log_z)
        return labels  # type: ignore[no-any-return]

    def entropy(self) -> NDArray[np.float64]:
        """Entropy of the distribution over paths, in nats, for each sequence."""
        return self._answer(self._batch.path_entropy())

    def log_path_count(self) -> NDArray[np.float64]:
        """Log of the number of allowed paths; -inf if there is none."""
        return self._batch.log_path_count()  # type: ignore[no-any-return]

    def score(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Score of a path of each sequence."""
        return self._batch.path_score(np.ascontiguousarray(labels, dtype=np.int32))  # type: ignore[no-any-return]


def _labels(name: str, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    codes = np.asarray(labels)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise InputError(
            f"{name} must hold a label code, an integer, for each position; "
            f"it has the type {codes.dtype} and the shape {codes.shape}"
        )
    if len(codes) and not -1 <= codes.min() <= codes.max() < 2**31:
        raise InputError(f"{name} must hold label codes, or -1 for none; it goes from {codes.min()} to {codes.max()}")
    return np.ascontiguousarray(codes, dtype=np.int32)


def most_probable_labels(
    marginals: Floats,
    starts: NDArray[np.int64],
    constraints: Constraints | None,
    allowed: NDArray[np.bool_] | None,
    **options: Any,
) -> NDArray[np.int32]:
    """The label of each position with the highest marginal.

    With constraints: of the allowed label sequences the one with the highest sum of marginals, which is the expected
    number of right labels.
    """
    if constraints is None:
        best: NDArray[np.int32] = marginals.argmax(axis=1).astype(np.int32)
        return best
    topology = Topology(marginals.shape[1], 0, constraints)
    return Lattice(topology, starts, state=marginals, allowed=allowed, **options).viterbi()[1]


def fixed_labels(labels: Iterable[int | None], n_labels: int) -> NDArray[np.bool_]:
    """The `allowed` mask of positions whose label is known; None leaves a position free."""
    known = list(labels)
    allowed = np.ones((len(known), n_labels), dtype=bool)
    for t, label in enumerate(known):
        if label is not None:
            allowed[t] = np.arange(n_labels) == label
    return allowed


def known_labels(codes: NDArray[np.int32], n_labels: int) -> NDArray[np.bool_]:
    """The `allowed` mask of positions whose label code is known; a code of -1 leaves a position free."""
    allowed: NDArray[np.bool_] = (codes[:, None] < 0) | (codes[:, None] == np.arange(n_labels))
    return allowed
