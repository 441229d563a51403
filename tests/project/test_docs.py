"""Every ```python block and every `$ hedgerow ...` line of a ```console block in README.md and docs/ runs.

The blocks of a page run in order, in one namespace and one temporary directory; a warning is an error, and a
command must leave with 0 and print the lines that the page shows below it. Only `<!-- not run: reason -->` on the line
before a block exempts it. A ```text block below `<!-- output -->` shows what the ```python block before it prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from project.doc_pages import GUIDES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *GUIDES]
FENCE = re.compile(r"^ *```(\w*)")
OUTPUT = "<!-- output -->"
EXEMPTION = re.compile(r"<!-- not run: *(\S.*?) *-->")


@dataclass(frozen=True)
class Block:
    language: str
    line: int  # of the first line inside the fence, counted from 1
    text: str
    exemption: str | None = None
    output: str = ""  # what the page shows as printed


@dataclass
class Page:
    """The blocks of one file, and the namespace that they share."""

    path: Path
    blocks: list[Block]
    namespace: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self) -> None:
        """Run the blocks in order, in the current directory."""
        for block in self.blocks:
            if block.exemption is None:
                run_python(self, block) if block.language == "python" else run_console(self, block)


def find_blocks(text: str) -> list[Block]:
    """The blocks to run in a Markdown text. An unclosed fence or another name for Python is a ValueError."""
    lines = text.splitlines()
    blocks, start, language = [], None, ""
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start, language = number + 1, fence[1]
            if language in {"py", "python3", "pycon", "Python"}:
                raise ValueError(f"line {number + 1}: write ```python, not ```{language}; only that is run")
            if language in {"sh", "bash", "shell"}:
                raise ValueError(f"line {number + 1}: write ```console and $, not ```{language}; only that is run")
            continue
        if language in {"python", "console"}:
            before = EXEMPTION.fullmatch(lines[start - 2].strip()) if start >= 2 else None
            inside = textwrap.dedent("\n".join(lines[start:number]))
            blocks.append(Block(language, start + 1, inside, before and before[1]))
        elif language == "text" and start >= 2 and lines[start - 2].strip() == OUTPUT:
            blocks[-1] = replace(blocks[-1], output=textwrap.dedent("\n".join(lines[start:number])))
        start = None
    if start is not None:
        raise ValueError(f"line {start}: the block is never closed")
    return blocks


def run_python(page: Page, block: Block) -> None:
    source = "\n" * (block.line - 1) + block.text  # so that a traceback shows the line of the page
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(page.path), "exec"), page.namespace)
    check_shown(f"{page.path.name}:{block.line}", block.output.splitlines(), printed.getvalue())


def check_shown(place: str, shown: list[str], printed: str) -> None:
    """Each shown line must be among the printed ones; `...` in it stands for any text."""
    lines = [line.rstrip() for line in printed.splitlines()]
    for line in shown:
        pattern = re.escape(line.rstrip()).replace(re.escape("..."), ".*")
        assert any(re.fullmatch(pattern, one) for one in lines), f"{place}\ndoes not print {line!r} but\n{printed}"


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The lines that call hedgerow, at the beginning or behind a pipe, each with the output that the page shows."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.strip():
            found[-1][1].append(line.rstrip())
    return [(command, shown) for command, shown in found if re.match(r"(.*\| *)?hedgerow\b", command)]


def run_console(page: Page, block: Block) -> None:
    """Run the commands, and check the output that the page shows."""
    module = f'hedgerow() {{ "{sys.executable}" -m hedgerow "$@"; }}\n'  # the package that is tested, installed or not
    for command, shown in commands(block):
        done = subprocess.run(module + command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        place = f"{page.path.name}:{block.line}: {command}"
        assert done.returncode == 0, f"{place}\nleft with {done.returncode}\n{done.stderr}"
        check_shown(place, shown, f"{done.stdout}\n{done.stderr}")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(path, find_blocks(path.read_text(encoding="utf-8")))
    monkeypatch.chdir(tmp_path)
    try:
        page.run()
    finally:
        page.namespace.clear()  # compiled objects must not outlive the compiled module


SAMPLE = """\
```python
first = 1
```
<!-- not run: needs a network -->
```python
raise OSError
```
- in a list
  ```python
  second = first + 1
  ```
```text
$ hedgerow not a command
```
```console
$ hedgerow train \\
    words.txt
output
$ cat words.txt | hedgerow tag m.hedgerow -
$ pip install hedgerow
$ ls
```
"""


def test_blocks_are_found_with_their_lines() -> None:
    first, exempt, listed, console = find_blocks(SAMPLE)
    assert first == Block("python", 2, "first = 1")
    assert exempt == Block("python", 6, "raise OSError", "needs a network")
    assert listed == Block("python", 10, "second = first + 1")
    assert [(" ".join(command.split()), shown) for command, shown in commands(console)] == [
        ("hedgerow train words.txt", ["output"]),
        ("cat words.txt | hedgerow tag m.hedgerow -", []),
    ]


def test_blocks_share_a_namespace_and_exempt_ones_do_not_run() -> None:
    page = Page(Path("sample.md"), find_blocks(SAMPLE)[:3])
    page.run()
    assert page.namespace["second"] == 2


def test_an_error_names_its_line() -> None:
    page = Page(Path("sample.md"), find_blocks("\n\n```python\nx = 1\n1 / 0\n```\n"))
    with pytest.raises(ZeroDivisionError) as caught:
        page.run()
    assert caught.traceback[-1].lineno == 4  # counted from 0


def test_a_failing_command_is_an_error() -> None:
    page = Page(Path("sample.md"), find_blocks("```console\n$ hedgerow no-such-verb\n```\n"))
    with pytest.raises(AssertionError, match=r"sample\.md:2: hedgerow no-such-verb"):
        page.run()


def test_the_output_of_a_command_must_be_what_the_page_shows() -> None:
    Page(Path("sample.md"), find_blocks("```console\n$ hedgerow --version\nhedgerow ...\n```\n")).run()
    page = Page(Path("sample.md"), find_blocks("```console\n$ hedgerow --version\nhedgerow ... x\n```\n"))
    with pytest.raises(AssertionError, match=r"does not print 'hedgerow \.\.\. x'"):
        page.run()


def test_the_output_of_python_must_be_what_the_page_shows() -> None:
    text = "```python\nprint('one\\ntwo')\n```\n\n<!-- output -->\n```text\none\nt...\n```\n"
    Page(Path("sample.md"), find_blocks(text)).run()
    page = Page(Path("sample.md"), find_blocks(text.replace("t...", "three")))
    with pytest.raises(AssertionError, match="does not print 'three'"):
        page.run()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\nx\n", "line 1: the block is never closed"),
        ("```py\nx\n```\n", "line 1: write ```python"),
        ("```sh\nx\n```\n", "line 1: write ```console"),
    ],
)
def test_a_block_that_would_escape_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_blocks(text)


def test_an_exemption_needs_a_reason() -> None:
    (block,) = find_blocks("<!-- not run: -->\n```python\nx\n```\n")
    assert block.exemption is None
