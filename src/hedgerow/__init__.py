"""hedgerow labels sequences, with conditional random fields of boosted trees and with related models.

Estimators
    TreeCRF                conditional random field of boosted trees
    LinearCRF              conditional random field with weights
    MEMM, FutureMEMM       maximum-entropy Markov models
    HMM                    hidden Markov model
    StructuredPerceptron, StructuredSVM, SearchTagger
                           linear models that learn from their mistakes
    OutputCode             many labels as codes of bits, for any of the others
    OpinionPool            several models over subsets of the attributes, which predict together

    All have fit, predict, predict_single, predict_proba, predict_spans, score and save.

Functions
    load                   read a saved estimator
    tune                   find the best estimator and setting by a race
    cross_val_predict      predictions by models that did not see the sequence
    calibrate              divide scores by the temperature that suits dev data
    rank_for_annotation    the sequences whose labels are most doubtful
    from_frame, to_frame   read a data frame, write predictions beside its rows
    from_padded            cut padding off
    read, write            sequences and labels of a file
    report                 an HTML page that shows what a model does, and where it fails
    encode                 data of any size as a folder of mapped files

Classes
    Sequences              sequences that are read once and used often
    Encoded                sequences that encode wrote, mapped from their files
    Span                   a span of labels with its probability, of predict_spans
    StopTraining           raised by a callback to end a fit
    TuningResult           what tune returns

Modules
    callbacks, compat, datasets, distributed, errors, formats, inspection, metrics, significance, templates
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow import callbacks as callbacks
    from hedgerow import compat as compat
    from hedgerow import datasets as datasets
    from hedgerow import distributed as distributed
    from hedgerow import errors as errors
    from hedgerow import formats as formats
    from hedgerow import inspection as inspection
    from hedgerow import metrics as metrics
    from hedgerow import significance as significance
    from hedgerow import templates as templates
    from hedgerow.corpora import encode as encode
    from hedgerow.data.frames import from_frame as from_frame
    from hedgerow.data.frames import to_frame as to_frame
    from hedgerow.data.padded import from_padded as from_padded
    from hedgerow.data.sequences import Sequences as Sequences
    from hedgerow.encoding.encoded import Encoded as Encoded
    from hedgerow.errors import StopTraining as StopTraining
    from hedgerow.estimators import HMM as HMM
    from hedgerow.estimators import MEMM as MEMM
    from hedgerow.estimators import FutureMEMM as FutureMEMM
    from hedgerow.estimators import LinearCRF as LinearCRF
    from hedgerow.estimators import OpinionPool as OpinionPool
    from hedgerow.estimators import OutputCode as OutputCode
    from hedgerow.estimators import SearchTagger as SearchTagger
    from hedgerow.estimators import StructuredPerceptron as StructuredPerceptron
    from hedgerow.estimators import StructuredSVM as StructuredSVM
    from hedgerow.estimators import TreeCRF as TreeCRF
    from hedgerow.estimators import load as load
    from hedgerow.formats import read as read
    from hedgerow.formats import write as write
    from hedgerow.inference.spans import Span as Span
    from hedgerow.inspection.annotation import rank_for_annotation as rank_for_annotation
    from hedgerow.inspection.calibration import calibrate as calibrate
    from hedgerow.inspection.report import report as report
    from hedgerow.tuning import TuningResult as TuningResult
    from hedgerow.tuning import cross_val_predict as cross_val_predict
    from hedgerow.tuning import tune as tune

__version__ = "0.1.0"

# Names are loaded on first use: a bare `import hedgerow` costs milliseconds.
_HOME = {
    "Encoded": "hedgerow.encoding.encoded",
    "FutureMEMM": "hedgerow.estimators",
    "HMM": "hedgerow.estimators",
    "LinearCRF": "hedgerow.estimators",
    "MEMM": "hedgerow.estimators",
    "OpinionPool": "hedgerow.estimators",
    "OutputCode": "hedgerow.estimators",
    "SearchTagger": "hedgerow.estimators",
    "Sequences": "hedgerow.data.sequences",
    "Span": "hedgerow.inference.spans",
    "StopTraining": "hedgerow.errors",
    "StructuredPerceptron": "hedgerow.estimators",
    "StructuredSVM": "hedgerow.estimators",
    "TreeCRF": "hedgerow.estimators",
    "TuningResult": "hedgerow.tuning",
    "calibrate": "hedgerow.inspection.calibration",
    "callbacks": "hedgerow.callbacks",
    "compat": "hedgerow.compat",
    "cross_val_predict": "hedgerow.tuning",
    "datasets": "hedgerow.datasets",
    "distributed": "hedgerow.distributed",
    "encode": "hedgerow.corpora",
    "errors": "hedgerow.errors",
    "formats": "hedgerow.formats",
    "from_frame": "hedgerow.data.frames",
    "from_padded": "hedgerow.data.padded",
    "inspection": "hedgerow.inspection",
    "load": "hedgerow.estimators",
    "metrics": "hedgerow.metrics",
    "rank_for_annotation": "hedgerow.inspection.annotation",
    "read": "hedgerow.formats",
    "report": "hedgerow.inspection.report",
    "significance": "hedgerow.significance",
    "templates": "hedgerow.templates",
    "to_frame": "hedgerow.data.frames",
    "tune": "hedgerow.tuning",
    "write": "hedgerow.formats",
}

__all__ = sorted(_HOME)


if not TYPE_CHECKING:  # a type checker that saw __getattr__ would accept every misspelled name

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'hedgerow' has no attribute {name!r}{_nearest(name)}")
        module = importlib.import_module(_HOME[name])
        value = module if module.__name__ == f"hedgerow.{name}" else getattr(module, name)
        globals()[name] = value
        return value


def _nearest(name: str) -> str:
    import difflib

    nearest = difflib.get_close_matches(name, _HOME, n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
