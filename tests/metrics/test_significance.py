"""McNemar's test, the bootstrap and the analysis of deviance: by hand, naive versions, an independent optimiser."""

from __future__ import annotations

from math import erfc, isnan, log, sqrt
from typing import Any, Literal

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.significance import _chi_square_tail
from oracles import errors as error_oracle
from oracles import metrics as oracle

random_cases = settings(max_examples=30, deadline=None)
Evaluations = tuple[list[int], list[int], list[str], list[int]]


def labellings(
    a_only: int, b_only: int, both: int = 3, neither: int = 2
) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """One sequence for each outcome; the truth is "y" everywhere."""
    lengths = (a_only, b_only, both, neither)
    true = [["y"] * n for n in lengths]
    a = [[label] * n for label, n in zip("ynyn", lengths, strict=True)]
    b = [[label] * n for label, n in zip("nyyn", lengths, strict=True)]
    return true, a, b


def test_mcnemar_exact_by_hand() -> None:
    # 1 against 9: 2 · (C(10,0) + C(10,1)) / 2¹⁰ = 22 / 1024.
    result = hr.significance.mcnemar(*labellings(1, 9))
    assert (result.n_a_only, result.n_b_only, result.statistic, result.method) == (1, 9, 1.0, "exact")
    assert result.p_value == pytest.approx(22 / 1024, rel=1e-12)
    assert str(result) == "only A right 1, only B right 9; McNemar (exact) p = 0.0215*"


def test_mcnemar_chi_square_by_hand() -> None:
    # 10 against 20: (10 − 1)² / 30 = 2.7.
    result = hr.significance.mcnemar(*labellings(10, 20))
    assert (result.statistic, result.method) == (pytest.approx(2.7), "chi-square")
    assert result.p_value == pytest.approx(scipy.stats.chi2.sf(2.7, 1), rel=1e-12)


@pytest.mark.parametrize("counts", [(0, 0), (0, 2000), (900, 1100), (3000, 3001)])
def test_mcnemar_of_many_positions_is_exact(counts: tuple[int, int]) -> None:
    result = hr.significance.mcnemar(*labellings(*counts), exact=True)
    expected = min(1.0, 2 * scipy.stats.binom.cdf(min(counts), sum(counts), 0.5))
    assert result.p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 20, 101])
@pytest.mark.parametrize("x", [0.0, 1e-9, 0.3, 1.0, 3.84, 50.0, 700.0, 2500.0])
def test_the_tail_of_chi_square_is_that_of_scipy(df: int, x: float) -> None:
    assert _chi_square_tail(df, x) == pytest.approx(scipy.stats.chi2.sf(x, df), rel=1e-11, abs=1e-300)


def test_two_wrong_labels_are_no_difference() -> None:
    result = hr.significance.mcnemar([["y", "y"]], [["a", "y"]], [["b", "a"]])
    assert (result.n_a_only, result.n_b_only) == (1, 0)


@random_cases
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_binomial_and_is_symmetric(a_only: int, b_only: int) -> None:
    result = hr.significance.mcnemar(*labellings(a_only, b_only), exact=True)
    assert result.p_value == pytest.approx(oracle.mcnemar_exact(a_only, b_only), rel=1e-9)
    if a_only + b_only:
        expected = scipy.stats.binomtest(a_only, a_only + b_only).pvalue
        assert result.p_value == pytest.approx(expected, rel=1e-9)
    for exact in (True, False, None):
        there = hr.significance.mcnemar(*labellings(a_only, b_only), exact=exact)
        back = hr.significance.mcnemar(*labellings(b_only, a_only), exact=exact)
        assert there.p_value == back.p_value
        assert 0 <= there.p_value <= 1
    assert there.method == ("exact" if a_only + b_only < 25 else "chi-square")


def test_mcnemar_without_a_difference() -> None:
    assert hr.significance.mcnemar(*labellings(0, 0)).p_value == 1.0
    assert hr.significance.mcnemar(*labellings(0, 0), exact=False).p_value == 1.0
    even = hr.significance.mcnemar(*labellings(20, 20))
    assert (even.statistic, even.p_value) == (0.0, 1.0)


def test_mcnemar_refuses_lengths_that_differ() -> None:
    with pytest.raises(InputError, match="sequence 0 has 2 labels in y_true but 1 in y_b"):
        hr.significance.mcnemar([["y", "y"]], [["y", "y"]], [["y"]])


def test_deviance_of_a_two_by_two_table_is_the_log_odds_ratio() -> None:
    # 30 of 40 against 10 of 40: log odds ratio log((30 · 30) / (10 · 10)), variance Σ 1 / cell.
    result = hr.significance.analysis_of_deviance([10, 30], [40, 40], ["old", "new"], ["s", "s"])
    (effect,) = result.effects
    assert (result.baseline, effect.treatment) == ("old", "new")
    assert effect.coefficient == pytest.approx(log(9), rel=1e-10)
    assert effect.standard_error == pytest.approx(sqrt(2 / 10 + 2 / 30), rel=1e-8)
    z = log(9) / sqrt(2 / 10 + 2 / 30)
    assert effect.z == pytest.approx(z, rel=1e-8)
    assert effect.p_value == pytest.approx(erfc(z / sqrt(2)), rel=1e-6)
    # One half right over all, a quarter and three quarters by treatment; the whole model is saturated.
    saved = 2 * 80 * (0.25 * log(0.25 / 0.5) + 0.75 * log(0.75 / 0.5))
    assert result.null_deviance == pytest.approx(saved)
    assert result.treatment_deviance == pytest.approx(saved)
    assert result.residual_deviance == pytest.approx(0, abs=1e-9)
    assert (result.null_df, result.residual_df, result.treatment_df) == (1, 0, 1)
    assert result.p_value == pytest.approx(scipy.stats.chi2.sf(saved, 1))


def test_named_baseline_turns_the_sign() -> None:
    rows = ([10, 30, 12, 25], [40, 40, 50, 50], ["old", "new"] * 2, [1, 1, 2, 2])
    (forth,) = hr.significance.analysis_of_deviance(*rows).effects
    back = hr.significance.analysis_of_deviance(*rows, baseline="new")
    assert back.baseline == "new"
    assert back.effects[0].treatment == "old"
    assert back.effects[0].coefficient == pytest.approx(-forth.coefficient, rel=1e-8)
    assert back.effects[0].p_value == pytest.approx(forth.p_value, rel=1e-6)


@st.composite
def tables(draw: st.DrawFn) -> Evaluations:
    """Every treatment on every block, once or twice, with right and wrong labels in each row."""
    cells = [
        (treatment, block)
        for treatment in "abc"[: draw(st.integers(2, 3))]
        for block in range(draw(st.integers(1, 4)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    right = [draw(st.integers(1, 60)) for _ in cells]
    wrong = [draw(st.integers(1, 60)) for _ in cells]
    total = [r + w for r, w in zip(right, wrong, strict=True)]
    return right, total, [t for t, _ in cells], [b for _, b in cells]


# Three treatments on two blocks: the columns are b, c, and the blocks.
TREATMENT, BLOCK = ["a", "b", "c"] * 2, [0, 0, 0, 1, 1, 1]
DESIGN = np.array([[t == "b", t == "c", b == 0, b == 1] for t, b in zip(TREATMENT, BLOCK, strict=True)], float)


def optimum(right: list[int], total: list[int], design: np.ndarray) -> scipy.optimize.OptimizeResult:
    """The likelihood's maximum by a general optimiser that knows no gradient formula."""

    def loss(beta: np.ndarray) -> float:
        return -oracle.log_likelihood(right, total, (design @ beta).tolist())

    return scipy.optimize.minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-6})


@random_cases
@given(tables())
def test_deviance_equals_an_independent_optimum(rows: Evaluations) -> None:
    right, total, treatment, block = rows
    result = hr.significance.analysis_of_deviance(*rows)
    S = np.array([[b == level for level in sorted(set(block))] for b in block], dtype=float)
    M = np.array([[t == level for level in sorted(set(treatment))[1:]] for t in treatment], dtype=float)
    whole, blocks = optimum(right, total, np.hstack([M, S])), optimum(right, total, S)
    saturated = oracle.saturated(right, total)
    assert result.residual_deviance == pytest.approx(2 * (saturated + whole.fun), abs=1e-6)
    assert result.treatment_deviance == pytest.approx(2 * (blocks.fun - whole.fun), abs=1e-6)
    assert result.p_value == pytest.approx(scipy.stats.chi2.sf(result.treatment_deviance, M.shape[1]), rel=1e-9)
    pooled = log(sum(right) / (sum(total) - sum(right)))
    null = 2 * (saturated - oracle.log_likelihood(right, total, [pooled] * len(right)))
    assert result.null_deviance == pytest.approx(null, abs=1e-6)
    assert [e.coefficient for e in result.effects] == pytest.approx(whole.x[: M.shape[1]].tolist(), abs=1e-3)


def test_coefficients_and_errors_by_finite_differences() -> None:
    """At the optimum the slope is zero, and the errors are those of the inverted second differences."""
    right, total = [40, 55, 70, 20, 30, 25], [100, 90, 110, 60, 45, 70]
    result = hr.significance.analysis_of_deviance(right, total, TREATMENT, BLOCK)
    beta = np.array([*(e.coefficient for e in result.effects), 0, 0])
    # The block effects are not reported: with the treatments fixed, each block's counts must add up.
    for k in (2, 3):
        rows = DESIGN[:, k] == 1

        def gap(effect: float, rows: np.ndarray = rows) -> float:
            p = 1 / (1 + np.exp(-(DESIGN[rows, :2] @ beta[:2] + effect)))
            return float(np.sum(np.array(right)[rows] - np.array(total)[rows] * p))

        beta[k] = scipy.optimize.brentq(gap, -10, 10, xtol=1e-13)

    def value(at: np.ndarray) -> float:
        return oracle.log_likelihood(right, total, (DESIGN @ at).tolist())

    def mixed(e: np.ndarray, f: np.ndarray, h: float) -> float:
        """Second difference along e and f: h² times the second derivative, nearly."""
        along, across = h * (e + f), h * (e - f)
        return (value(beta + along) + value(beta - along) - value(beta + across) - value(beta - across)) / 4

    axes, h = np.eye(4), 1e-3
    slope = [(value(beta + h * e) - value(beta - h * e)) / (2 * h) for e in axes]
    assert slope == pytest.approx([0] * 4, abs=1e-5)
    curvature = np.array([[mixed(e, f, h) for f in axes] for e in axes]) / h**2
    errors = np.sqrt(np.diag(np.linalg.inv(-curvature)))[:2]
    assert [e.standard_error for e in result.effects] == pytest.approx(errors.tolist(), rel=1e-4)


def test_huge_counts_and_rare_errors_settle() -> None:
    result = hr.significance.analysis_of_deviance(
        [10**9 - 10, 10**9 - 20, 10**9 - 15, 10**9 - 45], [10**9] * 4, ["a", "b"] * 2, [0, 0, 1, 1]
    )
    (effect,) = result.effects
    # Rare errors are Poisson: log(25 / 65), variance 1/25 + 1/65.
    assert effect.coefficient == pytest.approx(log(25 / 65), rel=1e-5)
    assert effect.standard_error == pytest.approx(sqrt(1 / 25 + 1 / 65), rel=1e-4)


def test_table_has_stars_where_significant() -> None:
    result = hr.significance.analysis_of_deviance(
        [700, 650, 698, 720, 660, 716],
        [1000] * 6,
        ["weights", "imputed", "surrogate"] * 2,
        [1, 1, 1, 2, 2, 2],
    )
    lines = str(result).splitlines()
    assert lines[0].split() == ["treatment", "log-odds", "std.", "error", "z", "p"]
    assert lines[1].startswith("imputed")
    assert lines[1].endswith("*")
    assert lines[2].startswith("surrogate")
    assert not lines[2].endswith("*")
    assert lines[3] == "baseline weights; * p < 0.05"
    assert "on 2 df" in lines[4]


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ([5, 10, 6, 10], "treatment 'b' has all labels right, so its log-odds are infinite"),
        ([0, 4, 0, 3], "treatment 'a' has all labels wrong"),
        ([10, 10, 6, 5], "block 0 has all labels right, so its log-odds are infinite; leave its rows out"),
        # Neither a treatment nor a block alone: a is never right on 1, b always right on 0.
        ([4, 10, 0, 7], "2 rows are all right or all wrong in a pattern"),
    ],
)
def test_separation_is_refused(right: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hr.significance.analysis_of_deviance(right, [10] * 4, ["a", "b"] * 2, [0, 0, 1, 1])


@random_cases
@given(st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_separation_is_refused_exactly_when_coefficients_run_away(right: list[int]) -> None:
    # A ridge of weight w pulls a finite optimum hardly at all, and an infinite one ever further as w falls.
    size = {}
    for ridge in (1e-4, 1e-6):
        fit = scipy.optimize.minimize(
            lambda beta, ridge=ridge: (
                ridge * float(beta @ beta) - oracle.log_likelihood(right, [2] * 6, (DESIGN @ beta).tolist())
            ),
            np.zeros(4),
            method="BFGS",
            options={"gtol": 1e-8},
        )
        size[ridge] = float(np.abs(DESIGN @ fit.x).max())
    runs_away = size[1e-6] > size[1e-4] + 1
    try:
        hr.significance.analysis_of_deviance(right, [2] * 6, TREATMENT, BLOCK)
    except InputError:
        assert runs_away
    else:
        assert not runs_away


def test_a_row_all_right_is_fine_when_the_optimum_is_finite() -> None:
    result = hr.significance.analysis_of_deviance([10, 5, 6, 7], [10] * 4, ["a", "b"] * 2, [0, 0, 1, 1])
    assert abs(result.effects[0].coefficient) < 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [3], "ab", [0, 0]), r"correct has shape \(2,\) and total \(1,\)"),
        (([], [], "", []), "give both one entry for each row"),
        (([1, 4], [3, 3], "ab", [0, 0]), "row 1 has correct = 4 and total = 3"),
        (([1, -1], [3, 3], "ab", [0, 0]), "row 1 has correct = -1"),
        (([0, 1], [0, 3], "ab", [0, 0]), "row 0 has correct = 0 and total = 0"),
        (([1, 0.5], [3, 3], "ab", [0, 0]), "row 1 has correct = 0.5"),
        (([1, float("nan")], [3, 3], "ab", [0, 0]), "row 1 has correct = nan"),
        (([1, 2], [3, 3], "abc", [0, 0]), "treatment has 3 entries but correct has 2"),
        (([1, 2], [3, 3], "ab", [0]), "block has 1 entries but correct has 2"),
        (([1, 2], [3, 3], "aa", [0, 1]), "treatment has only 'a'"),
        (([1, 2], [3, 3], "ab", [0, 1]), "effects of treatments and blocks cannot be separated"),
    ],
)
def test_deviance_refusals(arguments: tuple, message: str) -> None:
    correct, total, treatment, block = arguments
    with pytest.raises(InputError, match=message):
        hr.significance.analysis_of_deviance(correct, total, list(treatment), block)


def test_deviance_refuses_an_unknown_baseline() -> None:
    with pytest.raises(InputError, match=r"baseline is 'z', which is no treatment; choose one of \['a', 'b'\]"):
        hr.significance.analysis_of_deviance([1, 2], [3, 3], ["a", "b"], [0, 0], baseline="z")


IOB = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def random_labellings(seed: int, n: int, labels: list[str]) -> list[list[list[str]]]:
    """Gold labels and two labellings that agree with them at about two of three positions."""
    rng = np.random.default_rng(seed)
    true = [rng.choice(labels, rng.integers(1, 7)).tolist() for _ in range(n)]
    noisy = [[[str(rng.choice(labels)) if rng.random() < 0.4 else y for y in row] for row in true] for _ in range(2)]
    return [true, *noisy]


@pytest.mark.parametrize("metric", ["accuracy", "span_f1"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bootstrap_is_that_of_a_plain_loop(metric: Literal["accuracy", "span_f1"], seed: int) -> None:
    true, a, b = random_labellings(seed, 2 + 3 * seed, IOB)
    found = hr.significance.bootstrap(true, a, b, metric=metric, n_resamples=37, confidence=0.9, random_state=seed)
    expected = error_oracle.bootstrap(true, a, b, metric, "IOB2", 37, seed, 0.9)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)
    assert found.a == pytest.approx(error_oracle.score(true, a, metric, "IOB2"), abs=1e-12)
    assert found.b == pytest.approx(error_oracle.score(true, b, metric, "IOB2"), abs=1e-12)
    assert found.difference == found.b - found.a


def test_the_bootstrap_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    true, a, b = random_labellings(0, 11, IOB)
    whole = hr.significance.bootstrap(true, a, b, n_resamples=50)
    monkeypatch.setattr("hedgerow.metrics.paired_bootstrap._BLOCK", 40)
    assert hr.significance.bootstrap(true, a, b, n_resamples=50) == whole
    assert hr.significance.bootstrap(true, a, b, n_resamples=50, random_state=1) != whole


def test_the_bootstrap_resamples_whole_sequences() -> None:
    # Two sequences, each all right or all wrong for B: the difference is that of 0, 1 or 2 sequences.
    true, a, b = [["y"] * 50, ["y"] * 50], [["n"] * 50] * 2, [["y"] * 50, ["n"] * 50]
    found = hr.significance.bootstrap(true, a, b)
    assert (found.difference, found.low, found.high) == (0.5, 0.0, 1.0)
    assert str(found).endswith("interval +0.00 to +100.00")


def test_the_bootstrap_without_spans_is_zero() -> None:
    found = hr.significance.bootstrap([["O"]] * 2, [["O"]] * 2, [["O"]] * 2, metric="span_f1", n_resamples=5)
    assert (found.a, found.b, found.low, found.high) == (0.0, 0.0, 0.0, 0.0)


def test_one_sequence_has_no_interval() -> None:
    found = hr.significance.bootstrap([["A", "A"]], [["A", "B"]], [["A", "A"]], n_resamples=5)
    assert (found.a, found.b, found.difference) == (0.5, 1.0, 0.5)
    assert isnan(found.low)
    assert isnan(found.high)
    assert str(found) == "accuracy A 50.00%, B 100.00%; B - A +50.00 points; an interval needs two sequences or more"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "f1"}, "metric is 'f1'; choose"),
        ({"n_resamples": 0}, "n_resamples must be an integer of at least 1"),
        ({"n_resamples": True}, "n_resamples must be an integer of at least 1"),
        ({"confidence": 95}, "confidence must be a number between 0 and 1"),
        ({"random_state": -1}, "random_state must be an integer of at least 0"),
        ({"metric": "span_f1", "scheme": "BIO"}, "write 'IOB2'"),
        ({"y_a": [["y", "y"]]}, "sequence 0 has 1 label in y_true but 2 in y_a"),
        ({"y_b": [[1]]}, "labels are strings in y_true but integers in y_b"),
        ({"y_true": [], "y_a": [], "y_b": []}, "at least one sequence"),
    ],
)
def test_the_bootstrap_refuses_bad_input(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hr.significance.bootstrap(**({"y_true": [["y"]], "y_a": [["y"]], "y_b": [["y"]]} | changed))
