"""The lower level of future features: boosting a pattern that bags of positions show (dissertation, section 5.3).

Scores F of all labels are given. A feature adds eta * Q(B_t) to them, with a direction eta in R^K: a number for each
label. With residuals R = gold - P of the scores so changed, the likelihood's gradient at the log-odds of position s is

    g_s = q_s * sum over the bags B_t that hold s of r_t (1 - Q_t),    r_t = sum over labels of eta_l R_tl

(proposition 5.2, summed over the pairs of a bag and a position in it). A regression tree follows it. Published leaves
are sum of g over (l2 + number of pairs), and the step is searched over many powers of ten, for gradients are tiny.
Newton leaves have the expected curvature in place of that number, q_s^2 * sum of Var_P(eta) (1 - Q_t)^2.

Directions start as one label against all others. For the labels with the most left to explain a first tree is grown,
and the best goes on. After each tree eta is fitted anew. With two labels that is the published algorithm, both signs
of eta tried: one score F that is the difference of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader
from hedgerow.future.potential import FutureFeature, InstanceBags, logistic
from hedgerow.potentials.trees import Trees

Floats = NDArray[np.float64]

MOST_DIRECTIONS = 6
ETA_STEPS = 10
MOST_HALVINGS = 10
LEAST_GAIN = 1e-6  # of likelihood, for each position: a round that gains less is the last
MAX_STEP = 4.0  # of a Newton leaf
PUBLISHED_STEPS = 10.0 ** np.arange(0, 7.25, 0.5)
NEWTON_STEPS = 10.0 ** np.arange(-1, 1.25, 0.25)


@dataclass(frozen=True)
class DiscoveryRules:
    """How a feature is looked for."""

    instance_bags: InstanceBags
    rounds: int
    newton: bool
    l2: float
    grower: _core.GrowthRules  # its l2 is of trees over instances
    max_step: float = np.inf  # of the line search

    @property
    def steps(self) -> Floats:
        """The steps that the line search tries: a grid, and the longest step allowed instead of longer ones."""
        return np.unique(np.minimum(NEWTON_STEPS if self.newton else PUBLISHED_STEPS, self.max_step))


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """Positions with their scores so far; `instances` read each by itself. Where a code is -1, its weight is 0."""

    instances: AttributeReader
    codes: NDArray[np.int32]
    weights: Floats
    scores: Floats  # (positions, labels)
    n_threads: int

    @property
    def starts(self) -> NDArray[np.int64]:
        return self.instances.sequences.starts

    def likelihood(self, eta: Floats, q: Floats) -> float:
        """Mean of log P(gold) of positions when the feature speaks."""
        gold = _core.log_gold(self.scores, self.codes, eta, q, self.n_threads)
        return float((gold * self.weights).sum() / self.weights.sum())

    def residuals(self, eta: Floats, q: Floats) -> tuple[Floats, Floats]:
        """(gold - P, P), each times the weights of positions."""
        p: Floats = _core.softmax(self.scores, eta, q, self.n_threads)
        p *= self.weights[:, None]
        residuals = -p
        at = np.flatnonzero(self.weights)
        residuals[at, self.codes[at]] += self.weights[at]
        return residuals, p


class Candidate(NamedTuple):
    """A feature, how likely it makes gold, and its values in training and held-out data."""

    feature: FutureFeature
    likelihood: float
    held_likelihood: float | None
    scores: Floats  # G of training
    values: Floats  # Q of training
    held_values: Floats | None
    steps: list[float]

    @property
    def merit(self) -> float:
        """How good it is: by held-out data, if there are any."""
        return self.likelihood if self.held_likelihood is None else self.held_likelihood


@dataclass(eq=False)
class _Pattern:
    """A pattern as it grows: its log-odds at each position, and its direction."""

    eta: Floats
    scores: Floats
    held: Floats | None
    trees: list[Trees] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    likelihood: float = -np.inf


class Discovery:
    """Looks for a feature of bags on one side of their positions."""

    def __init__(self, rules: DiscoveryRules, here: DiscoveryData, held: DiscoveryData | None, back: bool) -> None:
        self.rules, self.here, self.held, self.back = rules, here, held, back
        k = here.scores.shape[1]
        self._grower = _core.TreeGrower(_core.TreeData(here.instances.reader, 0, rules.grower), k, rules.grower, None)
        self._pairs = self._spread(here.weights)  # how many bags hold a position

    def best(self) -> Candidate | None:
        """The feature that makes gold most likely, on held-out data if there are any; none if nothing is gained."""
        plain = self.here.likelihood(np.zeros(self.here.scores.shape[1]), np.zeros(len(self.here.codes)))
        tried = [pattern for eta in self._directions() if (pattern := self._begin(eta)) is not None]
        if not tried:
            return None
        pattern = max(tried, key=lambda one: one.likelihood)
        best: Candidate | None = None
        for found in self._grown(pattern):
            if found.likelihood > plain + LEAST_GAIN and (best is None or found.merit > best.merit):
                best = found
        return best

    def _directions(self) -> list[Floats]:
        """One label against the others; of two labels, either. Those with the largest residuals, if there are many."""
        k = self.here.scores.shape[1]
        residuals = self.here.residuals(np.zeros(k), np.zeros(len(self.here.codes)))[0]
        energy = np.einsum("tl,tl->l", residuals, residuals)
        chosen = np.argsort(-energy, kind="stable")[:MOST_DIRECTIONS]
        return [np.eye(k)[label] - 1 / k for label in chosen]

    def _begin(self, eta: Floats) -> _Pattern | None:
        """The pattern after its first tree, if that gains anything."""
        initial_log_odds = self.rules.instance_bags.initial_log_odds
        held = None if self.held is None else np.full(len(self.held.codes), initial_log_odds)
        pattern = _Pattern(eta, np.full(len(self.here.codes), initial_log_odds), held)
        return pattern if self._grow(pattern) else None

    def _grown(self, pattern: _Pattern) -> Iterator[Candidate]:
        yield self._found(pattern)
        while len(pattern.trees) < self.rules.rounds and self._grow(pattern):
            yield self._found(pattern)

    def _grow(self, pattern: _Pattern) -> bool:
        """One more tree, and a direction to go with it; whether the likelihood rose."""
        here, bags = self.here, self.rules.instance_bags
        targets, weights = self._gradient(pattern)
        unit = float(weights.mean()) if self.rules.newton else 1.0
        if not unit > 0:
            return False
        grown, direction = self._grower.fit(targets / unit, weights / unit, 0)
        tree = Trees.of_round(*grown)
        if self.rules.newton:
            direction = np.clip(direction, -MAX_STEP, MAX_STEP)
            tree = replace(tree, values=np.clip(tree.values, -MAX_STEP, MAX_STEP))
        best, step = pattern.likelihood + LEAST_GAIN, 0.0
        for tried in self.rules.steps:
            value = here.likelihood(pattern.eta, self._q(bags.stepped(pattern.scores, tried * direction)))
            if value > best:
                best, step = value, float(tried)
        if step == 0:
            return False
        tree = replace(tree, values=(tree.values * step).astype(np.float32))
        pattern.scores = bags.stepped(pattern.scores, _values(tree, here))
        if self.held is not None and pattern.held is not None:
            pattern.held = bags.stepped(pattern.held, _values(tree, self.held))
        pattern.trees.append(tree)
        pattern.steps.append(step)
        pattern.eta = self._fitted(pattern.eta, self._q(pattern.scores))
        pattern.likelihood = here.likelihood(pattern.eta, self._q(pattern.scores))
        return True

    def _gradient(self, pattern: _Pattern) -> tuple[Floats, Floats]:
        """(targets, weights) of the tree."""
        here, size = self.here, self.rules.instance_bags.size
        q, rest = _core.bag_probabilities(pattern.scores, here.starts, size, self.back, here.n_threads)
        residuals, p = here.residuals(pattern.eta, q)
        shown = logistic(pattern.scores)
        targets = shown * self._spread(_along(residuals, pattern.eta) * rest)
        if not self.rules.newton:
            return targets, self._pairs
        mean = np.divide(_along(p, pattern.eta), here.weights, out=np.zeros_like(q), where=here.weights > 0)
        variance = np.maximum(_along(p, pattern.eta**2) - here.weights * mean**2, 0)
        return targets, shown**2 * self._spread(variance * rest**2)

    def _spread(self, values: Floats) -> Floats:
        """For each position the sum over the bags that hold it: a bag that looks ahead is seen looking back."""
        here = self.here
        sums: Floats = _core.bag_sums(values, here.starts, self.rules.instance_bags.size, not self.back, here.n_threads)
        return sums

    def _q(self, scores: Floats, scene: DiscoveryData | None = None) -> Floats:
        scene = scene or self.here
        return self.rules.instance_bags.probabilities(scores, scene.starts, self.back, scene.n_threads)

    def _fitted(self, eta: Floats, q: Floats) -> Floats:
        """Steps for the direction, penalised by l2, with a curvature that is never too small: P for P (1 - P)."""
        here, l2 = self.here, self.rules.l2
        total = float(here.weights.sum())

        def objective(eta: Floats) -> float:
            return here.likelihood(eta, q) - l2 * float((eta * eta).sum()) / (2 * total)

        value = objective(eta)
        for _ in range(ETA_STEPS):
            residuals, p = here.residuals(eta, q)
            gradient = _times(q, residuals) - l2 * eta
            step = gradient / (_times(q * q, p) + l2 + 1e-9)
            for _ in range(MOST_HALVINGS):
                after = objective(eta + step)
                if after > value:
                    break
                step = step / 2
            else:
                break
            eta, gained, value = eta + step, after - value, after
            eta -= eta.mean()  # what all labels gain alike changes nothing
            if gained < LEAST_GAIN:
                break
        return eta

    def _found(self, pattern: _Pattern) -> Candidate:
        trees = Trees.joined(pattern.trees)
        trees = replace(trees, labels=np.arange(len(pattern.trees), dtype=np.int32))
        feature = FutureFeature(self.back, trees, pattern.eta.astype(np.float32))
        q, held_q, held_likelihood = self._q(pattern.scores), None, None
        if self.held is not None and pattern.held is not None:
            held_q = self._q(pattern.held, self.held)
            held_likelihood = self.held.likelihood(pattern.eta, held_q)
        return Candidate(feature, pattern.likelihood, held_likelihood, pattern.scores, q, held_q, list(pattern.steps))


def _values(tree: Trees, scene: DiscoveryData) -> NDArray[np.float32]:
    """What one tree says of each position, as prediction will say it."""
    values = np.zeros((len(scene.codes), 1, 1), np.float32)
    forest = replace(tree, labels=np.zeros(1, np.int32)).compiled(scene.instances, 1, 0)
    forest.add_scores(scene.instances.reader, values, scene.n_threads)
    return values[:, 0, 0]


# Sums without a library that would divide them among threads of its own, and round as these come.


def _along(rows: Floats, eta: Floats) -> Floats:
    along: Floats = np.einsum("tl,l->t", rows, eta, optimize=False)
    return along


def _times(q: Floats, rows: Floats) -> Floats:
    sums: Floats = np.einsum("t,tl->l", q, rows, optimize=False)
    return sums
