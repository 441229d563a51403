"""SearchTagger: a beam search, and weights learned for that very search."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.future_memm import FutureMEMM
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, Filled, Form, WindowSize
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.model import Model
from hedgerow.search.learner import SearchLearner, SearchRules, Update
from hedgerow.search.potential import Direction


def _plain(future: Any) -> Any:
    return None if future is None else future._plain_params()


def _restored(stored: Any) -> Any:
    if not (stored is None or isinstance(stored, dict)):
        raise InputError(f"future must have the parameters of a FutureMEMM, but {stored!r} came")
    return None if stored is None else FutureMEMM._from_plain(stored)


_FUTURE = Form("a FutureMEMM or None", lambda value: value is None or isinstance(value, FutureMEMM), _plain, _restored)


@estimator
class SearchTagger(MarginEstimator):
    """Learning to search (LaSO, Daume & Marcu 2005; its kin by Collins & Roark 2004 and Huang, Fayong & Guo 2012).

    Labels are given one after the other; `beam` hypotheses about those so far are kept, ranked by a sum of weights, of
    what the window reads and of the last labels. The weights change where this search loses gold. There is no lattice:
    an order of 5 costs little more than one of 1, and K labels cost K times the beam, not K squared.

    It ends after an epoch without a mistake, or after `epochs`; a tie is a mistake. Probabilities and n-best lists are
    over the labellings that what the beam kept allows, and scores are divided by `temperature_`, fitted on the dev data
    by maximum likelihood, 1 without any: a reading of scores, not probabilities that the model learned.

    A search sees no label that it has not given yet. What the inputs there would say of it, future features can tell:
    with `future=FutureMEMM(...)` they are found first, on the same data, and read at every step.
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
    future: Annotated[Any, _FUTURE, "what finds future features, which each step then reads; None for none"] = None
    min_freq: Annotated[int, AtLeast(1), "attributes that occur less often are left out"] = 1
    missing: Filled = "indicator"

    def check_parameters(self) -> None:
        """Raises InputError for the first parameter, of its own or of what finds features, that breaks its rule."""
        super().check_parameters()
        if self.future is not None:
            self.future.check_parameters()

    @property
    def _order(self) -> int:
        """There is no lattice; the search has its own."""
        return 0

    @property
    def _training_beam(self) -> int | None:
        return None

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        rules = SearchRules(
            int(self.order), int(self.window), int(self.beam), self.update, self.direction, int(self.epochs),
            self.averaging == "average", int(self.min_freq), self.random_state,
        )  # fmt: skip
        if self.future is None:
            return SearchLearner(training, rules)
        own = {} if self.future.random_state is not None else {"random_state": self.random_state}
        ahead = FutureMEMM(**self.future.get_params(deep=False) | own)
        return SearchLearner(training, rules, ahead._learner(replace(training, order=ahead._order), None))
