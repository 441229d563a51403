"""The lower level of FutureMEMM: boosting the pattern of one future feature (dissertation, section 5.3).

The scores F of all labels are fixed. A feature adds eta * Q(B_t) to them, with a direction eta in R^K: one number for
each label. With residuals R = gold - P of the changed scores, the gradient of the log-likelihood at the log-odds of
position s is

    g_s = q_s * sum over the instance bags B_t that contain s of r_t (1 - Q_t),    r_t = sum over labels l of eta_l R_tl

(proposition 5.2, summed over all pairs of an instance bag and a position in it). A regression tree is fitted to it,
whose leaves are Newton steps: the sum of g over l2 plus the expected curvature, q_s^2 * sum of Var_P(eta) (1 - Q_t)^2.
A line search follows.

A direction starts as one label against all others. For the labels with the largest residuals a first tree is grown, and
the best of these patterns is continued. After each tree eta is fitted again. The printed algorithm, which differs in
all of this, is in printed.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader
from hedgerow.future.features import FutureFeature
from hedgerow.future.instance_bags import Floats, InstanceBags, logistic
from hedgerow.group import ALONE, Group
from hedgerow.learning.exact_totals import total, weighted_total
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.potentials.trees import Trees
from hedgerow.utilities import once

MAX_DIRECTIONS = 6  # labels for which a first tree is tried
MAX_ETA_ITERATIONS = 10
MAX_HALVINGS = 10
MIN_GAIN = 1e-6  # in mean log-likelihood of a position: a round that gains less is the last
MAX_LEAF = 4.0  # larger leaves are clipped
STEPS = 10.0 ** np.arange(-1, 1.25, 0.25)  # that the line search of a tree tries


@dataclass(frozen=True, kw_only=True)
class DiscoveryRules:
    """The parameters of the lower level."""

    instance_bags: InstanceBags
    rounds: int
    l2: float  # penalty on the direction
    growth: _core.GrowthRules  # of the pattern's trees; has an l2 of its own
    max_beta: float | None = None  # longest step of the line search
    max_eta: float | None = None  # largest difference between the weights of two labels

    @property
    def steps(self) -> Floats:
        """The steps that the line search tries: a grid, and the longest step allowed instead of longer ones."""
        return STEPS if self.max_beta is None else np.unique(np.minimum(STEPS, self.max_beta))


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """Positions with their label scores so far; `instances` reads each position without its neighbours.

    The weight of a position is 0 where its label is unknown (code -1). In a group, each process has the positions of
    its sequences; all sums are over the positions of all processes, and exact.
    """

    instances: AttributeReader
    codes: NDArray[np.int32]
    weights: Floats
    scores: Floats  # (positions, labels)
    n_threads: int
    tree_data: _core.TreeData | None = None  # of `instances`, if they have been built already
    group: Group = ALONE

    @property
    def starts(self) -> NDArray[np.int64]:
        return self.instances.sequences.starts

    @once
    def total_weight(self) -> float:
        """The weights of all positions, summed."""
        return total(self.weights, self.group)

    @once
    def limits(self) -> SumLimits:
        """What bounds sums over all positions."""
        return self.group.merged(SumLimits(len(self.weights), float(self.weights.max(initial=0.0))))

    def log_likelihood(self, eta: Floats, q: Floats) -> float:
        """Mean log P(gold label) of a position, with eta * q added to the scores."""
        gold = _core.log_gold(self.scores, self.codes, eta, q, self.n_threads)
        return weighted_total(gold, self.weights, self.group) / self.total_weight

    def direction_sums(self, eta: Floats, q: Floats) -> tuple[Floats, Floats]:
        """By label: the sum over positions of q * (gold - P), and of q**2 * P, each position with its weight."""
        unit = self.limits.count_unit
        sums = _core.direction_sums(self.scores, self.codes, self.weights, eta, q, unit, self.n_threads)
        gradient, curvature = self.group.sum(np.stack(sums))
        return gradient, curvature

    def along(self, eta: Floats, q: Floats) -> tuple[Floats, Floats]:
        """By position: the sum over labels of eta * (gold - P), and the variance of eta, each times the weight."""
        return _core.along_direction(self.scores, self.codes, self.weights, eta, q, self.n_threads)

    def squared_residuals(self) -> Floats:
        """By label: the sum over positions of (gold - P)**2, each position with its squared weight."""
        residuals: Floats = -_core.softmax(self.scores, None, None, self.n_threads)
        at = np.flatnonzero(self.weights)
        residuals[at, self.codes[at]] += 1
        residuals *= self.weights[:, None]
        squares = self.limits.rounded_weights(residuals * residuals, self.limits.largest_weight)
        squared: Floats = self.group.sum(squares.sum(axis=0))
        return squared


class Candidate(NamedTuple):
    """A feature, the log-likelihood with it, and its values on training and dev data."""

    feature: FutureFeature
    log_likelihood: float
    dev_log_likelihood: float | None
    log_odds: Floats  # G of training positions
    values: Floats  # Q of training positions
    dev_values: Floats | None
    steps: list[float]

    @property
    def merit(self) -> float:
        """The dev log-likelihood, or without dev data that of training."""
        return self.log_likelihood if self.dev_log_likelihood is None else self.dev_log_likelihood


@dataclass(eq=False)
class _Pattern:
    """A pattern under construction: its direction, and its log-odds at each position."""

    eta: Floats
    log_odds: Floats
    dev_log_odds: Floats | None
    trees: list[Trees] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    log_likelihood: float = -np.inf


class Discovery:
    """The search for a feature whose instance bags are after their positions, or with `back` before them."""

    def __init__(self, rules: DiscoveryRules, train: DiscoveryData, dev: DiscoveryData | None, back: bool) -> None:
        self.rules, self.train, self.dev, self.back = rules, train, dev, back
        data = train.tree_data or _core.TreeData(
            train.instances.reader, 0, rules.growth, train.n_threads, exchange=train.group
        )
        self._grower = _core.TreeGrower(data, train.scores.shape[1], rules.growth, None, exchange=train.group)

    def best(self) -> Candidate | None:
        """The feature with the best merit; None if no feature raises the training likelihood."""
        k, n = self.train.scores.shape[1], len(self.train.codes)
        without = self.train.log_likelihood(np.zeros(k), np.zeros(n))
        started = [pattern for eta in self._directions() if (pattern := self._start(eta)) is not None]
        if not started:
            return None
        pattern = max(started, key=lambda one: one.log_likelihood)
        best: Candidate | None = None
        for candidate in self._candidates(pattern):
            if candidate.log_likelihood > without + MIN_GAIN and (best is None or candidate.merit > best.merit):
                best = candidate
        return best

    def _directions(self) -> list[Floats]:
        """One label against the others, for the labels with the largest residuals; with two labels, for both."""
        k = self.train.scores.shape[1]
        chosen = np.argsort(-self.train.squared_residuals(), kind="stable")[:MAX_DIRECTIONS]
        return [self._bounded(np.eye(k)[label] - 1 / k) for label in chosen]

    def _start(self, eta: Floats) -> _Pattern | None:
        """The pattern after its first tree; None if the tree gains nothing."""
        start = self.rules.instance_bags.initial_log_odds
        dev = None if self.dev is None else np.full(len(self.dev.codes), start)
        pattern = _Pattern(eta, np.full(len(self.train.codes), start), dev)
        return pattern if self._add_tree(pattern) else None

    def _candidates(self, pattern: _Pattern) -> Iterator[Candidate]:
        """The feature after each round."""
        yield self._candidate(pattern)
        while len(pattern.trees) < self.rules.rounds and self._add_tree(pattern):
            yield self._candidate(pattern)

    def _add_tree(self, pattern: _Pattern) -> bool:
        """Add a tree and fit the direction again; False if no step raises the likelihood."""
        bags = self.rules.instance_bags
        tree = self._best_tree(pattern)
        if tree is None:
            return False
        pattern.log_odds = bags.stepped(pattern.log_odds, tree_values(tree, self.train))
        if self.dev is not None and pattern.dev_log_odds is not None:
            pattern.dev_log_odds = bags.stepped(pattern.dev_log_odds, tree_values(tree, self.dev))
        pattern.trees.append(tree)
        pattern.eta = self._fitted_direction(pattern.eta, self._q(pattern.log_odds))
        pattern.log_likelihood = self.train.log_likelihood(pattern.eta, self._q(pattern.log_odds))
        return True

    def _best_tree(self, pattern: _Pattern) -> Trees | None:
        """A tree along the gradient, times the best step of the line search; None if no step gains."""
        bags, train = self.rules.instance_bags, self.train
        targets, weights = self._gradient(pattern)
        # The mean over training positions brings the weights near 1, as l2 expects.
        unit = total(weights, train.group) / train.total_weight
        if not unit > 0:
            return None
        grown, direction = self._grower.fit(targets / unit, weights / unit, 0)
        tree, direction = Trees.of_round(*grown), np.clip(direction, -MAX_LEAF, MAX_LEAF)
        tree = replace(tree, values=np.clip(tree.values, -MAX_LEAF, MAX_LEAF))
        best, best_step = pattern.log_likelihood + MIN_GAIN, 0.0
        for step in self.rules.steps:
            q = self._q(bags.stepped(pattern.log_odds, step * direction))
            value = train.log_likelihood(pattern.eta, q)
            if value > best:
                best, best_step = value, float(step)
        if best_step == 0:
            return None
        pattern.steps.append(best_step)
        return replace(tree, values=(tree.values * best_step).astype(np.float32))

    def _gradient(self, pattern: _Pattern) -> tuple[Floats, Floats]:
        """(targets, weights) of the tree, by position."""
        train, bags = self.train, self.rules.instance_bags
        bag_q, rest = bags.noisy_or(pattern.log_odds, train.starts, self.back, train.n_threads)
        residuals, variance = train.along(pattern.eta, bag_q)

        def sums(values: Floats) -> Floats:
            return bags.sums_where_contained(values, train.starts, self.back, train.n_threads)

        q = logistic(pattern.log_odds)
        return q * sums(residuals * rest), q**2 * sums(variance * rest**2)

    def _q(self, log_odds: Floats, data: DiscoveryData | None = None) -> Floats:
        data = data or self.train
        return self.rules.instance_bags.probabilities(log_odds, data.starts, self.back, data.n_threads)

    def _fitted_direction(self, eta: Floats, q: Floats) -> Floats:
        """eta after steps on the l2-penalised likelihood; P stands for P (1 - P), so no curvature is too small."""
        train, l2 = self.train, self.rules.l2

        def objective(eta: Floats) -> float:
            return train.log_likelihood(eta, q) - l2 * float((eta * eta).sum()) / (2 * train.total_weight)

        value = objective(eta)
        for _ in range(MAX_ETA_ITERATIONS):
            gradient, curvature = train.direction_sums(eta, q)
            step = (gradient - l2 * eta) / (curvature + l2 + 1e-9)
            for _ in range(MAX_HALVINGS):
                tried = self._bounded(eta + step)
                after = objective(tried)
                if after > value:
                    break
                step = step / 2
            else:
                break
            eta, gained, value = tried, after - value, after
            eta -= eta.mean()  # a constant added to all labels changes no probability
            if gained < MIN_GAIN:
                break
        return eta

    def _bounded(self, eta: Floats) -> Floats:
        """eta, shrunk where two labels differ by more than max_eta."""
        bound = self.rules.max_eta
        if bound is None or np.ptp(eta) <= bound:
            return eta
        shrunk: Floats = (eta - eta.mean()) * (bound / np.ptp(eta))
        return shrunk

    def _candidate(self, pattern: _Pattern) -> Candidate:
        trees = Trees.joined(pattern.trees)
        trees = replace(trees, labels=np.arange(len(pattern.trees), dtype=np.int32))
        feature = FutureFeature(self.back, trees, pattern.eta.astype(np.float32))
        q, dev_q, dev_log_likelihood = self._q(pattern.log_odds), None, None
        if self.dev is not None and pattern.dev_log_odds is not None:
            dev_q = self._q(pattern.dev_log_odds, self.dev)
            dev_log_likelihood = self.dev.log_likelihood(pattern.eta, dev_q)
        return Candidate(
            feature=feature,
            log_likelihood=pattern.log_likelihood,
            dev_log_likelihood=dev_log_likelihood,
            log_odds=pattern.log_odds,
            values=q,
            dev_values=dev_q,
            steps=list(pattern.steps),
        )


def tree_values(tree: Trees, data: DiscoveryData) -> NDArray[np.float32]:
    """The value of one tree at each position, computed as in prediction."""
    values = np.zeros((len(data.codes), 1, 1), np.float32)
    forest = replace(tree, labels=np.zeros(1, np.int32)).compiled(data.instances, 1, 0)
    forest.add_scores(data.instances.reader, values, data.n_threads)
    return values[:, 0, 0]
