"""What all estimators share besides predictions: parameters, fit and save; and the function load."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.imputation import Treatment
from hedgerow.errors import DAMAGE, InputError, ModelFileError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.explanation import Explainable
from hedgerow.estimators.parameters import AtLeast, CountOrAll
from hedgerow.estimators.registry import REGISTRY
from hedgerow.estimators.value_types import CONSTRAINTS, FEATURES, SEED, VERBOSITY
from hedgerow.inference.decoding import DecodeSetting
from hedgerow.model import Model
from hedgerow.templates import Template

if TYPE_CHECKING:
    from hedgerow.callbacks import Callback
    from hedgerow.estimators.checkpoint import Checkpoint
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.learning.early_stopping import Stopping
    from hedgerow.typing import LabelsLike, SequencesLike, ShardLabels


OF_PREDICTION = ("beam", "decode")  # parameters that may be changed after a fit


@with_parameters
class Estimator(Explainable):
    """The base class of all estimators. Subclasses declare parameters as annotated fields and implement `_learner`."""

    _set_by_fit: ClassVar[dict[str, tuple[str, str]]] = {
        "classes_": ("1-D array", "The labels. `fit` sorts them; a converted model of CRFsuite keeps its own order."),
        "training_log_": ("list of dict", "One record for each step of the fit."),
        "model_": ("Model", "The frozen model, as `hedgerow.inspection` reads it."),
    }

    _can_be_base: ClassVar[bool] = True  # of estimators that learn several models with one estimator

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
    constraints: Annotated[
        Any,
        CONSTRAINTS,
        'Which label sequences exist, in training and prediction. A scheme such as "IOB2" allows the label sequences '
        "that mark spans correctly. A list of pairs (previous label, label) allows these neighbours, with None as the "
        "previous label at the start of a sequence; then any label may end a sequence. None allows all label "
        "sequences. `fit` refuses labels that break the constraints.",
    ] = None
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
        y: LabelsLike | ShardLabels,
        X_dev: SequencesLike | None = None,
        y_dev: LabelsLike | None = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        callbacks: Iterable[Callback] = (),
        client: Any = None,
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
        client : dask.distributed.Client, optional
            Fits on the workers of a Dask cluster; X and y may then be Dask collections. See the guide to distributed
            fits.

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
        from hedgerow.estimators.fitting import Frame, checked_callbacks, prepare, run_learner

        began = time.perf_counter()
        self.check_parameters()
        settings = self._converted()
        functions = checked_callbacks(callbacks, settings.verbose)
        earlier = getattr(self, "model_", None) if settings._continues else None
        if client is not None:
            from hedgerow.distributed.fit import fit_on_workers

            fit_on_workers(
                settings, X, y, X_dev, y_dev, sample_weight, groups, earlier, client, functions, began, self._set_model
            )
            return self
        training, report = prepare(settings, X, y, X_dev, y_dev, sample_weight, groups, earlier)
        checkpoint = settings._checkpoint(training)
        earlier = (checkpoint.load() if checkpoint else None) or earlier
        learner = settings._learner(training, earlier)
        run_learner(learner, settings, Frame.of(training), checkpoint, functions, began, report, self._set_model)
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
    def _label_order(self) -> int:
        """How many previous labels a label depends on, for views; a model without a lattice may have an order too."""
        return self._order

    @property
    def _training_beam(self) -> float | None:
        """The beam of the lattices over training data."""
        return self._beam

    @property
    def _missing(self) -> str:
        """How missing values are handled; estimators without such a parameter sum them out."""
        return getattr(self, "missing", "summed out")

    @property
    def _treatment(self) -> Treatment | None:
        """How the encoder replaces missing values; None if it leaves them."""
        return self._missing if self._missing in get_args(Treatment) else None  # type: ignore[return-value]

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file.

        The file has the parameters of the fit, but `decode` and `beam` as they are now, so that the loaded model
        predicts the same.

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
        model, known = self._fitted(), self._parameters
        now = {name: known[name].plain(self._value(name)) for name in OF_PREDICTION if name in known}
        replace(model, parameters={**model.parameters, **now}).save(path)

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
