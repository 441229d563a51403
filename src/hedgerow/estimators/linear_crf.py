"""LinearCRF: a conditional random field whose potentials are sums of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.induction_rules import INDUCE, RULES, check_rules, rules_of
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast, MoreThan
from hedgerow.estimators.shared_parameters import (
    Beam,
    EarlyStopping,
    Epochs,
    Imputed,
    MaxIter,
    PairMinFreq,
    Patience,
    Scale,
    ValidationFraction,
    WindowSize,
)

if TYPE_CHECKING:
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.learning.quasi_newton import QuasiNewtonRules
    from hedgerow.model import Model

# Chosen on held-out parts of the training data. With 0.1 instead of 1: Dutch names F1 87.7 (86.0), SNIPS slots 92.6
# (91.9), CoNLL-2000 chunks 94.1 (93.8), Vietnamese tags 90.3 (89.3); but stress from letter n-grams, protein structure
# and pixels lose one to three points.
MANY_VALUES = 200
L2_OF_WORDS, L2_OF_OTHERS = 0.1, 1.0


@with_parameters
class LinearCRF(LinearEstimator):
    """Conditional random field with a weight for each attribute and label, and for labels that follow each other.

    Minimises the negative log-likelihood plus l1 times the sum of absolute weights plus l2 times the sum of squared
    weights: the objective of CRFsuite with c1 = l1 and c2 = l2. CRFsuite's defaults are l1=0 and l2=1.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.LinearCRF(l2=0.1).fit(X, y)
    >>> model.predict_single("dot").tolist()
    ['-', 'o', '-']
    >>> strongest = sorted(model.state_features_, key=model.state_features_.get)[-2:]
    >>> sorted(strongest)
    [('symbol:a', 'a'), ('symbol:o', 'o')]
    """

    window: WindowSize = 0
    solver: Annotated[
        Literal["auto", "lbfgs", "owlqn", "sgd"],
        'How the weights are found: "lbfgs" by quasi-Newton steps, "owlqn" the same with an L1 penalty, "sgd" by a '
        'gradient step for each sequence. "auto" finds the same weights as "lbfgs" or "owlqn" in fewer passes over the '
        "data, by dual coordinate ascent; fewer than 200 sequences, edge features and beams are learned by "
        "quasi-Newton steps alone. So are fits on workers, whose first record has the solver.",
    ] = "auto"
    l1: Annotated[
        float,
        AtLeast(0),
        "L1 penalty on weights. Raise it for a smaller model: it sets many weights to 0. Not with lbfgs and sgd.",
    ] = 0.0
    l2: Annotated[
        float | Literal["auto"],
        AtLeast(0),
        'L2 penalty on weights: l2 times the sum of their squares. Raise it against overfitting. "auto" is 0.1 if a '
        "column of X has more than 200 different values in training, as words have, and 1 otherwise; the first record "
        "of `training_log_` has the number.",
    ] = "auto"
    max_iter: Annotated[MaxIter, 'Not used by solver="sgd".'] = 1000
    epochs: Annotated[Epochs, 'Used by solver="sgd" only.'] = 1000
    tol: Annotated[
        float,
        MoreThan(0),
        "The fit ends when ten steps lower the loss by less than this share of it. Raise it to end sooner.",
    ] = 1e-5
    min_freq: Annotated[
        PairMinFreq,
        "Edge features: an attribute and a pair of labels. With observed_only=False the occurrences of the attribute "
        "with any label count. Transitions are never removed.",
    ] = 1
    observed_only: Annotated[
        bool,
        "Whether only pairs of attribute and label that occur in training get weights. False gives all pairs weights: "
        "sometimes more accurate, slower, larger.",
    ] = True
    all_transitions: Annotated[
        bool, "Whether labels that never follow each other in training also get a transition weight."
    ] = False
    edge_features: Annotated[
        bool,
        "Whether attributes also get weights for pairs of labels that follow each other. Slower and larger. If "
        "`features` has columns of `hedgerow.templates.edges`, only these get such weights, and no others.",
    ] = False
    induce: Annotated[
        Any,
        INDUCE,
        '"mccallum" starts without attributes and adds, every 8 iterations, the 500 conjunctions of attributes with '
        f"the largest gain. A dict sets rules: {RULES}.",
    ] = None
    scale: Scale = True
    missing: Imputed = "indicator"
    beam: Beam = None
    early_stopping: EarlyStopping = None
    patience: Patience = 20
    validation_fraction: ValidationFraction = 0.1

    @property
    def _solver(self) -> Literal["lbfgs", "owlqn", "sgd"]:
        """The solver; for "auto" the one that has the same penalty."""
        if self.solver != "auto":
            return self.solver
        return "owlqn" if self.l1 > 0 else "lbfgs"

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.dual_ascent import DualAscentLearner
        from hedgerow.learning.linear_space import LinearSpace
        from hedgerow.learning.quasi_newton import QuasiNewtonLearner
        from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules

        if self._solver == "sgd" and training.prunes:
            raise InputError('LinearCRF: solver="sgd" learns without a beam, but beam is not None; use solver="lbfgs"')
        if self.induce is not None:
            return self._inducer(training)
        space = LinearSpace.of(
            training, self.window, min_freq=self.min_freq, observed_only=self.observed_only,
            all_transitions=self.all_transitions, edges=self.edge_features,
            edge_columns=() if self.features is None else self.features.edge_columns, scale=self.scale,
        )  # fmt: skip
        if self._solver == "sgd":
            rules = StochasticRules(
                epochs=self.epochs, tol=self.tol, random_state=self.random_state, stopping=self._stopping(training)
            )
            return StochasticGradientLearner(training, space, self._l2(training), rules)
        is_dual = self.solver == "auto" and DualAscentLearner.can_learn(training, space)
        learner = DualAscentLearner if is_dual else QuasiNewtonLearner
        return learner(training, space, self._quasi_newton_rules(training))

    def _l2(self, training: TrainingData) -> float:
        """The L2 penalty; "auto" is weak for words: a strong one keeps weights near 0 that few positions support."""
        if self.l2 != "auto":
            return self.l2
        n_values = max(len(column.alphabet or ()) for column in training.encoder.raw_columns)
        return L2_OF_WORDS if n_values > MANY_VALUES else L2_OF_OTHERS

    def _quasi_newton_rules(self, training: TrainingData) -> QuasiNewtonRules:
        from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonRules

        return QuasiNewtonRules(
            penalty=Penalty(self.l1, self._l2(training)),
            max_iter=self.max_iter,
            tol=self.tol,
            stopping=self._stopping(training),
        )

    def _check_combination(self) -> None:
        check_rules(self.induce)
        if self.l1 > 0 and self._solver != "owlqn":
            raise InputError(
                f'LinearCRF: solver="{self.solver}" has no L1 penalty, but l1 is {self.l1}; use solver="auto"'
            )
        if self._solver == "sgd" and self.edge_features:
            raise InputError('LinearCRF: solver="sgd" cannot learn edge_features; use solver="lbfgs"')
        if self.edge_features and self.order == 0:
            raise InputError(
                "LinearCRF: edge_features are weights for pairs of labels, but order is 0; use order=1 or higher"
            )
        if self.induce is not None and self._solver != "lbfgs":
            raise InputError(
                f'LinearCRF: induce needs solver="lbfgs", but the solver is "{self._solver}"; '
                'use solver="lbfgs" and l1=0'
            )

    def _inducer(self, training: TrainingData) -> Learner:
        from hedgerow.learning.induction import InductionLearner
        from hedgerow.learning.linear_space import LinearSpace
        from hedgerow.learning.seeds import fit_seeds

        space = LinearSpace.bare(
            training,
            self.window,
            all_transitions=self.all_transitions,
            edges=self.edge_features,
            bias=True,
            scale=self.scale,
        )
        return InductionLearner(
            training,
            space,
            self._quasi_newton_rules(training),
            rules_of(self.induce),
            min_freq=self.min_freq,
            observed_only=self.observed_only,
            seed=fit_seeds(self.random_state)[0],
        )
