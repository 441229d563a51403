"""A small corpus of chunks as a column file, and the command in this process."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hedgerow.cli import run

NOUNS, VERBS = ("cat", "dog", "hedge", "row", "wren", "finch"), ("sat", "ran", "grew", "sang")


def sentence(i: int) -> list[tuple[str, str, str]]:
    """(word, tag, chunk) of each position."""
    noun, verb, other = NOUNS[i % 6], VERBS[i % 4], NOUNS[(i * 5 + 1) % 6]
    words = [("the", "DT", "B-NP"), (noun, "NN", "I-NP"), (verb, "VBD", "B-VP")]
    if i % 3 == 0:
        words += [("near", "IN", "O"), ("a", "DT", "B-NP"), (other, "NN", "I-NP")]
    return [*words, (".", ".", "O")]


def column_text(n: int, separator: str = " ", *, labels: bool = True) -> str:
    """A column file of n sentences."""
    lines = [
        separator.join(position if labels else position[:2]) + "\n" if position else "\n"
        for i in range(n)
        for position in [*sentence(i), ()]
    ]
    return "".join(lines)


class Done(NamedTuple):
    """The end of a command: exit code, standard output and standard error."""

    code: int
    out: str
    err: str


class Command:
    """Runs commands in this process and in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: Any, stdin: str = "") -> Done:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        shown = self._capsys.readouterr()
        return Done(code, shown.out, shown.err)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name
