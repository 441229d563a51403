"""SearchTagger: a beam search, and weights learned for this search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.future_memm import FutureMEMM
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, ValueType
from hedgerow.estimators.shared_parameters import (
    Averaging,
    Epochs,
)
from hedgerow.search.potential import Direction

if TYPE_CHECKING:
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.model import Model


def _plain(future: Any) -> Any:
    return None if future is None else future._plain_params()


def _restored(stored: Any) -> Any:
    if not (stored is None or isinstance(stored, dict)):
        raise InputError(f"future must have the parameters of a FutureMEMM, but it is {stored!r}")
    return None if stored is None else FutureMEMM._from_plain(stored)


_FUTURE = ValueType(
    "a FutureMEMM or None", lambda value: value is None or isinstance(value, FutureMEMM), _plain, _restored
)


@with_parameters
class SearchTagger(MarginEstimator):
    """Learning to search: LaSO (Daume & Marcu 2005) and related updates (Collins & Roark 2004; Huang et al. 2012).

    Labels are assigned one after the other. The search keeps the `beam` best hypotheses, ranked by a sum of weights of
    the attributes in the window and of the last `order` labels. The weights change where this search loses gold. There
    is no lattice: order 5 costs little more than order 1, and time grows with labels times beam, not with their square.

    The fit ends after an epoch without a mistake, or after `epochs`; a tie counts as a mistake. Probabilities and
    n-best lists are over the hypotheses that the beam kept. Scores are divided by `temperature_`, which maximises the
    likelihood of the dev data, and is 1 without dev data.

    The search cannot read labels that it has not assigned yet. Future features can stand in for them: with
    `future=FutureMEMM(...)` they are discovered first, on the same data, and every step reads them.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.SearchTagger(beam=2, random_state=0).fit(X, y).predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    _can_be_base: ClassVar[bool] = False

    order: Annotated[
        int,
        AtLeast(0),
        "Number of labels assigned before that a label depends on. A high order costs little: there is no lattice.",
    ] = 3
    beam: Annotated[
        int,
        AtLeast(1),
        "Number of hypotheses kept at each position, in training and prediction. Smaller is faster and less exact.",
    ] = 5
    update: Annotated[
        Literal["laso", "early", "max-violation", "standard"],
        'What is learned where the search loses the gold labels: "laso" corrects the beam and continues from the gold '
        'labels; "early" learns from the positions up to there and ends the sequence; "max-violation" learns from the '
        'positions up to where the gold labels are furthest behind; "standard" learns from the whole sequence.',
    ] = "laso"
    direction: Annotated[Direction, "Which end of a sequence is labelled first."] = "left-to-right"
    epochs: Epochs = 10
    averaging: Averaging = "average"
    future: Annotated[
        Any,
        _FUTURE,
        "A FutureMEMM that discovers future features, which every step then reads; None for no such features.",
    ] = None

    def _check_combination(self) -> None:
        if self.constraints is not None and self.order == 0:
            raise InputError(
                "SearchTagger: constraints need an order of at least 1, because they depend on the previous label, but "
                "order is 0; set order=1 or more"
            )
        if self.future is None:
            return
        self.future.check_parameters()
        if self.future.constraints is not None:
            raise InputError("SearchTagger: future must not have constraints; pass them to SearchTagger")
        if self.future.features is not None:
            raise InputError(
                f"SearchTagger: future must not have features={self.future.features!r}; future features are discovered "
                "in the columns of the search; pass features to SearchTagger"
            )

    @property
    def _order(self) -> int:
        """0: there is no lattice, and the search has its own order."""
        return 0

    @property
    def _label_order(self) -> int:
        return int(self.order)

    @property
    def _training_beam(self) -> float | None:
        return None

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.search.learner import SearchLearner, SearchRules

        rules = SearchRules(
            order=self.order,
            window=self.window,
            beam=self.beam,
            update=self.update,
            direction=self.direction,
            epochs=self.epochs,
            averaged=self.averaging == "average",
            min_freq=self.min_freq,
            scale=self.scale,
            random_state=self.random_state,
            stopping=self._stopping(training),
        )
        if self.future is None:
            return SearchLearner(training, rules)
        own = {} if self.future.random_state is not None else {"random_state": self.random_state}
        future = FutureMEMM(**self.future.get_params(deep=False) | own)
        return SearchLearner(training, rules, future._learner(replace(training, order=future._order), None))
