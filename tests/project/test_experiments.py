"""The experiments run: each in its quick form, on synthetic data. Their real runs are in docs/results.md."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "experiments"
SCRIPTS = [
    "shrinkage", "curves", "round_time", "modern", "protein_sensitivity", "chunking", "linear", "margin", "search",
    "missing", "missing --modern --fixed", "ozone", "future", "future_features", "codes", "many_labels",
    "virtual_evidence", "paper2004", "pools", "label_bias", "orders", "cpu_time", "conjunctions", "future_search",
    "missing --rules both", "missing --features", "sampling",
]  # fmt: skip
HANGS = 600  # seconds after which a script that takes a few is taken to hang


@pytest.fixture
def common(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("common")


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(FOLDER / f"{script}.py"), "--quick", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.slow
def test_a_quick_run_prints_whole_tables(script: str) -> None:
    machine, *tables = run(*script.split()).strip().split("\n\n")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d; .*; \d+ cores; .*; Python [\d.]+\.", machine)
    assert tables
    for table in tables:
        head, rule, *rows = table.splitlines()
        assert rows
        assert {line.count("|") for line in (head, rule, *rows)} == {head.count("|")}
        assert "nan" not in table


@pytest.mark.parametrize(
    ("script", "n_figures"),
    [("curves", 1), ("round_time", 1), ("missing", 1), ("missing --features", 1), ("codes", 2), ("paper2004", 1)],
)
@pytest.mark.slow
def test_figures_are_small(script: str, n_figures: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run(*script.split(), "--figures", str(tmp_path))
    sizes = [figure.stat().st_size for figure in tmp_path.iterdir()]
    assert len(sizes) == n_figures
    assert all(1_000 < size < 60_000 for size in sizes)


def test_folds_hold_every_sequence_out_once(common) -> None:
    data = common.Split(list(range(17)), list(range(17)), [i // 2 for i in range(17)])
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
    ((train, test),) = common.train_test_pairs(common.QUICK)
    model = common.hr.TreeCRF(window=1, max_leaves=5, n_jobs=1)
    curves = common.accuracy_by_round(model, 6, train, test)
    for decode, curve in curves.items():
        whole = common.fit(model, 6, train)
        assert 100 * curve[-1] == pytest.approx(common.percent(test.y, whole.predict(test.X, decode=decode)))
        assert len(curve) == 6


@pytest.mark.parametrize("decode", ["marginal", "viterbi"])
def test_curves_are_the_accuracies_of_the_training_log(common: Any, decode: str) -> None:
    ((train, dev),) = common.train_test_pairs(common.QUICK)
    model = common.hr.TreeCRF(window=1, max_leaves=5, n_rounds=6, decode=decode)
    model.fit(train.X, train.y, X_dev=dev.X, y_dev=dev.y)
    curve = common.accuracy_by_round(model, 6, train, dev)[decode]
    assert curve == pytest.approx([record["dev_accuracy"] for record in model.training_log_])


def test_the_choice_is_the_best_round_of_the_best_candidate(common) -> None:
    ((train, _),) = common.train_test_pairs(common.QUICK)
    candidates = [common.hr.TreeCRF(window=window, n_jobs=1) for window in (0, 1)]
    best = common.choose(candidates, 4, train, n_folds=3)
    for decode, choice in best.items():
        right: dict[tuple[int, int], float] = {}
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


CODE: list[Any] = ["OutputCode", {"base": ["TreeCRF", {"window": 1, "n_rounds": 3}], "n_bits": 20, "random_state": 0}]


@pytest.fixture
def bench(common):
    return importlib.import_module("bench")


def test_a_measurement_says_which_positions_are_right(bench) -> None:
    found = bench.measure("quick", "test", CODE)
    train, test = bench.data("quick", "test")
    model = bench.make(CODE).fit(train.X, train.y)
    right = np.concatenate(model.predict(test.X)) == np.concatenate(test.y)
    np.testing.assert_array_equal(bench.is_right(found), right)
    assert found["accuracy"] == pytest.approx(100 * right.mean())


def test_the_curve_of_a_code_is_that_of_its_beginnings(bench) -> None:
    curve = dict(bench.measure("quick", "test", CODE)["curve"])
    train, test = bench.data("quick", "test")
    model, gold = bench.make(CODE).fit(train.X, train.y), np.concatenate(test.y)
    bits = np.concatenate(model.predict_bits(test.X))
    nearest = np.abs(bits[:, None, :10] - model.code_[None, :, :10]).sum(axis=2).argmin(axis=1)
    assert curve[10] == pytest.approx(100 * np.mean(model.classes_[nearest] == gold))
    assert curve[20] == pytest.approx(100 * np.mean(np.concatenate(model.predict(test.X)) == gold))


def test_a_measurement_is_made_once(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    first = bench.Bench(kept, here=True)("quick", CODE, "dev")
    monkeypatch.delattr(bench, "measure")
    assert bench.Bench(kept, here=True)("quick", CODE, "dev") == first


def test_the_best_candidate_is_best_on_held_out_training_data(common, bench) -> None:
    measured = bench.Bench(None, here=True)
    specs = [["StructuredPerceptron", {"window": 0, "epochs": n, "random_state": 0}] for n in (1, 30)]
    kept, held = bench.data("quick", "dev")
    assert not {id(x) for x in kept.X} & {id(x) for x in held.X}
    labelled = [bench.make(spec).fit(kept.X, kept.y).predict(held.X) for spec in specs]
    accuracies = [common.percent(held.y, predicted) for predicted in labelled]
    assert accuracies[0] != accuracies[1]
    assert measured.best("quick", specs) == specs[int(np.argmax(accuracies))]


def test_the_sweep_of_trust_has_the_library_s_own_lattice_in_it(bench) -> None:
    many_labels = importlib.import_module("many_labels")
    train, held = bench.data("quick", "dev")
    model = bench.make([CODE[0], {**CODE[1], "distance": "lattice"}]).fit(train.X, train.y)
    table = np.array(list(many_labels.sweep(model, held, many_labels.DEFAULT_TRANSITION_WEIGHT)))
    own = np.concatenate(model.predict(held.X, decode="marginal")) == np.concatenate(held.y)
    at = many_labels.TEMPERATURES.index(1.0), many_labels.TRUSTS.index(many_labels.DEFAULT_TRANSITION_WEIGHT)
    assert table[at] == pytest.approx(100 * own.mean())
    assert (table[:, 0] == table[0, 0]).all()  # without transitions, a temperature changes no label
