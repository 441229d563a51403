"""Methods for values that are missing at random (dissertation, chapter 4: figure 4.1 and table 4.1).

At each rate five training and five test sets lose values; a model of each training set labels each test set, by
marginal decoding. A third of the first damaged training set chooses the parameters and rounds of each method. A
logistic model with an effect for each training set tests whether a method differs from the baseline.
What a hold-out chooses is partly luck; --fixed gives every method the same parameters and rounds.
The methods are those that the dissertation prints, or the library's own (--rules). --features is figure 4.2.

python experiments/missing.py --figures docs/figures
python experiments/missing.py --rules own
python experiments/missing.py --figures docs/figures --modern
python experiments/missing.py --fixed --rules both --tasks protein stress hyphen hyphen-gaps
python experiments/missing.py --features --figures docs/figures
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
import plots
from common import (
    PLAIN_TREES,
    QUICK,
    TASKS,
    Choice,
    Split,
    Task,
    arguments,
    choose,
    fit,
    log,
    print_machine,
    print_table,
    train_test_pairs,
)
from hedgerow.errors import InputError

PRINTED = ("published-weighting", "published-surrogate", "impute", "published-indicator")
OWN = ("weighting", "surrogate", "impute", "indicator", "learned")
RULES = {"printed": PRINTED, "own": OWN, "both": (*PRINTED, *(method for method in OWN if method != "impute"))}
RATES = (0.05, 0.1, 0.2, 0.4)
N_SETS = 5  # damaged training sets, and damaged test sets
MAX_ROUNDS = 150
LAMBDAS = (20.0, 40.0, 80.0)
LEAVES = (20, 50)
FIXED_ROUNDS = 60  # with the second of the parameters above
N_FOLDS = 3  # of which one is dev data

# The dissertation trains on the first six of seven files; here the last three of nine are test data. In "hyphen" a word
# loses a letter; in "hyphen-gaps" each gap loses its six letters by itself, including those outside the word.
STUDIED = {
    **TASKS,
    "perlfaq": Task(TASKS["perlfaq"].title, "perlfaq", 0),
    "hyphen-gaps": Task("Hyphenation, gap by gap", "hyphen", 0),
}

# Table 4.1, by rate: surrogate splitting, imputation, indicator features. The published FAQ data cannot be obtained.
PUBLISHED = {
    "protein": ("-0.018 -0.072* -0.028*", "-0.013 -0.040* 0.001", "-0.025* -0.074* -0.020*", "-0.041* -0.072* -0.020*"),
    "stress": (
        "-0.051* -0.066* -0.064*",
        "-0.051* -0.067* -0.059*",
        "-0.069* -0.057* -0.052*",
        "-0.080* -0.116* -0.111*",
    ),
    "hyphen": ("0.036* 0.007 0.023", "-0.031* -0.022 -0.027*", "-0.071* -0.049* -0.040*", "-0.024* -0.054* -0.047*"),
}


@dataclass(frozen=True)
class Plan:
    """The size of the experiment."""

    rates: tuple[float, ...] = RATES
    n_sets: int = N_SETS
    n_rounds: int = MAX_ROUNDS
    modern: bool = False
    fixed: bool = False
    methods: tuple[str, ...] = PRINTED

    def baseline(self, name: str) -> str:
        """Return the method that the dissertation compares others with on this set."""
        return "impute" if name == "perlfaq" else self.methods[0]

    def candidates(self, method: str, window: int) -> list[hr.TreeCRF]:
        shared: dict[str, Any] = {"window": window, "n_jobs": 1, "random_state": 0}
        if self.modern:
            models = [hr.TreeCRF(**{**PLAIN_TREES, "max_leaves": n}, **shared) for n in LEAVES]
        else:
            models = [hr.TreeCRF.published(l2=l2, **shared) for l2 in LAMBDAS]
        return [model.set_params(missing=method) for model in models]

    def choice(self, method: str, window: int, train: Split) -> Choice:
        candidates = self.candidates(method, window)
        if self.fixed:
            return Choice(candidates[1], "marginal", FIXED_ROUNDS, np.nan)
        return choose(candidates, self.n_rounds, train, N_FOLDS, n_used=1)["marginal"]


@dataclass(frozen=True)
class Outcome:
    """One method at one rate: the number of correct positions (of `n_positions`) by training set and test set."""

    choice: Choice
    right: NDArray[np.int64]
    n_positions: int

    @property
    def accuracy(self) -> float:
        return float(100 * self.right.mean() / self.n_positions)

    @property
    def setting(self) -> str:
        model = self.choice.candidate
        assert isinstance(model, hr.TreeCRF)
        kind = f"{model.max_leaves} leaves" if model.newton else f"λ {model.l2:g}"
        return f"{kind}, {self.choice.n_rounds}"


Candidate = dict[float, dict[str, Outcome]]  # by rate and method


def damaged(name: str, part: Split, rate: float, seed: int) -> Split:
    X = without_letters(part.X, rate, seed) if name == "hyphen" else hr.datasets.damage(part.X, rate, seed)
    return Split(X, part.y, part.family)


def without_letters(words: list[list[dict[str, str]]], rate: float, seed: int) -> hr.Sequences:
    """Like `damage`, but a letter of a word is lost at all gaps that contain it, and what is outside is not lost."""
    rng = np.random.default_rng(seed)
    after = {"l3": -2, "l2": -1, "l1": 0, "r1": 1, "r2": 2, "r3": 3}  # the first gap comes after letter 0
    lost = []
    for gaps in words:
        gone = rng.random(len(gaps) + 1) < rate
        lost.append(
            [
                {place: None if letter != "_" and gone[g + after[place]] else letter for place, letter in gap.items()}
                for g, gap in enumerate(gaps)
            ]
        )
    return hr.Sequences(lost)


def run(name: str, task: Task, plan: Plan) -> Candidate:
    ((train, test),) = train_test_pairs(task)
    gold = np.concatenate(test.y)
    found: Candidate = {}
    for rate in plan.rates:
        # Seeds differ, so that no two sets lose the same values.
        seeds = range(plan.n_sets)
        trains = [damaged(name, train, rate, seed) for seed in seeds]
        tests = [damaged(name, test, rate, 1000 + seed) for seed in seeds]
        found[rate] = {}
        for method in plan.methods:
            log(f"  {rate:.0%}, {method}")
            choice = plan.choice(method, task.window, trains[0])
            right = [list(counts(choice, one, tests, gold)) for one in trains]
            found[rate][method] = Outcome(choice, np.array(right), len(gold))
            log(f"    {found[rate][method].accuracy:.2f}")
    return found


def counts(choice: Choice, train: Split, tests: list[Split], gold: NDArray[Any]) -> Iterator[int]:
    """Yield the number of correct positions of each test set."""
    model = fit(choice.candidate, choice.n_rounds, train)
    for test in tests:
        yield int((np.concatenate(model.predict(test.X, decode="marginal")) == gold).sum())


def log_odds(outcomes: dict[str, Outcome], baseline: str) -> dict[str, str]:
    """Return log-odds against the baseline, with a star where p < 0.05; infinite where a method makes no mistake."""
    rows = [
        (int(n), outcome.n_positions, method, training_set)
        for method, outcome in outcomes.items()
        for training_set, by_test in enumerate(outcome.right)
        for n in by_test
    ]
    try:
        analysis = hr.significance.analysis_of_deviance(*zip(*rows, strict=True), baseline=baseline)
    except InputError:
        return {method: "infinite" for method in outcomes if method != baseline}
    return {str(e.treatment): f"{e.coefficient:.3f}{'*' * (e.p_value < 0.05)}" for e in analysis.effects}


def points(outcomes: dict[str, Outcome], method: str, baseline: str) -> str:
    """Return the difference in percentage points ± its standard deviation over training sets."""
    ours, base = outcomes[method], outcomes[baseline]
    differences = 100 * (ours.right - base.right).mean(axis=1) / ours.n_positions
    return f"{differences.mean():+.2f} ± {differences.std(ddof=1):.2f}"


def print_tables(name: str, task: Task, found: Candidate, plan: Plan) -> None:
    baseline, methods = plan.baseline(name), plan.methods
    printed = dict(zip(RATES, PUBLISHED.get(name, ()), strict=False))
    accuracies, differences = [], []
    for rate, outcomes in found.items():
        odds = log_odds(outcomes, baseline)
        tested = [f"{outcomes[m].accuracy:.2f}" + (f" ({odds[m]})" if m in odds else "") for m in methods]
        accuracies.append([f"{rate:.0%}", *tested, *printed.get(rate, "").split()])
        settings = [outcomes[m].setting for m in methods]
        moved = ["" if m == baseline else f"{points(outcomes, m, baseline)}; " for m in methods]
        differences.append([f"{rate:.0%}", *map("".join, zip(moved, settings, strict=True))])
    head = [f"{method}, table 4.1" for method in ("surrogate", "impute", "indicator")] if printed else []
    print_table([f"{task.title}: % right (log-odds)", *methods, *head], accuracies)
    if not plan.fixed:
        print_table([f"{task.title}: points; chosen, rounds", *methods], differences)


STYLES = {
    "published-weighting": "oC0-",
    "published-surrogate": "sC1--",
    "published-indicator": "^C3-.",
    "weighting": "oC0-",
    "surrogate": "sC1--",
    "indicator": "^C3-.",
    "impute": "vC2:",
    "learned": "xk-",
}


def plot(found: dict[str, Candidate], methods: tuple[str, ...], path: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, (title, by_rate) in zip(axes, found.items(), strict=True):
            rates = [100 * rate for rate in by_rate]
            for method in methods:
                accuracies = [outcomes[method].accuracy for outcomes in by_rate.values()]
                panel.plot(rates, accuracies, STYLES[method], label=method, markersize=4, linewidth=1.2)
            panel.set(title=title, xlabel="% of values missing", ylabel="% right", xticks=rates)
        axes[0].legend(frameon=False, fontsize=8)

    plots.draw(path, len(found), panels)


def print_features(figures: Path | None, quick: bool) -> None:
    """Print and plot how often each feature of a line of the FAQ is true (figure 4.2)."""
    if quick:  # a line of the synthetic set has one feature for each value
        columns = hr.Sequences(hr.datasets.hmm_three(20, 15, seed=0).X).columns
        shares = {str(v): float(np.mean(c.codes == i)) for c in columns for i, v in enumerate(c.alphabet)}  # type: ignore[union-attr]
    else:
        lines = hr.Sequences(hr.datasets.load("perlfaq", "all").X)
        shares = {column.name: float(np.mean(column.values)) for column in lines.columns}  # type: ignore[union-attr]
    numbered = list(enumerate(shares.items(), start=1))
    rows = [[number, name, f"{100 * share:.1f}"] for number, (name, share) in numbered]
    print_table(["number", "feature of a line", "% of lines where it is true"], rows)

    def panels(axes: list[Any]) -> None:
        axes[0].bar([number for number, _ in numbered], list(shares.values()), width=0.7)
        axes[0].set(xlabel="feature", ylabel="share of lines where it is true", ylim=(0, 1))

    if figures:
        plots.draw(figures / "faq-features.png", 1, panels, columns=1)


def main() -> None:
    parser = arguments(__doc__, STUDIED)
    parser.add_argument(
        "--modern", action="store_true", help="the defaults of TreeCRF instead of the published algorithm"
    )
    parser.add_argument("--figures", type=Path, help="folder for missing.png, or missing-own.png and others")
    parser.add_argument("--rules", choices=RULES, help="the methods; by default printed, with --modern own")
    parser.add_argument("--features", action="store_true", help="how often each feature of the FAQ lines is true")
    parser.add_argument("--fixed", action="store_true", help="nothing is chosen: λ = 40 (50 leaves) and 60 rounds")
    parser.set_defaults(tasks=list(TASKS))
    options = parser.parse_args()
    print_machine()
    if options.features:
        print_features(options.figures, options.quick)
    else:
        compare(options)


def compare(options: argparse.Namespace) -> None:
    """Print the tables of every set, and plot them."""
    rules = options.rules or ("own" if options.modern else "printed")
    methods = RULES[rules]
    figure = "missing-modern.png" if options.modern else "missing.png" if rules == "printed" else f"missing-{rules}.png"
    small = {"rates": (0.1, 0.3), "n_sets": 2, "n_rounds": 3} if options.quick else {}
    plan = Plan(**small, modern=options.modern, fixed=options.fixed, methods=methods)  # type: ignore[arg-type]
    tasks = {"quick": QUICK} if options.quick else {name: STUDIED[name] for name in options.tasks}
    found: dict[str, Candidate] = {}
    for name, task in tasks.items():
        log(task.title)
        found[task.title] = run(name, task, plan)
        print_tables(name, task, found[task.title], plan)
        if options.figures:  # after each set, so that an interrupted run has a plot
            plot(found, methods, options.figures / figure)


if __name__ == "__main__":
    main()
