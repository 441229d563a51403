"""The methods that all estimators share: fit, predictions, scores, save; and the function load."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.frame_columns import is_frame
from hedgerow.data.sequences import Sequences, with_sequences
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.imputation import Treatment
from hedgerow.encoding.missing_values import refuse_missing
from hedgerow.errors import DAMAGE, InputError, ModelFileError, not_fitted
from hedgerow.estimators.conventions import Conventions, with_parameters
from hedgerow.estimators.dev_spans import marks_spans
from hedgerow.estimators.label_codes import label_codes
from hedgerow.estimators.parameters import AtLeast, CountOrAll
from hedgerow.estimators.registry import REGISTRY
from hedgerow.estimators.value_types import FEATURES, SEED, VERBOSITY
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, DecodeSetting, best_labels, log_likelihood
from hedgerow.model import Model
from hedgerow.templates import Template
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.callbacks import Callback
    from hedgerow.estimators.checkpoint import Checkpoint
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.learning.early_stopping import Stopping
    from hedgerow.typing import LabelsLike, SequenceLike, SequencesLike

MOST_THREADS = 256  # results do not depend on how many there are


@with_parameters
class Estimator(Conventions):
    """The base class of all estimators. Subclasses declare parameters as annotated fields and implement `_learner`."""

    _set_by_fit: ClassVar[dict[str, tuple[str, str]]] = {
        "classes_": ("1-D array", "The labels of training, sorted."),
        "training_log_": ("list of dict", "One record for each step of the fit."),
        "model_": ("Model", "The frozen model, as `hedgerow.inspection` reads it."),
    }

    order: Annotated[
        int,
        AtLeast(0),
        "Number of previous labels that a label depends on. Time and memory grow as labels^(order + 1).",
    ] = 1
    decode: Annotated[
        DecodeSetting,
        'What `predict` returns: "viterbi" the most probable label sequence, "marginal" the most probable label of '
        "each position, which makes fewer errors per position but may give label sequences that never occur. "
        '"auto" is "viterbi" for labels that mark spans (such as B-NP, I-NP, O), and for estimators that learn '
        'from best paths; otherwise "marginal". The first record of `training_log_` says which.',
    ] = "auto"
    features: Annotated[
        Template | None,
        FEATURES,
        "Columns to derive from those of X, such as endings of words and neighbours; see `hedgerow.templates`. Other "
        "columns are read as they are. None reads all columns as they are.",
    ] = None
    n_jobs: Annotated[
        int | None,
        CountOrAll(),
        "Number of threads; -1 or None for all processors that this process may use. Results do not depend on it.",
    ] = -1
    random_state: Annotated[
        Any,
        SEED,
        "Seed of everything that is drawn at random; None for another seed in every fit. From a numpy generator each "
        "`fit` draws a seed.",
    ] = None
    verbose: Annotated[
        int,
        VERBOSITY,
        "1 or True shows the progress of `fit`: the same as the callback `hedgerow.callbacks.Progress()`. Larger "
        "numbers do the same as 1.",
    ] = 0

    def fit(
        self,
        X: SequencesLike,
        y: LabelsLike,
        X_dev: SequencesLike | None = None,
        y_dev: LabelsLike | None = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        callbacks: Iterable[Callback] = (),
    ) -> Self:
        """Learn from sequences and their labels.

        Parameters
        ----------
        X : list of sequences
            A sequence is a string, a list of strings, dicts, tuples or lists of strings, a 2-D array, a data frame or
            a sparse matrix; or `Sequences` for all of them.
        y : list of lists of labels
            The labels of each sequence: strings, integers or bools.
        X_dev, y_dev : optional
            Dev data: scored after every step, used for early stopping, never learned from.
        sample_weight : list of float, optional
            Weight of each sequence. A weight of 2 counts like the same sequence twice; 0 leaves it out.
        groups : list, optional
            Group of each sequence, such as its document or its speaker. Wherever `fit` holds out sequences, it holds
            out whole groups.
        callbacks : list of callable
            Each is called with every `TrainingRecord` as it comes. One that returns True or raises
            `hedgerow.StopTraining` ends the fit with what has been learned so far.

        Returns
        -------
        self
            The fitted estimator. Its attributes `classes_`, `feature_names_in_`, `training_log_` and `model_` are set.

        Raises
        ------
        InputError
            If the data or a parameter break a rule; before any work is done.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.classes_.tolist()
        ['-', 'a', 'o']
        """
        from hedgerow.estimators.fitting import checked_callbacks, prepare, run_learner

        began = time.perf_counter()
        self.check_parameters()
        settings = self._converted()
        functions = checked_callbacks(callbacks, settings.verbose)
        earlier = getattr(self, "model_", None) if settings._continues else None
        training, report = prepare(settings, X, y, X_dev, y_dev, sample_weight, groups, earlier)
        checkpoint = settings._checkpoint(training)
        earlier = (checkpoint.load() if checkpoint else None) or earlier
        learner = settings._learner(training, earlier)
        run_learner(learner, settings, training, checkpoint, functions, began, report, self._set_model)
        return self

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        """The learner of this estimator; it continues from an earlier model if there is one.

        Learners are imported here, so that loading a model and predicting imports none of them.
        """
        raise NotImplementedError

    @property
    def _order(self) -> int:
        """The order of the lattice."""
        return int(self._value("order"))

    @property
    def _beam(self) -> int | None:
        """The beam of prediction; None for estimators without one."""
        return self._value("beam") if "beam" in self._parameters else None

    @property
    def _training_beam(self) -> int | None:
        """The beam of the lattices over training data."""
        return self._beam

    @property
    def _learns_paths(self) -> bool:
        """Whether training compares best paths, so that the scores are made for Viterbi and not for marginals."""
        return False

    def _decoding(self, classes: Sequence[Any], decode: DecodeSetting) -> Decode:
        """How labels are chosen if `decode` is the setting and `classes` are the labels."""
        if decode != "auto":
            return decode
        return "viterbi" if self._learns_paths or marks_spans(classes) else "marginal"

    @property
    def _missing(self) -> str:
        """How missing values are handled; estimators without such a parameter sum them out."""
        return getattr(self, "missing", "summed out")

    @property
    def _treatment(self) -> Treatment | None:
        """How the encoder replaces missing values; None if it leaves them."""
        return self._missing if self._missing in get_args(Treatment) else None  # type: ignore[return-value]

    @property
    def _takes_missing(self) -> bool:
        """Whether the model handles the missing values that the encoder leaves."""
        return False

    @property
    def _continues(self) -> bool:
        """Whether `fit` continues from the fitted model."""
        return bool(getattr(self, "warm_start", False))

    @property
    def _validation_fraction(self) -> float | None:
        """The share of the sequences to split off as dev data without X_dev; None without early stopping."""
        return self._value("validation_fraction") if getattr(self, "early_stopping", None) is not None else None

    def _stopping(self, training: TrainingData) -> Stopping | None:
        """The rule of early stopping."""
        from hedgerow.learning.early_stopping import Stopping

        by = self._value("early_stopping")
        if by == "auto":
            by = "span_f1" if training.dev is not None and training.dev.span_f1 is not None else "accuracy"
        return None if by is None else Stopping(by, self._value("patience"))

    def _warn_if_stopped(self, learner: Learner) -> None:
        """Warn if a fit that was interrupted, or ended by a callback, left a model that is of little use."""

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        """The file to which `fit` saves the model as it goes on."""
        return None

    def _encode_checked(self, encoder: Encoder, X: object, fitted_with: Mapping[str, Any], data: str = "X") -> Encoded:
        """X as codes; raises InputError where a value is missing and neither encoder nor model handles that."""
        encoded = encoder.transform(Sequences(X))
        if not (encoder.fills_missing or self._takes_missing):
            setting = f" with missing={fitted_with['missing']!r}" if "missing" in fitted_with else ""
            refuse_missing(encoded, data, f"this {type(self).__name__}{setting}")
        return encoded

    def _set_model(self, model: Model) -> None:
        self.model_ = model
        self.classes_ = model.labels.classes
        self.training_log_ = model.training_log

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of X in training."""
        return np.array(
            [column.name for column in self._fitted().encoder.raw_columns if column.indicates is None], dtype=object
        )

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in training."""
        return len(self.feature_names_in_)

    def predict(self, X: SequencesLike, *, decode: DecodeSetting | None = None) -> list[NDArray[Any]]:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        decode : {"auto", "viterbi", "marginal"}, optional
            Overrides the parameter `decode` of the estimator.

        Returns
        -------
        list of 1-D arrays
            The labels of each sequence, of the same type as in `fit`. `.tolist()` converts them to Python's str, int
            or bool, which JSON and seqeval need: `[p.tolist() for p in model.predict(X)]`.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> [labels.tolist() for labels in model.predict(["cot", "at"])]
        [['-', 'o', '-'], ['a', '-']]
        """
        decode = self._value("decode", decode, "predict")
        if _is_empty(X):
            return self._nothing()
        encoded = self._encode(X)
        codes = self._best_labels(encoded, self._decoding(self._fitted().labels.classes.tolist(), decode))
        return with_sequences(_by_sequence(self._fitted().labels.decode(codes), encoded.starts), X)

    def predict_single(self, x: SequenceLike | Sequences) -> NDArray[Any]:
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
        if isinstance(x, Sequences) and len(x) != 1:
            raise InputError(f"predict_single labels one sequence, but there are {len(x)}; use predict")
        if isinstance(x, Mapping):
            raise InputError(
                f"predict_single labels a list of positions, but x is a {type(x).__name__}, which is one position; "
                "pass [x] if the sequence has only this position"
            )
        if isinstance(x, Sequences):
            return self.predict(x)[0]
        try:
            return self.predict([x])[0]
        except InputError:
            if isinstance(x, Sized) and (_is_list_of_sequences(x) or self._reads(x)):
                n = counted(len(x), "sequence")
                raise InputError(f"predict_single labels one sequence, but x is a list of {n}; use predict") from None
            raise

    def predict_proba(self, X: SequencesLike) -> list[NDArray[np.floating[Any]]]:
        """Compute the probability of each label at each position.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.

        Returns
        -------
        list of arrays of shape (positions, labels)
            P(label at position | sequence), columns in the order of `classes_`; rows sum to 1.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> model.predict_proba(["cat"])[0].shape
        (3, 3)
        """
        if _is_empty(X):
            return self._nothing()
        answers = self._answers(self._encode(X))
        return with_sequences([p for some in answers for p in _by_sequence(some.marginals()[1], some.starts)], X)

    def predict_marginals(self, X: SequencesLike) -> list[list[dict[Any, float]]]:
        """Compute the probability of each label at each position, as dicts.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.

        Returns
        -------
        list of lists of dicts
            For each position of each sequence the probabilities of `predict_proba` by label.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If X does not fit the training data.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> sorted(model.predict_marginals(["cat"])[0][1])
        ['-', 'a', 'o']
        """
        names = self._fitted().labels.classes.tolist()
        return [[dict(zip(names, row, strict=True)) for row in p.tolist()] for p in self.predict_proba(X)]

    def predict_nbest(self, X: SequencesLike, n: int = 3) -> list[list[tuple[float, NDArray[Any]]]]:
        """Find the n most probable label sequences of each sequence.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        n : int >= 1, default=3
            Number of label sequences.

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
            If X does not fit the training data, or n is not an integer of at least 1.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> [labels.tolist() for _, labels in model.predict_nbest(["cat"], n=2)[0]]
        [['-', 'a', '-'], ['-', 'o', '-']]
        """
        if _is_empty(X):
            return self._nothing()
        labels = self._fitted().labels
        return [best for answers in self._answers(self._encode(X)) for best in _nbest(answers, n, labels)]

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
        decode = self._decoding(self._fitted().labels.classes.tolist(), self._value("decode"))
        return float(np.mean(self._best_labels(encoded, decode) == codes))

    def log_likelihood(self, X: SequencesLike, y: LabelsLike) -> NDArray[np.float64]:
        """Compute the log-probability of the labels y of each sequence.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit`, and with the same columns.
        y : list of lists of labels
            The labels whose probability is wanted.

        Returns
        -------
        1-D array
            log P(labels | sequence) for each sequence; -inf for labels that training never saw.

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
        >>> hr.HMM().fit(X, y).log_likelihood(X, y).shape
        (2,)
        """
        encoded = self._encode(X)
        codes = label_codes(self._fitted().labels, y, encoded)
        found, first = [], 0
        for answers in self._answers(encoded):
            last = first + int(answers.starts[-1])
            found.append(log_likelihood(answers, codes[first:last]))
            first = last
        return np.concatenate(found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file.

        Parameters
        ----------
        path : str or path
            The file. An old file is replaced only when the new one is complete; its access rights are kept. A
            read-only file is not replaced.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import hedgerow as hr, tempfile, pathlib
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.hedgerow"
        >>> model.save(path)
        >>> hr.load(path)
        HMM()
        """
        self._fitted().save(path)

    def _value(self, name: str, override: Any = None, owner: str | None = None) -> Any:
        """A parameter, or the value that overrides it, checked and converted."""
        parameter = self._parameters[name]
        value = getattr(self, name) if override is None else override
        parameter.check(owner or type(self).__name__, value)
        return parameter.convert(value)

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit(X, y) or hedgerow.load(path)")
        return model  # type: ignore[no-any-return]

    def _nothing(self) -> list[Any]:
        """The predictions for no sequences."""
        self._fitted()
        return []

    def _encode(self, X: object) -> Encoded:
        model = self._fitted()
        return self._encode_checked(model.encoder, X, model.parameters)

    def _reads(self, X: object) -> bool:
        """Whether X is a list of sequences like those of training."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._encode(X)
        except InputError:
            return False
        return True

    def _answers(self, encoded: Encoded) -> Iterator[Answers]:
        """Inference over one block of sequences at a time, to bound memory."""
        return self._fitted().answers_by_block(encoded, beam=self._beam, n_threads=n_threads(self._value("n_jobs")))

    def _best_labels(self, encoded: Encoded, decode: Decode) -> NDArray[np.int32]:
        return np.concatenate([best_labels(answers, decode) for answers in self._answers(encoded)])

    def _repr_html_(self) -> str:
        from hedgerow.estimators.html_repr import html_repr

        return html_repr(self)


def load(path: str | os.PathLike[str]) -> Estimator:
    """Read a fitted estimator from a file.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    Estimator
        The fitted estimator, of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, no model file, or written by a newer version.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import hedgerow as hr, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.hedgerow"
    >>> hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]).save(path)
    >>> hr.load(path).predict_single("cat").tolist()
    ['-', 'a', '-']
    """
    model = Model.load(path)
    cls = REGISTRY.get(model.estimator)
    if cls is None:
        raise ModelFileError(
            f"{path} holds a {model.estimator!r}, which this version of hedgerow does not have; upgrade hedgerow"
        )
    try:
        fitted: Estimator = cls._from_plain(model.parameters)
        fitted.check_parameters()
        if fitted._order != model.order:
            raise InputError(f"their order is {fitted._order}, but that of the model is {model.order}")
    except DAMAGE as error:
        raise ModelFileError(
            f"{path} holds parameters that break a rule of {model.estimator} ({error}); save the model again"
        ) from error
    fitted._set_model(model)
    return fitted


def n_threads(n_jobs: int | None) -> int:
    """The number of threads; -1 and None stand for every processor this process may run on."""
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


def _by_sequence(rows: NDArray[Any], starts: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [rows[begin:end] for begin, end in pairwise(starts.tolist())]
