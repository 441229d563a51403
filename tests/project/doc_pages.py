"""The Markdown pages of the repository, without those that a build of the site wrote, and the scripts of tools/."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = [page for page in sorted(DOCS.rglob("*.md")) if "generated" not in page.relative_to(DOCS).parts]


def load_tool(name: str, folder: str = "tools") -> ModuleType:
    """Import a script of tools/, or of another folder, by its name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
