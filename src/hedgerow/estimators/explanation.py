"""The method `explain` of all estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from hedgerow.estimators.prediction import Predictions

if TYPE_CHECKING:
    from hedgerow.data.sequences import Sequences
    from hedgerow.encoding.encoded import Encoded
    from hedgerow.inference.spans import Span
    from hedgerow.inspection.explaining.explanation import Explanation, Explanations
    from hedgerow.typing import SequenceLike


class Explainable(Predictions):
    """Predictions that can be explained."""

    @overload
    def explain(
        self, x: SequenceLike | Sequences | Encoded, position: None = None, against: Any = None
    ) -> Explanations: ...
    @overload
    def explain(
        self, x: SequenceLike | Sequences | Encoded, position: int | tuple[int, int] | Span, against: Any = None
    ) -> Explanation: ...
    def explain(
        self,
        x: SequenceLike | Sequences | Encoded,
        position: int | tuple[int, int] | Span | None = None,
        against: Any = None,
    ) -> Explanation | Explanations:
        """Explain why the model prefers the label that it predicts.

        The log-odds of the predicted label against another are split into what each attribute of the position adds,
        and what the labels to the left and to the right add. The guide "Why this label?" says how.

        Parameters
        ----------
        x : sequence
            One sequence, read as in `predict_single`.
        position : int, (start, end) or Span, optional
            The position, or a span of positions. None explains every position.
        against : label or list of labels, optional
            The label to compare with; for a span one for each position. The default is the runner-up: the most probable
            other label, or the labels of the best path that labels the span in another way.

        Returns
        -------
        Explanation or Explanations
            `explanation.contributions` add up to `explanation.log_odds`. Without a position a tuple of explanations.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If x does not fit the training data or holds several sequences, the position is outside of it, or `against`
            is no label of the model or is what the model predicts.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> explanation = model.explain("cot", 1)
        >>> explanation.label, explanation.against
        ('o', ('a',))
        >>> total = sum(one.contribution for one in explanation.contributions)
        >>> abs(total - explanation.log_odds) < 1e-9
        True
        """
        from hedgerow.inspection.explaining.entry import explain

        return explain(self, x, position, against)  # type: ignore[arg-type, no-any-return]
