"""OpinionPool: several models over subsets of the attributes, which predict together."""

from __future__ import annotations

import json
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from hedgerow.encoding import Window
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.base_parameter import base_type, check_base
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.parameters import AtLeast, AtMost, MoreThan, ValueType
from hedgerow.estimators.treecrf import TreeCRF
from hedgerow.pooling.potential import Pooling

if TYPE_CHECKING:
    from hedgerow.inference.decoding import Decode
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.model import Model
    from hedgerow.pooling.subsets import Subset

RANDOM = "random"


def _is_subset(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_name_or_offset, value))


def _is_name_or_offset(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, numbers.Integral) and not isinstance(value, bool))


def _are_subsets(value: Any) -> bool:
    if isinstance(value, str):
        return value == RANDOM
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_subset, value))


def _subsets(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return [[one if isinstance(one, str) else int(one) for one in subset] for subset in value]


def _parse_subsets(text: str) -> Any:
    try:
        return text if text == RANDOM else json.loads(text)
    except ValueError:
        raise InputError(f"subsets must be {RANDOM} or a list of lists as JSON has them; it is {text!r}") from None


_SUBSETS = ValueType(
    f'"{RANDOM}", or a list of lists of names of columns and offsets of the window',
    _are_subsets,
    convert=_subsets,
    parse=_parse_subsets,
)


@with_parameters
class OpinionPool(Estimator):
    """Logarithmic opinion pool: models over subsets of the attributes (Sutton, Sindelar & McCallum 2006).

    Attributes compete for weight in training: where a strong attribute explains a label, weaker ones that say the same
    learn little. If values of the strong attribute are missing, or never seen, in the sequences to label, the model
    has not learned what to do without it. In a pool every model reads a subset of the attributes and must learn from
    these. The models are learned apart, by the estimator `base`, and predict together: the probability of the pool is
    the normalised geometric mean of the probabilities of its models, with equal weights.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X = [[{"letter": c, "is_vowel": c in "ao"} for c in word] for word in ("cat", "dog")]
    >>> y = [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.OpinionPool(base=hr.LinearCRF(), subsets=[["letter"], ["is_vowel"]]).fit(X, y)
    >>> model.subsets_
    [['letter'], ['is_vowel']]
    >>> model.predict_single(X[0]).tolist()
    ['-', 'a', '-']
    """

    _can_be_base: ClassVar[bool] = False

    base: Annotated[Any, base_type("TreeCRF(window=1)"), "Estimator that learns each model of the pool."] = None
    subsets: Annotated[
        Any,
        _SUBSETS,
        "What each model reads. A list such as [['word'], ['tag', -1, 1]] has a model for each of its subsets: names "
        "are columns, numbers are offsets of the window of `base`. Without a name a model reads all columns, without a "
        'number all offsets. "random" draws subsets of the columns or, if X has one column, of the offsets.',
    ] = RANDOM
    n_models: Annotated[
        int,
        AtLeast(1),
        'With subsets="random": number of models, at most; equal subsets are learned once. More models vary less with '
        "random_state and take longer.",
    ] = 4
    share: Annotated[
        float,
        MoreThan(0),
        AtMost(1),
        'With subsets="random": share of the columns or offsets that a model reads. A smaller share makes the pool '
        "depend less on any of them, and each model weaker.",
    ] = 0.5
    pool: Annotated[
        Pooling,
        'What is averaged: "sequence" the log-probabilities of whole label sequences, in one lattice; "position" those '
        "of the labels of each position, which are then independent.",
    ] = "sequence"
    order: Annotated[
        int | None,
        AtLeast(0),
        "Number of previous labels that a label depends on. None is the order of `base`.",
    ] = None  # type: ignore[assignment]  # every other estimator has a number

    @property
    def subsets_(self) -> list[list[str | int]]:
        """The columns that each model reads and, with a window, the offsets."""
        return [record["subset"] for record in self._fitted().training_log]

    @property
    def _base(self) -> Estimator:
        return TreeCRF(window=1) if self.base is None else self.base

    @property
    def _order(self) -> int:
        return self._base._order if self.order is None else int(self.order)

    @property
    def _n_models(self) -> int:
        """Number of models, at most."""
        return int(self.n_models) if isinstance(self.subsets, str) else len(self.subsets)

    @property
    def _beam(self) -> float | None:
        return self._base._beam

    @property
    def _training_beam(self) -> float | None:
        return self._base._training_beam

    @property
    def _learns_paths(self) -> bool:
        return self._base._learns_paths

    @property
    def _missing(self) -> str:
        return self._base._missing

    @property
    def _takes_missing(self) -> bool:
        return self._base._takes_missing

    @property
    def _validation_fraction(self) -> float | None:
        return self._base._validation_fraction

    def _check_combination(self) -> None:
        check_base("OpinionPool", self._base, _FOREIGN)
        if getattr(self._base, "averaging", None) == "vote":
            raise InputError(
                'OpinionPool: base must not have averaging="vote", because a label without a vote would be impossible '
                'for the whole pool; use averaging="average"'
            )
        if self.subsets == RANDOM and self.n_models * self.share < 1:
            raise InputError(
                f"OpinionPool: n_models * share must be at least 1, or no model reads some of the attributes; it is "
                f"{self.n_models} * {self.share}; raise one of them"
            )

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.seeds import fit_seeds, stream
        from hedgerow.pooling.learner import PoolLearner
        from hedgerow.pooling.subsets import chosen_subset, drawn_subsets

        seeds = fit_seeds(self.random_state, 2)
        width = getattr(self._base, "window", None)
        window = None if width is None else Window.of(width)
        encoder = training.encoder
        if isinstance(self.subsets, str):
            subsets = drawn_subsets(encoder, window, self._n_models, float(self.share), stream(seeds[0]))
        else:
            listed = _subsets(self.subsets)
            subsets = [chosen_subset(one, encoder, window, i) for i, one in enumerate(listed)]
        return PoolLearner(training, _BaseLearners(self._base, seeds[1]), subsets, self.pool)


@dataclass(frozen=True)
class _BaseLearners:
    """Learners of models: those of the base estimator, with a seed of its own for each unless the base has one."""

    base: Estimator
    seed: int

    def decode(self, training: TrainingData) -> Decode:
        return self.base._decoding(training.labels.classes.tolist(), self.base.decode)

    def learner(self, training: TrainingData, number: int, subset: Subset) -> Learner:
        own: dict[str, Any] = {"order": training.order}
        if self.base.random_state is None:
            own["random_state"] = (self.seed + number) % 2**32
        if subset.offsets is not None:
            own["window"] = list(subset.offsets)
        return type(self.base)(**self.base.get_params(deep=False) | own)._learner(training, None)


# Parameters that a base must not have, and why.
_FOREIGN = {
    "constraints": "all models have the same; pass constraints to OpinionPool",
    "features": "the subsets are of the columns of the pool; pass features to OpinionPool",
    "warm_start": "every model is learned from the start; leave it out",
    "checkpoint": "all models would write the same file; leave it out",
}
