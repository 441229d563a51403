"""Every error and warning of the library. A message says subject, rule, what came, and cure."""

from __future__ import annotations


class InputError(ValueError):
    """The data or a parameter breaks a rule; raised before any work is done."""


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked for an answer before `fit`."""


class ModelFileError(ValueError):
    """A model file is truncated, damaged, foreign, or newer than this library."""


class DataNotFoundError(FileNotFoundError):
    """A data set is neither in HEDGEROW_DATA nor in the cache, and could not be downloaded."""


class ImpossibleLatticeError(ValueError):
    """The constraints forbid every path of a sequence."""


class UnseenLabelWarning(UserWarning):
    """Labels that training never saw: they count as wrong, and their sequences are left out of likelihoods."""
