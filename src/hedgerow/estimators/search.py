"""SearchTagger: a beam search, and weights learned for that very search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from hedgerow.estimators.base import n_threads
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, Filled, WindowSize
from hedgerow.learners import Learner, Searching, SearchRules, Training
from hedgerow.learners.base import Answers
from hedgerow.learners.search import Update, searched
from hedgerow.model import Model
from hedgerow.potentials import SearchPotential
from hedgerow.potentials.search import Direction
from hedgerow.sequences import Sequences


@estimator
class SearchTagger(MarginEstimator):
    """Learning to search (LaSO, Daume & Marcu 2005; its kin by Collins & Roark 2004 and Huang, Fayong & Guo 2012).

    Labels are given one after the other; `beam` hypotheses about those so far are kept, ranked by a sum of weights, of
    what the window reads and of the last labels. The weights change where this search loses gold. There is no lattice:
    an order of 5 costs little more than one of 1, and K labels cost K times the beam, not K squared.

    It ends after an epoch without a mistake, or after `epochs`; a tie is a mistake. Probabilities and n-best lists are
    over the labellings that what the beam kept allows, and scores are divided by `temperature_`, fitted on the dev data
    by maximum likelihood, 1 without any: a reading of scores, not probabilities that the model learned.
    """

    order: Annotated[int, AtLeast(0), "how many of the labels given last a label depends on"] = 3
    window: WindowSize = 0
    beam: Annotated[int, AtLeast(1), "hypotheses that are kept, in training and prediction"] = 5
    update: Annotated[Update, "what is learned from where the search loses gold"] = "laso"
    direction: Annotated[Direction, "which end is labelled first"] = "left-to-right"
    epochs: Annotated[int, AtLeast(1), "passes over the sequences at most"] = 10
    averaging: Annotated[Literal["average", "none"], "the mean of the weights over all sequences, or the last ones"] = (
        "average"
    )
    min_freq: Annotated[int, AtLeast(1), "attributes that occur less often are left out"] = 1
    missing: Filled = "indicator"

    @property
    def _order(self) -> int:
        """There is no lattice; the search has its own."""
        return 0

    @property
    def _beam(self) -> int | None:
        return None

    def _learner(self, training: Training, earlier: Model | None) -> Learner:
        rules = SearchRules(
            int(self.order), int(self.window), int(self.beam), self.update, self.direction, int(self.epochs),
            self.averaging == "average", int(self.min_freq), self.random_state,
        )  # fmt: skip
        return Searching(training, rules)

    def _lattices(self, sequences: Sequences) -> Iterator[Answers]:
        potential = self._fitted().potential
        assert isinstance(potential, SearchPotential)
        for block in self._blocks(sequences):
            yield searched(potential, sequences[block], int(self.beam), n_threads(self.n_jobs))
