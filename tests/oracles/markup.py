"""Checks of markup that views return: well-formed, accessible, without scripts, and with all texts escaped."""

from __future__ import annotations

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"

# A label or word with markup, quotes and characters that XML cannot contain.
NASTY = "<script>alert('1')</script>&\"\x01\x1b[31m\n]]>"


def parsed_svg(text: str) -> ElementTree.Element:
    """The root of an SVG document; fails unless it is well-formed, accessible and has no active content."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert (root[0].text or "").strip()
    assert root[1].tag == f"{SVG}desc"
    assert (root[1].text or "").strip()
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in TAGS, element.tag
        assert not [name for name in element.attrib if name.startswith("on") or name.endswith("href")]
        for value in element.attrib.values():
            assert "nan" not in value.lower().split()
            assert "inf" not in value.lower().split()
    return root


TAGS = {"svg", "title", "desc", "g", "text", "line", "rect", "path", "circle", "polygon"}


def texts(root: ElementTree.Element) -> list[str]:
    """The texts that are drawn."""
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def check_html(text: str) -> None:
    """Fail if HTML has a script or a control character; a table or drawing must be well-formed XML too."""
    assert "<script" not in text.lower()
    assert not [c for c in text if ord(c) < 32]
    ElementTree.fromstring(f"<root>{text}</root>")
