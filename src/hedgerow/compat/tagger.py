"""The model of a `CRF` with the names of python-crfsuite's Tagger."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow import storage
from hedgerow.compat.items import read_items
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from hedgerow.estimators.linear_estimator import LinearEstimator


@dataclass(frozen=True)
class ModelInfo:
    """What `Tagger.info()` returns, as in python-crfsuite.

    Attributes
    ----------
    header : dict
        "size" of the model file in bytes, "num_features", "num_labels" and "num_attrs", as strings.
    labels, attributes : dict
        Name to number, as strings. Labels are in the order of the training data, attributes are sorted.
    transitions : dict
        (previous label, label) to weight.
    state_features : dict
        (attribute, label) to weight.
    """

    header: dict[str, str]
    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float] = field(repr=False)
    state_features: dict[tuple[str, str], float] = field(repr=False)


class Tagger:
    """Labels one sequence at a time.

    Parameters
    ----------
    estimator : LinearCRF or StructuredPerceptron
        A fitted estimator.

    Examples
    --------
    >>> from hedgerow.compat import CRF
    >>> X = [[{"letter": letter} for letter in word] for word in ("cat", "dog")]
    >>> tagger = CRF().fit(X, [["-", "a", "-"], ["-", "o", "-"]]).tagger_
    >>> tagger.tag(X[0])
    ['-', 'a', '-']
    >>> sorted(tagger.info().labels)
    ['-', 'a', 'o']
    """

    def __init__(self, estimator: LinearEstimator) -> None:
        self._estimator = estimator
        self._sequence: Sequences | None = None
        self._is_empty = False

    def labels(self) -> list[str]:
        """Return the labels of the model.

        Returns
        -------
        list of str
            In the order in which they first occur in the training data.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_.labels()
        ['x', 'y']
        """
        labels: list[str] = self._estimator.classes_.tolist()
        return labels

    def set(self, xseq: Any) -> None:
        """Set the sequence that `tag`, `probability` and `marginal` are about.

        Parameters
        ----------
        xseq : list of dicts or of lists of strings
            The attributes of each position.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> tagger = CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_
        >>> tagger.set([["b"]])
        >>> tagger.tag()
        ['y']
        """
        xseq = list(xseq) if isinstance(xseq, Iterator) else xseq
        self._is_empty = isinstance(xseq, Sized) and len(xseq) == 0
        self._sequence = None if self._is_empty else read_items([xseq])

    def tag(self, xseq: Any = None) -> list[str]:
        """Predict the labels of a sequence.

        Parameters
        ----------
        xseq : list of dicts or of lists of strings, optional
            The attributes of each position; by default those of `set`.

        Returns
        -------
        list of str
            The most probable label sequence; an empty list for an empty sequence.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_.tag([["b"]])
        ['y']
        """
        if xseq is not None:
            self.set(xseq)
        if self._is_empty:
            return []
        labels: list[str] = self._estimator.predict(self._current())[0].tolist()
        return labels

    def probability(self, yseq: list[str]) -> float:
        """Compute the probability of the labels of the sequence of `set`.

        Parameters
        ----------
        yseq : list of str
            A label for each position.

        Returns
        -------
        float
            P(yseq | sequence).

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> tagger = CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_
        >>> tagger.set([["b"]])
        >>> round(tagger.probability(["x"]) + tagger.probability(["y"]), 6)
        1.0
        """
        return float(np.exp(self._estimator.log_likelihood(self._current(), [yseq])[0]))

    def marginal(self, y: str, pos: int) -> float:
        """Compute the probability of a label at one position of the sequence of `set`.

        Parameters
        ----------
        y : str
            The label.
        pos : int
            The position, from 0.

        Returns
        -------
        float
            P(label at the position | sequence).

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> tagger = CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_
        >>> tagger.set([["b"]])
        >>> tagger.marginal("y", 0) > 0.5
        True
        """
        return float(self._estimator.predict_proba(self._current())[0][pos, self.labels().index(y)])

    def info(self) -> ModelInfo:
        """Return the weights and sizes of the model.

        Returns
        -------
        ModelInfo
            With the attributes `header`, `labels`, `attributes`, `transitions` and `state_features`.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> sorted(CRF().fit([[["a"], ["b"]]], [["x", "y"]]).tagger_.info().state_features)
        [('a', 'x'), ('b', 'y')]
        """
        model = self._estimator.model_
        states = self._estimator.state_features_
        transitions: Any = self._estimator.transition_features_
        attributes = sorted({attribute for attribute, _ in states})
        metadata, arrays = model._to_arrays()
        header = {
            "size": storage.file_size(arrays, metadata),
            "num_features": len(states) + len(transitions),
            "num_labels": len(model.labels),
            "num_attrs": len(attributes),
        }
        return ModelInfo(
            header={name: str(number) for name, number in header.items()},
            labels={label: str(i) for i, label in enumerate(self.labels())},
            attributes={attribute: str(i) for i, attribute in enumerate(attributes)},
            transitions=dict(transitions),
            state_features=dict(states),
        )

    def _current(self) -> Sequences:
        if self._is_empty:
            raise InputError("the sequence of set(xseq) must have a position, but it is empty")
        if self._sequence is None:
            raise InputError("the tagger has no sequence yet; call set(xseq) first, or tag(xseq)")
        return self._sequence
