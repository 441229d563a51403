"""Data sets: loaders of files from the literature, generators of synthetic data, and one set that is part of the
package.
"""

from __future__ import annotations

from hedgerow.datasets.catalogue import load, names
from hedgerow.datasets.damaging import damage
from hedgerow.datasets.dataset import Dataset
from hedgerow.datasets.synthetic import cycle, future, hmm_forty, hmm_three

__all__ = ["Dataset", "cycle", "damage", "future", "hmm_forty", "hmm_three", "load", "names"]
