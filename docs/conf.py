"""Settings of the documentation site. `make docs` builds it; the pages are plain Markdown without Sphinx directives."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import doc_navigation  # noqa: E402
import doc_reference  # noqa: E402
import hedgerow  # noqa: E402

project = "hedgerow"
author = "the hedgerow contributors"
project_copyright = "the hedgerow contributors"
version = release = hedgerow.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_heading_anchors = 4  # links to headings use the anchors of GitHub
exclude_patterns = ["_static"]
smartquotes = False  # 'viterbi' is code
default_role = "code"  # single backticks in docstrings, as in Markdown
# Types in annotations of other libraries, and of our own types that only describe arguments.
nitpick_ignore_regex = [
    ("py:class", r"collections\.abc\..*|numpy\..*|hedgerow\.typing\..*|Sequences|Encoded|GoldLabels")
]

autodoc_typehints = "none"  # types are in the Parameters sections
autodoc_member_order = "groupwise"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False  # autodoc shows them

html_theme = "pydata_sphinx_theme"
html_title = "hedgerow"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_favicon = "_static/logo.svg"
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {
    "logo": {"text": "hedgerow", "image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "icon_links": [{"name": "GitHub", "url": "https://github.com/hedgerow/hedgerow", "icon": "fa-brands fa-github"}],
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"quick-start": [], "index": []}


def write_pages(app: Any) -> None:
    doc_navigation.copy_pages(ROOT)
    doc_reference.write_api_pages(ROOT)


def read_page(app: Any, name: str, source: list[str]) -> None:
    if app.env.doc2path(name).suffix == ".md":
        source[0] = doc_reference.replace_markers(doc_navigation.prepare(name, source[0]))


def add_description(
    app: Any, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Use the first paragraph of a page, outside tables, as its description for search engines and previews."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    paragraph = next((one for one in paragraphs if not isinstance(one.parent, nodes.entry)), None)
    if paragraph is not None:
        words = " ".join(paragraph.astext().split())
        short = words if len(words) <= 160 else words[:157].rsplit(" ", 1)[0] + "..."
        context["metatags"] += f'<meta name="description" content="{html.escape(short)}">'


def setup(app: Any) -> None:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", read_page)
    app.connect("html-page-context", add_description)
