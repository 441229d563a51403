"""Run the commands named in documentation pages and write what they print into the pages.

A block of a page that holds figures looks like this:

    <!-- begin: python experiments/shrinkage.py --tasks protein -->

    Output of `python experiments/shrinkage.py --tasks protein`:

    | set | accuracy |
    |---|---|
    | Protein | 62.93 |

    <!-- end -->

The content of the block is a line that shows the command, and the standard output of the command, run from the root of
the repository.

    python tools/fill_docs.py docs/results/*.md                  # run every command; this takes hours
    python tools/fill_docs.py docs/results/*.md --only linear    # run only the commands that contain "linear"
    python tools/fill_docs.py docs/results/*.md --list           # print the commands and stop

With --history, every run also adds a line to a file: a JSON object with date, commit, command and output.

A command that fails, or prints nothing, leaves its block as it was. The remaining commands still run, and the exit
status is 1. A page with misplaced markers is an error before anything runs: exit status 2.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN = re.compile(r"<!-- begin: *(\S.*?) *-->")
END = "<!-- end -->"


class PageError(Exception):
    """A page whose markers do not come in pairs."""


class CommandError(Exception):
    """A command that failed or printed nothing."""


@dataclass(frozen=True)
class Block:
    """The lines `first` to `last` (numbered from 0, `last` excluded) that `command` fills."""

    command: str
    first: int
    last: int

    def content(self, lines: Sequence[str]) -> str:
        return "\n".join(lines[self.first : self.last]).strip()


def find_blocks(text: str) -> list[Block]:
    """Return the marked blocks of a page in order. Raises PageError if the markers do not come in pairs."""
    blocks, opened = [], None
    for number, line in enumerate(text.splitlines()):
        begin = BEGIN.fullmatch(line.strip())
        if begin:
            if opened:
                raise PageError(f"line {number + 1}: a block begins inside the block of line {opened[1]}")
            opened = begin[1], number + 1
        elif line.strip() == END:
            if not opened:
                raise PageError(f"line {number + 1}: no block begins before this end")
            blocks.append(Block(opened[0], opened[1], number))
            opened = None
    if opened:
        raise PageError(f"line {opened[1]}: the block has no {END}")
    return blocks


def replace_blocks(text: str, command: str, output: str) -> str:
    """Return the page with the command and its output as the content of every block of `command`."""
    lines = text.splitlines()
    for block in reversed(find_blocks(text)):
        if block.command == command:
            lines[block.first : block.last] = ["", f"Output of `{command}`:", "", *output.strip().splitlines(), ""]
    return "\n".join(lines) + "\n"


def run(command: str, root: Path) -> str:
    """Return the standard output of the command. Its standard error is shown, so that progress can be followed."""
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    try:
        done = subprocess.run(words, cwd=root, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise CommandError(str(error)) from error
    if done.returncode != 0:
        raise CommandError(f"exit status {done.returncode}")
    if not done.stdout.strip():
        raise CommandError("nothing printed")
    if any(line.strip() == END for line in done.stdout.splitlines()):
        raise CommandError(f"the output contains {END}")
    return done.stdout


def write(path: Path, text: str) -> None:
    """Write a temporary file beside `path` and rename it, so that no half-written page is ever seen."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        shutil.copymode(path, temporary)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def commit(root: Path) -> str:
    """The commit that is checked out, with a + if files differ from it; empty outside a repository."""
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=9", "--dirty=+", "--exclude=*"]
    done = subprocess.run(git, capture_output=True, text=True)
    return done.stdout.strip()


def record(history: Path, command: str, output: str, root: Path) -> None:
    """Add a line about a run to the history."""
    today = datetime.date.today().isoformat()
    run = {"date": today, "commit": commit(root), "command": command, "output": output.strip()}
    with history.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run, ensure_ascii=False) + "\n")


def fill(pages: Sequence[Path], command: str, root: Path, history: Path | None) -> None:
    """Run the command, put its output into every page that names it, and record it in the history if there is one.

    The pages are read after the command has ended, so edits made while it ran are kept.
    """
    output = run(command, root)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        filled = replace_blocks(text, command, output)
        if filled != text:
            write(page, filled)
    if history is not None:
        record(history, command, output, root)


def commands(pages: Sequence[Path], pattern: str) -> Iterator[str]:
    """Yield the commands of the pages that contain `pattern`, each once. Raises PageError with the page's name."""
    found: dict[str, None] = {}
    for page in pages:
        try:
            blocks = find_blocks(page.read_text(encoding="utf-8"))
        except PageError as error:
            raise PageError(f"{page}: {error}") from error
        found |= {block.command: None for block in blocks if pattern in block.command}
    yield from found


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path, help="Markdown files")
    parser.add_argument("--only", default="", metavar="TEXT", help="run only the commands that contain this text")
    parser.add_argument("--list", action="store_true", help="print the commands and stop")
    parser.add_argument("--history", type=Path, metavar="FILE", help="add a line about each run to this file")
    options = parser.parse_args(arguments)
    try:
        chosen = list(commands(options.pages, options.only))
    except (PageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(chosen))
        return 0
    failed = False
    for command in chosen:
        print(f"$ {command}", file=sys.stderr, flush=True)
        try:
            fill(options.pages, command, root, options.history)
        except CommandError as error:
            print(f"error: {command}: {error}; its block stays as it was", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
