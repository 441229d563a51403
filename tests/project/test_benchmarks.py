"""Every benchmark runs with --quick, on small data that need no files. Real runs are in docs/benchmarks.md."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.encoding import Encoder

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
CRFSUITE = ["pycrfsuite"]
HANGS = 600  # seconds after which a script that takes a few is taken to hang
BOTH = [*CRFSUITE, "lightgbm"]
PEERS = {
    "commandline": CRFSUITE,
    "defaults": BOTH,
    "encoding": CRFSUITE,
    "exact_margin": CRFSUITE,
    "linear": CRFSUITE,
    "margin": CRFSUITE,
    "treecrf": BOTH,
}


def test_the_attributes_of_words_are_those_of_the_template() -> None:
    words = ["In", "1999", "U.S.", "McDonald's", "rose", "a", "%", "rose"]
    sequences = Sequences([words])
    encoded = Encoder.fit(sequences, features=hr.templates.words()).transform(sequences)
    expected = [
        {column.name: column.alphabet[code] for column in encoded.columns if (code := int(column.codes[t])) >= 0}
        for t in range(len(words))
    ]
    assert runpy.run_path(str(FOLDER / "data.py"))["word_attributes"](words) == expected


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.slow
def test_a_quick_run_prints_whole_tables(script: str) -> None:
    for peer in PEERS.get(script, []):
        pytest.importorskip(peer)
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{script}.py"), "--quick"], capture_output=True, text=True, timeout=HANGS,
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
