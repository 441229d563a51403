"""The predictions that all estimators share: labels, probabilities, n-best lists, scores and likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.frame_columns import is_frame
from hedgerow.data.lazy import is_lazy
from hedgerow.data.sequences import with_sequences
from hedgerow.encoding import Labels
from hedgerow.errors import InputError
from hedgerow.estimators.label_codes import label_codes
from hedgerow.estimators.model_inference import ModelInference
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, DecodeSetting, best_labels, log_likelihood
from hedgerow.inference.spans import Span, SpanRules
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.data.sequences import Sequences
    from hedgerow.encoding.encoded import Encoded
    from hedgerow.typing import ConstraintsLike, KnownLike, LabelsLike, LazySequences, SequenceLike, SequencesLike


# of several sequences
_INSTEAD = {
    "predict_single": "use predict",
    "explain": "explain them one by one",
    "counterfactual": "change them one by one",
}


class Predictions(ModelInference):
    """The methods of a fitted estimator that answer questions about sequences."""

    @overload
    def predict(
        self,
        X: LazySequences,
        *,
        decode: DecodeSetting | None = None,
        known: Any = None,
        constraints: ConstraintsLike | None = None,
    ) -> Any: ...
    @overload
    def predict(
        self,
        X: SequencesLike,
        *,
        decode: DecodeSetting | None = None,
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> list[NDArray[Any]]: ...
    def predict(
        self,
        X: SequencesLike | LazySequences,
        *,
        decode: DecodeSetting | None = None,
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> Any:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : list of sequences, or Dask collection
            Read as in `fit`, and with the same columns. A Dask bag of sequences, a list of delayed lists of sequences,
            or the X of `hedgerow.distributed.from_frame` is labelled when its predictions are computed.
        decode : {"auto", "viterbi", "marginal"}, optional
            Overrides the parameter `decode` of the estimator.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        list of 1-D arrays
            The labels of each sequence, of the same type as in `fit`. `.tolist()` converts them to Python's str, int
            or bool, which JSON and seqeval need: `[p.tolist() for p in model.predict(X)]`. For a Dask collection a
            collection of the same kind; a data frame has the labels in its new column "prediction".

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, or a known label never occurred in training or contradicts the
            constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> [labels.tolist() for labels in model.predict(["cot", "at"])]
        [['-', 'o', '-'], ['a', '-']]
        """
        chosen = self._value("decode", decode, "predict")
        if is_lazy(X):
            return self._predict_lazily("predict", X, known, constraints, decode=decode)
        if _is_empty(X):
            return self._nothing()
        encoded = self._encode(X)
        decoding = self._decoding(self._fitted().labels.classes.tolist(), chosen)
        codes = self._best_labels(encoded, decoding, self._evidence(encoded, known, constraints, "predict"))
        return with_sequences(_by_sequence(self._fitted().labels.decode(codes), encoded.starts), X)

    def predict_single(self, x: SequenceLike | Sequences | Encoded) -> NDArray[Any]:
        """Predict the labels of one sequence.

        Parameters
        ----------
        x : sequence
            One sequence, not a list of sequences.

        Returns
        -------
        1-D array
            Its labels.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If `x` does not fit the training data, or holds several sequences.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.predict_single("dot").tolist()
        ['-', 'o', '-']
        """
        encoded = self._encode_single(x, "predict_single")
        return self._fitted().labels.decode(self._predicted_codes(encoded))

    def _encode_single(self, x: object, owner: str) -> Encoded:
        """One sequence as codes; raises InputError, in which `owner` is the method, if x is something else."""
        self._fitted()
        if isinstance(x, ColumnStore) and len(x) != 1:
            raise InputError(f"{owner} takes one sequence, but there are {len(x)}; {_INSTEAD[owner]}")
        if isinstance(x, Mapping):
            raise InputError(
                f"{owner} takes a list of positions, but x is a {type(x).__name__}, which is one position; "
                "pass [x] if the sequence has only this position"
            )
        if isinstance(x, ColumnStore):
            return self._encode(x)
        try:
            return self._encode([x])
        except InputError:
            if isinstance(x, Sized) and (_is_list_of_sequences(x) or self._reads(x)):
                n = counted(len(x), "sequence")
                raise InputError(f"{owner} takes one sequence, but x is a list of {n}; {_INSTEAD[owner]}") from None
            raise

    @overload
    def predict_proba(
        self, X: LazySequences, *, known: Any = None, constraints: ConstraintsLike | None = None
    ) -> Any: ...
    @overload
    def predict_proba(
        self, X: SequencesLike, *, known: KnownLike | None = None, constraints: ConstraintsLike | None = None
    ) -> list[NDArray[np.floating[Any]]]: ...
    def predict_proba(
        self,
        X: SequencesLike | LazySequences,
        *,
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> Any:
        """Compute the probability of each label at each position.

        Parameters
        ----------
        X : list of sequences, or Dask collection
            Read as in `fit`, and with the same columns. A Dask bag of sequences, a list of delayed lists of sequences,
            or the X of `hedgerow.distributed.from_frame` is labelled when its predictions are computed.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        list of arrays of shape (positions, labels)
            P(label at position | sequence), columns in the order of `classes_`; rows sum to 1. For a Dask collection a
            collection of the same kind; a data frame has a new column "prediction_{label}" for each label.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, or a known label never occurred in training or contradicts the
            constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.predict_proba(["cat"])[0].shape
        (3, 3)
        """
        if is_lazy(X):
            return self._predict_lazily("predict_proba", X, known, constraints)
        if _is_empty(X):
            return self._nothing()
        encoded = self._encode(X)
        blocks = self._ask(
            encoded,
            lambda answers: _by_sequence(answers.marginals()[1], answers.starts),
            self._evidence(encoded, known, constraints, "predict_proba"),
        )
        return with_sequences([p for block in blocks for p in block], X)

    def predict_marginals(
        self, X: SequencesLike, *, known: KnownLike | None = None, constraints: ConstraintsLike | None = None
    ) -> list[list[dict[Any, float]]]:
        """Compute the probability of each label at each position, as dicts.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        list of lists of dicts
            For each position of each sequence the probabilities of `predict_proba` by label.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, or a known label never occurred in training or contradicts the
            constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> sorted(model.predict_marginals(["cat"])[0][1])
        ['-', 'a', 'o']
        """
        names = self._fitted().labels.classes.tolist()
        probabilities = self.predict_proba(X, known=known, constraints=constraints)
        return [[dict(zip(names, row, strict=True)) for row in p.tolist()] for p in probabilities]

    def predict_nbest(
        self,
        X: SequencesLike,
        n: int = 3,
        *,
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> list[list[tuple[float, NDArray[Any]]]]:
        """Find the n most probable label sequences of each sequence.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        n : int >= 1, default=3
            Number of label sequences.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        list of lists of (float, 1-D array)
            For each sequence log-probabilities and labels, the most probable first; fewer than n if there are fewer.
            For JSON: `[[(p, labels.tolist()) for p, labels in best] for best in model.predict_nbest(X)]`.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If n is not an integer of at least 1, X does not fit the training data, or a known label never occurred in
            training or contradicts the constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> [labels.tolist() for _, labels in model.predict_nbest(["cat"], n=2)[0]]
        [['-', 'a', '-'], ['-', 'o', '-']]
        """
        if _is_empty(X):
            return self._nothing()
        labels, encoded = self._fitted().labels, self._encode(X)
        evidence = self._evidence(encoded, known, constraints, "predict_nbest")
        blocks = self._ask(encoded, lambda answers: list(_nbest(answers, n, labels)), evidence)
        return [best for block in blocks for best in block]

    def predict_spans(
        self,
        X: SequencesLike,
        *,
        scheme: str = "auto",
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> list[list[Span]]:
        """Find the spans that the predicted labels mark, each with its probability.

        The spans are those of the labels that `predict` returns. The probability of a span is that of exactly its
        borders and type: the sum of the probabilities of all label sequences that mark this span. It is exact for every
        model with a lattice. `SearchTagger` sums the 100 best label sequences that its beam kept, a lower bound.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        scheme : {"auto", "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"}, default="auto"
            How labels mark spans. "auto" is the scheme of the constraints if they name one, otherwise that of the
            letters of the labels.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        list of lists of Span
            For each sequence its spans in order: tuples (start, end, type, probability), where `end` is the position
            after the last one.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, the labels do not mark spans of the scheme, or a known label never
            occurred in training or contradicts the constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = [["in", "Rome"], ["New", "York"]], [["O", "B-LOC"], ["B-LOC", "I-LOC"]]
        >>> model = hr.LinearCRF(constraints="IOB2").fit(X, y)
        >>> [(span.start, span.end, span.type) for span in model.predict_spans([["in", "New", "York"]])[0]]
        [(1, 3, 'LOC')]
        """
        rules = self._span_rules(scheme, constraints)
        if _is_empty(X):
            return self._nothing()
        encoded = self._encode(X)
        decode = self._decoding(self._fitted().labels.classes.tolist(), self._value("decode"))
        evidence = self._evidence(encoded, known, constraints, "predict_spans")
        blocks = self._ask(encoded, lambda answers: _spans(answers, decode, rules), evidence)
        return [spans for block in blocks for spans in block]

    def score(self, X: SequencesLike, y: LabelsLike) -> float:
        """Compute the accuracy: the share of positions with the right label.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        y : list of lists of labels
            The gold labels. Labels that training never saw count as wrong.

        Returns
        -------
        float
            Between 0 and 1.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, or y does not fit X.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.HMM().fit(X, y).score(X, y)
        1.0
        """
        encoded = self._encode(X)
        codes = label_codes(self._fitted().labels, y, encoded)
        return float(np.mean(self._predicted_codes(encoded) == codes))

    def log_likelihood(
        self,
        X: SequencesLike,
        y: LabelsLike,
        *,
        known: KnownLike | None = None,
        constraints: ConstraintsLike | None = None,
    ) -> NDArray[np.float64]:
        """Compute the log-probability of the labels y of each sequence.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        y : list of lists of labels
            The labels whose probability is wanted.
        known : list of lists, optional
            For each sequence the labels that are known, such as those of an annotator, and None where none is known; or
            None for a sequence without any. The other labels are predicted given these.
        constraints : str or list of pairs, optional
            Overrides the constraints of training; see the parameter `constraints` of the estimator.

        Returns
        -------
        1-D array
            log P(labels | sequence) for each sequence; -inf for labels that training never saw, that the constraints
            forbid, or that contradict known labels.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data, y does not fit X, or a known label never occurred in
            training or contradicts the constraints.
        ImpossibleLatticeError
            If the constraints and known labels leave a sequence no labels.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.HMM().fit(X, y).log_likelihood(X, y).shape
        (2,)
        """
        encoded = self._encode(X)
        codes = label_codes(self._fitted().labels, y, encoded)
        first = 0

        def of_block(answers: Answers) -> NDArray[np.float64]:
            nonlocal first
            own = codes[first : first + int(answers.starts[-1])]
            first += len(own)
            return log_likelihood(answers, own)

        evidence = self._evidence(encoded, known, constraints, "log_likelihood")
        return np.concatenate(list(self._ask(encoded, of_block, evidence)))


def _is_empty(X: object) -> bool:
    return hasattr(X, "__len__") and not isinstance(X, str) and len(X) == 0


def _is_list_of_sequences(x: object) -> bool:
    """Whether x cannot be a sequence, for its first position would be a list of dicts, tuples or lists, or a frame."""
    if not isinstance(x, (list, tuple)) or not x:
        return False
    first = x[0]
    return is_frame(first) or (isinstance(first, list) and bool(first) and isinstance(first[0], (dict, list, tuple)))


def _nbest(answers: Answers, n: int, labels: Labels) -> Iterator[list[tuple[float, NDArray[Any]]]]:
    scores, paths = answers.nbest(n)
    log_z = answers.keeping(paths[0]).log_partition()  # a beam over sums may have lost what one over paths found
    for i, (begin, end) in enumerate(pairwise(answers.starts.tolist())):
        ranks = [rank for rank in range(n) if scores[i, rank] > -np.inf]
        yield [(float(scores[i, rank] - log_z[i]), labels.decode(paths[rank, begin:end])) for rank in ranks]


def _spans(answers: Answers, decode: Decode, rules: SpanRules) -> list[list[Span]]:
    starts = answers.starts
    coded = rules.spans(best_labels(answers, decode), starts)
    found: list[list[Span]] = [[] for _ in starts[1:]]
    sequences = np.searchsorted(starts, coded.firsts, side="right") - 1
    first = starts[sequences]
    columns = ((coded.firsts - first).tolist(), (coded.ends - first).tolist(), coded.types.tolist())
    probabilities = answers.span_probabilities(coded, rules).tolist()
    for i, start, end, type_, probability in zip(sequences.tolist(), *columns, probabilities, strict=True):
        found[i].append(Span(start, end, rules.names[type_], probability))
    return found


def _by_sequence(rows: NDArray[Any], starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [rows[begin:end] for begin, end in pairwise(starts.tolist())]
