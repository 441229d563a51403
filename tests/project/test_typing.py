"""What a type checker says to users: names are checked, and ordinary calls pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"

GOOD = """
import hedgerow as hr
import numpy as np

model = hr.TreeCRF(window=2, n_rounds=10, random_state=np.random.default_rng(0))
model.fit(["cat"], [["-", "a", "-"]])
model.fit([["the", "cat"]], [["D", "N"]], [["a", "dog"]], [["D", "N"]])
model.fit([[{"word": "the", "long": False, "n": 3.0}]], [[1]])
model.fit([[("the", "DT"), ("cat", "NN")]], [[True, False]])
model.fit([[["a", "b"], ["c"]], [{"d"}]], [np.array([1, 2]), np.array([3])])
model.fit([np.zeros((3, 2))], [["a", "b", "a"]])
model.fit(hr.Sequences(["cat"]), np.zeros((1, 3), dtype=int))
labels: list[str] = model.predict(["cat"])[0].tolist()
best: float = model.predict_nbest(["cat"], n=2)[0][0][0]

def stop(record: hr.callbacks.TrainingRecord) -> bool:
    if record["seconds"] > 10:
        raise hr.StopTraining
    return bool(record["step"] > 3)

hr.LinearCRF(solver="auto").fit(["cat"], [["-", "a", "-"]], callbacks=[stop, hr.callbacks.Progress()])
code = hr.OutputCode(base=hr.MEMM(), n_bits=3)
pool = hr.OpinionPool(base=hr.MEMM(), subsets=[["word", -1], [0]])
loaded = hr.load("m.hedgerow")
loaded.predict(["cat"], decode="marginal")
"""

BAD = {
    "hr.TreCRF()": "has no attribute",
    "hr.TreeCRF(windw=3)": "Unexpected keyword",
    'hr.TreeCRF(n_rounds="many")': "incompatible type",
    'hr.LinearCRF(solver="newton")': "incompatible type",
    "hr.OutputCode(hr.TreeCRF())": "Too many positional arguments",
    "hr.HMM().fit(3, [[1]])": "incompatible type",
    'hr.HMM().predict(["a"], decode="best")': "No overload variant",  # X may also be a Dask collection
    "hr.datasets.lod": "has no attribute",
}


def run_mypy(folder: Path, code: str) -> str:
    pytest.importorskip("mypy", reason="mypy is one of the lint tools")
    (folder / "snippet.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "snippet.py"]
    environment = {"MYPYPATH": str(SRC), "PATH": "", "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment).stdout


@pytest.mark.slow
def test_misspelled_names_and_wrong_types_are_found(tmp_path: Path) -> None:
    lines = run_mypy(tmp_path, "import hedgerow as hr\n" + "".join(f"{bad}\n" for bad in BAD)).splitlines()
    for number, (bad, message) in enumerate(BAD.items(), 2):
        assert any(line.startswith(f"snippet.py:{number}: error:") and message in line for line in lines), (bad, lines)


@pytest.mark.slow
def test_ordinary_use_passes(tmp_path: Path) -> None:
    lines = run_mypy(tmp_path, GOOD).splitlines()
    assert lines
    assert [line for line in lines if line.startswith("snippet.py")] == []
