"""The figures of the documentation: printed by commands that exist, and the same wherever they are repeated."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from project.doc_pages import GUIDES, load_tool
from project.test_fill_docs import tool

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
quoting = load_tool("quote_table")
RESULTS = sorted((DOCS / "results").glob("*.md"))
FILLED = [*RESULTS, DOCS / "benchmarks.md"]
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+")  # with decimals: whole numbers count things, or are labels of a table
LINK = re.compile(r"\[.*?\]\(([^)#]*)(#[^)]*)?\)")


def blocks(page: Path) -> list[str]:
    """The content of the page's blocks."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [block.content(lines) for block in tool.find_blocks("\n".join(lines))]


def table_rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


@pytest.mark.parametrize("page", FILLED, ids=lambda page: page.name)
def test_each_block_names_a_script_and_shows_date_and_processor(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    found = tool.find_blocks("\n".join(lines))
    assert found
    for block in found:
        python, script, *_ = shlex.split(block.command)
        assert python == "python"
        assert (ROOT / script).is_file(), block.command
        shown, machine, table, *_ = block.content(lines).split("\n\n")
        assert shown == f"Output of `{block.command}`:"
        assert re.match(r"\d{4}-\d\d-\d\d; .+; \d+ cores; .+; Python 3\.\d+\.\d+\.", machine)
        assert table.startswith("|")


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.name)
def test_a_results_page_has_no_table_outside_blocks(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in reversed(tool.find_blocks("\n".join(lines))):
        del lines[block.first : block.last]
    assert not any(line.startswith("|") for line in lines)


def test_every_experiment_has_its_place_on_a_page() -> None:
    scripts = {path.name for path in (ROOT / "experiments").glob("*.py") if "__main__" in path.read_text("utf-8")}
    named = {Path(shlex.split(command)[1]).name for command in tool.commands(RESULTS, "")}
    assert named == scripts


def test_every_benchmark_has_its_place_on_the_page() -> None:
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8")}
    named = {Path(shlex.split(command)[1]).name for command in tool.commands([DOCS / "benchmarks.md"], "")}
    assert named == scripts


def test_the_summary_of_the_results_repeats_figures_of_the_pages() -> None:
    rows = [row for row in table_rows((DOCS / "results.md").read_text(encoding="utf-8")) if LINK.search(row[1])]
    assert len(rows) > 15
    for _, figure, published, ours, _ in rows:
        target = LINK.search(figure)
        assert target is not None
        printed = "\n".join(blocks(DOCS / target[1]))
        for number in NUMBER.findall(ours):
            assert number in NUMBER.findall(printed), f"{figure}: {number} is not among the figures of {target[1]}"
        for number in NUMBER.findall(published):
            assert number in printed or target[1].endswith("time.md"), f"{figure}: published {number}"


def test_the_summary_of_the_benchmarks_repeats_figures_of_the_page() -> None:
    page = DOCS / "benchmarks.md"
    summary = page.read_text(encoding="utf-8").split("## ")[0]
    printed = set(re.findall(r"[\d.]+[kx]?", "\n".join(blocks(page))))
    rows = [row for row in table_rows(summary) if LINK.search(row[0])]
    assert len(rows) > 5
    for _, *cells in rows:
        for number in re.findall(r"\d+\.?\d*[kx]?(?= \(|$|\))", " ".join(cells)):
            assert number in printed, number


def test_the_readme_repeats_figures_of_the_benchmarks() -> None:
    """Seconds and F1 of chunking are those of the table that the README links to."""
    rows = {row[0]: row for block in blocks(DOCS / "benchmarks.md") for row in table_rows(block)}
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    sentence = re.search(r"on CoNLL-2000 chunking,[^(]*\(", readme)
    assert sentence is not None
    ours = rows["TreeCRF, 60 rounds, words and tags alone, window 2"]
    theirs = rows["python-crfsuite L-BFGS"]
    assert NUMBER.findall(sentence[0]) == [ours[5], ours[1], theirs[1], theirs[5]]
    without_settings = re.search(r"accurate without settings:[^(]*\(\).*?\(", readme)
    assert without_settings is not None
    (head, scores) = [
        row for block in blocks(DOCS / "benchmarks.md") for row in table_rows(block) if row[0] in ("%", "conll2000")
    ][:2]
    by_model = {model: score.strip("*") for model, score in zip(head, scores, strict=True)}
    figures = [by_model[model] for model in ("TreeCRF", "TreeCRF, linear", "python-crfsuite")]
    assert NUMBER.findall(without_settings[0]) == figures


def test_the_printed_table_of_the_tuning_guide_is_what_its_code_prints() -> None:
    text = (DOCS / "tuning.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    printed = re.search(r"```text\n(setting .*?)\nBest of", text, re.DOTALL)
    assert code is not None
    assert printed is not None
    namespace: dict[str, Any] = {}
    exec(code[1], namespace)

    def without_seconds(table: str) -> list[str]:
        return [re.sub(r" +\d+\.\d(?= +\d+ +\d+ +\d+%)", "", line) for line in table.splitlines()]

    found = str(namespace["result"]).split("\nBest of")[0]
    assert without_seconds(found) == without_seconds(printed[1])


GUIDES_THAT_QUOTE = [page for page in GUIDES if "python tools/quote_table.py" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", GUIDES_THAT_QUOTE, ids=lambda page: page.name)
def test_a_guide_quotes_the_figures_of_the_benchmarks(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in tool.find_blocks("\n".join(lines)):
        assert quoting.main(shlex.split(block.command)[2:]) == 0
        assert block.content(lines) == f"Output of `{block.command}`:\n\n{capsys.readouterr().out.strip()}"


def test_a_quote_needs_rows_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert quoting.main(["%", "no-such-task"]) == 1
    assert "no-such-task" in capsys.readouterr().err


def test_a_quote_joins_tables_and_leaves_out_empty_columns() -> None:
    first, second = "| % | A | B |\n|---|---|---|\n| r | 1 | 2 |\n", "| % | A |\n|---|---|\n| s | 3 |\n"
    text = f"<!-- begin: x -->\n{first}\n{second}<!-- end -->"
    assert quoting.quote(text, "%", ["s", "r"], ["A", "B", "C"]) == [["%", "A", "B"], ["s", "3", "–"], ["r", "1", "2"]]
