"""Write the reference pages of the site from the package: public names, and parameters of the estimators.

A marker in a page (`<!-- generated: parameters -->`, `<!-- generated: api -->`) is replaced when Sphinx reads the page.
The page of each public name is written to docs/generated/api, which git ignores.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hedgerow as hr
from doc_navigation import write_if_changed
from hedgerow.estimators.parameters import parameters

MARKER = re.compile(r"<!-- generated: (\w+) -->")
IMPORTED = ("inference.lattice", "topology", "typing")  # modules that `import hedgerow` does not name
# Methods that come from these classes are Python's own.
FOREIGN = "BaseException, Exception, dict, tuple, Sequence, object"


def public_names() -> dict[str, Any]:
    """The names that `import hedgerow as hr` gives, and the modules that guides import; the main estimator first."""
    names = sorted(hr.__all__, key=lambda name: name != "TreeCRF")
    imported = {name: importlib.import_module(f"hedgerow.{name}") for name in IMPORTED}
    return {name: getattr(hr, name) for name in names} | imported


def members(module: ModuleType) -> list[str]:
    """The public names of a module."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    names: list[str] = getattr(module, "__all__", own)
    return sorted(name for name in names if not name.startswith("_"))


def is_estimator(value: Any) -> bool:
    return inspect.isclass(value) and hasattr(value, "_parameters")


def summary(value: Any) -> str:
    """The first sentence of a docstring, as Markdown."""
    first = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", first)[0].replace("|", "\\|")


def api_page(name: str, value: Any) -> str:
    """The reStructuredText page of one public name."""
    title = f"hedgerow.{name}"
    head = f"{title}\n{'=' * len(title)}\n\n"
    if not inspect.ismodule(value):
        return head + directive(title, value)
    parts = [f".. automodule:: {title}\n   :no-members:\n"]
    parts += [directive(f"{title}.{member}", getattr(value, member)) for member in members(value)]
    return head + "\n".join(parts)


def directive(name: str, value: Any) -> str:
    if inspect.isclass(value):
        fields = ", ".join(getattr(value, "_fields", ()))  # of a named tuple; its docstring describes them
        excluded = f"   :exclude-members: {fields}\n" if fields else ""
        return f".. autoclass:: {name}\n   :members:\n   :inherited-members: {FOREIGN}\n{excluded}"
    return f".. autofunction:: {name}\n" if inspect.isfunction(value) else f".. autodata:: {name}\n   :no-value:\n"


def write_api_pages(root: Path) -> None:
    """Write the page of every public name, and remove pages of names that are gone."""
    folder = root / "docs" / "generated" / "api"
    wanted = {f"hedgerow.{name}.rst": api_page(name, value) for name, value in public_names().items()}
    for page in folder.glob("*.rst"):
        if page.name not in wanted:
            page.unlink()
    for file, text in wanted.items():
        write_if_changed(folder / file, text)


def api_index() -> str:
    """Tables of the public names, and the hidden table of contents of their pages."""
    groups: dict[str, Callable[[Any], bool]] = {
        "Estimators": is_estimator,
        "Functions": inspect.isfunction,
        "Classes": lambda value: inspect.isclass(value) and not is_estimator(value),
        "Modules": inspect.ismodule,
    }
    parts = []
    for heading, belongs in groups.items():
        names = [name for name, value in public_names().items() if belongs(value)]
        prefix = "hedgerow" if heading == "Modules" else "hr"
        rows = [f"| [`{prefix}.{name}`](generated/api/hedgerow.{name}.rst) | {_about(name)} |" for name in names]
        pages = [f"{name} <generated/api/hedgerow.{name}>" for name in names]
        table = ["| name | what it is |", "|---|---|", *rows]
        tree = ["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"]
        parts.append("\n".join([f"## {heading}", "", *table, "", *tree]))
    return "\n\n".join(parts)


def _about(name: str) -> str:
    value = public_names()[name]
    if not inspect.ismodule(value):
        return summary(value)
    return f"{summary(value)} Names: {', '.join(f'`{member}`' for member in members(value))}"


def estimators() -> Iterator[tuple[str, type]]:
    yield from ((name, value) for name, value in public_names().items() if is_estimator(value))


def parameters_table(estimator: type) -> str:
    """A Markdown table of an estimator's parameters: name and default, meaning and rule."""
    rows = [
        f"| `{p.name}={p.default!r}` | {_markdown(p.help)} Must be {_markdown(p.describe())}. |"
        for p in parameters(estimator).values()
    ]
    return "\n".join(["| parameter and default | meaning and rule |", "|---|---|", *rows])


def _markdown(text: str) -> str:
    return re.sub(r"(?<!`)([|*_<])", r"\\\1", text) if "`" not in text else text.replace("|", "\\|")


def overview_table() -> str:
    """A table of all parameters, and the estimators that have each."""
    owners: dict[str, list[str]] = {}
    for name, estimator in estimators():
        for parameter in parameters(estimator):
            owners.setdefault(parameter, []).append(name)
    everyone = len(list(estimators()))
    rows = [
        f"| `{parameter}` | {'all' if len(names) == everyone else ', '.join(_link(name) for name in names)} |"
        for parameter, names in sorted(owners.items())
    ]
    return "\n".join(["| parameter | estimators |", "|---|---|", *rows])


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def parameters_sections() -> str:
    """One section for each estimator, and an overview of all parameters."""
    parts = []
    for name, estimator in estimators():
        about = f"{summary(estimator)} Methods and attributes: [`hr.{name}`](generated/api/hedgerow.{name}.rst)."
        parts.append(f"## {name}\n\n{about}\n\n{parameters_table(estimator)}")
    return "\n\n".join([*parts, f"## Which estimator has which parameter\n\n{overview_table()}"])


GENERATORS: dict[str, Callable[[], str]] = {"api": api_index, "parameters": parameters_sections}


def replace_markers(text: str) -> str:
    """Return a page with what the markers stand for."""
    return MARKER.sub(lambda marker: GENERATORS[marker[1]](), text)
