"""`import hedgerow` is light, and every module can be the first one imported."""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow

HEAVY = {
    "dask", "distributed",
    "matplotlib", "narwhals", "pandas", "polars", "pooch", "rich", "safetensors", "scipy", "sklearn", "typer",
}  # fmt: skip

# Forgets the package before each import, so that a cycle of imports shows wherever one may enter it.
# The compiled module stays: it registers its types once in a process.
IMPORT_EACH_FIRST = """
import importlib, json, sys
import hedgerow._core
failures = {}
for name in json.load(sys.stdin):
    for loaded in [m for m in sys.modules if m.partition(".")[0] == "hedgerow" and m != "hedgerow._core"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception as error:
        failures[name] = repr(error)
print(json.dumps(failures))
"""


def in_fresh_process(code: str, given: object = None) -> object:
    """What `code`, which may read `given` as JSON, prints as JSON."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def module_names() -> list[str]:
    def stop(name: str) -> None:
        raise ImportError(f"{name} is a package that cannot be imported")

    found = pkgutil.walk_packages(hedgerow.__path__, "hedgerow.", onerror=stop)
    return [module.name for module in found if not module.name.endswith("__main__")]


def test_bare_import_is_light() -> None:
    loaded = in_fresh_process("import hedgerow, json, sys; print(json.dumps(list(sys.modules)))")
    assert isinstance(loaded, list)
    assert HEAVY.isdisjoint(loaded), f"loaded without need: {HEAVY.intersection(loaded)}"


LOAD_AND_PREDICT = """
import json, sys
import hedgerow
path = json.load(sys.stdin)
hedgerow.load(path).predict_single("ab")
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.parametrize("name", ["HMM", "TreeCRF"])
def test_loading_and_predicting_is_light(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.hedgerow"
    getattr(hedgerow, name)().fit(["ab", "ba"], [["x", "y"], ["y", "x"]]).save(path)
    loaded = in_fresh_process(LOAD_AND_PREDICT, str(path))
    assert isinstance(loaded, list)
    assert HEAVY.isdisjoint(loaded), f"loaded without need: {HEAVY.intersection(loaded)}"


@pytest.mark.slow
def test_every_module_can_be_imported_first() -> None:
    names = module_names()
    assert {"hedgerow.errors", "hedgerow.cli", "hedgerow._core"} <= set(names)
    assert in_fresh_process(IMPORT_EACH_FIRST, names) == {}


@pytest.mark.parametrize("name", hedgerow.__all__)
def test_public_name_resolves(name: str) -> None:
    assert getattr(hedgerow, name) is not None
    assert name in dir(hedgerow)


def test_unknown_name_is_an_attribute_error() -> None:
    name = "no_such_name"
    with pytest.raises(AttributeError, match=name):
        getattr(hedgerow, name)


def test_names_are_declared_once() -> None:
    assert sorted(set(hedgerow.__all__)) == list(hedgerow.__all__)
    assert {"__version__", *hedgerow.__all__} <= set(dir(hedgerow))
    assert [name for name in dir(hedgerow) if not name.startswith("__")] == list(hedgerow.__all__)


def test_help_lists_the_public_names() -> None:
    described = set(re.findall(r"\w+", hedgerow.__doc__ or ""))
    assert set(hedgerow.__all__) <= described


FOR_TRAINING = ("hedgerow.learning", "hedgerow.codes.learner", "hedgerow.future.learner", "hedgerow.search.learner")


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "golden").glob("*.hedgerow")), ids=lambda p: p.stem
)
def test_loading_and_predicting_imports_no_learner(path: Path) -> None:
    code = LOAD_AND_PREDICT.replace('.predict_single("ab")', "").replace(
        "hedgerow.load(path)", "model = hedgerow.load(path)"
    )
    code = code.replace("print(", "model.model_.answers(model.model_.encoder.nothing())\nprint(")
    loaded = in_fresh_process(code, str(path))
    assert isinstance(loaded, list)
    assert [name for name in loaded if name.startswith(FOR_TRAINING)] == []
