"""OutputCode: many labels as code words, whose bits are each learned by an estimator of two labels."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.cascade import MAX_DISTANCE
from hedgerow.codes.code_words import CODES, checked_length, make_code_words
from hedgerow.codes.distances import Distance
from hedgerow.codes.potential import CodePotential
from hedgerow.errors import CodeWarning, warn_user
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.base_parameter import base_type, check_base
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.parameters import LARGEST_INTEGER, AtLeast, AtMost, ValueType
from hedgerow.estimators.shared_parameters import DevShare
from hedgerow.estimators.threads import n_threads
from hedgerow.estimators.treecrf import TreeCRF
from hedgerow.topology import Topology

if TYPE_CHECKING:
    from hedgerow.inference.decoding import Decode
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.model import Model
    from hedgerow.typing import SequencesLike


def _is_length(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("all", "auto")
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and 0 <= int(value) <= LARGEST_INTEGER


def _is_code(value: Any) -> bool:
    return value in CODES if isinstance(value, str) else isinstance(value, (list, tuple, np.ndarray))


_LENGTH = ValueType(
    'an integer of at least 0, "all" or "auto"',
    _is_length,
    lambda value: value if isinstance(value, str) else int(value),
)
_CODE = ValueType(
    f"one of {', '.join(map(repr, CODES))}, or a matrix of 0 and 1",
    _is_code,
    lambda value: value if isinstance(value, str) else np.asarray(value).astype(int).tolist(),
)


@with_parameters
class OutputCode(Estimator):
    """Sequential error-correcting output codes, independent (Cohn et al. 2005) or in a cascade (Hao & Fern 2007).

    Every label has a code word of bits. For each bit, `base` learns to tell the labels with a 1 from those with a 0.
    Predicts the label whose code word is closest to the predicted bits. The cost grows with the number of bits, not
    with the square of the number of labels. In a cascade a bit also reads what earlier bits predict around its
    position: this way it learns transitions between labels that a single bit cannot express.

    With distance="lattice" the probabilities of labels are those that agree best with the probabilities of the bits,
    and a table of label transitions, counted in training, is combined with them. With the other distances every
    position is decoded on its own.

    `predict_proba` divides scores by `temperature_` and normalises them. The temperature maximises the likelihood of
    the dev data. Without dev data it is 1 for the lattice, and otherwise the mean number of bits in which two code
    words differ, divided by log2 of the number of labels.

    There is no parameter `early_stopping`, because bits do not improve each other: more bits are not a better fit of
    the same model. `base` may have it, as in base=TreeCRF(early_stopping="accuracy"): the learning of each bit then
    ends early, by the dev score of this bit. Without X_dev the dev data are split off once, for all bits. A code that
    grows, code="grow", ends by the dev accuracy of the whole code.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.OutputCode(base=hr.TreeCRF(n_rounds=10), code="one-vs-rest").fit(X, y)
    >>> model.code_.shape
    (3, 3)
    >>> model.predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    _can_be_base: ClassVar[bool] = False

    base: Annotated[
        Any,
        base_type("TreeCRF()"),
        "Estimator that learns each bit. With order 0 it labels every position on its own: faster.",
    ] = None
    n_bits: Annotated[
        int | None,
        AtLeast(1),
        'Number of bits of a code word, at most for code="grow". More bits correct more errors and take longer; None '
        "chooses by the code and the number of labels.",
    ] = None
    order: Annotated[
        int,
        AtLeast(0),
        'With distance="lattice": number of previous labels in the table of transitions. The order of the bits is that '
        "of `base`.",
    ] = 1
    cascade: Annotated[
        Any, _LENGTH, 'Number of earlier bits that a bit reads; "all" of them, or "auto" to choose on dev data.'
    ] = 0
    cascade_left: Annotated[
        int, AtLeast(0), AtMost(MAX_DISTANCE), "Number of positions before its own where a bit reads earlier bits."
    ] = 1
    cascade_right: Annotated[
        int, AtLeast(0), AtMost(MAX_DISTANCE), "Number of positions after its own where a bit reads earlier bits."
    ] = 1
    cascade_predictions: Annotated[
        Literal["training", "cross"],
        'Which predictions of earlier bits later bits learn from: "training" those on the training data, "cross" those '
        "of three-fold cross-validation, which are less optimistic and take about three times as long.",
    ] = "training"
    code: Annotated[
        Any,
        _CODE,
        'How code words are chosen: "random" draws them, "separated" keeps the best of 100 draws, "grow" adds bits '
        'that separate labels which are confused so far, "one-vs-rest" has a bit for each label, "exhaustive" has all '
        "possible bits. A matrix of 0 and 1 has a row for each label, in the order of `classes_`.",
    ] = "random"
    patience: Annotated[
        int, AtLeast(1), 'With code="grow": number of bits without a better dev accuracy before the code stops growing.'
    ] = 10
    validation_fraction: Annotated[
        DevShare,
        'Used with code="grow" or cascade="auto" and without X_dev, to choose the code. The bits are then learned '
        "again from all of X.",
    ] = 0.2
    distance: Annotated[
        Distance,
        'How predicted bits are compared with code words: "l1" by probabilities, "hamming" by rounded bits, '
        '"likelihood" by log-probabilities, "lattice" jointly with label transitions.',
    ] = "l1"

    @property
    def code_(self) -> NDArray[np.uint8]:
        """The code words: a row for each label of `classes_`, a column for each bit."""
        return self._potential.code_words

    @property
    def cascade_(self) -> int:
        """Number of earlier bits that a bit reads."""
        return self._potential.cascade.length

    @property
    def temperature_(self) -> float:
        """Divisor of the scores, before they are normalised or combined with a table of transitions."""
        return self._potential.temperature * self._fitted().temperature

    def predict_bits(self, X: SequencesLike) -> list[NDArray[np.float32]]:
        """Compute the probability that each bit is 1, at each position.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.

        Returns
        -------
        list of arrays of shape (positions, bits)
            Columns in the order of the columns of `code_`.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> model = hr.OutputCode(base=hr.TreeCRF(n_rounds=10), code="one-vs-rest").fit(X, y)
        >>> model.predict_bits(["cat"])[0].round().tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
        """
        sequences = self._encode(X)
        bits = self._potential.probabilities(sequences, n_threads(self._value("n_jobs")))
        return np.split(bits, sequences.starts[1:-1])

    @property
    def _potential(self) -> CodePotential:
        potential = self._fitted().potential
        assert isinstance(potential, CodePotential)
        return potential

    @property
    def _base(self) -> Estimator:
        return TreeCRF() if self.base is None else self.base

    @property
    def _order(self) -> int:
        return int(self.order) if self.distance == "lattice" else 0

    @property
    def _label_order(self) -> int:
        """That of the bits, where labels have no lattice."""
        return self._order if self.distance == "lattice" else self._base._label_order

    @property
    def _missing(self) -> str:
        return self._base._missing

    @property
    def _validation_fraction(self) -> float | None:
        return self._base._validation_fraction

    @property
    def _takes_missing(self) -> bool:
        return self._base._takes_missing

    def _check_combination(self) -> None:
        check_base("OutputCode", self._base, _FOREIGN)

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.codes.learner import CodeRules, OutputCodeLearner
        from hedgerow.learning.seeds import fit_seeds

        n_labels = len(training.labels)
        Topology(n_labels, int(self.order))
        if n_labels == 2:
            warn_user(
                "y has 2 labels: the code has one bit, and OutputCode does the same as its base; use the base itself",
                CodeWarning,
            )
        seeds = fit_seeds(self.random_state, 2)
        n_bits = None if self.n_bits is None else int(self.n_bits)
        code_words = None
        if isinstance(self.code, str) and self.code == "grow":
            n_bits = checked_length(n_bits, n_labels)
        else:
            code_words = make_code_words(self.code, n_labels, n_bits, np.random.default_rng(seeds[0]))
            n_bits = code_words.shape[1]
        rules = CodeRules(
            code_words=code_words,
            n_bits=n_bits,
            cascade=_LENGTH.plain(self.cascade),
            cascade_left=int(self.cascade_left),
            cascade_right=int(self.cascade_right),
            out_of_fold=self.cascade_predictions == "cross",
            distance=self.distance,
            patience=int(self.patience),
            validation_fraction=float(self.validation_fraction),
            seed=seeds[0],
        )
        return OutputCodeLearner(training, _BaseLearners(self._base, seeds[1]), rules)

    def _warn_if_stopped(self, learner: Learner) -> None:
        from hedgerow.codes.learner import OutputCodeLearner

        assert isinstance(learner, OutputCodeLearner)
        n_learned, n_bits = learner.progress
        if n_learned < n_bits:
            warn_user(
                f"the fit was stopped when {n_learned} of {n_bits} bits had been learned: accuracy is low if labels "
                "have the same code word so far; fit again without interruption, or with a smaller n_bits",
                CodeWarning,
            )


@dataclass(frozen=True)
class _BaseLearners:
    """Learners of bits: those of the base estimator, with a seed of its own for each bit unless the base has one."""

    base: Estimator
    seed: int

    @property
    def order(self) -> int:
        return self.base._order

    @property
    def decode(self) -> Decode:
        return self.base._decoding([0, 1], self.base.decode)

    @property
    def reads_neighbours(self) -> bool:
        return self.base._order > 0 or bool(getattr(self.base, "window", 0))

    def learner(self, training: TrainingData, bit: int) -> Learner:
        own = {} if self.base.random_state is not None else {"random_state": (self.seed + bit) % 2**32}
        if getattr(self.base, "n_rounds", None) == "auto":
            own["n_rounds"] = BIT_ROUNDS
        return type(self.base)(**self.base.get_params(deep=False) | own)._learner(training, None)


BIT_ROUNDS = 100  # where those of the base are "auto": a search for every bit costs more than it gives

# Parameters that a base must not have, and why.
_FOREIGN = {
    "constraints": "the labels of a bit are 0 and 1; pass constraints to OutputCode",
    "features": "the bits read the columns of the code; pass features to OutputCode",
    "beam": "a lattice of two labels needs none; leave it out",
    "warm_start": "every bit is learned from the start; leave it out",
    "checkpoint": "all bits would write the same file; leave it out",
}
