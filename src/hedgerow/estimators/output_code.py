"""OutputCode: many labels as words of bits, each learned by an estimator of two labels."""

from __future__ import annotations

import numbers
import warnings
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.bits import Base
from hedgerow.codes.cascade import MAX_DISTANCE
from hedgerow.codes.code_words import CODES, checked_length, make_code_words
from hedgerow.codes.distances import Distance
from hedgerow.codes.learner import CodeRules, OutputCodeLearner
from hedgerow.codes.potential import CodePotential
from hedgerow.errors import CodeWarning, InputError
from hedgerow.estimators.base import Estimator, n_threads
from hedgerow.estimators.conventions import REGISTRY, estimator
from hedgerow.estimators.parameters import LARGEST_INTEGER, AtLeast, AtMost, Form
from hedgerow.estimators.search_tagger import SearchTagger
from hedgerow.estimators.treecrf import TreeCRF
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.model import Model
from hedgerow.topology import Topology


def _is_length(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("all", "auto")
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and 0 <= int(value) <= LARGEST_INTEGER


def _is_code(value: Any) -> bool:
    return value in CODES if isinstance(value, str) else isinstance(value, (list, tuple, np.ndarray))


def _described(base: Any) -> Any:
    return None if base is None else {"estimator": type(base).__name__, "parameters": base._plain_params()}


def _made(stored: Any) -> Any:
    match stored:
        case None:
            return None
        case {"estimator": str(name), "parameters": dict(values)} if name in REGISTRY:
            return REGISTRY[name]._from_plain(values)
    raise InputError(f"base must be an estimator and its parameters, but {stored!r} came")


_LENGTH = Form(
    'a whole number of at least 0, "all" or "auto"',
    _is_length,
    lambda value: value if isinstance(value, str) else int(value),
)
_CODE = Form(
    f"one of {', '.join(map(repr, CODES))}, or a matrix of 0 and 1",
    _is_code,
    lambda value: value if isinstance(value, str) else np.asarray(value).astype(int).tolist(),
)
_BASE = Form(
    "an estimator over a lattice, or None for TreeCRF()",
    lambda value: value is None or (isinstance(value, Estimator) and not isinstance(value, (OutputCode, SearchTagger))),
    _described,
    _made,
)


@estimator
class OutputCode(Estimator):
    """Many labels by few bits: sequential error-correcting output codes, independent (Cohn, Smith & Osborne 2005) or in
    cascade (Hao & Fern 2007).

    Every label has a word of bits. For each bit `base` learns to tell labels with a 1 from those with a 0; a label is
    predicted whose word is nearest to what the bits say. So the cost grows with the number of bits, not with the square
    of the number of labels. In a cascade a bit also reads what the bits before it predict around a position:
    transitions between labels that single bits cannot express.

    With distance="lattice" labels get the probabilities that agree best with those of the bits, and a table of label
    transitions, counted in training, is laid over them. With the others every position is decoded by itself.

    `predict_proba` divides scores (minus twice the distance, or logarithms of probabilities) by `temperature_` and
    normalises them. The temperature is fitted on the dev data by maximum likelihood; without any it is 1 for the
    lattice, and otherwise the number of bits in which two words differ on average, over log2 K: then probabilities are
    a reading of distances, not learned as such.
    """

    base: Annotated[Any, _BASE, "what learns a bit; of order 0 it looks at every position by itself"] = None
    n_bits: Annotated[
        int | None, AtLeast(1), "bits of a word, at most so many if the code grows; None for what suits code and labels"
    ] = None
    order: Annotated[
        int, AtLeast(0), 'how many previous labels the table of distance="lattice" looks at; bits go by the base\'s'
    ] = 1
    cascade: Annotated[Any, _LENGTH, "how many earlier bits a bit reads; auto tries a few on held-out data"] = 0
    cascade_left: Annotated[
        int, AtLeast(0), AtMost(MAX_DISTANCE), "how many positions before its own a cascade reads"
    ] = 1
    cascade_right: Annotated[
        int, AtLeast(0), AtMost(MAX_DISTANCE), "how many positions after its own a cascade reads"
    ] = 1
    cascade_predictions: Annotated[
        Literal["training", "cross"],
        "what later bits learn from: predictions for the very data that a bit learned from, or out of fold",
    ] = "training"
    code: Annotated[
        Any, _CODE, "how words are made: by chance, with separated words, of all columns, a label a bit, or bit by bit"
    ] = "random"
    distance: Annotated[Distance, "how words are compared with what the bits say"] = "l1"

    @property
    def code_(self) -> NDArray[np.uint8]:
        """The words: a row for each label of `classes_`, a column for each bit."""
        return self._potential.words

    @property
    def cascade_(self) -> int:
        """How many earlier bits a bit reads."""
        return self._potential.cascade.length

    @property
    def temperature_(self) -> float:
        """What scores are divided by where probabilities are asked for, and before they meet a table of transitions."""
        return self._potential.temperature

    def predict_bits(self, X: object) -> list[NDArray[np.float32]]:
        """P(the bit is 1): for each sequence an array (positions, bits), bits as the columns of `code_`."""
        sequences = self._encode(X)
        found = self._potential.probabilities(sequences, n_threads(self._value("n_jobs")))
        return np.split(found, sequences.starts[1:-1])

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
    def _missing(self) -> str:
        return self._base._missing

    @property
    def _takes_missing(self) -> bool:
        return self._base._takes_missing

    def check_parameters(self) -> None:
        """Raises InputError for the first parameter, of its own or of the base, that breaks its rule."""
        super().check_parameters()
        base = self._base
        base.check_parameters()
        for name, why in _FOREIGN.items():
            if getattr(base, name, None):
                raise InputError(f"OutputCode: base must not have {name}={getattr(base, name)!r}; {why}")

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        n_labels = len(training.labels)
        Topology(n_labels, int(self.order))
        if n_labels == 2:
            warnings.warn(
                "y has 2 labels: the code has one bit, and OutputCode is its base by a detour; take the base itself",
                CodeWarning,
                stacklevel=4,
            )
        seeds = np.random.SeedSequence(self.random_state).generate_state(2)
        n_bits = None if self.n_bits is None else int(self.n_bits)
        words = None
        if isinstance(self.code, str) and self.code == "grow":
            n_bits = checked_length(n_bits, n_labels)
        else:
            words = make_code_words(self.code, n_labels, n_bits, np.random.default_rng(int(seeds[0])))
            n_bits = words.shape[1]
        base = self._base

        def learner(of_bit: TrainingData, bit: int) -> Learner:
            own = {} if base.random_state is not None else {"random_state": (int(seeds[1]) + bit) % 2**32}
            return type(base)(**base.get_params(deep=False) | own)._learner(of_bit, None)

        rules = CodeRules(
            words, n_bits, _LENGTH.plain(self.cascade), int(self.cascade_left), int(self.cascade_right),
            self.cascade_predictions == "cross", self.distance, int(seeds[0]),
        )  # fmt: skip
        alone = base._order == 0 and not getattr(base, "window", 0)
        return OutputCodeLearner(training, Base(base._order, base.decode, learner, alone), rules)


# What a base may have alone but not as a base, and why.
_FOREIGN = {
    "beam": "a lattice of two labels needs none; leave it out",
    "warm_start": "every bit is learned from nothing; leave it out",
    "checkpoint": "all bits would write the same file; leave it out",
}
