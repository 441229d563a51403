"""The size of the report: below 3 MB for any data, and notes say what is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inspection.report import content
from hedgerow.inspection.report.page import json_bytes
from inspection.report.pages import Page, page_of

MOST = 3_000_000
Data = tuple[list[Any], list[list[str]]]


def labels_for(X: list[Any]) -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [rng.choice(["B-A", "I-A", "O"], len(x)).tolist() for x in X]


def short_words() -> Data:
    rng = np.random.default_rng(1)
    X = [rng.choice(list("abcdefgh"), 50).tolist() for _ in range(3_000)]
    return X, labels_for(X)


def numbers() -> Data:
    rng = np.random.default_rng(2)
    X: list[Any] = [rng.random((100, 13), np.float32) for _ in range(500)]
    return X, labels_for(X)


def long_texts() -> Data:
    X = [[{f"c{j}": f"{i} {t} {j}" * 30 for j in range(13)} for t in range(20)] for i in range(500)]
    return X, labels_for(X)


def escapes() -> Data:
    X = [["\x1b" * 119 + chr(200 + t) + str(i) for t in range(50)] for i in range(100)]
    return X, labels_for(X)


def one_sequence() -> Data:
    X = [["\u2028" * 120 + str(i) for i in range(5_000)]]
    return X, labels_for(X)


def many_labels() -> Data:
    n, width = 20_000, 20
    X = [[f"w{i}" for i in range(j, j + width)] for j in range(0, n, width)]
    return X, [[f"L{i}" + "<" * 200 for i in range(j, j + width)] for j in range(0, n, width)]


def huge_labels() -> Data:
    return [["a", "b"]] * 200, [[f"B-{'<' * 20_000}{i % 40}", "O"] for i in range(200)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hedgerow.errors.UnseenLabelWarning")
@pytest.mark.parametrize("make", [short_words, numbers, long_texts, escapes, one_sequence, many_labels, huge_labels])
def test_any_data_make_a_small_page(tmp_path: Path, make: Callable[[], Data]) -> None:
    X, y = make()
    estimator = hr.HMM() if isinstance(X[0][0], str) else hr.TreeCRF(n_rounds=2, n_jobs=1)
    n = len(X) if make is huge_labels else 10
    model = estimator.fit(X[:n], y[:n])
    page = page_of(tmp_path, model, X, y[::-1] if make is huge_labels else y)
    assert len(page.text.encode("utf-8")) < MOST
    assert page.data["explanations"]["at"]


def test_columns_are_left_out_before_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = [[{"word": f"w{t}", "long": f"{i} {t}" * 20, "tag": "N"} for t in range(5)] for i in range(100)]
    y = labels_for(X)
    model = hr.LinearCRF(max_iter=2, n_jobs=1).fit(X, y)
    whole = page_of(tmp_path, model, X, y)
    assert [column["name"] for column in whole.data["columns"]] == ["long", "tag"]
    assert "leaves out" not in whole.text
    needed = size_without_columns(whole)
    monkeypatch.setattr(content, "FOR_EXPLANATIONS", 10_000)
    monkeypatch.setattr(content, "MOST_BYTES", needed + 10_000 + 5_000)
    found = page_of(tmp_path, model, X, y)
    assert [column["name"] for column in found.data["columns"]] == ["tag"]
    assert len(found.data["sequences"]) == 100
    assert "The panel leaves out 1 column: long." in found.text
    assert 0 < len(found.data["explanations"]["at"]) < len(whole.data["explanations"]["at"])
    monkeypatch.setattr(content, "MOST_BYTES", needed + 10_000 - 5_000)
    smaller = page_of(tmp_path, model, X, y)
    assert 0 < len(smaller.data["sequences"]) < 100
    n, n_positions = len(smaller.data["sequences"]), sum(smaller.data["lengths"])
    assert f"The page has {n_positions} of 500 positions, in {n} sequences: about half" in smaller.text


def size_without_columns(page: Page) -> int:
    sections = len(page.text.split("<main")[1].split("</main>")[0].encode("utf-8"))
    return sections + json_bytes({**page.data, "columns": [], "explanations": None})


def test_wrong_sequences_come_before_uncertain_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["sure"] * 20 + ["open", "door"] * 20
    model = hr.HMM(order=0, smoothing=0.01).fit([[w] for w in words], [["S"]] * 20 + [["A"], ["B"], ["B"], ["A"]] * 10)
    X = [["open"]] * 6 + [["sure"] * 2] * 4
    y = [model.predict([x])[0].tolist() for x in X]
    y[-1] = ["A", "A"]  # a confident error: by certainty alone, this sequence comes last
    monkeypatch.setattr(content, "MOST_POSITIONS", 4)
    page = page_of(tmp_path, model, X, y)
    assert page.data["sequences"] == [0, 1, 9]
    assert "The page has 4 of 14 positions, in 3 sequences: about half" in page.text
    unlabelled = page_of(tmp_path, model, X)
    assert unlabelled.data["sequences"] == [0, 1, 2, 3]
    assert "The page has 4 of 14 positions, in 4 sequences: those with the least certain positions" in unlabelled.text
