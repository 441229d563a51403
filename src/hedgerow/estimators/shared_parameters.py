"""Declarations of parameters that several estimators share: the same name means the same everywhere."""

from __future__ import annotations

import os
from typing import Annotated, Literal, TypeAlias

from hedgerow.estimators.parameters import AtLeast, AtMost, LessThan, MoreThan
from hedgerow.estimators.value_types import BEAM, PATH, WINDOW

WindowSize: TypeAlias = Annotated[
    int | tuple[int, int] | list[int],
    WINDOW,
    "Neighbouring positions whose columns are read, as offsets. A wider window sees more context; the number of "
    "attributes grows with it.",
]
_BOUND = (
    "Smaller is faster and less exact; None keeps all. A number below 1 is a bound instead: as few label contexts are "
    'kept as have a share of the probability whose -log is at most the bound, such as 97 % for 0.03. "kl" is the '
    "bound 0.03."
)
Beam: TypeAlias = Annotated[
    int | float | Literal["kl"] | None,
    BEAM,
    "Number of label contexts kept at each position, in training and prediction.",
    _BOUND,
]
PredictionBeam: TypeAlias = Annotated[
    int | float | Literal["kl"] | None,
    BEAM,
    "Number of label contexts kept at each position in prediction; training needs no lattice.",
    _BOUND,
]
# How missing values are handled: a sentence for each value of `missing`.
WEIGHTING = '"weighting" sends a missing value to both sides of a split, with the shares of the known values.'
SURROGATE = '"surrogate" splits by other tests that divide the known values alike.'
LEARNED = '"learned" sends missing values to the side that fits better.'
IMPUTED = (
    '"impute" replaces them by the most frequent value or the median of their column; "indicator" does the same and '
    "adds an attribute that marks them."
)
PUBLISHED_RULES = (
    '"published-weighting", "published-surrogate" and "published-indicator" are the rules as the dissertation prints '
    "them: without a whole position on each side of a split; with all other tests, however often they agree; with zero "
    "in the place of a missing value."
)
Imputed: TypeAlias = Annotated[Literal["impute", "indicator"], "How missing values are handled:", IMPUTED]
# min_freq counts positions, whatever the weights of their sequences.
_RAISE_MIN_FREQ = "Raise it for a smaller model and less overfitting."
AttributeMinFreq: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "Number of training positions at which an attribute must occur to get weights, with whatever label.",
    _RAISE_MIN_FREQ,
]
PairMinFreq: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "Number of training positions at which an attribute and a label must occur together to get a weight.",
    _RAISE_MIN_FREQ,
]
MaxIter: TypeAlias = Annotated[int, AtLeast(1), "Number of quasi-Newton iterations, at most."]
Averaging: TypeAlias = Annotated[
    Literal["average", "none"],
    'Which weights predict: "average" the mean of the weights after each sequence of each epoch, "none" the weights at '
    "the end. The average is usually more accurate.",
]
Scale: TypeAlias = Annotated[
    bool,
    "Whether numeric columns are standardised: the mean is subtracted, and the difference divided by the standard "
    "deviation. False uses the numbers as they are, as CRFsuite does.",
]
Epochs: TypeAlias = Annotated[int, AtLeast(1), "Number of passes over the sequences, at most."]
NRounds: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "Number of boosting rounds, at most. More rounds fit the training data more closely and take longer.",
]
LearningRate: TypeAlias = Annotated[
    float,
    MoreThan(0),
    "Factor on the step of each round. Smaller steps need more rounds and often generalise better.",
]
MaxLeaves: TypeAlias = Annotated[
    int, AtLeast(2), "Number of leaves of a tree, at most. More leaves combine more attributes and overfit sooner."
]
LeafL2: TypeAlias = Annotated[
    float,
    AtLeast(0),
    "L2 penalty on leaf values: leaf = sum(residuals) / (l2 + sum(weights)). Raise it against overfitting.",
]
MinLeaf: TypeAlias = Annotated[
    int, AtLeast(1), "Number of positions that a leaf must have, at least. Raise it against overfitting."
]
Newton: TypeAlias = Annotated[
    bool,
    "Whether leaf values are Newton steps. If False they are mean residuals, as in the publications: slower to learn.",
]
Subsample: TypeAlias = Annotated[
    float,
    MoreThan(0),
    AtMost(1),
    "Share of the sequences that each round learns from, drawn anew. A smaller share is faster and adds randomness.",
]
WarmStart: TypeAlias = Annotated[
    bool,
    "Whether `fit` continues from the fitted model, up to n_rounds rounds, instead of starting again. It needs a "
    "number for n_rounds.",
]
CheckpointPath: TypeAlias = Annotated[
    str | os.PathLike[str] | None,
    PATH,
    "File to which `fit` saves the model every 10 rounds. A `fit` with the same data and parameters continues from it. "
    "It needs a number for n_rounds.",
]
StoppingChoice: TypeAlias = Literal["auto", "loss", "accuracy", "span_f1"] | None
EarlyStopping: TypeAlias = Annotated[
    StoppingChoice,
    "Score on the dev data that ends the fit when it no longer improves; the model of the best step is kept. "
    '"auto" is "span_f1" if the labels mark spans (O, B-...), otherwise "accuracy". None never ends '
    "the fit early.",
]
Patience: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "Number of steps without a better score that end the fit, with early_stopping or n_rounds='auto'. Raise it for "
    "noisy data.",
]
DevShare: TypeAlias = Annotated[
    float, MoreThan(0), LessThan(1), "Share of the sequences of X that become dev data, drawn by random_state."
]
ValidationFraction: TypeAlias = Annotated[
    DevShare, "Used with early_stopping and without X_dev. Nothing is learned from these sequences."
]
