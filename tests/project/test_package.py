"""What the installed package says about itself."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import hedgerow
import hedgerow._core

ROOT = Path(__file__).parents[2]


def test_types_are_installed() -> None:
    assert files("hedgerow").joinpath("py.typed").is_file()
    assert files("hedgerow").joinpath("_core.pyi").is_file()


def test_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hedgerow.__version__ == project["version"] == version("hedgerow")


def test_changelog_has_the_version() -> None:
    path = ROOT / "CHANGELOG.md"
    if not path.exists():
        pytest.skip("there is no CHANGELOG.md")
    heading = re.compile(rf"^## \[?{re.escape(hedgerow.__version__)}\]?(\s|$)", re.MULTILINE)
    assert heading.search(path.read_text(encoding="utf-8")), f"no heading for {hedgerow.__version__}"


@pytest.mark.kernel
def test_compiled_module_loads() -> None:
    assert hedgerow._core.__doc__
