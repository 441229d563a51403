"""Is one labelling better than another, or was it luck?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.pairing import Label, LabelSequences, paired
from hedgerow.metrics.positions import aligned

_EXACT_BELOW = 25  # discordant positions; from here on chi-square is close enough
_MAX_STEPS = 100
_TOLERANCE = 1e-18  # squared distance to the optimum in standard errors

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class McNemar:
    """`n_a_only` positions only A labelled right, `n_b_only` only B; `method` is "exact" or "chi-square".

    `statistic` is the smaller count when exact, else chi-square with one degree of freedom.
    """

    n_a_only: int
    n_b_only: int
    statistic: float
    p_value: float
    method: str

    def __str__(self) -> str:
        return (
            f"only A right {self.n_a_only}, only B right {self.n_b_only}; "
            f"McNemar ({self.method}) p = {self.p_value:.3g}{_star(self.p_value)}"
        )


def mcnemar(
    y_true: LabelSequences, y_a: LabelSequences, y_b: LabelSequences, *, exact: bool | None = None
) -> McNemar:
    """Test whether A and B label the same share of positions right; p is two-sided.

    Only positions that one of them has right count. By default the test is exact (binomial, one half) when
    they are fewer than 25, and chi-square with continuity correction otherwise; `exact` overrides that.
    InputError when the three differ in lengths.
    """
    true, a, b = (flat.labels for flat in paired(y_true=y_true, y_a=y_a, y_b=y_b))
    n_a_only = n_b_only = 0
    for label, label_a, label_b in zip(true, a, b, strict=True):
        n_a_only += label == label_a != label_b
        n_b_only += label == label_b != label_a
    n = n_a_only + n_b_only
    if exact or (exact is None and n < _EXACT_BELOW):
        from scipy.special import bdtr

        fewer = min(n_a_only, n_b_only)
        p = min(1.0, 2 * float(bdtr(fewer, n, 0.5)))
        return McNemar(n_a_only, n_b_only, float(fewer), p, "exact")
    # (|a − b| − 1)² / (a + b); the correction never turns a difference of zero into one.
    chi_square = max(abs(n_a_only - n_b_only) - 1, 0) ** 2 / max(n, 1)
    return McNemar(n_a_only, n_b_only, chi_square, erfc(sqrt(chi_square / 2)), "chi-square")


@dataclass(frozen=True)
class TreatmentEffect:
    """Change in log-odds of a right label against the baseline; p is two-sided, of Wald's z."""

    treatment: Label
    coefficient: float
    standard_error: float
    z: float
    p_value: float


@dataclass(frozen=True)
class DevianceAnalysis:
    """What `analysis_of_deviance` found; `str()` is a table with a star where p < 0.05.

    Deviances of the model with one log-odds for all rows (`null`) and of the whole model (`residual`);
    `treatment_deviance` is what all treatments together take off the model with blocks alone, and `p_value`
    its likelihood-ratio test with `treatment_df` degrees of freedom.
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
        return f"{aligned([head, *rows])}\n{rest}"


def analysis_of_deviance(
    correct: ArrayLike,
    total: ArrayLike,
    treatment: Sequence[Label],
    block: Sequence[Label],
    *,
    baseline: Label | None = None,
) -> DevianceAnalysis:
    """Compare treatments over training sets by the logistic model

        log P(right) / P(wrong) = δ[treatment] + σ[block],   δ[baseline] = 0.

    Each row is one evaluation: `correct` of `total` positions right, by this treatment trained on this block.
    The baseline is the first treatment unless named. Rows are kept apart even when treatment and block agree.
    InputError when counts are no counts, when treatments and blocks cannot be told apart, and when some
    log-odds are infinite because all labels of a group are right, or all wrong.
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
        raise InputError(f"treatment holds only {order[0]!r}; give rows of two treatments or more")
    S = np.stack([blocks[level] for level in blocks], axis=1)
    M = np.stack([treatments[level] for level in order[1:]], axis=1)
    design = np.concatenate([M, S], axis=1).astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError(
            "treatments and blocks cannot be told apart; try several treatments on the same block"
        )
    _refuse_separation(design, right, count, treatments, blocks)
    return _analysis(design, right, count, order)


def _analysis(design: Floats, right: Floats, count: Floats, order: list[Label]) -> DevianceAnalysis:
    from scipy.special import chdtrc

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
        effects.append(TreatmentEffect(name, coefficient, error, z, erfc(abs(z) / sqrt(2))))
    return DevianceAnalysis(
        baseline=order[0],
        effects=tuple(effects),
        null_deviance=null_deviance,
        null_df=rows - 1,
        residual_deviance=deviance,
        residual_df=rows - width,
        treatment_deviance=drop,
        treatment_df=df,
        p_value=float(chdtrc(df, drop)),
    )


def _fit(X: Floats, right: Floats, count: Floats) -> tuple[Floats, Floats, float]:
    """Coefficients, their covariance and the deviance, by Newton's steps (iteratively reweighted squares).

    With p = 1 / (1 + exp(−Xβ)), q = 1 − p and W = diag(count · p q): β += (XᵀWX)⁻¹ Xᵀ(right · q − wrong · p).
    """
    from scipy.special import expit

    beta = np.zeros(X.shape[1])
    deviance = _deviance(X @ beta, right, count)
    slack = 1e-12 * (1 + count.sum())  # rounding of a deviance
    for _ in range(_MAX_STEPS):
        p, q = expit(X @ beta), expit(-X @ beta)  # each to full precision: errors may be one in a billion
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
        f"the fit did not settle in {_MAX_STEPS} steps; leave out groups that are almost all right or wrong"
    )


def _deviance(log_odds: Floats, right: Floats, count: Floats) -> float:
    """2 Σ right · log(right / (count · p)) + wrong · log(wrong / (count · (1 − p))), with 0 log 0 = 0."""
    wrong = count - right
    surprise_right = np.log(np.maximum(right, 1) / count) + np.logaddexp(0, -log_odds)
    surprise_wrong = np.log(np.maximum(wrong, 1) / count) + np.logaddexp(0, log_odds)
    return float(2 * np.sum(right * surprise_right + wrong * surprise_wrong))


def _refuse_separation(
    design: Floats,
    right: Floats,
    count: Floats,
    treatments: dict[Label, NDArray[np.bool_]],
    blocks: dict[Label, NDArray[np.bool_]],
) -> None:
    """InputError when no finite coefficients maximise the likelihood."""
    cures = {
        "treatment": "leave the treatment out, or compare it by mcnemar",
        "block": "leave its rows out, they say nothing about the treatments",
    }
    for kind, levels in (("treatment", treatments), ("block", blocks)):
        for level, rows in levels.items():
            share = right[rows].sum() / count[rows].sum()
            if share in (0, 1):
                outcome = "right" if share else "wrong"
                raise InputError(
                    f"{kind} {level!r} has all labels {outcome}, so its log-odds are infinite; {cures[kind]}"
                )
    # sign: +1 all right, −1 all wrong, 0 mixed. Separated when some direction d ≠ 0 raises no row's surprise:
    # sign · Xd ≥ 0 where sign ≠ 0, Xd = 0 where rows are mixed (Albert and Anderson, 1984).
    sign = (right == count).astype(np.float64) - (right == 0)
    if not sign.any():
        return
    from scipy.optimize import linprog

    pull = sign[sign != 0, None] * design[sign != 0]
    mixed = design[sign == 0]
    best = linprog(
        -pull.sum(axis=0),
        A_ub=-pull,
        b_ub=np.zeros(len(pull)),
        A_eq=mixed if len(mixed) else None,
        b_eq=np.zeros(len(mixed)) if len(mixed) else None,
        bounds=(-1, 1),
    )
    if best.x @ pull.sum(axis=0) > 1e-6:
        raise InputError(
            f"{len(pull)} rows are all right or all wrong in a pattern that makes log-odds infinite; "
            "give rows with more positions, or leave out what is almost all right or wrong"
        )


def _counts(correct: ArrayLike, total: ArrayLike) -> tuple[Floats, Floats]:
    right, count = np.asarray(correct, dtype=np.float64), np.asarray(total, dtype=np.float64)
    if right.ndim != 1 or right.shape != count.shape or not len(right):
        raise InputError(
            f"correct has shape {right.shape} and total {count.shape}; give both one entry for each row"
        )
    for row, (c, n) in enumerate(zip(right.tolist(), count.tolist(), strict=True)):
        if not (0 <= c <= n and n >= 1 and c.is_integer() and n.is_integer()):
            raise InputError(
                f"row {row} has correct = {c:g} and total = {n:g}; give whole numbers, correct <= total"
            )
    return right, count


def _levels(values: Sequence[Label], name: str, rows: int) -> dict[Label, NDArray[np.bool_]]:
    """Level → which rows have it, in order of first appearance."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(listed) != rows:
        raise InputError(f"{name} has {len(listed)} entries but correct has {rows}; give one for each row")
    return {level: np.array([value == level for value in listed]) for level in dict.fromkeys(listed)}


def _star(p_value: float) -> str:
    return "*" if p_value < 0.05 else ""
