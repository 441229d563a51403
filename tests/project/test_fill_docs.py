"""tools/fill_docs.py: commands of a page run, and their output becomes the content of the marked blocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from project.doc_pages import load_tool

tool = load_tool("fill_docs")

PAGE = """\
# Title

Text before.

<!-- begin: python -c "print('one')" -->

old one

<!-- end -->

Text between.

<!-- begin: python -c "print('two\\nlines')" -->
<!-- end -->

Text after.
"""


def write_page(folder: Path, text: str, name: str = "page.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_are_filled_and_the_text_around_them_is_kept(tmp_path: Path) -> None:
    page = write_page(tmp_path, PAGE)
    assert tool.main([str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    blocks = tool.find_blocks(text)
    shown = [block.content(text.splitlines()).split("\n\n") for block in blocks]
    assert shown == [
        [f"Output of `{block.command}`:", output] for block, output in zip(blocks, ("one", "two\nlines"), strict=True)
    ]
    for part in ("# Title\n\nText before.\n\n<!--", "-->\n\nText between.\n\n<!--", "-->\n\nText after.\n"):
        assert part in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_pattern_chooses_the_commands(tmp_path: Path) -> None:
    page = write_page(tmp_path, PAGE)
    assert tool.main([str(page), "--only", "two"]) == 0
    assert "old one" in page.read_text(encoding="utf-8")
    assert "two\nlines\n" in page.read_text(encoding="utf-8")


def test_commands_are_listed_without_running(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = write_page(tmp_path, PAGE)
    assert tool.main([str(page), "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "python -c \"print('one')\""
    assert page.read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize("code", ["import sys; print('half'); sys.exit(3)", "pass", "print('<!-- end -->')"])
def test_a_failing_command_leaves_the_page_as_it_was(code: str, tmp_path: Path) -> None:
    text = f'before\n<!-- begin: python -c "{code}" -->\n\nold\n\n<!-- end -->\nafter\n'
    page = write_page(tmp_path, text)
    page.chmod(0o640)
    assert tool.main([str(page)]) == 1
    assert page.read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_command_that_cannot_start_is_a_failure(tmp_path: Path) -> None:
    text = "<!-- begin: no-such-program -->\nold\n<!-- end -->\n"
    page = write_page(tmp_path, text)
    assert tool.main([str(page)]) == 1
    assert page.read_text(encoding="utf-8") == text


def test_commands_after_a_failure_still_run(tmp_path: Path) -> None:
    page = write_page(tmp_path, '<!-- begin: python -c "1 / 0" -->\nold\n<!-- end -->\n' + PAGE)
    assert tool.main([str(page)]) == 1
    text = page.read_text(encoding="utf-8")
    assert "\nold\n" in text
    assert "\none\n" in text


def test_a_page_is_written_beside_and_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = write_page(tmp_path, PAGE)

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        tool.main([str(page)])
    assert page.read_text(encoding="utf-8") == PAGE
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_the_mode_of_a_page_is_kept(tmp_path: Path) -> None:
    page = write_page(tmp_path, PAGE)
    page.chmod(0o640)
    assert tool.main([str(page)]) == 0
    assert page.stat().st_mode & 0o777 == 0o640


def test_a_command_on_two_pages_runs_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"open('{count}', 'a').write('x'); print('done')"
    text = f'<!-- begin: python -c "{code}" -->\n<!-- end -->\n'
    pages = [write_page(tmp_path, text, name) for name in ("a.md", "b.md")]
    assert tool.main(list(map(str, pages))) == 0
    assert count.read_text(encoding="utf-8") == "x"
    assert all("\ndone\n" in page.read_text(encoding="utf-8") for page in pages)


def test_a_page_that_is_edited_while_a_command_runs_keeps_the_edit(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    code = f"p = __import__('pathlib').Path('{page}'); p.write_text('edited' + chr(10) + p.read_text()); print('new')"
    write_page(tmp_path, f'<!-- begin: python -c "{code}" -->\nold\n<!-- end -->\n')
    assert tool.main([str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("edited\n<!-- begin")
    assert "\nnew\n" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- begin: a -->\n", "line 1: the block has no <!-- end -->"),
        ("\n<!-- end -->\n", "line 2: no block begins before this end"),
        ("<!-- begin: a -->\n<!-- begin: b -->\n<!-- end -->\n", "line 2: a block begins inside the block of line 1"),
    ],
)
def test_misplaced_markers_are_an_error_before_anything_runs(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write_page(tmp_path, PAGE, "good.md")
    page = write_page(tmp_path, text)
    assert tool.main([str(good), str(page)]) == 2
    assert f"{page}: {message}" in capsys.readouterr().err
    assert good.read_text(encoding="utf-8") == PAGE


def test_every_run_is_added_to_the_history(tmp_path: Path) -> None:
    page, history = write_page(tmp_path, PAGE), tmp_path / "history.jsonl"
    for only in ("one", "two"):
        assert tool.main([str(page), "--only", only, "--history", str(history)]) == 0
    runs = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    assert [run["output"] for run in runs] == ["one", "two\nlines"]
    assert [run["command"] for run in runs] == [block.command for block in tool.find_blocks(PAGE)]
    assert all(set(run) == {"date", "commit", "command", "output"} for run in runs)


def test_a_command_that_fails_is_not_recorded(tmp_path: Path) -> None:
    page, history = write_page(tmp_path, '<!-- begin: python -c "1/0" -->\n<!-- end -->\n'), tmp_path / "history.jsonl"
    assert tool.main([str(page), "--history", str(history)]) == 1
    assert not history.exists()
