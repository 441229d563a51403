"""The reference pages of the site: every public name and every parameter is on them, without Sphinx."""

from __future__ import annotations

import inspect
import re

import pytest

import hedgerow as hr
from hedgerow.estimators.parameters import parameters
from project.doc_pages import DOCS, GUIDES, load_tool

load_tool("doc_navigation")  # the other tool imports it
tool = load_tool("doc_reference")
ESTIMATORS = dict(tool.estimators())


def test_all_estimators_are_there() -> None:
    assert next(iter(ESTIMATORS)) == "TreeCRF"
    assert len(ESTIMATORS) == 10


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_an_estimator_has_its_row(name: str) -> None:
    sections = re.split(r"^## ", tool.parameters_sections(), flags=re.MULTILINE)
    (section,) = (section for section in sections if section.startswith(f"{name}\n"))
    rows = re.findall(r"^\| `(\w+)=(.*?)` \|", section, re.MULTILINE)
    assert rows == [(p.name, repr(p.default)) for p in parameters(ESTIMATORS[name]).values()]


def test_the_overview_names_the_estimators_of_a_parameter() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", tool.overview_table(), re.MULTILINE))
    assert rows["n_jobs"] == "all"
    assert rows["n_rounds"].count("](#") == sum("n_rounds" in parameters(cls) for cls in ESTIMATORS.values())


def test_every_public_name_is_in_the_list_and_has_a_page() -> None:
    index = tool.api_index()
    for name, value in tool.public_names().items():
        assert f"(generated/api/hedgerow.{name}.rst)" in index
        page = tool.api_page(name, value)
        names = [f"{name}.{member}" for member in tool.members(value)] if inspect.ismodule(value) else [name]
        assert all(re.search(rf"^\.\. auto\w+:: hedgerow\.{re.escape(one)}$", page, re.MULTILINE) for one in names)
    assert set(hr.__all__) <= set(tool.public_names())


def test_fields_of_a_named_tuple_are_described_once() -> None:
    assert "   :exclude-members: start, end, type, probability\n" in tool.directive("hedgerow.Span", hr.Span)


def test_markers_have_their_generators() -> None:
    found = [marker for page in GUIDES for marker in tool.MARKER.findall(page.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(tool.GENERATORS)
    assert "<!-- generated" not in tool.replace_markers((DOCS / "parameters.md").read_text(encoding="utf-8"))
