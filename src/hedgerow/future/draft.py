"""The model of FutureMEMM while it is trained: its trees and features, and the scores of training and dev data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow.data.ragged import place
from hedgerow.encoding import AttributeReader, Binning, Window
from hedgerow.encoding.window import WindowSpec
from hedgerow.future.discovery import Candidate
from hedgerow.future.features import FutureFeature, feature_name
from hedgerow.future.instance_bags import Floats, InstanceBags, logistic
from hedgerow.future.potential import FuturePotential
from hedgerow.future.scored_positions import ScoredPositions
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.exact_totals import largest
from hedgerow.learning.label_contexts import columns_to_lags, with_label_columns
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.trees import TreePotential, Trees

N_BINS = 20  # of the column of a feature, as in the dissertation
MAX_EXAMPLES = 5  # positions with the pattern that a record lists


class Draft:
    """The trees and features so far, on one set of training data, with or without dev data.

    In a group, all processes make the same decisions: these depend on numbers about all sequences.
    """

    def __init__(
        self,
        training: TrainingData,
        window: WindowSpec,
        bags: InstanceBags,
        n_records: int = 0,
        binnings: dict[str, Binning] | None = None,
    ) -> None:
        self.training, self.window, self.bags, self.n_records = training, Window.of(window), bags, n_records
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
        self._dev_attributes: AttributeReader | None = None  # as the trees grown now read them
        self._evaluated: tuple[tuple[int, int], Record] = ((-1, -1), {})  # (rounds, features), and their dev scores

    @property
    def _data_sets(self) -> list[ScoredPositions]:
        return [self.train] if self.dev is None else [self.train, self.dev]

    def _dev_scores(self) -> Record:
        """The scores of the model so far on the dev data, with predicted label contexts."""
        model = len(self.steps), len(self.features)
        if self._evaluated[0] != model:
            self._evaluated = model, Evaluator(self.training).of_potential(self.potential)
        return self._evaluated[1]

    def _record(self, what: str, *, with_scores: bool = True, **more: Any) -> Record:
        """The next line of the training log; dev scores other than the loss take longer, and may be left out."""
        self.n_records += 1
        record: Record = {"unit": "round", "step": self.n_records, "what": what, "loss": self.train.loss, **more}
        if self.dev is not None:
            record["dev_loss"] = self.dev.loss
            if with_scores:
                record |= self._dev_scores()
        return record

    def _tree_data(self, growth: _core.GrowthRules) -> _core.TreeData:
        """What trees of the top level are grown on; every feature adds a column."""
        attributes = self.train.attributes(self.window, self.binnings)
        self._dev_attributes = None if self.dev is None else self.dev.attributes(self.window, self.binnings)
        return _core.TreeData(attributes.reader, 0, growth, self.training.n_threads, exchange=self.training.group)

    def _add_to_dev_scores(self, trees: Trees) -> None:
        """Add what trees of the top level give at the dev positions."""
        if self.dev is None or self._dev_attributes is None:
            return
        scores = self.dev.scores.copy()
        forest = trees.compiled(self._dev_attributes, len(self.training.labels), 0)
        forest.add_scores(self._dev_attributes.reader, scores, self.training.n_threads)
        self.dev.scores = scores

    def _evaluate(self, feature: FutureFeature, data: ScoredPositions) -> tuple[Floats, Floats]:
        """(log-odds of the pattern, probability that the instance bag shows it) at each position of the data."""
        log_odds = feature.log_odds(data.instances, self.bags, self.training.n_threads)
        q = self.bags.probabilities(log_odds, data.plain.starts, feature.back, self.training.n_threads)
        return log_odds, q

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
        return FuturePotential(self._tree_potential, self.bags, tuple(self.features))

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
