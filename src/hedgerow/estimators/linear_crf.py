"""LinearCRF: a conditional random field whose potentials are sums of weights."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast, Beam, Filled, MoreThan, WindowSize
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.learning.induction import InductionLearner
from hedgerow.learning.likelihood import LinearSpace
from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonLearner
from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules
from hedgerow.model import Model


@estimator
class LinearCRF(LinearEstimator):
    """Conditional random field with a weight for each attribute and label, and for labels that follow each other.

    Minimises minus the log-likelihood plus l1 times the sum of the weights' sizes plus l2 times the sum of their
    squares: the objective of CRFsuite with c1 = l1 and c2 = l2.
    """

    window: WindowSize = 0
    solver: Annotated[
        Literal["lbfgs", "owlqn", "sgd"],
        "quasi-Newton steps without and with an L1 penalty, or a gradient step for each sequence",
    ] = "lbfgs"
    l1: Annotated[float, AtLeast(0), "penalty on the sizes of weights, which sets many to 0; only with owlqn"] = 0.0
    l2: Annotated[float, AtLeast(0), "penalty on the squares of weights"] = 1.0
    max_iter: Annotated[int, AtLeast(1), "iterations at most, or epochs with sgd"] = 1000
    tol: Annotated[float, MoreThan(0), "stop when ten iterations lower the objective by less than this share"] = 1e-5
    min_freq: Annotated[int, AtLeast(1), "features that occur less often are left out"] = 1
    observed_only: Annotated[bool, "only pairs of attribute and label that training has; if not, all of them"] = True
    all_transitions: Annotated[bool, "weights also for labels that never follow each other in training"] = False
    edge_features: Annotated[bool, "whether attributes also speak of pairs of labels, not of single ones alone"] = False
    induce: Annotated[
        Literal["mccallum"] | None,
        "start with labels alone, and every 8 iterations add the 500 conjunctions of attributes that gain most",
    ] = None
    missing: Filled = "indicator"
    beam: Beam = None

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        if self.l1 > 0 and self.solver != "owlqn":
            raise InputError(f'solver="{self.solver}" takes no l1 penalty, but l1 is {self.l1}; take solver="owlqn"')
        if self.solver == "sgd" and (self.edge_features or training.prunes):
            raise InputError('solver="sgd" takes neither edge_features nor a beam; take solver="lbfgs"')
        if self.edge_features and self.order == 0:
            raise InputError("edge_features need an order of at least 1, for order 0 has no edges")
        if self.induce is not None:
            return self._inducer(training)
        space = LinearSpace.of(
            training, self.window, min_freq=self.min_freq, observed_only=self.observed_only,
            all_transitions=self.all_transitions, edges=self.edge_features,
        )  # fmt: skip
        if self.solver == "sgd":
            return StochasticGradientLearner(
                training, space, self.l2, StochasticRules(self.max_iter, self.tol, self.random_state)
            )
        return QuasiNewtonLearner(training, space, Penalty(self.l1, self.l2), self.max_iter, self.tol)

    def _inducer(self, training: TrainingData) -> Learner:
        if self.solver != "lbfgs":
            raise InputError(f'induce="{self.induce}" goes with solver="lbfgs" alone, but solver is "{self.solver}"')
        space = LinearSpace.bare(
            training, self.window, all_transitions=self.all_transitions, edges=self.edge_features, bias=True
        )
        return InductionLearner(
            training,
            space,
            Penalty(0.0, self.l2),
            self.max_iter,
            self.tol,
            min_freq=self.min_freq,
            observed_only=self.observed_only,
            seed=int(np.random.SeedSequence(self.random_state).generate_state(1)[0]),
        )
