"""The quick benchmark: counts are compared with the last recorded run, and a rise of a tenth fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project.doc_pages import load_tool

DETAILS = "Counted by: hand."


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with an empty history and two pieces of work whose counts are set by the test."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    module = load_tool("counts", "benchmarks")
    monkeypatch.setattr(module, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setattr(module, "PIECES", [module.Piece(name, lambda: lambda: None) for name in ("fit", "tag")])
    return module


class Given:
    """A counter that finds the given counts, one after the other."""

    name, unit = "hand", "million instructions"

    def __init__(self, *counts: float, is_exact: bool = True) -> None:
        self._counts = iter(counts)
        self.is_exact = is_exact

    def measure(self, work: Callable[[], Any]) -> tuple[float, Any]:
        return next(self._counts), work()


def record(counts: Any, *taken: float, details: str = DETAILS) -> None:
    table = "\n".join(f"| {name} | {count:,.1f} | 3 |" for name, count in zip(("fit", "tag"), taken, strict=True))
    run = {"command": counts.COMMAND, "output": f"2026-01-01; {details}\n\n{table}"}
    with counts.HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def test_a_rise_of_more_than_a_tenth_fails_and_is_named(counts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    record(counts, 1000.0, 20.0)
    assert counts.check(Given(1050.0, 21.0), DETAILS) == 0
    assert "1.05" in capsys.readouterr().out
    assert counts.check(Given(1050.0, 23.0), DETAILS) == 1
    printed = capsys.readouterr()
    assert "tag" in printed.err
    assert "fit" not in printed.err


def test_the_last_run_with_the_same_counter_is_the_measure(counts: Any) -> None:
    record(counts, 1.0, 1.0)
    record(counts, 2000.0, 40.0)
    record(counts, 1.0, 1.0, details="Counted by: another.")
    assert counts.last_counts(DETAILS) == {"fit": 2000.0, "tag": 40.0}


@pytest.mark.parametrize("is_recorded", [False, True])
def test_without_a_measure_there_is_no_verdict(
    counts: Any, capsys: pytest.CaptureFixture[str], is_recorded: bool
) -> None:
    if is_recorded:
        record(counts, 1.0, 1.0)
    assert counts.check(Given(9.0, 9.0, is_exact=not is_recorded), DETAILS) == 0
    assert "nothing to compare with" in capsys.readouterr().err
