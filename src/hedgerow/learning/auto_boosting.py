"""Boosting that finds its number of rounds: on held-out sequences, and then again on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.boosting import BoostingLearner, BoostingRules, check_shared
from hedgerow.learning.cross_fitting import LearnedColumns
from hedgerow.learning.early_stopping import Stopping
from hedgerow.learning.folds import divide, draw_order, held_out
from hedgerow.learning.running_scores import BoostingStep
from hedgerow.learning.seeds import stream
from hedgerow.potentials.tree_columns import TreeInput
from hedgerow.potentials.trees import TreePotential

LEAST_GAIN = 1e-4  # where labels follow surely from the input, the loss falls forever
LEAST_LOSS = 0.1  # of all held-out sequences together: their labels then have the probability 0.9, and little is left
FIXED_ROUNDS = 100  # where nothing can be held out


@dataclass(frozen=True, kw_only=True)
class SearchRules:
    """How the number of rounds is found."""

    share: float  # of the sequences that are held out
    patience: int  # rounds without a lower loss that end the search
    refit: bool  # whether the rounds found are repeated on all sequences


def search_stopping(patience: int, n_sequences: int) -> Stopping:
    """The rule that ends a search for the number of rounds, by the loss of so many sequences."""
    return Stopping("loss", patience, LEAST_GAIN, LEAST_LOSS / n_sequences, asks='n_rounds="auto"')


class AutoBoostingLearner:
    """Boosts on some of the sequences until the loss of the others no longer falls; then on all for as many rounds.

    The records of the first fit have "fit": "search" and "best_step", those of the second "fit": "all" and the number
    of its rounds, "n_rounds". If no sequence can be held out, there is only the second, of FIXED_ROUNDS rounds.
    """

    def __init__(
        self,
        training: TrainingData,
        rules: BoostingRules,
        search: SearchRules,
        learned: LearnedColumns | None,
        notes: Record,
    ) -> None:
        self.training, self.rules, self.search, self.learned, self._notes = training, rules, search, learned, notes
        check_shared(training, rules)  # all of it: the message counts the missing values of X
        drawn = draw_order(training, stream(rules.seed, 3))
        self._held_out = held_out(training, search.share, drawn)
        self._n_held_out = training.group.count(int(np.count_nonzero(self._held_out)))
        self._learner = self._searching() if self.searches else self._final(FIXED_ROUNDS)
        self._to_resume: tuple[list[BoostingStep], list[Record]] = [], []  # of the second fit

    @property
    def searches(self) -> bool:
        """Whether there are sequences to hold out."""
        return self._n_held_out > 0

    def resume(self, steps: list[BoostingStep], records: list[Record]) -> None:
        """Go on after the steps of an interrupted fit, whose records these are; before iteration."""
        n_search = sum(record.get("fit") == "search" for record in records)
        first = n_search if self.searches else len(records)
        self._learner.resume(steps[:first], records[:first])
        self._to_resume = steps[first:], records[first:]

    @property
    def last_step(self) -> BoostingStep:
        """What `resume` needs of the step whose record was yielded last."""
        return self._learner.last_step

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> TreePotential:
        return self._learner.potential

    def __iter__(self) -> Iterator[Record]:
        if self.searches:
            for record in self._learner:
                yield record | {"fit": "search"}
            if not self.search.refit:
                return
            self._learner = self._final(max(self._learner.n_kept, 1))
            self._learner.resume(*self._to_resume)
        for record in self._learner:
            yield record | {"fit": "all", "n_rounds": self._learner.rules.n_rounds}

    def _final(self, n_rounds: int) -> BoostingLearner:
        rules = replace(self.rules, n_rounds=n_rounds, stopping=None)
        notes = self._notes | {"held_out": self._n_held_out}
        return BoostingLearner(self.training, rules, learned=self.learned, notes=notes)

    def _searching(self) -> BoostingLearner:
        out, learned = self._held_out, self.learned
        n_out = self._n_held_out
        rules = replace(self.rules, stopping=search_stopping(self.search.patience, n_out))
        if learned is not None:
            learned = LearnedColumns(learned.columns, _some(learned.training, ~out), _some(learned.training, out))
        notes = self._notes | {"held_out": n_out, "refit": self.search.refit}
        return BoostingLearner(divide(self.training, out), rules, learned=learned, notes=notes)


def _some(whole: TreeInput, chosen: NDArray[np.bool_]) -> TreeInput:
    positions = np.repeat(chosen, whole.sequences.lengths)
    return TreeInput(whole.sequences[chosen], None if whole.offset is None else whole.offset[positions])
