"""One HTML file: style, script and data inside it, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from hedgerow.inspection.report.markup import Section, safe

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_STYLE = re.compile(r'\sstyle="([^"]*)"')
_CLASS = re.compile(r'\sclass="([^"]*)"')


def page(title: str, sections: Iterable[Section], data: Mapping[str, Any] | None) -> str:
    """The text of the file. Without `data` there is no browser of sequences, and no script."""
    sections = list(sections)
    body, rules = styles_as_classes("".join(map(_section, sections)))
    style = _asset("report.css") + rules
    script = "" if data is None else _asset("report.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script) if script else repr('none')}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    links = "".join(f'<li><a href="#{section.key}">{safe(section.title)}</a></li>' for section in sections)
    scripts = ""
    if data is not None:
        scripts = f'<script type="application/json" id="data">{json_text(data)}</script>\n<script>{script}</script>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header class="top"><h1><bdi>{safe(title)}</bdi></h1></header>\n'
        f'<div class="columns">\n<nav class="contents" aria-label="Sections"><ul>{links}</ul></nav>\n'
        f'<main id="content">{body}</main>\n</div>\n{scripts}</body>\n</html>\n'
    )


def json_text(data: Any) -> str:
    """Compact JSON that can stand in a script element: no "<", and no character that ends a line of a script."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def json_bytes(data: Any) -> int:
    """How many bytes of the page the data take."""
    return len(json_text(data).encode("utf-8"))


def styles_as_classes(markup: str) -> tuple[str, str]:
    """(markup with a class in place of each style attribute, the rules of these classes).

    The policy of the page forbids style attributes. In markup whose texts are escaped, a quotation mark after `style=`
    can only be that of an attribute.
    """
    classes: dict[str, str] = {}

    def changed(tag: re.Match[str]) -> str:
        style = _STYLE.search(tag[0])
        if style is None:
            return tag[0]
        name = classes.setdefault(style[1], f"s{len(classes)}")
        rest = _STYLE.sub("", tag[0])
        own = _CLASS.search(rest)
        if own is not None:
            return rest.replace(own[0], f' class="{own[1]} {name}"', 1)
        end = -2 if rest.endswith("/>") else -1
        return f'{rest[:end]} class="{name}"{rest[end:]}'

    found = _TAG.sub(changed, markup)
    rules = "".join(f".{name}{{{style}}}\n" for style, name in classes.items())
    return found, rules


def _section(section: Section) -> str:
    return (
        f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
        f'<h2 id="{section.key}-title">{safe(section.title)}</h2>{section.body}</section>\n'
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
