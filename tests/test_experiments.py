"""The experiments run: each in its quick form, on synthetic data. Their real runs are in docs/results.md."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "experiments"
SCRIPTS = [
    "shrinkage", "curves", "growth", "modern", "wobble", "chunking", "linear", "margin", "search",
    "missing", "missing --modern --fixed", "ozone", "future", "ahead",
]  # fmt: skip


@pytest.fixture
def common(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("common")


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(FOLDER / f"{script}.py"), "--quick", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_quick_run_prints_whole_tables(script: str) -> None:
    tables = run(*script.split()).strip().split("\n\n")
    for table in tables:
        head, rule, *rows = table.splitlines()
        assert rows
        assert {line.count("|") for line in (head, rule, *rows)} == {head.count("|")}
        assert "nan" not in table


@pytest.mark.parametrize("script", ["curves", "growth", "missing"])
def test_figures_are_small(script: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run(script, "--figures", str(tmp_path))
    (figure,) = tmp_path.iterdir()
    assert 1_000 < figure.stat().st_size < 60_000


def test_folds_hold_every_sequence_out_once(common) -> None:
    data = common.Part(list(range(17)), list(range(17)), [i // 2 for i in range(17)])
    parts = list(common.folds(data, 5))
    assert sorted(np.concatenate([held.X for _, held in parts])) == list(range(17))
    for kept, held in parts:
        assert sorted(kept.X + held.X) == list(range(17))
        assert not set(kept.family) & set(held.family)


def test_families_are_relatives_and_theirs(common) -> None:
    a, b, c = "ABCDEFGHIJKLMNOP", "JKLMNOPQRSTUVWXYZ", "TUVWXYZ0123456789"
    numbers = importlib.import_module("families").families([a, "*" * 20, c, b, "short"])
    assert numbers[0] == numbers[2] == numbers[3]
    assert len(set(numbers)) == 3


def test_curves_end_where_the_fitted_model_stands(common) -> None:
    ((train, test),) = common.splits(common.QUICK)
    model = common.hr.TreeCRF(window=1, max_leaves=5, n_jobs=1)
    curves = common.accuracy_by_round(model, 6, train, test)
    for decode, curve in curves.items():
        whole = common.fit(model, 6, train)
        assert 100 * curve[-1] == pytest.approx(common.percent(test.y, whole.predict(test.X, decode=decode)))
        assert len(curve) == 6


def test_the_choice_is_the_best_round_of_the_best_candidate(common) -> None:
    ((train, _),) = common.splits(common.QUICK)
    candidates = [common.hr.TreeCRF(window=window, n_jobs=1) for window in (0, 1)]
    best = common.choose(candidates, 4, train, n_folds=3)
    for decode, choice in best.items():
        right = {}
        for candidate in candidates:
            for kept, held in common.folds(train, 3):
                curve = common.accuracy_by_round(candidate, 4, kept, held)[decode]
                for at, share in enumerate(curve, start=1):
                    right[candidate.window, at] = right.get((candidate.window, at), 0) + share * held.n_positions
        assert right[choice.candidate.window, choice.n_rounds] == pytest.approx(max(right.values()))
        assert choice.accuracy == pytest.approx(max(right.values()) / train.n_positions)


def test_a_lost_letter_is_lost_at_all_gaps_that_look_at_it(common) -> None:
    word, n_words = "abcdefgh", 20
    windows = [f"__{word}__"[gap : gap + 6] for gap in range(len(word) - 1)]
    gaps = [dict(zip(("l3", "l2", "l1", "r1", "r2", "r3"), window, strict=True)) for window in windows]
    seen = importlib.import_module("missing").without_letters([gaps] * n_words, 0.3, seed=0)
    lost = np.stack([column.missing() for column in seen.columns], axis=1).reshape(n_words, len(gaps), 6)
    shown = np.array([list(window) for window in windows])
    assert not lost[:, shown == "_"].any()
    shares = []
    for letter in word:
        of_letter = lost[:, shown == letter]
        assert (of_letter == of_letter[:, :1]).all()
        shares.append(of_letter.mean())
    assert 0.2 < np.mean(shares) < 0.4


def test_roc_area_and_average_precision_are_those_of_scikit_learn(common) -> None:
    metrics, ozone = pytest.importorskip("sklearn.metrics"), importlib.import_module("ozone")
    rng = np.random.default_rng(0)
    rare, score = rng.random(200) < 0.1, rng.integers(0, 30, 200).astype(float)
    assert ozone.roc_area(score, rare) == pytest.approx(metrics.roc_auc_score(rare, score))
    assert ozone.average_precision(score, rare) == pytest.approx(metrics.average_precision_score(rare, score))
