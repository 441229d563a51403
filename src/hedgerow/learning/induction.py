"""Feature induction (McCallum 2003): start with features of labels alone, and repeatedly add the best conjunctions.

Every few quasi-Newton steps candidates are scored at the positions where the probability of the gold label is low.
Candidates are single attributes, and attributes conjoined with one that the model has. The gain of a candidate is that
of adding it alone, with all other weights fixed (the formula is in `induction.hpp`). The first steps use a random share
of the sequences.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import Conjunctions
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_learner import LinearLearner
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import QuasiNewtonRules, likelihood_minimizer
from hedgerow.potentials.linear import Features
from hedgerow.utilities import Floats64


@dataclass(frozen=True, kw_only=True)
class InductionRules:
    """When features are added, how many, and from where."""

    every: int  # iterations between inductions
    features: int  # added at once, at most
    threshold: float  # candidates come from positions whose gold label is less probable
    proportions: Sequence[float]  # of the sequences, for the steps before each of the first inductions


class InductionLearner(LinearLearner):
    """The learner of LinearCRF(induce="mccallum"). `space` has no attributes yet."""

    def __init__(
        self,
        training: TrainingData,
        space: LinearSpace,
        rules: QuasiNewtonRules,
        induction: InductionRules,
        *,
        min_freq: int,
        observed_only: bool,
        seed: int,
    ) -> None:
        super().__init__(training, space, rules.penalty.l2, rules.stopping)
        self.rules, self.induction = rules, induction
        self.min_freq, self.observed_only, self.seed = min_freq, observed_only, seed

    def _steps(self) -> Iterator[Record]:
        n_done, max_iter, growing = 0, self.rules.max_iter, 0.0
        finishing = grown = False  # no feature is left to add; features were added by what all sequences show
        for subset in chain(self._shares(), repeat(self.training)):
            whole = subset is self.training
            limit = max_iter if finishing else min(n_done + self.induction.every, max_iter)
            before = n_done
            for record in self._descend(subset, n_done, limit):
                n_done = record["step"]
                yield {**record, "growing_seconds": growing}
                growing = 0.0
            if n_done == max_iter or (grown and n_done == before):
                return
            began = time.perf_counter()
            nothing_new = self._grow(subset) == 0
            growing += time.perf_counter() - began
            if finishing and nothing_new:
                return
            finishing, grown = whole and nothing_new, whole

    def _shares(self) -> Iterator[TrainingData]:
        training, n = self.training, len(self.training.weights)
        rng = np.random.default_rng(self.seed)
        for share in self.induction.proportions:
            chosen = np.sort(rng.permutation(n)[: max(round(share * n), 1)])
            there = np.repeat(np.isin(np.arange(n), chosen), training.sequences.lengths)
            yield replace(
                training,
                sequences=training.sequences[chosen],
                codes=training.codes[there],
                weights=training.weights[chosen],
            )

    def _descend(self, subset: TrainingData, first: int, last: int) -> Iterator[Record]:
        """Quasi-Newton steps number first + 1 to last, or fewer if there is nothing left to gain."""
        minimizer = likelihood_minimizer(Likelihood(subset, self.space), self._weights, self.rules)
        for iteration, length in zip(range(first + 1, last + 1), minimizer, strict=False):
            self._weights = minimizer.weights
            loss = subset.per_sequence(minimizer.value)
            record: Record = {"unit": "iteration", "step": iteration, "loss": loss, "step_size": length}
            record |= {"n_sequences": len(subset.weights), "n_features": len(self.space.state)}
            if self.training.dev is not None:
                record |= Evaluator(self.training).of_potential(self.potential)
            yield record

    def _grow(self, subset: TrainingData) -> int:
        """Add the best candidates with weight 0; returns how many."""
        probabilities = self.training.answers(self.potential, subset.sequences).marginals()[1]
        found = candidates(
            self.space, subset, probabilities, self.rules.penalty.l2, self.induction.features, self.min_freq,
            self.observed_only, self.induction.threshold,
        )  # fmt: skip
        grown = enlarged(self.space, found)
        state, edge, n_grams = self.space.split(self._weights)
        weights = [_carry_weights(state, self.space.state, grown.state)]
        if self.space.edge is not None and grown.edge is not None:
            weights.append(_carry_weights(edge, self.space.edge, grown.edge))
        self.space, self._weights = grown, np.concatenate([*weights, n_grams])
        return len(found.labels)


class Candidates(NamedTuple):
    """Features that the model lacks, the best first; a context is an attribute of the model, or -1 for none."""

    attributes: NDArray[np.int32]
    contexts: NDArray[np.int32]
    labels: NDArray[np.int32]
    gains: Floats64
    weights: Floats64  # the best weight of each alone


def candidates(
    space: LinearSpace,
    training: TrainingData,
    probabilities: NDArray[np.floating[Any]],
    l2: float,
    n: int,
    min_freq: int = 1,
    observed_only: bool = True,
    threshold: float = 1.0,
) -> Candidates:
    """The n best candidates, given the probability of each label at each position.

    They come from positions whose gold label is less probable than the threshold. With a threshold of one half or more,
    these include all that the model labels wrong.
    """
    codes, weights = training.codes, training.position_weights
    probable = probabilities[np.arange(len(codes)), codes]
    there = np.flatnonzero((probable < threshold) & (weights > 0))
    conjunctions = space.conjunctions
    return Candidates(*_core.induce(
        space.attributes(training).reader, space.state.core, conjunctions.starts, conjunctions.members, there,
        np.ascontiguousarray(probabilities[there], np.float64).clip(0, 1), codes[there], weights[there], l2, min_freq,
        observed_only, n, training.n_threads,
    ))  # fmt: skip


def enlarged(space: LinearSpace, found: Candidates) -> LinearSpace:
    """The space with these features added; existing attributes keep their ids.

    If there are edge features, every state feature has one for each label context.
    """
    sets = space.conjunctions.sets()
    n_basic = len(space.state.starts) - 1 - len(sets)
    ids = {members: n_basic + i for i, members in enumerate(sets)}
    k, keys = space.state.width, _keys(space.state).tolist()
    for attribute, context, label in zip(*(field.tolist() for field in found[:3]), strict=True):
        rest = () if context < 0 else (context,) if context < n_basic else sets[context - n_basic]
        members = tuple(sorted((attribute, *rest)))
        known = attribute if len(members) == 1 else ids.setdefault(members, n_basic + len(ids))
        keys.append(known * k + label)
    state, edge = _features(np.array(keys, np.int64), n_basic + len(ids), k), None
    if space.edge is not None:
        n_contexts = space.edge.width // k
        after = state.attributes[:, None] * n_contexts + np.arange(n_contexts)
        edge = _features((after * k + state.outputs[:, None]).ravel(), n_basic + len(ids), space.edge.width)
    return replace(space, state=state, edge=edge, conjunctions=Conjunctions.of(ids), reader=None)


def _features(keys: NDArray[np.int64], n_ids: int, width: int) -> Features:
    """The features with these keys."""
    attributes, outputs = np.divmod(np.sort(keys), width)
    starts = np.searchsorted(attributes, np.arange(n_ids + 1))
    return Features(starts.astype(np.int64), outputs.astype(np.int32), width)


def _keys(features: Features) -> NDArray[np.int64]:
    """A number for each (attribute, output), in rising order."""
    keys: NDArray[np.int64] = features.attributes * features.width + features.outputs
    return keys


def _carry_weights(weights: Floats64, old: Features, new: Features) -> Floats64:
    """The weights of the old features in the order of the new ones; 0 for features that are new."""
    carried = np.zeros(len(new))
    carried[np.searchsorted(_keys(new), _keys(old))] = weights
    return carried
