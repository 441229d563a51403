"""For users of CRFsuite: a drop-in for `sklearn_crfsuite.CRF`, and CRFsuite's models as models of hedgerow.

Nothing here needs sklearn-crfsuite or python-crfsuite.
"""

from hedgerow.compat import metrics, scorers, utils
from hedgerow.compat.crf import CRF
from hedgerow.compat.crfsuite_models import from_crfsuite
from hedgerow.compat.items import read_items
from hedgerow.compat.tagger import ModelInfo, Tagger
from hedgerow.compat.training_log import LabelScore, TrainingLog

__all__ = [
    "CRF",
    "LabelScore",
    "ModelInfo",
    "Tagger",
    "TrainingLog",
    "from_crfsuite",
    "metrics",
    "read_items",
    "scorers",
    "utils",
]
