"""Every benchmark runs with --quick, on small data that need no files. Real runs are in docs/benchmarks.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
CRFSUITE = ["pycrfsuite"]
BOTH = [*CRFSUITE, "lightgbm"]
PEERS = {
    "commandline": CRFSUITE,
    "defaults": BOTH,
    "encoding": CRFSUITE,
    "linear": CRFSUITE,
    "margin": CRFSUITE,
    "treecrf": BOTH,
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.slow
def test_a_quick_run_prints_whole_tables(script: str) -> None:
    for peer in PEERS.get(script, []):
        pytest.importorskip(peer)
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{script}.py"), "--quick"], capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name != "HEDGEROW_DATA"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    machine, *rest = done.stdout.strip().split("\n\n")
    assert " cores; " in machine
    tables = [part for part in rest if part.startswith("|")]
    assert tables
    for table in tables:
        head, rule, *rows = table.splitlines()
        assert rows
        assert {line.count("|") for line in (head, rule, *rows)} == {head.count("|")}
        assert "nan" not in table
