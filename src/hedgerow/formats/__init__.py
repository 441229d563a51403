"""File formats: reading and writing of sequences with labels. docs/formats.md describes each format."""

from hedgerow.formats.blocks import Block, read_blocks
from hedgerow.formats.conversion import convert
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.label_schemes import convert_labels, detect_scheme
from hedgerow.formats.reading import read
from hedgerow.formats.writing import write

__all__ = [
    "Block",
    "Corpus",
    "Layout",
    "convert",
    "convert_labels",
    "detect_scheme",
    "read",
    "read_blocks",
    "write",
]
