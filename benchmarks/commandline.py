"""The command line beside python-crfsuite on CoNLL-2000: start, reading, tagging from columns to columns, memory.

python benchmarks/commandline.py

Every run is a fresh process on one thread; its start is included. The peer is crfsuite_pipeline.py beside this script:
it reads the same file, makes the attributes of CRFsuite's chunking example, tags and writes the same columns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import hedgerow as hr
from crfsuite_pipeline import crfpp_template
from data import few, sentences
from jobs import main
from printing import log, print_table

REPEATS = few(5, 1)
ITERATIONS = few(60, 2)
MANY_TOKENS = few(10_000_000, 2_000)
HEDGEROW = [sys.executable, "-m", "hedgerow"]
MODELS = {  # name in the table: flags of `hedgerow train`
    "linear, the same templates": ["--model", "linear", "--l2", "1", "--max-iter", str(ITERATIONS)],
    "svm, features chosen by the command": ["--model", "svm", "--epochs", str(few(10, 1))],
    "treecrf over a linear model, the same": [
        "--model",
        "treecrf",
        "--n-rounds",
        str(few(100, 2)),
    ],
}


class Run(NamedTuple):
    """What one process used."""

    seconds: float  # wall time
    cpu: float
    megabytes: float  # peak memory


# Starts the command and writes what it used to a file. It is small itself: the peak memory of a process counts that of
# the process which started it.
LAUNCHER = """
import os, sys, time
began = time.perf_counter()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
seconds = time.perf_counter() - began
with open(sys.argv[1], "w") as file:
    print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=file)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measured(command: list[str], output: Path | None = None) -> Run:
    """Run a command to its end; its standard output goes to a file, or nowhere."""
    folder = Path(__file__).parent
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(folder), *_paths()])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
    with tempfile.NamedTemporaryFile("r") as usage, (output or Path(os.devnull)).open("wb") as file:
        launch = [sys.executable, "-S", "-c", LAUNCHER, usage.name, *command]
        done = subprocess.run(launch, stdout=file, stderr=subprocess.PIPE, env=environment)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode()}")
        return Run(*map(float, usage.read().split()))


def _paths() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def typical(command: list[str], output: Path | None = None) -> Run:
    """The run of median wall time, after one run that fills caches."""
    measured(command, output)
    runs = sorted(measured(command, output) for _ in range(REPEATS))
    return runs[len(runs) // 2]


@contextmanager
def files() -> Iterator[Path]:
    """A folder with train.txt, test.txt and chunking.template."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for split in ("train", "test"):
            with (folder / f"{split}.txt").open("w", encoding="utf-8") as file:
                for words, tags, chunks in sentences(split):
                    rows = zip(words, tags, chunks, strict=True)
                    file.writelines(f"{' '.join(row)}\n" for row in rows)
                    file.write("\n")
        (folder / "chunking.template").write_text(crfpp_template(), encoding="utf-8")
        yield folder


def start() -> None:
    """Print what the command needs before it does anything."""
    rows = []
    for arguments in (["--version"], ["--help"], ["train", "--help"], ["tag", "--help"]):
        run = typical([*HEDGEROW, *arguments])
        rows.append((f"`hedgerow {' '.join(arguments)}`", f"{run.cpu:.3f}", f"{run.seconds:.3f}"))
    print_table(("command", "CPU s", "wall s"), rows)


def library() -> None:
    """Print what a fresh process needs to label its first sentence."""
    with files() as folder:
        name, flags = next(iter(MODELS.items()))
        model = _trained(folder, name, flags)
        sentence = [{"column0": w, "column1": t} for w, t in (("the", "DT"), ("hedge", "NN"), ("grows", "VBZ"))]
        label = f"import hedgerow; hedgerow.load({model!r}).predict_single({sentence!r})"
        programs = {"import numpy": "import numpy", "import hedgerow, load, predict_single": label}
        runs = {name: typical([sys.executable, "-c", program]) for name, program in programs.items()}
    rows = [(name, f"{run.cpu:.3f}", f"{run.seconds:.3f}", f"{run.megabytes:.0f}") for name, run in runs.items()]
    print_table(("program", "CPU s", "wall s", "peak MB"), rows)


def reading() -> None:
    """Print how long training data take to read."""
    with files() as folder:
        path, seconds = folder / "train.txt", []
        for _ in range(REPEATS):
            began = time.perf_counter()
            X, _ = hr.read(path)
            seconds.append(time.perf_counter() - began)
    n = X.n_positions
    best = statistics.median(seconds)
    print_table(
        ("`hr.read` of the training file", "tokens", "seconds", "tokens/s"),
        [("CoNLL columns", f"{n:,}", f"{best:.3f}", f"{n / best:,.0f}")],
    )


def tagging() -> None:
    """Print the time of columns in, columns out, and memory on a long file."""
    with files() as folder:
        test, rows = folder / "test.txt", []
        n = sum(1 for line in test.open(encoding="utf-8") if line.strip())
        peer = _peer(folder)
        theirs = typical(peer, folder / "theirs.txt")
        rows.append(("python-crfsuite", f"{theirs.seconds:.2f}", f"{theirs.cpu:.2f}", f"{theirs.megabytes:.0f}", "1"))
        for name, flags in MODELS.items():
            command = [*HEDGEROW, "tag", _trained(folder, name, flags), str(test)]
            ours = typical(command, folder / "ours.txt")
            ratio = theirs.seconds / ours.seconds
            rows.append((name, f"{ours.seconds:.2f}", f"{ours.cpu:.2f}", f"{ours.megabytes:.0f}", f"{ratio:.1f}"))
    print_table((f"tag {n:,} tokens", "wall s", "CPU s", "peak MB", "times as fast"), rows)


def memory() -> None:
    """Print time and memory for a long file, beside a short one."""
    with files() as folder:
        text = (folder / "test.txt").read_bytes()
        n = sum(1 for line in text.splitlines() if line.strip())
        name, flags = next(iter(MODELS.items()))
        model, rows = _trained(folder, name, flags), []
        for copies in (1, max(MANY_TOKENS // n, 2)):
            path = folder / "long.txt"
            with path.open("wb") as file:
                for _ in range(copies):
                    file.write(text)
            run = measured([*HEDGEROW, "tag", model, str(path)], folder / "ours.txt")
            tokens = n * copies
            rows.append((f"{tokens:,}", f"{run.seconds:.1f}", f"{tokens / run.seconds:,.0f}", f"{run.megabytes:.0f}"))
    print_table(("tokens in the file", "wall s", "tokens/s", "peak MB"), rows)


def _peer(folder: Path) -> list[str]:
    """The command by which python-crfsuite tags the test file, after it was trained."""
    log("  training python-crfsuite")
    model = str(folder / "m.crfsuite")
    arguments = f"{str(folder / 'train.txt')!r}, {model!r}, {ITERATIONS}"
    measured([sys.executable, "-c", f"from crfsuite_pipeline import train; train({arguments})"])
    arguments = f"{model!r}, {str(folder / 'test.txt')!r}"
    return [sys.executable, "-c", f"from crfsuite_pipeline import tag; tag({arguments})"]


def _trained(folder: Path, name: str, flags: list[str]) -> str:
    """A model that `hedgerow train` wrote."""
    log(f"  hedgerow train: {name}")
    model = str(folder / "m.hedgerow")
    template = ["--template", str(folder / "chunking.template")] if "same templates" in name else []
    files = [str(folder / "train.txt"), "--output", model, "--force"]
    command = [*HEDGEROW, "train", *files, *flags, *template, "--n-jobs", "1"]
    measured([*command, "--quiet"])
    return model


if __name__ == "__main__":
    main(__doc__, {"start": start, "library": library, "reading": reading, "tagging": tagging, "memory": memory})
