"""What an installation from source costs: CPU seconds, and the files of the wheel.

python benchmarks/build.py

`pip wheel` with build tools that are installed already, without a compiler cache.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from data import QUICK
from jobs import main
from printing import print_table

ROOT = Path(__file__).parents[1]


def wheel(folder: str) -> Path:
    """Build a wheel of the project; with --quick, without compiling anything."""
    if QUICK:
        empty = Path(folder) / "hedgerow-0-py3-none-any.whl"
        with zipfile.ZipFile(empty, "w") as archive:
            archive.writestr("hedgerow/_core.so", "")
        return empty
    options = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--config-settings", f"build-dir={folder}/build"]
    command = [sys.executable, "-m", "pip", "wheel", "-qq", "--wheel-dir", folder, *options, str(ROOT)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # ninja and cmake
    environment = {**os.environ, "CCACHE_DISABLE": "1", "PATH": path}
    subprocess.run(command, check=True, env=environment)
    return next(Path(folder).glob("*.whl"))


def rows() -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        used, began = _children(), time.perf_counter()
        built = wheel(folder)
        seconds, cpu = time.perf_counter() - began, _children() - used
        with zipfile.ZipFile(built) as archive:
            core = next(info for info in archive.infolist() if "_core" in info.filename)
        size, module = built.stat().st_size / 2**20, core.file_size / 2**20
        yield [f"{cpu:.0f}", f"{seconds:.0f}", f"{size:.1f}", f"{module:.1f}"]


def _children() -> float:
    """CPU seconds of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def print_build() -> None:
    print_table(["CPU s", "wall s", "wheel MB", "compiled module MB"], rows())


if __name__ == "__main__":
    main(__doc__, {"build": print_build})
