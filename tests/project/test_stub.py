"""The committed stub of the compiled module is the one that nanobind writes for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMITTED = Path(__file__).parents[2] / "src" / "hedgerow" / "_core.pyi"


def test_stub_is_current(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = ["nanobind.stubgen", "--quiet", "--module", "hedgerow._core", "--output-file", str(fresh)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    committed = COMMITTED.read_text(encoding="utf-8")
    assert committed == fresh.read_text(encoding="utf-8"), "the compiled module has changed; run `make stub`"
