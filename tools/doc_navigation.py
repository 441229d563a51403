"""Prepare the Markdown pages for Sphinx: navigation from lists of links, and links that leave the folder `docs`.

The pages are written to be read on GitHub as well, so they have no Sphinx directives. `docs/conf.py` calls `prepare`
for each page when Sphinx reads it.

- On the pages of `NAVIGATION_PAGES`, list items that begin with a link (`- [Tuning](tuning.md): ...`) are the entries
  of the navigation. Each heading with such a list becomes one caption of the sidebar.
- A link whose text is the name of a file (`[tuning.md](tuning.md)`) gets the title of that page as its text.
- A link to `CONTRIBUTING.md` or `CHANGELOG.md` leads to a copy of that file on the site. A link to any other file of
  the repository leads to that file on GitHub.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/hedgerow/hedgerow/blob/main/"
NAVIGATION_PAGES = ("index", "guides", "reference", "about", "results")
COPIES = {"CONTRIBUTING.md": "generated/contributing.md", "CHANGELOG.md": "generated/changelog.md"}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
FILE_NAME_LINK = re.compile(r"\[[\w-]+\.md\]\(([\w./-]+\.md)(?=[#)])")
ENTRY = re.compile(r"^[-*] +\[([^\]]+)\]\(([^)#\s]+\.md)\)")
HEADING = re.compile(r"^#{2,} +(.+?) *$")
FENCE = re.compile(r"^ *```")


def entries(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the headings of a navigation page, each with the (title, file) pairs of the list below it."""
    found: list[tuple[str, list[tuple[str, str]]]] = [("", [])]
    for line in text.splitlines():
        if heading := HEADING.match(line):
            found.append((heading[1], []))
        elif entry := ENTRY.match(line):
            found[-1][1].append((entry[1], entry[2]))
    return [(heading, pages) for heading, pages in found if pages]


def toctrees(text: str) -> str:
    """Return the hidden tables of contents of a navigation page, one for each heading with a list of links."""
    blocks = []
    for heading, pages in entries(text):
        lines = [f"{name} <{posixpath.splitext(page)[0]}>" for name, page in pages]
        blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *lines, "```"]))
    return "\n\n".join(blocks)


def rewrite_links(text: str, folder: str, root: Path = ROOT) -> str:
    """Return the page with links from `folder`, relative to the repository, that Sphinx can resolve."""

    def titled(link: re.Match[str]) -> str:
        return f"[{title(root / folder / link[1])}]({link[1]}"

    def target(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path in COPIES:
            return posixpath.relpath("docs/" + COPIES[path], folder)
        return link[1] if path.startswith("docs/") else REPOSITORY + path

    fenced, lines = False, []
    for line in text.splitlines():
        fenced ^= bool(FENCE.match(line))
        lines.append(line if fenced else LINK.sub(target, FILE_NAME_LINK.sub(titled, line)))
    return "\n".join(lines) + "\n"


def title(page: Path) -> str:
    """Return the title of a Markdown page."""
    return page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ").strip()


def prepare(name: str, text: str) -> str:
    """Return the text of the page `name` (its path below docs, without .md) as Sphinx shall read it."""
    folder = posixpath.dirname(f"docs/{name}")
    text = rewrite_links(text, folder)
    return f"{text}\n{toctrees(text)}\n" if name in NAVIGATION_PAGES else text


def copy_pages(root: Path) -> None:
    """Write the copies of CONTRIBUTING.md and CHANGELOG.md below docs, where Sphinx finds them."""
    for source, copy in COPIES.items():
        text = (root / source).read_text(encoding="utf-8")
        write_if_changed(root / "docs" / copy, LINK.sub(lambda link: f"../../{link[1]}", text))


def write_if_changed(path: Path, text: str) -> None:
    """Write a file unless it has this text already, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
