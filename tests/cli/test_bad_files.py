"""Files of every kind of nonsense: a command works, or refuses the file in one line. There is never a traceback."""

from __future__ import annotations

import pytest

import hedgerow as hr
from builders.cli import Command, column_text

FILES = {
    "noise": bytes(range(256)) * 4,
    "nul": b"a\0b X\n",
    "utf16": "a X\nb Y\n".encode("utf-16"),
    "mark": "\ufeffa X\nb Y\n".encode(),
    "word": b"a",
    "line": b"a X",
    "blank": b"\n\n",
    "comment": b"# x\n",
    "empty": b"",
    "escape": b"a \x1b[31m\nb Y\n",
    "numbers": b"1.0 2.0 X\n2.0 nan Y\n\n",
    "one label": b"a X\nb X\n",
    "wide": (" ".join(map(str, range(300))) + "\n").encode() * 2,
    "long": b"a" * 100_000 + b" X\n",
    "object": b'{"a": 1}\n',
    "list": b"[1, 2, 3]\n",
    "unclosed": b'[{"a": 1\n',
    "table.csv": b"word,label\na,X\nb,Y\n",
    "header.csv": b"word,label\n",
    "quotes.csv": b'word,label\n"a,X\n',
    "items": b"X\ta=1\tb:2\nY\tc\n",
    "weights": b"@weight:x\nX\ta\n",
    "conllu": b"1\tthe\t_\tD\t_\t_\t0\t_\t_\t_\n2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n2\ta\t_\tN\t_\t_\t0\t_\t_\t_\n\n",
}
FORMATS = ("conll", "conllu", "crf++", "crfsuite", "jsonl", "csv", "tsv")


@pytest.fixture
def hedgerow(tmp_path, capsys, monkeypatch):
    command = Command(tmp_path, capsys, monkeypatch)
    command.write("train.txt", column_text(6))
    assert command("train", "train.txt", "-m", "hmm", "-o", "m.hedgerow").code == 0
    hr.HMM().fit(["ab", "ba"], [[True, False], [False, True]]).save("bools.hedgerow")
    hr.HMM().fit([[{"x": 1.0, "w": "a"}, {"x": 2.0}]] * 2, [["A", "B"]] * 2).save("numbers.hedgerow")
    return command


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_used_or_refused(hedgerow, name):
    (hedgerow.folder / name).write_bytes(FILES[name])
    commands = [("train", name, "-m", "hmm", "-o", "out.hedgerow"), ("convert", name, "out.jsonl")]
    commands += [("train", name, "-m", "hmm", "--format", one, "-o", "out.hedgerow") for one in FORMATS]
    commands += [("evaluate", model, name) for model in ("m.hedgerow", "bools.hedgerow", "numbers.hedgerow")]
    commands += [
        ("tag", model, name, *flags, "-o", "out.txt")
        for model in ("m.hedgerow", "bools.hedgerow", "numbers.hedgerow", name)
        for flags in ((), ("--proba",), ("--spans",), ("--label", "none"))
    ]
    for command in commands:
        force = () if command[0] == "evaluate" else ("--force",)
        quiet = ("--quiet",) if command[0] == "train" else ()
        done = hedgerow(*command, *force, *quiet)
        assert done.code in (0, 2), command
        said = [line for line in done.err.splitlines() if "warning: " not in line]
        assert len(said) == (done.code == 2), (command, done.err)
