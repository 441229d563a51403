"""Significance tests for the difference between labellings, and between methods over several training sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, lgamma, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.flat_labels import Label, LabelSequences, flatten_alike
from hedgerow.metrics.paired_bootstrap import Bootstrap, bootstrap
from hedgerow.metrics.text_table import text_table

__all__ = [
    "Bootstrap",
    "DevianceAnalysis",
    "McNemar",
    "TreatmentEffect",
    "analysis_of_deviance",
    "bootstrap",
    "mcnemar",
]

_EXACT_BELOW = 25  # discordant positions; from this number on chi-square is accurate enough
_MAX_STEPS = 100
_TOLERANCE = 1e-18  # squared distance to the optimum in standard errors

Floats = NDArray[np.float64]
Levels = dict[Label, NDArray[np.bool_]]  # level → which rows have it


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Result of `mcnemar`; `str()` is one line.

    Attributes
    ----------
    n_a_only, n_b_only
        Number of positions that only A, or only B, labelled correctly.
    statistic
        The smaller of the two counts if the test is exact, otherwise chi-square with one degree of freedom.
    p_value
        Two-sided.
    method
        "exact" or "chi-square".
    """

    n_a_only: int
    n_b_only: int
    statistic: float
    p_value: float
    method: str

    def __str__(self) -> str:
        return (
            f"only A right {self.n_a_only:,}, only B right {self.n_b_only:,}; "
            f"McNemar ({self.method}) p = {self.p_value:.3g}{_star(self.p_value)}"
        )


def mcnemar(y_true: LabelSequences, y_a: LabelSequences, y_b: LabelSequences, *, exact: bool | None = None) -> McNemar:
    """Test whether two labellings A and B have the same accuracy.

    Only the positions that exactly one of the two labels correctly count.

    Parameters
    ----------
    y_true, y_a, y_b
        The gold labels, and the labels of A and of B: a list of sequences each.
    exact
        True for the exact binomial test, False for chi-square with continuity correction. The default is exact
        below 25 positions that count, chi-square from there on.

    Returns
    -------
    McNemar
        The counts, the statistic and the two-sided p-value.

    Raises
    ------
    InputError
        If the three differ in the number of sequences, in their lengths, or in the type of the labels.

    Examples
    --------
    >>> import hedgerow as hr
    >>> print(hr.significance.mcnemar([["X", "Y", "X"]], [["X", "Y", "Y"]], [["X", "X", "Y"]]))
    only A right 1, only B right 0; McNemar (exact) p = 1
    """
    true, a, b = (flat.labels for flat in flatten_alike(y_true=y_true, y_a=y_a, y_b=y_b))
    n_a_only = n_b_only = 0
    for label, label_a, label_b in zip(true, a, b, strict=True):
        n_a_only += label == label_a != label_b
        n_b_only += label == label_b != label_a
    n = n_a_only + n_b_only
    if exact or (exact is None and n < _EXACT_BELOW):
        fewer = min(n_a_only, n_b_only)
        p = min(1.0, 2 * _coin_tail(fewer, n))
        return McNemar(n_a_only=n_a_only, n_b_only=n_b_only, statistic=float(fewer), p_value=p, method="exact")
    # (|a − b| − 1)² / (a + b); where a = b the correction must not add a difference.
    chi_square = max(abs(n_a_only - n_b_only) - 1, 0) ** 2 / max(n, 1)
    return McNemar(
        n_a_only=n_a_only,
        n_b_only=n_b_only,
        statistic=chi_square,
        p_value=erfc(sqrt(chi_square / 2)),
        method="chi-square",
    )


def _coin_tail(k: int, n: int) -> float:
    """P(at most k heads in n throws) = Σ_{i ≤ k} C(n, i) / 2ⁿ, in whole numbers until the division."""
    total = ways = 1
    for i in range(1, k + 1):
        ways = ways * (n - i + 1) // i
        total += ways
    return total / (1 << n)


def _chi_square_tail(df: int, x: float) -> float:
    """P(chi-square with `df` degrees of freedom > x).

    With h = x / 2 it is, for even and odd df, the finite sum

        Σ_{i < df/2} e⁻ʰ hⁱ / i!      and      erfc(√h) + Σ_{i < (df−1)/2} e⁻ʰ hⁱ⁺¹ᐟ² / Γ(i + 3/2).
    """
    if x <= 0:
        return 1.0
    half, odd = x / 2, df % 2
    terms = (exp((i + odd / 2) * log(half) - half - lgamma(i + 1 + odd / 2)) for i in range(df // 2))
    return min(1.0, (erfc(sqrt(half)) if odd else 0.0) + sum(terms))


@dataclass(frozen=True, kw_only=True)
class TreatmentEffect:
    """Change in the log-odds of a correct label against the baseline; `p_value` is two-sided, from Wald's z."""

    treatment: Label
    coefficient: float
    standard_error: float
    z: float
    p_value: float


@dataclass(frozen=True)
class DevianceAnalysis:
    """Result of `analysis_of_deviance`; `str()` is a table with a star where p < 0.05.

    Attributes
    ----------
    baseline, effects
        The treatment that the others are compared with, and one effect for each of the others.
    null_deviance, residual_deviance
        Deviance of the model with a single log-odds for all rows, and of the full model.
    treatment_deviance
        Deviance of the model with blocks alone minus that of the full model.
    p_value
        Likelihood-ratio test of all treatments together, with `treatment_df` degrees of freedom.
    """

    baseline: Label
    effects: tuple[TreatmentEffect, ...]
    null_deviance: float
    null_df: int
    residual_deviance: float
    residual_df: int
    treatment_deviance: float
    treatment_df: int
    p_value: float

    def __str__(self) -> str:
        head = ["treatment", "log-odds", "std. error", "z", "p"]
        rows = [
            [
                str(e.treatment),
                f"{e.coefficient:+.4f}",
                f"{e.standard_error:.4f}",
                f"{e.z:+.2f}",
                f"{e.p_value:.3g}{_star(e.p_value) or ' '}",
            ]
            for e in self.effects
        ]
        rest = (
            f"baseline {self.baseline}; * p < 0.05\n"
            f"all treatments: deviance {self.treatment_deviance:.2f} on {self.treatment_df} df, "
            f"p = {self.p_value:.3g}{_star(self.p_value)}\n"
            f"null deviance {self.null_deviance:.2f} on {self.null_df} df, "
            f"residual deviance {self.residual_deviance:.2f} on {self.residual_df} df"
        )
        return f"{text_table([head, *rows])}\n{rest}"


def analysis_of_deviance(
    correct: ArrayLike,
    total: ArrayLike,
    treatment: Sequence[Label],
    block: Sequence[Label],
    *,
    baseline: Label | None = None,
) -> DevianceAnalysis:
    """Compare methods (treatments) over several training sets (blocks) by a logistic model:

        log P(right) / P(wrong) = δ[treatment] + σ[block],   δ[baseline] = 0.

    Parameters
    ----------
    correct, total
        For each evaluation, the number of correctly labelled positions and of all positions.
    treatment, block
        For each evaluation, the method and the training set. A pair may occur several times.
    baseline
        The treatment to compare with; the first one by default.

    Returns
    -------
    DevianceAnalysis
        The effect of each treatment, and a likelihood-ratio test of all treatments together.

    Raises
    ------
    InputError
        If a count is negative or no whole number, if the evaluations do not connect all treatments and blocks, or if
        log-odds are infinite because all labels of a group are right, or all wrong.

    Examples
    --------
    Two methods, each trained on two training sets and tested on 100 positions:

    >>> import hedgerow as hr
    >>> analysis = hr.significance.analysis_of_deviance(
    ...     correct=[80, 82, 91, 94], total=[100] * 4, treatment=["A", "A", "B", "B"], block=[1, 2, 1, 2]
    ... )
    >>> analysis.baseline, analysis.effects[0].treatment, analysis.p_value < 0.01
    ('A', 'B', True)
    """
    right, count = _counts(correct, total)
    treatments = _levels(treatment, "treatment", len(right))
    blocks = _levels(block, "block", len(right))
    order = list(treatments)
    if baseline is not None:
        if baseline not in treatments:
            raise InputError(f"baseline is {baseline!r}, which is no treatment; choose one of {order}")
        order.remove(baseline)
        order.insert(0, baseline)
    if len(order) < 2:
        raise InputError(f"treatment has only {order[0]!r}; give evaluations of at least two treatments")
    S = np.stack([blocks[level] for level in blocks], axis=1)
    M = np.stack([treatments[level] for level in order[1:]], axis=1)
    design = np.concatenate([M, S], axis=1).astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError(
            "the effects of treatments and blocks cannot be separated; evaluate several treatments on the same block"
        )
    _refuse_separation(right, count, treatments, blocks)
    return _analysis(design, right, count, order)


def _analysis(design: Floats, right: Floats, count: Floats, order: list[Label]) -> DevianceAnalysis:
    rows, width = design.shape
    df = len(order) - 1
    coefficients, covariance, deviance = _fit(design, right, count)
    _, _, block_deviance = _fit(design[:, df:], right, count)
    _, _, null_deviance = _fit(np.ones((rows, 1)), right, count)
    drop = max(block_deviance - deviance, 0.0)
    effects = []
    for i, name in enumerate(order[1:]):
        coefficient, error = float(coefficients[i]), sqrt(covariance[i, i])
        z = coefficient / error
        effects.append(
            TreatmentEffect(
                treatment=name, coefficient=coefficient, standard_error=error, z=z, p_value=erfc(abs(z) / sqrt(2))
            )
        )
    return DevianceAnalysis(
        baseline=order[0],
        effects=tuple(effects),
        null_deviance=null_deviance,
        null_df=rows - 1,
        residual_deviance=deviance,
        residual_df=rows - width,
        treatment_deviance=drop,
        treatment_df=df,
        p_value=_chi_square_tail(df, drop),
    )


def _fit(X: Floats, right: Floats, count: Floats) -> tuple[Floats, Floats, float]:
    """Coefficients, their covariance and the deviance, by Newton's method (iteratively reweighted least squares).

    With p = 1 / (1 + exp(−Xβ)), q = 1 − p and W = diag(count · p q): β += (XᵀWX)⁻¹ Xᵀ(right · q − wrong · p).
    """
    beta = np.zeros(X.shape[1])
    deviance = _deviance(X @ beta, right, count)
    slack = 1e-12 * (1 + count.sum())  # rounding of a deviance
    for _ in range(_MAX_STEPS):
        p, q = _logistic(X @ beta), _logistic(-X @ beta)  # 1 − p would lose the digits of small error rates
        gradient = X.T @ (right * q - (count - right) * p)
        information = (X.T * (count * p * q)) @ X
        step = np.linalg.solve(information, gradient)
        if gradient @ step < _TOLERANCE:
            return beta, np.linalg.inv(information).astype(np.float64), deviance
        # Far from the optimum a whole step can overshoot: halve it until the deviance falls.
        while (reached := _deviance(X @ (beta + step), right, count)) > deviance + slack:
            step /= 2
        beta, deviance = beta + step, reached
    raise InputError(
        f"the fit did not converge in {_MAX_STEPS} steps; leave out groups that are almost all right or wrong"
    )


def _logistic(x: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))


def _deviance(log_odds: Floats, right: Floats, count: Floats) -> float:
    """2 Σ right · log(right / (count · p)) + wrong · log(wrong / (count · (1 − p))), with 0 log 0 = 0."""
    wrong = count - right
    surprise_right = np.log(np.maximum(right, 1) / count) + np.logaddexp(0, -log_odds)
    surprise_wrong = np.log(np.maximum(wrong, 1) / count) + np.logaddexp(0, log_odds)
    return float(2 * np.sum(right * surprise_right + wrong * surprise_wrong))


def _refuse_separation(right: Floats, count: Floats, treatments: Levels, blocks: Levels) -> None:
    """Raise InputError when no finite coefficients maximise the likelihood."""
    cures = {
        "treatment": "leave the treatment out, or compare it by mcnemar",
        "block": "leave its rows out: they have no information about the treatments",
    }
    for kind, levels in (("treatment", treatments), ("block", blocks)):
        for level, rows in levels.items():
            share = right[rows].sum() / count[rows].sum()
            if share in (0, 1):
                outcome = "right" if share else "wrong"
                raise InputError(
                    f"{kind} {level!r} has all labels {outcome}, so its log-odds are infinite; {cures[kind]}"
                )
    if not _is_overlapping(right, count, treatments, blocks):
        n_extreme = int(((right == count) | (right == 0)).sum())
        raise InputError(
            f"{n_extreme} rows are all right or all wrong in a pattern that makes log-odds infinite; "
            "give rows with more positions, or leave out what is almost all right or wrong"
        )


def _is_overlapping(right: Floats, count: Floats, treatments: Levels, blocks: Levels) -> bool:
    """True if the likelihood has a finite maximum.

    It has none when the coefficients can grow without bound without lowering the likelihood of any row (Albert and
    Anderson, 1984): δ + σ may rise in rows that are all right, fall in rows that are all wrong, and must stay in the
    others. Read a bound δ[i] ≥ −σ[j] as an edge i → j, and δ[i] ≤ −σ[j] as j → i. A move exists exactly when some edge
    lies on no cycle. The graph is connected, as the design has full rank, so that means: not strongly connected.
    """
    of_treatment = np.stack(list(treatments.values())).astype(np.int64)
    of_block = np.stack(list(blocks.values())).astype(np.int64)
    n, size = len(treatments), len(treatments) + len(blocks)
    edges = np.eye(size, dtype=np.int64)
    edges[:n, n:] = (of_treatment * (right > 0)) @ of_block.T
    edges[n:, :n] = (of_block * (right < count)) @ of_treatment.T
    for _ in range(size.bit_length()):
        edges = (edges @ edges > 0).astype(np.int64)
    return bool(edges.all())


def _counts(correct: ArrayLike, total: ArrayLike) -> tuple[Floats, Floats]:
    right, count = np.asarray(correct, dtype=np.float64), np.asarray(total, dtype=np.float64)
    if right.ndim != 1 or right.shape != count.shape or not len(right):
        raise InputError(f"correct has shape {right.shape} and total {count.shape}; give both one entry for each row")
    for row, (c, n) in enumerate(zip(right.tolist(), count.tolist(), strict=True)):
        if not (0 <= c <= n and n >= 1 and c.is_integer() and n.is_integer()):
            raise InputError(f"row {row} has correct = {c:g} and total = {n:g}; give whole numbers, correct <= total")
    return right, count


def _levels(values: Sequence[Label], name: str, rows: int) -> Levels:
    """Rows of each level, in order of first appearance."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(listed) != rows:
        raise InputError(f"{name} has {len(listed)} entries but correct has {rows}; give one for each row")
    return {level: np.array([value == level for value in listed]) for level in dict.fromkeys(listed)}


def _star(p_value: float) -> str:
    return "*" if p_value < 0.05 else ""
