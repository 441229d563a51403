"""File formats: reading and writing of sequences with labels. docs/formats.md describes each format."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.formats.blocks import Block, read_blocks
    from hedgerow.formats.conversion import convert
    from hedgerow.formats.corpus import Corpus, Layout
    from hedgerow.formats.label_schemes import convert_labels, detect_scheme
    from hedgerow.formats.reading import read
    from hedgerow.formats.writing import write
else:
    # Loaded on first use: `hedgerow tag` needs none of the others when it reads blocks.
    _MODULES = {
        "Block": "blocks",
        "read_blocks": "blocks",
        "convert": "conversion",
        "Corpus": "corpus",
        "Layout": "corpus",
        "convert_labels": "label_schemes",
        "detect_scheme": "label_schemes",
        "read": "reading",
        "write": "writing",
    }

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


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
