"""The plan of a race: successive halving, with data and folds that grow from rung to rung.

The plan depends on counts, settings and the budget, never on the clock. Of several schedules, from the most thorough
to the quickest, it is the first whose expected cost on one core is below half of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

KEPT = 3  # one of so many candidates stays in the race after each rung
FINALISTS = 4  # at most, in the last rung
PLANNED = 0.5  # share of the budget that the plan may cost by estimate: estimates are rough
TOO_SLOW = 0.25  # share of the budget that one fit may take by estimate
_SMALLEST_SHARE = 1 / 64


@dataclass(frozen=True)
class Rung:
    """How many candidates learn from which share of the training parts of how many folds."""

    n_candidates: int
    n_folds: int
    share: float


def make_plan(costs: Sequence[float], n_folds: int, budget: float) -> list[Rung]:
    """The rungs for candidates whose fits on all data take `costs` seconds."""
    plan: list[Rung] = []
    for plan in _schedules(len(costs), n_folds):
        if plan_seconds(plan, costs, n_folds) <= PLANNED * budget:
            break
    return plan


def too_slow(costs: Sequence[float], budget: float) -> list[bool]:
    """Which candidates are left out, because one fit of theirs would take a quarter of the budget; never all."""
    slow = [cost > TOO_SLOW * budget for cost in costs]
    return [False] * len(costs) if all(slow) else slow


def plan_seconds(plan: Sequence[Rung], costs: Sequence[float], n_folds: int) -> float:
    """About how many seconds a plan takes on one core, if those who stay are as slow as halfway from mean to slowest.

    What was measured on one rung with the same share of the data is not measured again on the next.
    """
    slowest, mean = sorted(costs, reverse=True), sum(costs) / len(costs)
    seconds, done, share = 0.0, 0, 0.0
    for rung in plan:
        done = done if rung.share == share else 0
        share = rung.share
        fits = (sum(slowest[: rung.n_candidates]) + mean * rung.n_candidates) / 2 * (rung.n_folds - done)
        seconds += fits * share * (n_folds - 1) / n_folds
        done = rung.n_folds
    return seconds


def halving(n: int) -> list[int]:
    """How many candidates are on each rung: a third of those before, until at most four are left."""
    counts = [n]
    while counts[-1] > FINALISTS:
        counts.append(math.ceil(counts[-1] / KEPT))
    return counts


def _schedules(n: int, n_folds: int) -> Iterator[list[Rung]]:
    """Schedules from the most thorough to the quickest; the last rung always uses all folds."""
    yield [Rung(n, n_folds, 1.0)]
    counts = halving(n)
    for first_folds, growth in ((2, 1), (2, 2), (1, 2), (1, 3)):
        yield _schedule(counts, min(first_folds, n_folds), n_folds, growth, 1.0)
    share = 0.5
    while share >= _SMALLEST_SHARE:
        yield _schedule(counts, 1, n_folds, KEPT, share)
        share /= 2


def _schedule(counts: list[int], first_folds: int, n_folds: int, growth: int, last_share: float) -> list[Rung]:
    last = len(counts) - 1
    rungs = []
    for r, n in enumerate(counts):
        step = r / last if last else 1.0
        folds = round(first_folds * (n_folds / first_folds) ** step)
        rungs.append(Rung(n, folds, max(last_share / growth ** (last - r), _SMALLEST_SHARE * last_share)))
    return rungs
