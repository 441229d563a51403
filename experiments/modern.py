"""TreeCRF with parameters chosen by cross-validation, against the published algorithm.

The search changes one parameter after another and keeps a change when the accuracy on dev data rises; the number of
rounds is chosen in the same way. Protein, where no single change helps, also tries random parameters. Then the model is
trained on all training data and tested once.

python experiments/modern.py --tasks protein stress hyphen
python experiments/modern.py --tasks nettalk letters letters-reverse
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import hedgerow as hr
from common import (
    DECODINGS,
    PLAIN_TREES,
    QUICK,
    TASKS,
    Choice,
    Decode,
    Split,
    Task,
    arguments,
    describe,
    log,
    percent,
    predict_test,
    print_machine,
    print_table,
    standard_error,
    train_test_pairs,
    validate,
)

Axes = dict[str, tuple[Any, ...]]
Starts = tuple[tuple[dict[str, Any], Axes], ...]

NEWTON: Axes = {
    "category_splits": ("subset",),
    "l2": (5.0, 20.0),
    "max_leaves": (20, 100),
    "min_leaf": (5, 20),
    "max_features": (0.3,),
    "subsample": (0.5,),
    "learning_rate": (0.05,),
}
DRAWN: Axes = {
    "category_splits": ("one-hot", "subset"),
    "learning_rate": (0.05, 0.1),
    "l2": (1.0, 5.0, 20.0, 80.0),
    "max_leaves": (5, 10, 20, 40),
    "min_leaf": (5, 20, 50),
    "max_features": (0.15, 0.3, 1.0),
    "subsample": (0.5, 1.0),
    "window": (5, 6, 7, 8),
    "order": (1, 2),
}
FIRST_ORDER: Axes = {
    "l2": (20.0, 40.0, 160.0),
    "learning_rate": (0.3,),
    "max_leaves": (50, 200),
    "max_features": (0.3,),
    "subsample": (0.5,),
}
SHARED: Axes = {
    "max_features": (0.5, 0.2),
    "l2": (3.0,),
    "min_leaf": (3,),
    "learning_rate": (0.2,),
}


@dataclass(frozen=True)
class Plan:
    """Where the search starts and what it tries; `lambdas` are those of the published algorithm."""

    task: Task
    starts: Starts
    n_rounds: int
    lambdas: tuple[float, ...]
    published_rounds: int
    n_folds: int = 3
    n_used: int | None = None  # folds; None for all
    n_drawn: int = 0  # candidates with parameters drawn from DRAWN
    aim: float | None = None


PAPERS: dict[str, Any] = {"newton": False, "learning_rate": 1.0, "transitions": "trees", "max_leaves": 100, "l2": 80.0}
FEW_LABELS: Starts = (({}, NEWTON), (PAPERS, FIRST_ORDER))
MANY_LABELS: Starts = (
    ({"trees": "shared", "max_leaves": 300}, SHARED),
    ({"transitions": "table", "max_leaves": 20}, {}),
)
LAMBDAS = (5.0, 10.0, 20.0, 40.0, 80.0)

PLANS = {
    "protein": Plan(TASKS["protein"], FEW_LABELS, 300, LAMBDAS, 200, n_folds=5, n_drawn=40, aim=65.0),
    "stress": Plan(TASKS["stress"], FEW_LABELS, 300, LAMBDAS, 200, aim=86.0),
    "hyphen": Plan(TASKS["hyphen"], FEW_LABELS, 300, LAMBDAS, 200, aim=92.5),
    "nettalk": Plan(Task("NETtalk, 126 labels", "nettalk", 3), MANY_LABELS, 150, (20.0,), 60, n_used=1, aim=78.0),
    "letters": Plan(Task("Letters", "letters", 1), MANY_LABELS, 150, (20.0,), 60, n_used=1, aim=87.5),
    "letters-reverse": Plan(
        Task("Letters, reverse", "letters", 1, train="test", test="train"),
        (({"trees": "shared", "max_leaves": 300}, {"max_features": (0.2,)}),),
        150,
        (20.0,),
        30,
        n_used=1,
        aim=95.0,
    ),
    "quick": Plan(QUICK, (({"max_leaves": 5}, {"l2": (5.0,)}),), 4, (20.0,), 4, n_used=1),
}


def evaluate(plan: Plan, parameters: dict[str, Any], train: Split, n_rounds: int) -> dict[Decode, Choice]:
    candidate = hr.TreeCRF(**{**PLAIN_TREES, "window": plan.task.window, "random_state": 0, **parameters})
    return validate(candidate, n_rounds, train, plan.n_folds, plan.n_used)


def draw(plan: Plan, train: Split) -> Iterator[dict[Decode, Choice]]:
    """Evaluate candidates with random parameters."""
    rng = np.random.default_rng(0)
    for _ in range(plan.n_drawn):
        parameters = {name: values[int(rng.integers(len(values)))] for name, values in DRAWN.items()}
        yield evaluate(plan, parameters, train, plan.n_rounds)


def search(plan: Plan, start: dict[str, Any], axes: Axes, train: Split, n_rounds: int) -> dict[Decode, Choice]:
    """Return the best choices found from a start; the better of the two decodings decides."""
    parameters, best = start, evaluate(plan, start, train, n_rounds)
    for name, values in axes.items():
        for value in values:
            found = evaluate(plan, {**parameters, name: value}, train, n_rounds)
            if preferred(found).accuracy > preferred(best).accuracy:
                best = found
        parameters = {**parameters, name: getattr(preferred(best).candidate, name)}
    return best


def preferred(found: dict[Decode, Choice]) -> Choice:
    """Return the decoding that dev data prefer."""
    return max((found[decode] for decode in DECODINGS), key=lambda choice: choice.accuracy)


def row(plan: Plan) -> Iterator[str]:
    ((train, test),) = train_test_pairs(plan.task)
    log(f"{plan.task.title}: the papers' algorithm")
    first, *others = plan.lambdas
    published = search(plan, {**PAPERS, "l2": first}, {"l2": tuple(others)}, train, plan.published_rounds)
    log(f"{plan.task.title}: modern")
    searched = [search(plan, *start, train, plan.n_rounds) for start in plan.starts]
    searched += draw(plan, train)
    best = max(searched, key=lambda found: preferred(found).accuracy)
    choice = preferred(best)
    ours = {decode: predict_test(best[decode], train, test) for decode in DECODINGS}
    papers = preferred(published)
    theirs = predict_test(papers, train, test)
    accuracy = {decode: percent(test.y, predicted) for decode, predicted in ours.items()}
    reached = accuracy[choice.decode]
    yield plan.task.title
    window = choice.candidate.window
    yield describe(choice.candidate) + ("" if window == plan.task.window else f", window={window}")
    yield f"{choice.n_rounds}"
    yield f"{choice.decode}, {100 * choice.accuracy:.2f}"
    yield f"{accuracy['marginal']:.2f}"
    yield f"{accuracy['viterbi']:.2f}"
    yield f"{standard_error(reached, test.n_positions):.2f}"
    yield f"{percent(test.y, theirs):.2f} (λ {papers.candidate.l2:g}, {papers.n_rounds} rounds)"
    yield f"{max(hr.significance.mcnemar(test.y, ours[choice.decode], theirs).p_value, 1e-99):.2g}"
    if plan.aim is None:
        yield ""
    else:
        yield f"{plan.aim:.1f}: {'reached' if reached >= plan.aim else 'missed'}"


def main() -> None:
    options = arguments(__doc__, [name for name in PLANS if name != "quick"]).parse_args()
    print_machine()
    names = ["quick"] if options.quick else options.tasks
    print_table(
        ["set", "chosen", "rounds", "chosen decoding, held-out", "marginal", "Viterbi", "s.e.", "papers' algorithm",
         "McNemar p", "aim"],
        (list(row(PLANS[name])) for name in names),
    )  # fmt: skip


if __name__ == "__main__":
    main()
