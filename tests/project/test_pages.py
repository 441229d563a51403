"""What the pages say about the repository is true: links, folders, the import order."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from project.doc_pages import DOCS, GUIDES, load_tool

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *GUIDES]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FILES = PYPROJECT["project"]["urls"]["Homepage"] + "/blob/main/"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
tool = load_tool("doc_navigation")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    """The links of a page to a file or heading that does not exist."""
    broken = []
    for link in LINK.findall(CODE.sub("", text)):
        name, _, anchor = link.partition("#")
        if name.startswith(FILES):
            target = ROOT / name.removeprefix(FILES)
        elif re.match(r"[a-z]+:", name):
            continue
        else:
            target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_broken_links_are_found() -> None:
    text = "# A b\n[1](no.md) [2](README.md#no) ![3](no.png) [4](#no) [5](https://x.org/no.md) `[6](no.md)`\n"
    assert broken_links(ROOT / "CHANGELOG.md", text) == ["no.md", "README.md#no", "no.png", "#no"]
    assert broken_links(ROOT / "README.md", f"[1]({FILES}docs/index.md#i-want-to)") == []
    assert broken_links(ROOT / "README.md", f"[1]({FILES}docs/no.md)") == [FILES + "docs/no.md"]


def test_the_readme_has_absolute_links() -> None:
    links = LINK.findall(CODE.sub("", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert links
    assert all(link.startswith("https://") for link in links)  # PyPI shows the page without the repository


def architecture_block(heading: str) -> list[str]:
    """The lines of the first text block under a heading of docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {heading}\n.*?^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def names(layer: str) -> list[str]:
    return re.findall(r"\w+", layer)


def test_the_import_order_is_that_of_the_contract() -> None:
    (contract,) = PYPROJECT["tool"]["importlinter"]["contracts"]
    package = ROOT / "src" / "hedgerow"
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or path.is_dir()} | {"_core"}
    layers = [[name for name in names(layer) if name in there] for layer in contract["layers"]]
    shown = [names(line.partition("  ")[0] if "  " in line else line) for line in architecture_block("Imports")]
    assert [sorted(layer) for layer in shown] == [sorted(layer) for layer in layers if layer]


def test_the_folders_are_those_of_the_repository() -> None:
    shown: dict[str, set[str]] = {}
    for line in architecture_block("Folders"):
        entry = re.match(r"( *)([\w./, ]+?)(  |$)", line)
        if entry is None:
            continue
        if not entry[1]:
            parent = entry[2]
            shown[parent] = set()
        elif len(entry[1]) == 2:
            shown[parent] |= set(entry[2].split(", "))
    for parent in ("src/core/", "src/hedgerow/"):
        folder = ROOT / parent
        folders = {f"{path.name}/" for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
        modules = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
        assert shown[parent] == folders | modules
    for path in set(shown) - {"src/core/", "src/hedgerow/"}:
        assert (ROOT / path).is_dir(), path


def navigation() -> Iterator[str]:
    """The pages below docs that the navigation pages list, once for each list item."""
    for name in tool.NAVIGATION_PAGES:
        text = tool.rewrite_links((DOCS / f"{name}.md").read_text(encoding="utf-8"), "docs")
        for _, pages in tool.entries(text):
            yield from (file for _, file in pages)


def test_every_page_has_one_place_in_the_navigation() -> None:
    pages = sorted(str(page.relative_to(DOCS)) for page in GUIDES)
    copies = tool.COPIES.values()
    assert sorted(["index.md", *navigation()]) == sorted([*pages, *copies])


def test_a_navigation_page_becomes_tables_of_contents() -> None:
    text = "# Top\n\n- [A b](a.md): text\n\n## More\n\nsee [c](c.md)\n\n- [D](x/d.md)\n- [web](https://x.org)\n"
    assert tool.toctrees(text) == (
        "```{toctree}\n:hidden:\n:caption: \n\nA b <a>\n```\n\n```{toctree}\n:hidden:\n:caption: More\n\nD <x/d>\n```"
    )


def test_links_out_of_docs_are_rewritten() -> None:
    text = "[1](../CONTRIBUTING.md#checks) [tuning.md](tuning.md#a) [3](../LICENSE) [4](#x)\n```\n[5](../x)\n```\n"
    assert tool.rewrite_links(text, "docs") == (
        "[1](generated/contributing.md#checks) [Tuning](tuning.md#a) "
        f"[3]({FILES}LICENSE) [4](#x)\n```\n[5](../x)\n```\n"
    )
    assert tool.rewrite_links("[1](../results.md) [2](../../CHANGELOG.md)", "docs/results") == (
        "[1](../results.md) [2](../generated/changelog.md)\n"
    )


def test_no_page_has_a_name_that_sphinx_uses_itself() -> None:
    assert not {page.stem for page in DOCS.glob("*.md")} & {"search", "genindex", "modindex", "py-modindex"}
