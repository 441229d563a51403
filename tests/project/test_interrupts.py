"""Ctrl-C anywhere: the process ends with KeyboardInterrupt, soon, and leaves no half-written file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hedgerow as hr

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")

START = "import numpy as np, hedgerow as hr\nX = ['abcd', 'bca'] * 4\nY = [list(x) for x in X]\n"
READY = "print('ready', flush=True)\n"
WORK = {
    "dicts": "x = [[{'a': 'x', 'b': 1.0, 'c': ['y', 'z']}] * 10**6] * 20\n" + READY + "hr.Sequences(x)",
    "strings": "x = [['a', 'b'] * 10**6] * 20\n" + READY + "hr.Sequences(x)",
    "fit": READY + "hr.TreeCRF(n_rounds=10**9).fit([x * 50 for x in X], [y * 50 for y in Y])",
    "memm": READY + "hr.MEMM(n_rounds=10**9).fit([x * 50 for x in X], [y * 50 for y in Y])",
    "future": READY + "hr.FutureMEMM(n_rounds=10**9).fit([x * 900 for x in X], [y * 900 for y in Y])",
    "code": (
        READY + "hr.OutputCode(hr.TreeCRF(n_rounds=10**9), n_jobs=2).fit([x * 50 for x in X], [y * 50 for y in Y])"
    ),
    "perceptron": (
        "text = [x * 2000 for x in X]\nlabels = [list('xyzx'[: len(x)]) * 2000 for x in X]\n" + READY
        + "hr.StructuredPerceptron(order=2, epochs=10**9).fit(text * 50, labels * 50)"
    ),
    "search": (
        "text = [x * 2000 for x in X]\nlabels = [list('xyzx'[: len(x)]) * 2000 for x in X]\n" + READY
        + "hr.SearchTagger(epochs=10**9).fit(text * 50, labels * 50)"
    ),
    "votes": (
        "text = [x * 100 for x in X]\nlabels = [list(x)[::-1] * 100 for x in X]\n"
        "model = hr.StructuredPerceptron(averaging='vote', epochs=1000).fit(text, labels)\n"
        + READY + "while True: model.predict(text * 100)"
    ),
    "lattice": (
        "from hedgerow.inference.lattice import Lattice, Topology\n"
        "lattice = Lattice(Topology(20, 2), np.arange(0, 200_001, 100), state=np.zeros((200_000, 20)), n_threads=2)\n"
        + READY + "lattice.nbest(20)"
    ),
}  # fmt: skip


def interrupted(script: str, after: float, folder: Path) -> subprocess.CompletedProcess[str]:
    """What became of the script when Ctrl-C came this many seconds after it said `ready`."""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    return subprocess.CompletedProcess(script, process.returncode, out, err)


@pytest.mark.parametrize("work", WORK)
def test_work_is_given_up(work: str, tmp_path: Path) -> None:
    done = interrupted(START + WORK[work] + "\nprint('finished')", 0.2, tmp_path)
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.stdout == ""


def test_saving_leaves_a_whole_file_and_nothing_else(tmp_path: Path) -> None:
    script = START + "model = hr.HMM().fit(X, Y)\nmodel.save('m')\n" + READY + "while True: model.save('m')"
    for i in range(3):
        done = interrupted(script, 0.05 + 0.0137 * i, tmp_path)
        assert done.returncode == -signal.SIGINT, done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["m"]
        assert hr.load(tmp_path / "m").predict_single("abcd").tolist() == list("abcd")


def test_the_command_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys, time, hedgerow.datasets\n"
        "def load(*arguments):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "hedgerow.datasets.load = load\n"
        "from hedgerow.cli import main\n"
        "sys.argv = ['hedgerow', 'datasets', 'pronounce']\n"
        "main()"
    )
    done = interrupted(script, 0.1, tmp_path)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert "Traceback" not in done.stderr
