"""Early stopping: one rule for every learner, and the model of the best step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders.online import random_data
from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.inference.decoding import best_labels
from hedgerow.learning.early_stopping import EarlyStopper, Stopping, check_dev_data, stop_early
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.folds import split_off_dev
from hedgerow.learning.induction import InductionLearner, InductionRules
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.local_gradient import LocalGradientLearner
from hedgerow.learning.margin import MarginLearner, MarginRules
from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonLearner, QuasiNewtonRules
from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules

SCORES = {
    "accuracy": [0.5, 0.7, 0.7, 0.6, 0.8, 0.1, 0.2, 0.3],
    "span_f1": [0.5, 0.7, 0.7, 0.6, 0.8, 0.1, 0.2, 0.3],
    "loss": [5.0, 3.0, 3.0, 4.0, 2.0, 9.0, 8.0, 7.0],
}


@pytest.mark.parametrize("by", SCORES)
@pytest.mark.parametrize(("patience", "n_yielded", "best"), [(1, 3, 2), (2, 4, 2), (3, 8, 5), (9, 8, 5)])
def test_it_stops_after_so_many_steps_without_improvement(by, patience, n_yielded, best):
    records = [{"step": i, f"dev_{by}": score} for i, score in enumerate(SCORES[by], 1)]
    steps, kept, generator = [], None, stop_early(iter(records), Stopping(by, patience), lambda: steps[-1] + 1)
    steps.append(0)
    while True:
        try:
            last = next(generator)
            steps.append(last["step"])
        except StopIteration as end:
            kept = end.value
            break
    assert (steps[-1], kept) == (n_yielded, best)
    assert last["best_step"] == best


def test_a_gain_must_be_worth_it():
    losses = [8.0, 4.0, 3.5, 3.1, 2.9, 2.8]  # a gain of more than 8 / 10 counts
    stopper = EarlyStopper(Stopping("loss", 2, 0.1), [{"dev_loss": loss} for loss in losses])
    assert (stopper.best_step, stopper.is_over) == (4, True)
    stopper.see({"dev_loss": 2.2})
    assert (stopper.best_step, stopper.is_over) == (7, False)


@pytest.mark.parametrize("by", ["accuracy", "span_f1"])
def test_of_equal_scores_the_lowest_dev_loss_is_kept_without_delay(by):
    rows = [(0.9, 5.0), (1.0, 4.0), (1.0, 3.0), (1.0, 3.5), (0.9, 1.0)]
    records = [{f"dev_{by}": score, "dev_loss": loss} for score, loss in rows]
    stopper = EarlyStopper(Stopping(by, 3), records[:4])
    assert (stopper.best_step, stopper.is_best, stopper.is_over) == (3, False, False)
    stopper.see(records[4])
    assert (stopper.best_step, stopper.is_over) == (3, True)  # three steps since the score rose, two since the best
    without = EarlyStopper(Stopping(by, 3), [record | {"dev_loss": None} for record in records])
    assert (without.best_step, without.is_over) == (2, True)


def test_a_loss_with_nothing_left_to_gain_ends_the_fit():
    stopper = EarlyStopper(Stopping("loss", 5, 0.0, least_loss=0.5), [{"dev_loss": 0.9}, {"dev_loss": 0.5}])
    assert not stopper.is_over
    stopper.see({"dev_loss": 0.4})
    assert (stopper.best_step, stopper.is_over) == (3, True)


def test_without_a_rule_nothing_stops():
    generator = stop_early(iter([{"dev_accuracy": 0.5}] * 30), None, lambda: pytest.fail("no snapshot is needed"))
    assert len(list(generator)) == 30
    stopper = EarlyStopper(None, [{"dev_accuracy": 0.5}] * 30)
    assert not stopper.is_over


def test_a_step_without_a_score_is_no_improvement():
    stopper = EarlyStopper(Stopping("loss", 2), [{"dev_loss": None}, {"dev_loss": 1.0}, {"dev_loss": None}, {}])
    assert (stopper.best_step, stopper.is_best, stopper.is_over) == (2, False, True)


def test_dev_data_must_fit_the_rule():
    training = split_off_dev(training_of(*random_data(0), 1), 0.3, np.arange(8))
    check_dev_data(None, None)
    check_dev_data(Stopping("accuracy"), training.dev)
    with pytest.raises(InputError, match="needs dev data"):
        check_dev_data(Stopping("accuracy"), None)
    with pytest.raises(InputError, match="labels that mark spans"):
        check_dev_data(Stopping("span_f1"), training.dev)
    with pytest.raises(InputError, match="no label in common"):
        check_dev_data(Stopping("accuracy"), replace(training.dev, codes=np.full_like(training.dev.codes, -1)))


def quasi_newton_rules(stopping):
    return QuasiNewtonRules(penalty=Penalty(0.0, 1e-3), max_iter=40, tol=1e-9, stopping=stopping)


def make_quasi_newton(training, stopping):
    space = LinearSpace.of(training, 0)
    return QuasiNewtonLearner(training, space, quasi_newton_rules(stopping))


def make_induction(training, stopping):
    space = LinearSpace.bare(training, 0, bias=True)
    induction = InductionRules(every=8, features=500, threshold=0.95, proportions=(0.2, 0.5, 0.8))
    rules = quasi_newton_rules(stopping)
    return InductionLearner(training, space, rules, induction, min_freq=1, observed_only=True, seed=0)


def make_stochastic(training, stopping):
    rules = StochasticRules(epochs=30, tol=1e-9, random_state=0, stopping=stopping)
    return StochasticGradientLearner(training, LinearSpace.of(training, 0), 1e-3, rules)


def make_local(training, stopping):
    return LocalGradientLearner(training, quasi_newton_rules(stopping), window=0)


def make_margin(averaging, **more):
    def make(training, stopping):
        rules = MarginRules(window=0, epochs=20, averaging=averaging, random_state=0, stopping=stopping, **more)
        return MarginLearner(training, rules)

    return make


LEARNERS = {
    "quasi-Newton": make_quasi_newton,
    "induction": make_induction,
    "stochastic": make_stochastic,
    "local": make_local,
    "perceptron": make_margin("none"),
    "votes": make_margin("vote"),
    "svm": make_margin("average", C=1.0),
}


CASES = [(name, by) for name in LEARNERS for by in SCORES if (name, by) != ("votes", "loss")]


@pytest.mark.parametrize(("name", "by"), CASES)
def test_every_learner_keeps_the_best_step(name, by):
    X, y = random_data(2, n=30, letters="abcdef")
    training = split_off_dev(training_of(X, y, 1), 0.4, np.random.default_rng(0).permutation(30))
    dev = training.dev
    assert dev is not None
    share_of_0 = lambda codes: float(np.mean((codes == 0) == (dev.codes == 0)))  # noqa: E731
    training = replace(training, dev=replace(dev, span_f1=share_of_0))
    learner = LEARNERS[name](training, Stopping(by, 3))
    scores = [record[f"dev_{by}"] for record in learner]
    falling = np.array(scores) * (1 if by == "loss" else -1)
    best = int(np.argmin(falling))
    assert len(scores) <= best + 4
    found = Evaluator(training).of_potential(learner.potential)[f"dev_{by}"]
    assert found == pytest.approx(scores[best], rel=1e-6)


def test_an_evaluator_scores_labels_likelihood_and_spans():
    X, y = random_data(2, n=30, letters="abcdef")
    training = split_off_dev(training_of(X, y, 1), 0.4, np.random.default_rng(0).permutation(30))
    learner = make_quasi_newton(training, None)
    (*_, last) = learner
    dev = training.dev
    assert dev is not None
    answers = training.answers(learner.potential, dev.sequences)
    assert last["dev_accuracy"] == np.mean(best_labels(answers, "viterbi") == dev.codes)
    assert last["dev_loss"] == pytest.approx(np.mean(answers.log_partition() - answers.score(dev.codes)))
    assert "dev_span_f1" not in last
    assert Evaluator(replace(training, dev=None)).of_potential(learner.potential) == {}
    unknown = replace(dev, codes=np.where(np.arange(len(dev.codes)) < dev.sequences.starts[-2], -1, dev.codes))
    record = Evaluator(replace(training, dev=unknown)).of_potential(learner.potential)
    assert record["dev_loss"] == pytest.approx((answers.log_partition() - answers.score(dev.codes))[-1])
    nothing = replace(dev, codes=np.full_like(dev.codes, -1))
    assert Evaluator(replace(training, dev=nothing)).of_potential(learner.potential)["dev_loss"] is None
