"""The examples in docstrings run and give the output that they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import hedgerow

MODULES = [
    module.name
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")
    if not module.name.endswith(("_core", "__main__"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_public_functions_have_examples():
    functions = [hedgerow.metrics.span_f1, hedgerow.significance.mcnemar, hedgerow.datasets.load]
    finder = doctest.DocTestFinder()
    assert all(test.examples for function in functions for test in finder.find(function))
