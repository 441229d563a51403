"""Permutation importance: how much worse a model labels sequences when one column of X is shuffled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import escape
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ImpossibleLatticeError, InputError, warnings_to
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.encoded_scores import Metric, score_function
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.svg_charts import bar_chart
from hedgerow.inspection.view_tables import axes_or_new, check_count, frame_of, plain_text, top_html_table, top_table
from hedgerow.utilities import is_count

VIEW = "permutation_importance"
MOST_BARS = 20
DIGITS = 12  # of drops after the point


class PermutationImportance(NamedTuple):
    """By how much the score falls when the values of a column are shuffled.

    Attributes
    ----------
    column
        The name of the column of X.
    drop
        The score of X minus the score of X with the column shuffled, mean over the repetitions. It may be below 0. A
        log-likelihood drops to minus infinity if the model excludes gold labels of the shuffled sequences.
    deviation
        The standard deviation of the drop over the repetitions; 0 for one repetition, NaN if the drop is infinite.
    """

    column: str
    drop: float
    deviation: float


@dataclass(frozen=True)
class PermutationImportances:
    """Result of `permutation_importance`; `str()` is a table of the first rows.

    Attributes
    ----------
    rows
        The columns, the greatest drop first.
    metric
        What was measured: "accuracy", "span_f1" or "log_likelihood".
    score
        The score of X as it is.
    n_repeats
        How often each column was shuffled.
    """

    rows: tuple[PermutationImportance, ...]
    metric: Metric
    score: float
    n_repeats: int

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> PermutationImportance:
        return self.rows[index]

    def to_frame(self) -> Any:
        """Return the rows as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> list(hr.inspection.permutation_importance(hr.HMM().fit(X, y), X, y).to_frame().columns)
        ['column', 'drop', 'deviation']
        """
        return frame_of(PermutationImportance._fields, self.rows)

    def plot(self, n: int = 20, axes: Any = None) -> Any:
        """Plot the first rows as bars, with a line for the standard deviation.

        Parameters
        ----------
        n : int, default=20
            The most columns to plot.
        axes : matplotlib axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib axes
            matplotlib is installed by the extra `plot`.

        Raises
        ------
        InputError
            If n is not an integer of at least 1.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib
        >>> matplotlib.use("Agg")
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.inspection.permutation_importance(hr.HMM().fit(X, y), X, y).plot().get_xlabel()
        'drop of accuracy'
        """
        rows = self.rows[: check_count("plot", "n", n)]
        axes = axes_or_new(axes, 0.8 + 0.25 * len(rows))
        axes.barh(range(len(rows)), [row.drop for row in rows], xerr=[row.deviation for row in rows])
        axes.set_yticks(range(len(rows)), [plain_text(row.column) for row in rows])
        axes.invert_yaxis()
        axes.set_xlabel(f"drop of {self.metric}")
        return axes

    def to_svg(self) -> str:
        """Return a bar chart of the first 20 rows.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.inspection.permutation_importance(hr.HMM().fit(X, y), X, y).to_svg()[:4]
        '<svg'
        """
        rows = self.rows[:MOST_BARS]
        return bar_chart(
            [(row.column, row.drop) for row in rows],
            title="Permutation importance",
            description=f"Drop of {self.metric} when each of {len(rows)} columns is shuffled.",
            deviations=[row.deviation for row in rows],
        )

    def __str__(self) -> str:
        return f"{self._summary()}\n{top_table(PermutationImportance._fields, self.rows)}"

    def _repr_html_(self) -> str:
        table = top_html_table(PermutationImportance._fields, self.rows, MOST_BARS)
        return f"<div><p>{escape(self._summary())}</p>{table}</div>"

    def _summary(self) -> str:
        return f"{self.metric} {self.score:.4g}; drop when a column is shuffled, mean of {self.n_repeats}"


def permutation_importance(
    model: Estimator,
    X: Any,
    y: Any,
    *,
    columns: Iterable[str] | None = None,
    n_repeats: int = 5,
    random_state: int | None = 0,
    metric: Metric = "accuracy",
) -> PermutationImportances:
    """Measure how much worse a model becomes when the values of one column are shuffled among all positions.

    The columns are those of X, before `features` of the model derive others from them. Use sequences that the model
    was not trained on: with training data the drop also shows what was memorised. Columns that say the same share
    their importance, because the model can read either of them.

    Parameters
    ----------
    model : estimator
        Any fitted estimator.
    X : list of sequences
        Read as in `fit`. Encoded sequences have no raw columns and are refused.
    y : list of lists of labels
        The gold labels.
    columns : list of str, optional
        The columns to shuffle; by default all columns of X that training had.
    n_repeats : int >= 1, default=5
        How often each column is shuffled. Raise it for a smaller error of the mean.
    random_state : int or None, default=0
        Seed of the permutations, which are the same for every column. None gives other ones in each call.
    metric : {"accuracy", "span_f1", "log_likelihood"}, default="accuracy"
        What is measured: the share of correct labels, the F1 of spans, or the mean log-probability of the gold labels
        by position. Sequences whose gold labels are impossible for the model do not count for the last one.

    Returns
    -------
    PermutationImportances
        The columns, the greatest drop first.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model is no estimator, X, y or columns do not fit it, an argument breaks its rule, or the model has no
        labels for shuffled sequences, such as an HMM without smoothing.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X = [[{"letter": c, "word": w} for c in w] for w in ("cat", "dog", "tag", "cod")]
    >>> y = [["-", "v", "-"]] * 4
    >>> found = hr.inspection.permutation_importance(hr.HMM(order=0).fit(X, y), X, y)
    >>> [row.column for row in found.rows]
    ['letter', 'word']
    """
    from hedgerow.learning.seeds import fit_seeds, stream  # prediction imports this module too, and no learner

    estimator, frozen = fitted_model(model, VIEW)
    n_repeats = check_count(VIEW, "n_repeats", n_repeats)
    _check_arguments(y, metric, random_state)
    sequences = raw_sequences(X, VIEW)
    encoded = estimator._encode(sequences)
    score = score_function(estimator, y, encoded, metric, VIEW)
    known = {spec.name for spec in frozen.encoder.raw_columns}
    chosen = _chosen_columns(sequences, known, columns)
    base = score(encoded)
    seed = fit_seeds(random_state)[0]
    orders = [stream(seed, i).permutation(sequences.n_positions) for i in range(n_repeats)]
    rows = []
    with warnings_to(lambda message, category: None):  # the same as those about X itself
        for name in chosen:
            try:
                scores = [score(estimator._encode(_shuffled(sequences, name, order))) for order in orders]
            except ImpossibleLatticeError:
                raise InputError(
                    f"{VIEW}: the model has no labels for some sequences in which {name!r} is shuffled, because it "
                    "gives values that never came with a label the probability 0; fit it with smoothing above 0"
                ) from None
            rows.append(_row(name, base, scores))
    return PermutationImportances(tuple(sorted(rows, key=lambda row: (-row.drop, row.column))), metric, base, n_repeats)


def raw_sequences(X: object, view: str) -> Sequences:
    """X as raw columns; raises InputError if X is encoded already."""
    if isinstance(X, Encoded):
        raise InputError(f"{view}: X must be raw sequences, but it is encoded; give the sequences before encoding")
    return X if isinstance(X, Sequences) else Sequences(X)


def _check_arguments(y: object, metric: object, random_state: object) -> None:
    if y is None:
        raise InputError(f"{VIEW} compares predictions with gold labels, but y is None; pass the gold labels")
    if metric not in get_args(Metric):
        raise InputError(f"{VIEW}: metric must be one of {', '.join(map(repr, get_args(Metric)))}; it is {metric!r}")
    if random_state is not None and (not is_count(random_state) or int(random_state) < 0):  # type: ignore[call-overload]
        raise InputError(f"{VIEW}: random_state must be an integer of at least 0, or None; it is {random_state!r}")


def _chosen_columns(sequences: Sequences, known: set[str], columns: Iterable[str] | None) -> list[str]:
    names = [column.name for column in sequences.columns]
    if columns is None:
        return [name for name in names if name in known] or names
    if not isinstance(columns, Iterable):
        raise InputError(f"{VIEW}: columns must be a list of names of columns; it is {columns!r}")
    chosen = [columns] if isinstance(columns, str) else [str(name) for name in columns]
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        raise InputError(f"{VIEW}: columns must be columns of X, {names}, but got {unknown or 'none'}")
    return list(dict.fromkeys(chosen))


def _shuffled(sequences: Sequences, name: str, order: NDArray[np.int64]) -> Sequences:
    """The sequences with the values of one column in another order over all positions."""
    columns = tuple(column.take(order) if column.name == name else column for column in sequences.columns)
    return Sequences.trusted(sequences.starts, columns, None, sequences.optional_columns)


def _row(name: str, base: float, scores: list[float]) -> PermutationImportance:
    drops = base - np.array(scores)
    drop = round(float(drops.mean()), DIGITS)  # rounding errors would leave 1e-17 of equal scores
    return PermutationImportance(name, drop, round(float(drops.std()), DIGITS) if np.isfinite(drop) else float("nan"))
