"""One training run of FutureMEMM: rounds of the top level, and features of the lower level when the rounds stall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import Binning
from hedgerow.encoding.window import WindowSpec
from hedgerow.future.discovery import Candidate, Discovery, DiscoveryRules
from hedgerow.future.draft import Draft
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import StoppingScore
from hedgerow.learning.growers import weighted_grower
from hedgerow.learning.seeds import step_seed
from hedgerow.potentials.trees import Trees

MIN_GAIN = 1e-4  # in mean log-likelihood of a position: a smaller gain counts as none
MAX_HALVINGS = 10  # of a Newton step that lowers the likelihood


@dataclass(frozen=True, kw_only=True)
class FutureRules:
    """The parameters of both levels.

    `sides` says where instance bags are tried: False for after their position, True for before it.
    """

    window: WindowSpec
    sides: tuple[bool, ...]
    max_future: int
    n_rounds: int
    learning_rate: float
    growth: _core.GrowthRules
    discovery: DiscoveryRules
    decided_by: StoppingScore | None  # score of the dev data that decides how far to go; None for the training loss
    patience: int  # rounds without a better score before the top level has stalled
    seed: int


class Phase(NamedTuple):
    """A feature (None in the first phase), and the number of rounds of the top level after it."""

    candidate: Candidate | None
    n_rounds: int


class Snapshot(NamedTuple):
    """The lengths and scores of a run, to return to."""

    merit: float
    n_steps: int
    n_features: int
    scores: list[NDArray[np.float32]]


class TrainingRun(Draft):
    """A run on one set of training data, with or without dev data."""

    def __init__(
        self,
        training: TrainingData,
        rules: FutureRules,
        n_records: int = 0,
        binnings: dict[str, Binning] | None = None,
    ) -> None:
        super().__init__(training, rules.window, rules.discovery.instance_bags, n_records, binnings)
        self.rules = rules
        self.phases: list[Phase] = []

    @property
    def _decided_by(self) -> StoppingScore | None:
        return None if self.dev is None else self.rules.decided_by

    @property
    def _merit(self) -> float:
        """The score that decides how far to go; higher is better."""
        match self._decided_by:
            case None:
                return self.train.log_likelihood
            case "loss":
                assert self.dev is not None
                return self.dev.log_likelihood
            case score:
                return float(self._dev_scores()[f"dev_{score}"])

    @property
    def _min_gain(self) -> float:
        return MIN_GAIN if self._decided_by in (None, "loss") else 0.0

    def searched(self) -> Iterator[Record]:
        """Rounds and features for as long as the merit rises."""
        yield from self._climb(None)
        while len(self.features) < self.rules.max_future:
            before = self._snapshot()
            candidate = self._discover()
            if candidate is not None:
                self._add_feature(candidate)
                yield self._record("discovery", **self._description(candidate))
                yield from self._climb(candidate, before)
            if self._merit <= before.merit + self._min_gain:
                self._restore(before)
                yield self._record("end", future_features=len(self.features), gave_up=candidate is not None)
                return
        yield self._record("end", future_features=len(self.features))

    def _climb(self, candidate: Candidate | None, before: Snapshot | None = None) -> Iterator[Record]:
        """Rounds of the top level until they stall; then return to the best round."""
        best = self._snapshot()
        if before is not None and best.merit <= before.merit:
            best = best._replace(merit=-np.inf)  # a feature may help only together with trees
        first, grower = len(self.steps), self._grower()
        while len(self.steps) < self.rules.n_rounds and len(self.steps) - best.n_steps < self.rules.patience:
            if not self._round(grower):
                break
            yield self._round_record()
            if self._merit > best.merit + self._min_gain:
                best = self._snapshot()
        self._restore(best)
        self.phases.append(Phase(candidate, len(self.steps) - first))

    def replayed(self, phases: list[Phase]) -> Iterator[Record]:
        """The features and the numbers of rounds of another run."""
        for phase in phases:
            if phase.candidate is not None:
                candidate = self._transferred(phase.candidate)
                self._add_feature(candidate)
                yield self._record("discovery", **self._description(candidate))
            grower = self._grower()
            for _ in range(phase.n_rounds):
                if not self._round(grower):
                    break
                yield self._round_record()
        yield self._record("end", future_features=len(self.features))

    def _snapshot(self) -> Snapshot:
        scores = [data.scores for data in self._data_sets]
        return Snapshot(self._merit, len(self.steps), len(self.features), scores)

    def _restore(self, snapshot: Snapshot) -> None:
        n_features = snapshot.n_features
        del self.steps[snapshot.n_steps :], self.features[n_features:], self.phases[n_features + 1 :]
        for name in list(self.binnings)[len(self.column_binnings) + n_features :]:
            del self.binnings[name]
        for data, scores in zip(self._data_sets, snapshot.scores, strict=True):
            data.scores = scores
            del data.values[n_features:]

    # The top level.

    def _round_record(self) -> Record:
        return self._record("round", with_scores=self._decided_by in ("accuracy", "span_f1"))

    def _grower(self) -> _core.TreeGrower:
        """The grower of a phase."""
        data, training = self._tree_data(self.rules.growth), self.training
        return weighted_grower(data, len(training.labels), self.rules.growth, self.train.weights, training.group)

    def _round(self, grower: _core.TreeGrower) -> bool:
        """Add a tree for each label; False if no step along them raises the training likelihood."""
        train, rules, threads = self.train, self.rules, self.training.n_threads
        before, start = train.log_likelihood, train.scores
        grown = start.copy()
        p = _core.softmax(train.scores[:, 0], None, None, threads).astype(np.float32)[:, None, :]
        seed = step_seed(rules.seed, len(self.steps))
        trees = Trees.of_round(*grower.grow(p, train.codes, grown, None, rules.learning_rate, seed, threads))
        step = np.subtract(grown, start, out=np.zeros_like(start), where=start > -np.inf)
        factor = self._take_step(start, step, before)
        if factor == 0:
            train.scores = start
            return False
        trees = replace(trees, values=trees.values * np.float32(factor))
        self.steps.append(trees)
        self._add_to_dev_scores(trees)
        return True

    def _take_step(self, start: NDArray[np.float32], step: NDArray[np.float32], before: float) -> float:
        """Set the scores to start + factor * step; return the factor, or 0 if no factor raises the likelihood."""
        for factor in 0.5 ** np.arange(MAX_HALVINGS):
            self.train.scores = start + np.float32(factor) * step
            if self.train.log_likelihood > before:
                return float(factor)
        return 0.0

    # The lower level.

    def _discover(self) -> Candidate | None:
        """The best feature of any side."""
        rules = self.rules.discovery
        train = self.train.discovery_data(self.train.instance_tree_data(rules.growth))
        dev = None if self.dev is None or self._decided_by is None else self.dev.discovery_data()
        candidates = [Discovery(rules, train, dev, back).best() for back in self.rules.sides]
        return max((c for c in candidates if c is not None), key=lambda c: c.merit, default=None)

    def _transferred(self, candidate: Candidate) -> Candidate:
        """A feature that was found on other data, with its values on the training data of this run."""
        log_odds, values = self._evaluate(candidate.feature, self.train)
        return candidate._replace(log_odds=log_odds, values=values, dev_values=None)
