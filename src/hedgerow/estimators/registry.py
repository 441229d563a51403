"""Every estimator by name, as model files and the command line name it. A class is imported when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

_MODULES = {
    "TreeCRF": "treecrf",
    "LinearCRF": "linear_crf",
    "StructuredSVM": "svm",
    "StructuredPerceptron": "perceptron",
    "HMM": "hmm",
    "MEMM": "memm",
    "FutureMEMM": "future_memm",
    "SearchTagger": "search_tagger",
    "OutputCode": "output_code",
    "OpinionPool": "opinion_pool",
}


class _Registry(Mapping[str, type[Any]]):
    """The estimator classes; loading one model does not import the others."""

    def __getitem__(self, name: str) -> type[Any]:
        cls: type[Any] = getattr(import_module(f"hedgerow.estimators.{_MODULES[name]}"), name)
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


REGISTRY: Mapping[str, type[Any]] = _Registry()
