"""Public docstrings have numpydoc sections, and their examples give the output that they show."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re

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


def public_objects(name, value):
    """(name, function, property or class) of everything that users reach from `value`, each once."""
    if inspect.ismodule(value):
        own = [key for key, member in vars(value).items() if getattr(member, "__module__", None) == value.__name__]
        for key in getattr(value, "__all__", own):
            if not key.startswith("_"):
                yield from public_objects(f"{name}.{key}", getattr(value, key))
    elif inspect.isclass(value):
        yield name, value
        for key, member in inspect.getmembers_static(value):
            plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            if not key.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
                yield f"{name}.{key}", plain
    elif inspect.isfunction(value):
        yield name, value


PUBLIC = {
    id(value): (name, value)
    for name, value in public_objects("hedgerow", hedgerow)
    if getattr(value, "__module__", "hedgerow").startswith("hedgerow")  # not the methods of dict and tuple
}.values()


def is_record(value):
    """Whether a class only holds results, or is an error or a warning: the functions that return it have examples."""
    return dataclasses.is_dataclass(value) or issubclass(value, (tuple, Exception))


@pytest.mark.parametrize(("name", "value"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_public_docstrings_have_their_sections(name, value):
    text = inspect.getdoc(value) or ""
    sections = set(re.findall(r"^(\w+)\n-{4,}$", text, flags=re.MULTILINE))
    assert text.strip(), f"{name} has no docstring"
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        if set(signature.parameters) - {"self", "cls"}:
            assert "Parameters" in sections
        if signature.return_annotation not in ("None", None):
            assert "Returns" in sections
        if "raise " in inspect.getsource(value):
            assert "Raises" in sections
    if inspect.isfunction(value) or (inspect.isclass(value) and not is_record(value)):
        assert "Examples" in sections
        assert ">>>" in text


def test_the_docstring_of_an_estimator_is_in_order():
    text = hedgerow.TreeCRF.__doc__
    places = [text.index(f"\n{section}\n---") for section in ("Parameters", "Attributes", "Examples")]
    assert places == sorted(places)
    for attribute in ("classes_", "feature_importances_", "feature_names_in_", "training_log_"):
        assert f"\n{attribute} : " in text
