"""Counters of work that do not depend on what else the machine does.

Instructions are counted by the processor, where the kernel lets a program ask it, or else by callgrind, which runs the
program in a simulated processor some fifty times as slowly. Where there is neither, CPU seconds have to do.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PERF_EVENT_OPEN = 298  # the system call of Linux on x86-64
ONLY_THIS_PROGRAM = 1 << 5 | 1 << 6  # neither the kernel nor the hypervisor
OUTPUT = "HEDGEROW_CALLGRIND_OUTPUT"  # set in a program that runs under callgrind


class Counter(ABC):
    name: str
    unit: str
    is_exact: bool  # the same, or nearly, in every run

    @abstractmethod
    def measure(self, work: Callable[[], T]) -> tuple[float, T]:
        """What the work took, and its result."""


class Processor(Counter):
    name, unit, is_exact = "processor", "million instructions", True

    def __init__(self) -> None:
        if sys.platform != "linux" or platform.machine() != "x86_64":
            raise OSError("the system call is known for Linux on x86-64 alone")
        event = bytearray(128)
        struct.pack_into("IIQ", event, 0, 0, len(event), 1)  # a hardware event: instructions
        struct.pack_into("Q", event, 40, ONLY_THIS_PROGRAM)
        place = (ctypes.c_char * len(event)).from_buffer(event)
        libc = ctypes.CDLL(None, use_errno=True)
        self._file = libc.syscall(PERF_EVENT_OPEN, place, 0, -1, -1, 0)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no instruction counter")

    def _read(self) -> int:
        return int(struct.unpack("Q", os.read(self._file, 8))[0])

    def measure(self, work: Callable[[], T]) -> tuple[float, T]:
        before = self._read()
        result = work()
        return (self._read() - before) / 1e6, result


class Callgrind(Counter):
    """Asks the callgrind that runs this program for a dump before and after the work."""

    name, unit, is_exact = "callgrind", "million instructions", True

    def __init__(self) -> None:
        self._output = Path(os.environ[OUTPUT])

    def _dump(self) -> None:
        subprocess.run(["vgdb", f"--pid={os.getpid()}", "dump"], check=True, capture_output=True)

    def measure(self, work: Callable[[], T]) -> tuple[float, T]:
        self._dump()
        result = work()
        self._dump()
        dumps = self._output.parent.glob(f"{self._output.name}.*")
        last = max(dumps, key=lambda path: int(path.suffix[1:]))
        found = re.search(r"^totals: (\d+)", last.read_text(), re.MULTILINE)
        assert found, last
        return int(found[1]) / 1e6, result


class Seconds(Counter):
    name, unit, is_exact = "clock", "CPU ms", False

    def measure(self, work: Callable[[], T]) -> tuple[float, T]:
        begin = time.process_time()
        result = work()
        return (time.process_time() - begin) * 1e3, result


def best_counter() -> Counter:
    """The best counter of this machine. If that is callgrind, this starts the program again under it, and exits."""
    if OUTPUT in os.environ:
        return Callgrind()
    try:
        return Processor()
    except OSError:
        pass
    if shutil.which("valgrind") and shutil.which("vgdb"):
        _run_under_callgrind()
    return Seconds()


def _run_under_callgrind() -> None:
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "counts")
        command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={output}", sys.executable]
        # Hashes of strings decide how often a table is probed.
        environment = {**os.environ, OUTPUT: output, "PYTHONHASHSEED": "0"}
        sys.exit(subprocess.run([*command, *sys.argv], env=environment).returncode)
