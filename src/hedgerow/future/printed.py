"""The algorithm of FutureMEMM.published, as printed (dissertation, section 5.3.2).

There are two labels, 0 and 1, and one score function F, with P(y = 1) = 1 / (1 + exp(-F)). An iteration is one of two
options.

First option: a regression tree is fitted to f = I(y_t = 1) - P(y_t = 1), and F becomes F + alpha f.

Second option: with F + eta Q(B_t) as score, a regression tree over single positions is fitted to

    g(x_s) = eta (I(y_t = 1) - P(y_t = 1)) (1 - Q(B_t)) q_s    for every bag B_t and every position s in it,

and the log-odds G of the pattern become G + beta g. As all bags agree on the attributes of a position, a tree fitted to
the pairs (t, s) is the tree fitted to the mean of g over the bags that contain s, weighted with their number.

alpha, beta and eta are found by line search, from 0 to an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hedgerow import _core
from hedgerow.encoding.window import WindowSpec
from hedgerow.errors import InputError
from hedgerow.future.discovery import Candidate, DiscoveryData, tree_values
from hedgerow.future.draft import Draft
from hedgerow.future.features import FutureFeature, check_names
from hedgerow.future.instance_bags import Floats, InstanceBags, logistic
from hedgerow.future.line_search import line_search
from hedgerow.learning.base import Record, TrainingData
from hedgerow.potentials.trees import Trees

# In mean log-likelihood of a position: a smaller gain counts as none. Table 5.3 has 11 to 52 iterations for everything.
# This gain gives 15 to 65; a tenth of it needs as many before the first feature.
MIN_GAIN = 1e-3
UNSEARCHED_ETA = 1.0  # of the second option: its step is searched once the pattern is complete


@dataclass(frozen=True, kw_only=True)
class PrintedRules:
    """The parameters of the printed algorithm."""

    window: WindowSpec
    instance_bags: InstanceBags
    sides: tuple[bool, ...]  # of the instance bags: False for after their position, True for before it
    max_future: int
    n_iterations: int  # of both options
    pattern_iterations: int  # of the second option in a row, at most
    growth: _core.GrowthRules
    pattern_growth: _core.GrowthRules
    max_alpha: float
    max_beta: float
    max_eta: float


class Pattern(NamedTuple):
    """The log-odds G of a pattern on training data, after some iterations of the second option."""

    back: bool
    log_odds: Floats
    trees: tuple[Trees, ...]
    steps: tuple[float, ...]
    log_likelihood: float  # with UNSEARCHED_ETA


def along_score(weight: float) -> Floats:
    """What a value times this weight adds to the scores of the labels 0 and 1: F is the score of label 1."""
    return np.array([0.0, weight])


class PrintedLearner(Draft):
    """The learner of FutureMEMM(newton=False)."""

    def __init__(self, training: TrainingData, rules: PrintedRules) -> None:
        check_names(training.sequences, rules.max_future)
        if (n := len(training.labels)) > 2:
            raise InputError(
                f"FutureMEMM: the published algorithm, newton=False, is for two labels, but y has {n}; use newton=True"
            )
        super().__init__(training, rules.window, rules.instance_bags)
        self.rules = rules
        self.n_iterations = 0  # so far

    @property
    def training_log(self) -> list[Record]:
        return []

    def __iter__(self) -> Iterator[Record]:
        yield from self._first_option()
        while self._n_left > 0 and len(self.features) < self.rules.max_future:
            before = self.train.log_likelihood
            found = self._second_option()
            if found is None:
                break
            self._add_feature(found)
            yield self._record("discovery", **self._description(found))
            yield from self._first_option()
            if self.train.log_likelihood <= before + MIN_GAIN:
                break  # the second option would find the same feature again
        yield self._record("end", future_features=len(self.features))

    def _record(self, what: str, **more: Any) -> Record:
        return super()._record(what, iterations=self.n_iterations, **more)

    @property
    def _n_left(self) -> int:
        return self.rules.n_iterations - self.n_iterations

    # The first option.

    def _first_option(self) -> Iterator[Record]:
        """Iterations until the likelihood no longer improves."""
        grower = self._top_grower()
        while self._n_left > 0 and (step := self._round(grower)) > 0:
            self.n_iterations += 1
            yield self._record("round", step_size=step)

    def _top_grower(self) -> _core.TreeGrower:
        growth = self.rules.growth
        return _core.TreeGrower(self._tree_data(growth), 2, growth, None, exchange=self.training.group)

    def _round(self, grower: _core.TreeGrower) -> float:
        """Add a tree to F; return its step alpha, or 0 if no step raises the likelihood."""
        train, data = self.train, self.train.discovery_data()
        residuals, _ = data.along(along_score(1.0), np.zeros(len(data.codes)))
        grown, values = grower.fit(residuals, data.weights, 0)
        values = values.astype(np.float64)
        alpha, reached = line_search(
            lambda alpha: data.log_likelihood(along_score(alpha), values), self.rules.max_alpha
        )
        if reached <= train.log_likelihood + MIN_GAIN:
            return 0.0
        tree = Trees.of_round(*grown)
        tree = replace(tree, values=(tree.values * alpha).astype(np.float32), labels=np.ones(1, np.int32))
        self.steps.append(tree)
        scores = train.scores.copy()
        scores[:, 0, 1] += (alpha * values).astype(np.float32)
        train.scores = scores
        self._add_to_dev_scores(tree)
        return alpha

    # The second option.

    def _second_option(self) -> Candidate | None:
        """The new feature; None if no iteration of the second option improves the likelihood."""
        data = self.train.discovery_data()
        patterns = [self._pattern(data, back) for back in self.rules.sides]
        pattern = max(patterns, key=lambda pattern: pattern.log_likelihood)
        if not pattern.trees:
            return None
        self.n_iterations += len(pattern.trees)
        q = self._q(data, pattern.log_odds, pattern.back)
        eta, reached = line_search(lambda eta: data.log_likelihood(along_score(eta), q), self.rules.max_eta)
        trees = Trees.joined(pattern.trees)
        trees = replace(trees, labels=np.arange(len(pattern.trees), dtype=np.int32))
        return Candidate(
            feature=FutureFeature(pattern.back, trees, along_score(eta).astype(np.float32)),
            log_likelihood=reached,
            dev_log_likelihood=None,
            log_odds=pattern.log_odds,
            values=q,
            dev_values=None,
            steps=list(pattern.steps),
        )

    def _pattern(self, data: DiscoveryData, back: bool) -> Pattern:
        """The pattern after iterations of the second option, until the likelihood no longer improves."""
        start = np.full(len(data.codes), self.bags.initial_log_odds)
        pattern = Pattern(back, start, (), (), self._pattern_likelihood(data, start, back))
        growth, sums = self.rules.pattern_growth, self.bags.sums_where_contained
        grower = _core.TreeGrower(self.train.instance_tree_data(growth), 2, growth, None, exchange=data.group)
        pairs = sums(data.weights, data.starts, back, data.n_threads)  # how many bags contain a position
        for _ in range(min(self.rules.pattern_iterations, self._n_left)):
            longer = self._with_tree(pattern, data, grower, pairs)
            if longer is None:
                break
            pattern = longer
        return pattern

    def _with_tree(
        self, pattern: Pattern, data: DiscoveryData, grower: _core.TreeGrower, pairs: Floats
    ) -> Pattern | None:
        """The pattern after one more iteration; None if no step beta raises the likelihood."""
        back, log_odds, threads = pattern.back, pattern.log_odds, data.n_threads
        bag_q, rest = self.bags.noisy_or(log_odds, data.starts, back, threads)
        residuals, _ = data.along(along_score(UNSEARCHED_ETA), bag_q)
        targets = logistic(log_odds) * self.bags.sums_where_contained(residuals * rest, data.starts, back, threads)
        grown, values = grower.fit(targets, pairs, 0)

        def reached_by(beta: float) -> float:
            return self._pattern_likelihood(data, self.bags.stepped(log_odds, beta * values), back)

        beta, reached = line_search(reached_by, self.rules.max_beta)
        if reached <= pattern.log_likelihood + MIN_GAIN:
            return None
        tree = Trees.of_round(*grown)
        tree = replace(tree, values=(tree.values * beta).astype(np.float32))
        log_odds = self.bags.stepped(log_odds, tree_values(tree, data))
        reached = self._pattern_likelihood(data, log_odds, back)
        return Pattern(back, log_odds, (*pattern.trees, tree), (*pattern.steps, beta), reached)

    def _pattern_likelihood(self, data: DiscoveryData, log_odds: Floats, back: bool) -> float:
        return data.log_likelihood(along_score(UNSEARCHED_ETA), self._q(data, log_odds, back))

    def _q(self, data: DiscoveryData, log_odds: Floats, back: bool) -> Floats:
        return self.bags.probabilities(log_odds, data.starts, back, data.n_threads)
