"""Reading a report back: its elements, its texts and the data of its browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hedgerow as hr


class Page(HTMLParser):
    """The elements of a page, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.contents: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.contents[tag] = self.contents.get(tag, "") + data

    @property
    def data(self) -> dict[str, Any]:
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.text, re.DOTALL)
        assert found is not None
        data: dict[str, Any] = json.loads(found[1])
        return data

    @property
    def sections(self) -> list[str | None]:
        return [attributes.get("id") for tag, attributes in self.elements if tag == "section"]


def page_of(tmp_path: Path, model: Any, X: Any, y: Any = None, **keywords: Any) -> Page:
    return Page(hr.report(model, X, y, tmp_path / "r.html", force=True, **keywords).read_text(encoding="utf-8"))


def words_of(page: Page) -> list[str]:
    text = page.data["text"]
    return [text["values"][code] for code in text["codes"]]
