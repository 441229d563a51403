"""One training run of FutureMEMM: rounds of the top level, and features of the lower level when the rounds stall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.ragged import place
from hedgerow.encoding import AttributeReader, Binning, Window
from hedgerow.encoding.window import WindowSpec
from hedgerow.future.discovery import Candidate, Discovery, DiscoveryRules
from hedgerow.future.features import FutureFeature, feature_name
from hedgerow.future.instance_bags import Floats, logistic
from hedgerow.future.potential import FuturePotential
from hedgerow.future.scored_positions import ScoredPositions
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import StoppingScore
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.exact_totals import largest
from hedgerow.learning.growers import weighted_grower
from hedgerow.learning.label_contexts import columns_to_lags, with_label_columns
from hedgerow.learning.seeds import step_seed
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.trees import TreePotential, Trees

MIN_GAIN = 1e-4  # in mean log-likelihood of a position: a smaller gain counts as none
MAX_HALVINGS = 10  # of a Newton step that lowers the likelihood
N_BINS = 20  # of the column of a feature, as in the dissertation
MAX_EXAMPLES = 5  # positions with the pattern that a record lists
FIRST_ORDER_STEPS = 10.0 ** np.arange(-1, 2.25, 0.25)  # that the line search of a round tries


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
    max_alpha: float | None  # longest step of the line search of a round
    discovery: DiscoveryRules
    decided_by: StoppingScore | None  # score of the dev data that decides how far to go; None for the training loss
    patience: int  # rounds without a better score before the top level has stalled
    seed: int

    @property
    def steps(self) -> Floats:
        """The steps that the line search of a first-order round tries."""
        return FIRST_ORDER_STEPS if self.max_alpha is None else np.unique(np.minimum(FIRST_ORDER_STEPS, self.max_alpha))


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


class TrainingRun:
    """A run on one set of training data, with or without dev data.

    In a group, all processes make the same decisions: these depend on numbers about all sequences.
    """

    def __init__(
        self,
        training: TrainingData,
        rules: FutureRules,
        n_records: int = 0,
        binnings: dict[str, Binning] | None = None,
    ) -> None:
        self.training, self.rules, self.n_records = training, rules, n_records
        self.window = Window.of(rules.window)
        extended, k, threads = with_label_columns(training), len(training.labels), training.n_threads
        if binnings is None:
            binnings = training.tree_inputs.binnings(training.sequences, threads, training.group)
        self.column_binnings = binnings
        self.binnings = dict(binnings)  # with those of features
        self.train = ScoredPositions(
            plain=training.sequences,
            with_contexts=extended.sequences,
            codes=training.codes,
            weights=training.weights,
            binnings=binnings,
            n_labels=k,
            n_threads=threads,
            constraints=training.constraints,
            group=training.group,
        )
        self.dev: ScoredPositions | None = None
        if training.dev is not None and extended.dev is not None:
            sequences, weights = training.dev.sequences, np.ones(len(training.dev.sequences))
            self.dev = ScoredPositions(
                plain=sequences,
                with_contexts=extended.dev.sequences,
                codes=training.dev.codes,
                weights=weights,
                binnings=binnings,
                n_labels=k,
                n_threads=threads,
                constraints=training.constraints,
                group=training.dev.group,
            )
        self.steps: list[Trees] = []
        self.features: list[FutureFeature] = []
        self.phases: list[Phase] = []
        self._dev_attributes: AttributeReader | None = None  # as the trees of the current phase read them
        self._evaluated: tuple[tuple[int, int], Record] = ((-1, -1), {})  # (rounds, features), and their dev scores

    @property
    def _data_sets(self) -> list[ScoredPositions]:
        return [self.train] if self.dev is None else [self.train, self.dev]

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

    def _dev_scores(self) -> Record:
        """The scores of the model so far on the dev data, with predicted label contexts."""
        model = len(self.steps), len(self.features)
        if self._evaluated[0] != model:
            self._evaluated = model, Evaluator(self.training).of_potential(self.potential)
        return self._evaluated[1]

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
            yield self._record("round")
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
                yield self._record("round")
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

    def _record(self, what: str, **more: Any) -> Record:
        self.n_records += 1
        record: Record = {"unit": "round", "step": self.n_records, "what": what, "loss": self.train.loss, **more}
        if self.dev is not None:
            record["dev_loss"] = self.dev.loss
            if what != "round" or self._decided_by in ("accuracy", "span_f1"):
                record |= self._dev_scores()
        return record

    # The top level.

    def _grower(self) -> _core.TreeGrower:
        """The grower of a phase: every feature adds a column."""
        attributes, growth = self.train.attributes(self.window, self.binnings), self.rules.growth
        self._dev_attributes = None if self.dev is None else self.dev.attributes(self.window, self.binnings)
        group = self.training.group
        data = _core.TreeData(attributes.reader, 0, growth, self.training.n_threads, exchange=group)
        return weighted_grower(data, len(self.training.labels), growth, self.train.weights, group)

    def _round(self, grower: _core.TreeGrower) -> bool:
        """Add a tree for each label; False if no step along them raises the training likelihood."""
        train, rules, k = self.train, self.rules, len(self.training.labels)
        before, start, threads = train.log_likelihood, train.scores, self.training.n_threads
        grown = start.copy()
        p = _core.softmax(train.scores[:, 0], None, None, threads).astype(np.float32)[:, None, :]
        seed = step_seed(rules.seed, len(self.steps))
        rate = rules.learning_rate if rules.growth.newton else 1.0
        trees = Trees.of_round(*grower.grow(p, train.codes, grown, None, rate, seed, threads))
        step = np.subtract(grown, start, out=np.zeros_like(start), where=start > -np.inf)
        factor = self._take_step(start, step, before)
        if factor == 0:
            train.scores = start
            return False
        trees = replace(trees, values=trees.values * np.float32(factor))
        self.steps.append(trees)
        if self.dev is not None and self._dev_attributes is not None:
            forest = trees.compiled(self._dev_attributes, k, 0)
            scores = self.dev.scores.copy()
            forest.add_scores(self._dev_attributes.reader, scores, threads)
            self.dev.scores = scores
        return True

    def _take_step(self, start: NDArray[np.float32], step: NDArray[np.float32], before: float) -> float:
        """Set the scores to start + factor * step; return the factor, or 0 if no factor raises the likelihood."""
        train = self.train

        def after(factor: float) -> float:
            train.scores = start + np.float32(factor) * step
            return train.log_likelihood

        if self.rules.growth.newton:
            return next((f for f in 0.5 ** np.arange(MAX_HALVINGS) if after(f) > before), 0.0)
        steps = self.rules.steps
        best = float(steps[int(np.argmax([after(factor) for factor in steps]))])
        return best if after(best) > before else 0.0

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

    def _evaluate(self, feature: FutureFeature, data: ScoredPositions) -> tuple[Floats, Floats]:
        """(log-odds of the pattern, probability that the instance bag shows it) at each position of the data."""
        bags, threads = self.rules.discovery.instance_bags, self.training.n_threads
        log_odds = feature.log_odds(data.instances, bags, threads)
        return log_odds, bags.probabilities(log_odds, data.plain.starts, feature.back, threads)

    def _description(self, candidate: Candidate) -> Record:
        """Fields of the record of a feature: how it was found, and where in training its pattern occurs."""
        training, group = self.training, self.training.group
        q = logistic(candidate.log_odds)
        shows = np.flatnonzero(q >= largest(q, group) / 2)
        bag_shows = candidate.values >= largest(candidate.values, group) / 2
        places = [place(training.sequences.starts, int(at)) for at in shows[:MAX_EXAMPLES]]
        examples = np.array(places, np.int64).reshape(-1, 2)
        examples[:, 0] += training.own.start
        return {
            "future_feature": len(self.features),
            "bag_side": candidate.feature.side,
            "pattern_rounds": len(candidate.steps),
            "pattern_steps": candidate.steps,
            "fires_at": group.count(len(shows)) / training.n_positions,
            "fires_in": group.count(int(bag_shows.sum())) / training.n_positions,
            "examples": group.concatenated(examples)[:MAX_EXAMPLES].tolist(),
        }

    def _add_feature(self, candidate: Candidate) -> None:
        """Add a column with equally wide bins over the range of the values, and the linear term of the feature."""
        number, weights = len(self.features), candidate.feature.weights
        values, group = candidate.values.astype(np.float32), self.training.group
        lowest, highest = np.float32(-largest(-values, group, -np.inf)), np.float32(largest(values, group, -np.inf))
        edges = np.linspace(lowest, highest, N_BINS + 1)[1:-1].astype(np.float32)
        self.binnings[feature_name(number)] = Binning(np.unique(edges))
        self.features.append(candidate.feature)
        for data, known in zip(self._data_sets, (candidate.values, candidate.dev_values), strict=False):
            q = self._evaluate(candidate.feature, data)[1] if known is None else known
            data.values.append(q)
            data.scores = data.scores + (q[:, None] * weights).astype(np.float32)[:, None, :]

    @property
    def potential(self) -> LocalPotential:
        """The trees and features so far, normalised for each label context."""
        inner = self.future_potential or self._tree_potential
        return LocalPotential(inner, len(self.training.labels), self.training.order)

    @property
    def future_potential(self) -> FuturePotential | None:
        """The trees and features so far; None if there is no feature."""
        if not self.features:
            return None
        return FuturePotential(self._tree_potential, self.rules.discovery.instance_bags, tuple(self.features))

    @property
    def _tree_potential(self) -> TreePotential:
        training, k = self.training, len(self.training.labels)
        n_ids = self.train.attributes(self.window, self.binnings).n_ids
        n_own = AttributeReader(training.sequences, self.window, self.binnings).n_ids
        n_label_ids = training.order * (k + 1)
        # In training, the ids of label columns come before those of features; a potential has no label columns.
        trees = renumber_ids(Trees.joined(self.steps), n_own, n_own + n_label_ids, n_ids)
        trees = columns_to_lags(trees, n_ids - n_label_ids, k)
        return TreePotential(
            window=self.window,
            binnings=dict(self.binnings),
            n_labels=k,
            tree_order=training.order,
            trees=trees,
            table=None,
        )


def renumber_ids(trees: Trees, first: int, middle: int, last: int) -> Trees:
    """The trees with attribute ids middle .. last moved before the ids first .. middle."""
    ids = trees.nodes["attribute"]
    nodes = trees.nodes.copy()
    nodes["attribute"] = np.where(
        ids >= middle, ids - (middle - first), np.where(ids >= first, ids + (last - middle), ids)
    )
    return replace(trees, nodes=nodes)
