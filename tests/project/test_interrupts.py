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

resource = pytest.importorskip("resource", reason="the tests send POSIX signals and measure POSIX processes")
pytestmark = pytest.mark.slow

# The first fit imports what the work needs: an interrupt inside an import can surface as another error.
START = (
    "import numpy as np, hedgerow as hr\n"
    "X = ['abcd', 'bca'] * 4\n"
    "Y = [list(x) for x in X]\n"
    "hr.OutputCode(base=hr.TreeCRF(n_rounds=1)).fit(X, Y)\n"
)
LONG = "X, Y = [x * 50 for x in X], [y * 50 for y in Y]\n"
HARD = "X, Y = [x * 2000 for x in X] * 50, [list('xyzx'[: len(x)]) * 2000 for x in X] * 50\n"

# Name: what the script prepares, and the work that it repeats until the interrupt.
WORK = {
    "dicts": ("x = [[{'a': 'x', 'b': 1.0, 'c': ['y', 'z']}] * 10**6] * 20\n", "hr.Sequences(x)"),
    "strings": ("x = [['a', 'b'] * 10**6] * 20\n", "hr.Sequences(x)"),
    "fit": (LONG, "hr.TreeCRF(n_rounds=10**9).fit(X, Y)"),
    "memm": (LONG, "hr.MEMM(n_rounds=10**9).fit(X, Y)"),
    "future": (LONG, "hr.FutureMEMM(n_rounds=10**9).fit([x * 18 for x in X], [y * 18 for y in Y])"),
    "code": (LONG, "hr.OutputCode(base=hr.TreeCRF(n_rounds=10**9), n_jobs=2).fit(X, Y)"),
    "perceptron": (HARD, "hr.StructuredPerceptron(order=2, epochs=10**9).fit(X, Y)"),
    "passive-aggressive": (HARD, "hr.compat.CRF('pa', max_iterations=10**9).fit(hr.Sequences(X), Y)"),
    "search": (HARD, "hr.SearchTagger(epochs=10**9).fit(X, Y)"),
    "votes": (
        "X, Y = [x * 100 for x in X], [list(x)[::-1] * 100 for x in X]\n"
        "model = hr.StructuredPerceptron(averaging='vote', epochs=1000).fit(X, Y)\n",
        "model.predict(X * 100)",
    ),
    "lattice": (
        "from hedgerow.inference.lattice import Lattice, Topology\n"
        "lattice = Lattice(Topology(20, 2), np.arange(0, 200_001, 100), state=np.zeros((200_000, 20)), n_threads=2)\n",
        "lattice.nbest(20)",
    ),
}


def cpu_seconds(pid: int) -> float | None:
    """Processor time that a process has used, or None where /proc does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until the process has worked for this long, however busy the machine is."""
    begun = cpu_seconds(process.pid)
    time.sleep(seconds)
    while begun is not None and process.poll() is None and (cpu_seconds(process.pid) or begun) < begun + seconds:
        time.sleep(0.01)


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def interrupted(script: str, after: float, folder: Path) -> subprocess.CompletedProcess[str]:
    """Result of a script that is sent Ctrl-C after it printed `ready` and worked for `after` seconds.

    The script must end before it has used another five seconds of processor time.
    """
    finished_children = cpu_of_children()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    wait_for_work(process, after)
    used = cpu_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    if used is not None:
        assert cpu_of_children() - finished_children - used < 5
    return subprocess.CompletedProcess(script, process.returncode, out, err)


@pytest.mark.parametrize("work", WORK)
def test_work_is_given_up(work: str, tmp_path: Path) -> None:
    prepare, repeat = WORK[work]
    script = f"{START}{prepare}print('ready', flush=True)\nwhile True: {repeat}"
    done = interrupted(script, 0.2, tmp_path)
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.stdout == ""


def test_saving_leaves_a_whole_file_and_nothing_else(tmp_path: Path) -> None:
    script = START + "model = hr.HMM().fit(X, Y)\nmodel.save('m')\nprint('ready', flush=True)\n"
    for i in range(3):
        done = interrupted(script + "while True: model.save('m')", 0.05 + 0.0137 * i, tmp_path)
        assert done.returncode == -signal.SIGINT, done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["m"]
        assert hr.load(tmp_path / "m").predict_single("abcd").tolist() == list("abcd")


def test_the_command_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys, time, hedgerow.datasets\n"
        "def load(*arguments):\n"
        "    print('ready', flush=True)\n"
        "    while True: time.perf_counter()\n"
        "hedgerow.datasets.load = load\n"
        "from hedgerow.cli import main\n"
        "sys.argv = ['hedgerow', 'datasets', 'pronounce']\n"
        "main()"
    )
    done = interrupted(script, 0.1, tmp_path)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert "Traceback" not in done.stderr
