"""Two levels of boosting: trees over what is known of a position, and features of bags when these stall.

The top level grows trees on columns of the window, on gold histories, and on the future features found so far
(dissertation, proposition 5.1). When held-out data no longer gain by them, the lower level looks for a new feature
(see discovery.py). It enters as a column and as a term of its own, and the top level goes on. A feature that gains
nothing even so is given up, and all is done.

Without held-out data a share of training is put aside to find out how far to go, which is a trial; then all of training
is learned from, with the features of the trial and as many rounds. A few sequences cannot be shared out: their own
likelihood decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.ragged import place
from hedgerow.encoding import HERE, AttributeReader, Binning, Window, fit_binnings
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.window import WindowSpec
from hedgerow.errors import InputError
from hedgerow.future.discovery import Candidate, Discovery, DiscoveryData, DiscoveryRules
from hedgerow.future.potential import FutureFeature, FuturePotential, feature_name, logistic, with_features
from hedgerow.learning.base import Record, TrainingData, split_off_dev
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.label_contexts import columns_to_lags, with_label_columns
from hedgerow.learning.seeds import step_seed
from hedgerow.potentials.base import Potential
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.trees import TreePotential, Trees

Floats = NDArray[np.float64]

HELD_SHARE = 0.2
FEWEST = 5  # sequences of which a share is put aside
PATIENCE = 5  # rounds without a better likelihood before the top level has stalled
LEAST_GAIN = 1e-4  # of likelihood, for each position: less is no better
MOST_HALVINGS = 10
N_BINS = 20  # of a feature
MOST_EXAMPLES = 5
PUBLISHED_STEPS = 10.0 ** np.arange(-1, 2.25, 0.25)


@dataclass(frozen=True)
class FutureRules:
    """How both levels go about it; `sides` says of each kind of bag that is tried whether it goes back."""

    window: WindowSpec
    sides: tuple[bool, ...]
    max_future: int
    n_rounds: int
    learning_rate: float
    growth: _core.GrowthRules
    discovery: DiscoveryRules
    seed: int


class Phase(NamedTuple):
    """A feature, or none to begin with; then so many rounds of the top level."""

    found: Candidate | None
    rounds: int


class FutureLearner:
    """The learner of FutureMEMM."""

    def __init__(self, training: TrainingData, rules: FutureRules) -> None:
        names = {column.name for column in training.sequences.columns}
        for i in range(rules.max_future):
            if feature_name(i) in names:
                raise InputError(f"a future feature is to be called {feature_name(i)!r}, as a column is; rename it")
        if training.dev is not None and not (training.dev.codes >= 0).any():
            raise InputError("y_dev has no label in common with y, so there is nothing to stop by")
        self.training, self.rules = training, rules
        shared_out = training.dev is None and len(training.sequences) >= FEWEST
        trial = split_off_dev(training, HELD_SHARE, _drawn(training, rules.seed)) if shared_out else training
        self._run = _Run(trial, rules)

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> Potential:
        """That of all data when it is whole, and of the trial until then."""
        return self._run.potential

    def __iter__(self) -> Iterator[Record]:
        training, trial = self.training, self._run
        if trial.training is training:
            yield from trial.searched()
            return
        for record in trial.searched():
            yield {**record, "trial": True}
        whole = _Run(training, self.rules, trial.count, trial.own_binnings)
        yield from whole.replayed(trial.plan)
        self._run = whole  # not before: half of it is worse than the trial


class _Data:
    """Positions with their gold histories, the features found so far, and the scores so far."""

    def __init__(
        self,
        plain: Encoded,
        given: Encoded,
        codes: NDArray[np.int32],
        weights: Floats,
        k: int,
        n_threads: int,
    ) -> None:
        self.plain, self.given, self.codes, self.n_threads = plain, given, codes, n_threads
        known = np.logical_and.reduceat(codes >= 0, plain.starts[:-1])
        self.sequence_weights = np.where(known, weights, 0.0)
        self.weights = np.where(codes >= 0, np.repeat(weights, plain.lengths), 0.0)
        self.values: list[Floats] = []
        self.scores = np.zeros((len(codes), 1, k), np.float32)

    def rows(self, window: Window, binnings: Mapping[str, Binning]) -> AttributeReader:
        return AttributeReader(with_features(self.given, self.values), window, binnings)

    def scene(self, binnings: Mapping[str, Binning]) -> DiscoveryData:
        instances = AttributeReader(self.plain, HERE, binnings)
        return DiscoveryData(instances, self.codes, self.weights, self.scores[:, 0].astype(np.float64), self.n_threads)

    @property
    def likelihood(self) -> float:
        """Mean of log P(gold) of a position."""
        return float((self._log_gold() * self.weights).sum() / self.weights.sum())

    @property
    def loss(self) -> float | None:
        """-log P of a sequence's labels, the mean; None if each sequence has a label that training never saw."""
        weights = self.sequence_weights
        if not weights.any():
            return None
        sums = np.add.reduceat(self._log_gold(), self.plain.starts[:-1])
        return -float((sums * weights).sum() / weights.sum())

    def _log_gold(self) -> Floats:
        gold: Floats = _core.log_gold(self.scores[:, 0], self.codes, None, None, self.n_threads)
        return gold


class Snapshot(NamedTuple):
    """Where a run was, to go back to."""

    likelihood: float
    n_steps: int
    n_features: int
    scores: list[NDArray[np.float32]]


class _Run:
    """One course of learning: what it has so far, and how it got there."""

    def __init__(
        self, training: TrainingData, rules: FutureRules, count: int = 0, binnings: dict[str, Binning] | None = None
    ) -> None:
        self.training, self.rules, self.count = training, rules, count
        self.window = Window.of(rules.window)
        if binnings is None:
            binnings = fit_binnings(training.sequences)
        self.own_binnings = binnings
        self.binnings = dict(binnings)  # and those of features
        given, k, threads = with_label_columns(training), len(training.labels), training.n_threads
        self.here = _Data(training.sequences, given.sequences, training.codes, training.weights, k, threads)
        self.held: _Data | None = None
        if training.dev is not None and given.dev is not None:
            sequences, weights = training.dev.sequences, np.ones(len(training.dev.sequences))
            self.held = _Data(sequences, given.dev.sequences, training.dev.codes, weights, k, threads)
        self.steps: list[Trees] = []
        self.features: list[FutureFeature] = []
        self.plan: list[Phase] = []
        self._held_rows: AttributeReader | None = None  # as the trees that are grown now read them

    @property
    def _sides(self) -> list[_Data]:
        return [self.here] if self.held is None else [self.here, self.held]

    @property
    def _likelihood(self) -> float:
        return self._sides[-1].likelihood

    # How far to go is decided by likelihood.

    def searched(self) -> Iterator[Record]:
        """Rounds and features for as long as they gain."""
        yield from self._climb(None)
        while len(self.features) < self.rules.max_future:
            before = self._mark()
            found = self._discover()
            if found is not None:
                self._add(found)
                yield self._record("discovery", **self._told(found))
                yield from self._climb(found, before)
            if self._likelihood <= before.likelihood + LEAST_GAIN:
                self._go_back(before)
                yield self._record("end", future_features=len(self.features), gave_up=found is not None)
                return
        yield self._record("end", future_features=len(self.features))

    def _climb(self, found: Candidate | None, before: Snapshot | None = None) -> Iterator[Record]:
        """Rounds of the top level until they stall; then back to the best."""
        best = self._mark()
        if before is not None and best.likelihood <= before.likelihood:
            best = best._replace(likelihood=-np.inf)  # a feature may need trees to be of use
        first, grower = len(self.steps), self._grower()
        while len(self.steps) < self.rules.n_rounds and len(self.steps) - best.n_steps < PATIENCE:
            if not self._round(grower):
                break
            yield self._record("round")
            if self._likelihood > best.likelihood + LEAST_GAIN:
                best = self._mark()
        self._go_back(best)
        self.plan.append(Phase(found, len(self.steps) - first))

    def replayed(self, plan: list[Phase]) -> Iterator[Record]:
        """The features of a plan, which proved themselves on held-out data, and as many rounds as it has."""
        for phase in plan:
            if phase.found is not None:
                found = self._carried(phase.found)
                self._add(found)
                yield self._record("discovery", **self._told(found))
            grower = self._grower()
            for _ in range(phase.rounds):
                if not self._round(grower):
                    break
                yield self._record("round")
        yield self._record("end", future_features=len(self.features))

    def _mark(self) -> Snapshot:
        scores = [side.scores.copy() for side in self._sides]
        return Snapshot(self._likelihood, len(self.steps), len(self.features), scores)

    def _go_back(self, mark: Snapshot) -> None:
        del self.steps[mark.n_steps :], self.features[mark.n_features :], self.plan[mark.n_features + 1 :]
        for name in list(self.binnings)[len(self.own_binnings) + mark.n_features :]:
            del self.binnings[name]
        for side, scores in zip(self._sides, mark.scores, strict=True):
            side.scores[:] = scores
            del side.values[mark.n_features :]

    def _record(self, what: str, **more: Any) -> Record:
        self.count += 1
        record: Record = {"unit": "round", "step": self.count, "what": what, "loss": self.here.loss, **more}
        if self.held is not None:
            record["dev_loss"] = self.held.loss
            if what != "round":
                record |= self._decoded()
        return record

    def _decoded(self) -> Record:
        """How the model does on held-out data when it has to live with its own mistakes."""
        return Evaluator(self.training).of_potential(self.potential)

    # The top level.

    def _grower(self) -> _core.TreeGrower:
        weights = self.here.weights
        counts = None if (weights == 1).all() else weights / weights.max()
        rows, k = self.here.rows(self.window, self.binnings), len(self.training.labels)
        self._held_rows = None if self.held is None else self.held.rows(self.window, self.binnings)
        growth = self.rules.growth
        return _core.TreeGrower(_core.TreeData(rows.reader, 0, growth), k, growth, counts)

    def _round(self, grower: _core.TreeGrower) -> bool:
        """A tree for each label; whether any step along them made gold more likely."""
        here, rules, k = self.here, self.rules, len(self.training.labels)
        before, start, threads = here.likelihood, here.scores.copy(), self.training.n_threads
        marginals = _core.softmax(here.scores[:, 0], None, None, threads).astype(np.float32)[:, None, :]
        seed = step_seed(rules.seed, len(self.steps))
        rate = rules.learning_rate if rules.growth.newton else 1.0
        trees = Trees.of_round(*grower.grow(marginals, here.codes, here.scores, None, rate, seed, threads))
        factor = self._stepped(start, here.scores - start, before)
        if factor == 0:
            here.scores[:] = start
            return False
        trees = replace(trees, values=trees.values * np.float32(factor))
        self.steps.append(trees)
        if self.held is not None and self._held_rows is not None:
            trees.compiled(self._held_rows, k, 0).add_scores(self._held_rows.reader, self.held.scores, threads)
        return True

    def _stepped(self, start: NDArray[np.float32], step: NDArray[np.float32], before: float) -> float:
        """By what the step is multiplied that the scores have then taken; 0 if no step is good."""
        here = self.here

        def after(factor: float) -> float:
            here.scores[:] = start + np.float32(factor) * step
            return here.likelihood

        if self.rules.growth.newton:
            return next((f for f in 0.5 ** np.arange(MOST_HALVINGS) if after(f) > before), 0.0)
        values = [after(factor) for factor in PUBLISHED_STEPS]
        best = float(PUBLISHED_STEPS[int(np.argmax(values))])
        return best if after(best) > before else 0.0

    # The lower level.

    def _discover(self) -> Candidate | None:
        """The best feature of any side."""
        scenes = [side.scene(self.binnings) for side in self._sides]
        here, held = scenes[0], scenes[1] if len(scenes) > 1 else None
        tried = [Discovery(self.rules.discovery, here, held, back).best() for back in self.rules.sides]
        return max((one for one in tried if one is not None), key=lambda one: one.merit, default=None)

    def _carried(self, found: Candidate) -> Candidate:
        """A feature of other data, with its values here."""
        bags, feature, threads = self.rules.discovery.instance_bags, found.feature, self.training.n_threads
        instances = AttributeReader(self.here.plain, HERE, self.binnings)
        scores = feature.instance_scores(instances, bags, threads)
        values = bags.probabilities(scores, instances.sequences.starts, feature.back, threads)
        return found._replace(scores=scores, values=values, held_values=None)

    def _told(self, found: Candidate) -> Record:
        """What a record says of a feature: how it came about, and where in training it fires."""
        q = logistic(found.scores)
        shows = np.flatnonzero(q >= q.max() / 2)
        some = shows[:MOST_EXAMPLES]
        return {
            "future_feature": len(self.features),
            "direction": "past" if found.feature.back else "future",
            "pattern_rounds": len(found.steps),
            "pattern_steps": found.steps,
            "fires_at": len(shows) / len(q),
            "fires_in": float(np.mean(found.values >= found.values.max() / 2)),
            "examples": [list(place(self.training.sequences.starts, int(at))) for at in some],
        }

    def _add(self, found: Candidate) -> None:
        """A column with bins over the range of its values, and a step along the feature itself."""
        number, weights = len(self.features), found.feature.weights
        values = found.values.astype(np.float32)
        edges = np.linspace(values.min(), values.max(), N_BINS + 1)[1:-1].astype(np.float32)
        self.binnings[feature_name(number)] = Binning(np.unique(edges))
        self.features.append(found.feature)
        for side, q in zip(self._sides, (found.values, found.held_values), strict=False):
            assert q is not None
            side.values.append(q)
            side.scores += (q[:, None] * weights).astype(np.float32)[:, None, :]

    # What has been learned.

    @property
    def potential(self) -> Potential:
        training, k = self.training, len(self.training.labels)
        rows = self.here.rows(self.window, self.binnings)
        n_own = AttributeReader(training.sequences, self.window, self.binnings).n_ids
        n_asked = training.order * (k + 1)
        moved = _moved(Trees.joined(self.steps), n_own, n_own + n_asked, rows.n_ids)
        trees = columns_to_lags(moved, rows.n_ids - n_asked, k)
        inner = TreePotential(self.window, dict(self.binnings), k, training.order, trees, None)
        if not self.features:
            return LocalPotential(inner, k, training.order)
        future = FuturePotential(inner, self.rules.discovery.instance_bags, tuple(self.features))
        return LocalPotential(future, k, training.order)


def _moved(trees: Trees, first: int, middle: int, last: int) -> Trees:
    """The trees when the attributes from `middle` on go before those from `first` on."""
    ids = trees.nodes["attribute"]
    shifted = np.where(ids >= middle, ids - (middle - first), np.where(ids >= first, ids + (last - middle), ids))
    nodes = trees.nodes.copy()
    nodes["attribute"] = shifted
    return replace(trees, nodes=nodes)


def _drawn(training: TrainingData, seed: int) -> NDArray[np.int64]:
    """All sequences in an order that the seed and what they hold decide, not the order in which they came."""
    sequences, keys = training.sequences, []
    for i, (begin, end) in enumerate(pairwise(sequences.starts.tolist())):
        digest = hashlib.blake2b(f"{seed} {training.weights[i]!r}".encode(), digest_size=8)
        digest.update(training.codes[begin:end].tobytes())
        for column in sequences.columns:
            here = column.take(slice(begin, end))
            parts = (getattr(here, field) for field in here.__match_args__)
            for part in parts:
                if isinstance(part, np.ndarray):
                    digest.update(part.tobytes())
        keys.append(int.from_bytes(digest.digest(), "big"))
    return np.argsort(np.array(keys, dtype=np.uint64), kind="stable")
