"""The race of `tune`: its table, determinism, resuming, interruption, and bad input."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.tuning import candidates, entry, plan, spaces
from hedgerow.tuning.budget import about
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.fits import Fits
from hedgerow.tuning.traits import Traits
from oracles import tuning as oracle

DATA = hr.datasets.load("pronounce", "train")
X = DATA.X[:60]
Y = [["silent" if phone == "_" else "heard" for phone in labels] for labels in DATA.y[:60]]
FEW = {"HMM": {"order": [0, 1, 2]}, "LinearCRF": {"window": [0, 1, 2]}}


def tuned(**others):
    return hr.tune(X, Y, **{"estimators": FEW, "random_state": 0, "n_jobs": 1} | others)


def without_seconds(result):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in result.rows]


def halving_only(monkeypatch):
    """Leave the exhaustive schedule out, so that a small test has several rungs."""
    monkeypatch.setattr(plan, "PLANNED", 1e-6)


def test_the_best_setting_wins_and_is_fitted_on_all_data():
    result = tuned()
    settings = [row["setting"] for row in result.rows]
    assert sorted(settings) == sorted(
        ["HMM(order=0)", "HMM()", "HMM(order=2)", "LinearCRF()", "LinearCRF(window=1)", "LinearCRF(window=2)"]
    )
    scores = [row["score"] for row in result.rows]
    assert scores == sorted(scores, reverse=True)
    assert result.rows[0]["status"] == "best"
    assert result.best_score == scores[0]
    refitted = type(result.model)(**result.model.get_params() | {"n_jobs": 2}).fit(X, Y)
    assert [p.tolist() for p in refitted.predict_proba(X)] == [p.tolist() for p in result.model.predict_proba(X)]
    assert result.is_complete
    assert result.model.n_jobs == 1


def test_scores_are_those_of_a_plain_loop():
    folds = [(range(30), range(30, 60)), (range(30, 60), range(30))]
    result = tuned(estimators=[hr.LinearCRF(window=1)], cv=folds)
    correct = 0
    for train, test in folds:
        model = hr.LinearCRF(window=1).fit([X[i] for i in train], [Y[i] for i in train])
        correct += sum((p == Y[i]).sum() for i, p in zip(test, model.predict([X[i] for i in test]), strict=True))
    assert result.best_score == pytest.approx(correct / sum(map(len, Y)), abs=1e-15)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    halving_only(monkeypatch)
    one, two = tuned(n_jobs=1), tuned(n_jobs=2)
    assert max(row["rung"] for row in one.rows) > 1
    assert without_seconds(one) == without_seconds(two)
    assert one.summary() == two.summary()
    one_p, two_p = one.model.predict_proba(X), two.model.predict_proba(X)
    assert all((a == b).all() for a, b in zip(one_p, two_p, strict=True))


def test_another_seed_gives_other_folds():
    assert without_seconds(tuned()) != without_seconds(tuned(random_state=1))


def test_the_rungs_are_those_of_the_slow_version(monkeypatch):
    halving_only(monkeypatch)
    records = []
    tuned(callbacks=[records.append])
    by_rung = {r: [record["setting"] for record in records if record["rung"] == r] for r in (1, 2)}
    scores = {record["setting"]: [record["score"]] for record in records if record["rung"] == 1}
    for record in records:
        if record["rung"] == 2:
            scores[record["setting"]].append(record["score"])
    assert list(by_rung.values()) == oracle.survivors(scores, oracle.halving(6))
    assert [record["step"] for record in records] == list(range(1, 9))
    assert {record.total for record in records} == {8}


def test_each_rung_learns_from_its_share_of_the_data(monkeypatch):
    halving_only(monkeypatch)
    learned, real = {}, Fits._parts_of

    def noted(self, task):
        train, test = real(self, task)
        learned.setdefault(task.share, set()).add((len(train.X), len(test.X)))
        return train, test

    monkeypatch.setattr(Fits, "_parts_of", noted)
    result = tuned(cv=4)
    large = max(learned)
    assert len(learned) == 2
    assert large == result.rows[0]["share"] < 1
    for share, sizes in learned.items():
        for n_train, n_test in sizes:
            assert n_train == max(2, math.ceil(share * (60 - n_test)))
    note = "learned from 2% of its training part; a larger budget admits slower settings, or races on more data."
    assert result.summary().count(note) == 1


def test_a_checkpoint_continues_to_the_same_result(tmp_path, monkeypatch):
    halving_only(monkeypatch)
    whole = tuned()
    path = tmp_path / "race.json"

    def stop_at_three(record):
        return record["step"] == 3

    cut = tuned(checkpoint=path, callbacks=[stop_at_three])
    assert (cut.is_complete, cut.stopped) == (False, "stopped by a callback")
    n_done = len(json.loads(path.read_text())["fits"])
    fits = count_fits(monkeypatch)
    continued = tuned(checkpoint=path)
    assert without_seconds(continued) == without_seconds(whole)
    assert continued.summary() == whole.summary()
    n_all = len(json.loads(path.read_text())["fits"])
    assert 3 <= n_done < n_all
    assert len(fits) == n_all - n_done
    fits.clear()
    assert tuned(checkpoint=path).rows == continued.rows  # seconds too: nothing is fitted again
    assert fits == []
    assert [p.name for p in tmp_path.iterdir()] == ["race.json"]


def count_fits(monkeypatch):
    fits = []
    real = Fits._parts_of

    def counted(self, task):
        fits.append(task.key)
        return real(self, task)

    monkeypatch.setattr(Fits, "_parts_of", counted)
    return fits


@pytest.mark.parametrize("others", [{"random_state": 1}, {"cv": 3}, {"scoring": "log_likelihood"}])
def test_a_checkpoint_of_another_race_is_refused(tmp_path, others):
    path = tmp_path / "race.json"
    tuned(checkpoint=path, estimators=["HMM"])
    with pytest.raises(InputError, match="belongs to a race with other data, folds, scoring or random_state"):
        tuned(checkpoint=path, estimators=["HMM"], **others)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "hedgerow tuning 1", "origin": "", "fits": {"a": 3}}'])
def test_another_file_is_no_checkpoint(tmp_path, text):
    path = tmp_path / "race.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is no file of a tuning race"):
        tuned(checkpoint=path)
    assert path.read_text() == text


def test_an_interrupt_keeps_what_was_found():
    def interrupt(record):
        if record["step"] == 3:
            raise KeyboardInterrupt

    result = tuned(callbacks=[interrupt])
    assert result.stopped == "interrupted"
    assert hasattr(result.model, "model_")
    status = [row["status"] for row in result.rows]
    assert status.count("not run: interrupted") == 3
    assert "The race was cut off (interrupted): 3 settings not run to the end." in result.summary()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_before_the_first_score_is_raised(monkeypatch, n_jobs):
    def interrupt(self, task):
        raise KeyboardInterrupt

    monkeypatch.setattr(Fits, "_parts_of", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tuned(n_jobs=n_jobs)


def test_time_cuts_the_race_off_and_the_table_says_so(monkeypatch):
    steps = iter([False] * 40 + [True] * 10000)
    from hedgerow.tuning import budget

    def is_due(self):
        if next(steps):
            self.because("out of time")
        return self.reason is not None

    monkeypatch.setattr(budget.Stop, "is_due", is_due)
    result = tuned()
    assert result.stopped == "out of time"
    assert any(row["status"] == "not run: out of time" and row["score"] is None for row in result.rows)
    assert "raise budget for a full race" in result.summary()
    assert "not run: out of time" in str(result)


def test_a_setting_cut_off_on_a_later_rung_is_not_finished(monkeypatch):
    halving_only(monkeypatch)

    def stop_on_the_second_rung(record):
        return record["rung"] == 2

    result = tuned(callbacks=[stop_on_the_second_rung])
    cut_off = [row for row in result.rows if row["status"] == "not finished: stopped by a callback"]
    assert len(cut_off) == 1
    assert (cut_off[0]["rung"], cut_off[0]["score"] is None) == (1, False)
    assert result.summary().startswith("Best of 6 settings: ")
    assert "(stopped by a callback): 1 setting not run to the end" in result.summary()


def test_a_setting_too_slow_for_the_budget_is_left_out():
    result = tuned(estimators=[hr.HMM(), hr.TreeCRF(n_rounds=10**9)])
    assert [row["setting"] for row in result.rows] == ["HMM()", "TreeCRF(n_rounds=1000000000)"]
    assert re.fullmatch(r"not run: a fit takes about [1-9]\d0+ s", result.rows[1]["status"])
    assert result.summary().startswith("Best of 1 setting: HMM()")
    assert "Too slow for the budget, so not raced: TreeCRF(n_rounds=1000000000); raise budget" in result.summary()
    assert result.is_complete


def test_a_budget_too_small_for_one_setting_is_refused():
    rule = "budget must be enough to read the data and score at least one setting, but 1e-09 ended before the first"
    with pytest.raises(InputError, match=rf"{rule} was scored; the quickest fit on all data takes about \S+ s; raise"):
        tuned(budget=1e-9)


def test_a_budget_is_not_refused_by_an_estimate_below_it(monkeypatch):
    monkeypatch.setattr(entry, "fit_seconds", lambda estimator, traits: 1e-12)
    with pytest.raises(InputError, match=r"1e-09 ended before the first was scored; raise budget$"):
        tuned(budget=1e-9)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.000268, "0.00027 s"), (0.4, "0.4 s"), (9.96, "10 s"), (14.6, "15 s"), (1234.0, "1200 s"), (2e7, "20000000 s")],
)
def test_rough_times_have_two_digits(seconds, text):
    assert about(seconds) == text


def test_splitters_that_need_what_they_do_not_get_are_refused():
    for cv, message in (
        (GroupKFold(3), "cv: GroupKFold needs groups, but there are none; pass groups, one value for each sequence"),
        (StratifiedKFold(3), "cv: StratifiedKFold needs one label for each sequence, .*; use KFold, GroupKFold with"),
        (KFold(99), r"cv: KFold cannot split 60 sequences \(Cannot have number of splits .*\); use other folds"),
    ):
        with pytest.raises(InputError, match=message):
            tuned(cv=cv)
        with pytest.raises(InputError, match=message):
            hr.cross_val_predict(hr.HMM(), X, Y, cv=cv)
    groups = [i // 2 for i in range(60)]
    assert tuned(estimators=["HMM"], cv=GroupKFold(3), groups=groups).is_complete
    assert tuned(estimators=["HMM"], cv=KFold(3)).is_complete


def test_a_callback_that_stops_at_once_leaves_one_setting():
    def stop(record):
        raise hr.StopTraining

    result = tuned(callbacks=[stop])
    assert [row["status"] for row in result.rows].count("not run: stopped by a callback") == 5
    assert result.summary().startswith("Best of 1 setting: ")
    assert "The race was cut off (stopped by a callback): 5 settings" in result.summary()


def test_noise_is_said_plainly():
    same = hr.tune(X, Y, estimators=[hr.LinearCRF(window=1), hr.LinearCRF(window=1, tol=1.1e-5)], random_state=0)
    assert [row["status"] for row in same.rows] == ["best", "within noise"]
    assert "Within noise of the best, so that the race does not tell them apart: LinearCRF(" in same.summary()
    apart = hr.tune(X, Y, estimators=[hr.LinearCRF(window=2), hr.HMM(order=0)], random_state=0)
    assert [row["status"] for row in apart.rows] == ["best", "worse"]
    assert "larger than noise" in apart.summary()


def test_a_setting_that_fails_is_shown_and_dropped():
    x = [[{"a": None}, {"a": "x"}], [{"a": "y"}, {"a": "x"}]] * 5
    y = [["p", "q"]] * 10
    result = hr.tune(x, y, estimators=["HMM", "TreeCRF"], random_state=0)
    failed = [row for row in result.rows if row["status"].startswith("failed: ")]
    assert {row["setting"] for row in failed} <= {"HMM()", "HMM(order=2)"}
    assert failed == [] or "missing" in failed[0]["status"]
    order_too_high = [hr.LinearCRF(solver="sgd", beam=1)]
    with pytest.raises(InputError, match=r"every setting failed; LinearCRF\(.*: .*learns without a beam"):
        hr.tune(X, Y, estimators=order_too_high, random_state=0)


def test_the_table_becomes_a_frame_and_text():
    result = tuned()
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(result.rows[0])
    lines = str(result).splitlines()
    assert lines[0].split()[:3] == ["setting", "score", "error"]
    assert len(lines) >= 8
    assert lines[-1] in result.summary()


def test_progress_is_shown_on_request(caplog):
    caplog.set_level("INFO", logger="hedgerow")
    tuned(estimators=["HMM"])
    assert caplog.messages == []
    tuned(estimators=["HMM"], verbose=1)
    assert caplog.messages[0].startswith("tune: trial 1 of 2, HMM(), score 0.")


SPANS = (
    [["Ann", "Lee", "left", "York"], ["in", "Leeds", "now"]] * 6,
    [["B-P", "I-P", "O", "B-L"], ["O", "B-L", "O"]] * 6,
)


def test_labels_that_mark_spans_are_scored_by_span_f1():
    result = hr.tune(*SPANS, estimators=["HMM"], random_state=0)
    assert result.scoring == "span_f1"
    assert result.best_score == 1.0
    assert hr.tune(*SPANS, estimators=["HMM"], random_state=0, scoring="accuracy").scoring == "accuracy"


def test_span_f1_is_that_of_all_folds_together():
    x = [["a", "b", "c"], ["b", "a"], ["c", "a", "b"], ["a"], ["b", "c"]] * 2
    draw = np.random.default_rng(0)
    y = [draw.choice(["O", "B-X", "I-X"], len(row)).tolist() for row in x]
    result = hr.tune(x, y, estimators=[hr.HMM()], random_state=3, cv=5)
    predicted = hr.cross_val_predict(hr.HMM(), x, y, random_state=3, cv=5)
    assert result.best_score == pytest.approx(hr.metrics.span_f1(y, predicted), abs=1e-15)


def test_a_function_scores_each_fold():
    result = tuned(estimators=[hr.HMM()], scoring=hr.metrics.sequence_accuracy, cv=4)
    assert result.scoring.endswith("sequence_accuracy")
    assert 0 <= result.best_score <= 1
    assert result.standard_error > 0
    with pytest.raises(InputError, match="scoring must return a finite number, but it returned nan"):
        tuned(estimators=[hr.HMM()], scoring=lambda true, predicted: float("nan"))


def test_log_likelihood_prefers_good_probabilities():
    result = tuned(estimators=[hr.LinearCRF(window=1), hr.StructuredSVM(window=1)], scoring="log_likelihood")
    assert result.rows[0]["setting"] == "LinearCRF(window=1)"
    assert result.best_score < 0


def test_labels_of_a_single_sequence_count_as_errors_and_are_named():
    x, y = ["ab", "ba", "ab", "ba", "zb"], [["p", "q"], ["q", "p"], ["p", "q"], ["q", "p"], ["rare", "q"]]
    result = hr.tune(x, y, estimators=["HMM"], random_state=0)
    assert "1 label absent from the training part of a fold" in result.summary()
    assert "rare" in result.summary()
    assert result.best_score <= 0.9
    likely = hr.tune(x, y, estimators=["HMM"], random_state=0, scoring="log_likelihood")
    assert np.isfinite(likely.best_score)


def test_groups_stay_together():
    twice = [x for x in X[:20] for _ in range(2)]
    labels = [y for y in Y[:20] for _ in range(2)]
    groups = [i // 2 for i in range(40)]
    hr.tune(twice, labels, groups=groups, estimators=["HMM"], random_state=0, cv=4)
    data = RaceData.read(twice, labels, groups)
    assert data.groups.tolist() == groups
    with pytest.raises(InputError, match="groups must hold one value for each of the 40 sequences"):
        hr.tune(twice, labels, groups=groups[:-1], estimators=["HMM"])


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"estimators": "TreeCRF"}, r"estimators must be .* it is 'TreeCRF'; write \['TreeCRF'\]$"),
        ({"estimators": "trees"}, "estimators must be .* it is 'trees'$"),
        ({"estimators": []}, "estimators must be .* it is empty"),
        ({"estimators": {}}, "estimators must be .* it is empty"),
        ({"estimators": ["TreeCFR"]}, "there is no estimator 'TreeCFR'; did you mean 'TreeCRF'"),
        ({"estimators": [hr.HMM]}, r"but one is type; pass HMM\(\)"),
        ({"estimators": [3]}, "but one is int"),
        ({"estimators": {"HMM": []}}, "the space of HMM is empty"),
        ({"estimators": {"HMM": {"order": []}}}, "has no value for order"),
        ({"estimators": {"HMM": {"order": 2}}}, r"write order=\[2\]"),
        ({"estimators": {"HMM": 3}}, "the space of HMM must be a dict"),
        ({"estimators": {"HMM": [3]}}, "the space of HMM must be a dict"),
        ({"estimators": {"HMM": {"ordr": [2]}}}, "HMM has no parameter 'ordr'; did you mean 'order'"),
        ({"estimators": {"HMM": {"order": [-1]}}}, "HMM: order must be an integer of at least 0"),
        ({"scoring": "f1"}, 'scoring must be "accuracy", "span_f1"'),
        ({"scoring": "span_f1"}, "needs labels that mark spans"),
        ({"scoring": hr.metrics.accuracy_scorer}, r"of \(y_true, y_pred\), but accuracy_scorer .* hr.metrics.accuracy"),
        ({"scoring": make_scorer(hr.metrics.accuracy)}, r"of \(y_true, y_pred\), but make_scorer\(accuracy"),
        ({"scoring": lambda labels: 0.0}, r"of \(y_true, y_pred\), but <lambda> is one of \(labels\)"),
        ({"budget": "soon"}, "budget must be"),
        ({"cv": 61}, "cv must be from 2 to the number of sequences, which is 60"),
        ({"n_jobs": 0}, "n_jobs must be an integer at least 1"),
        ({"random_state": -1}, "random_state must be"),
        ({"optuna": -1}, "optuna must be the number of settings"),
        ({"optuna": "yes"}, "optuna must be the number of settings"),
        ({"callbacks": 3}, "callbacks must be a list of functions"),
        ({"checkpoint": 3}, "checkpoint must be"),
        ({"checkpoint": "race.json", "random_state": None}, "checkpoint needs a random_state"),
    ],
)
def test_bad_arguments_are_refused_before_any_fit(monkeypatch, others, message):
    fits = count_fits(monkeypatch)
    with pytest.raises(InputError, match=message):
        tuned(**others)
    assert fits == []


def test_a_single_sequence_is_refused():
    with pytest.raises(InputError, match=r"needs at least 2 sequences .* but there is only 1; cut it"):
        hr.tune(["ab"], [["p", "q"]])


def test_a_training_part_with_one_label_is_refused():
    x, y = ["ab", "cd"], [["p", "p"], ["q", "r"]]
    with pytest.raises(InputError, match=r"training part of fold \d must hold at least 2 distinct labels"):
        hr.tune(x, y, estimators=["HMM"], random_state=0)


def kinds():
    words = [["the", "cat"], ["a", "dog"]] * 5
    y = [["d", "n"]] * 10
    yield "letters", ["ab", "cd"] * 5, y
    yield "words", words, y
    yield "columns", [[(word, word[-1]) for word in row] for row in words], y
    yield "bags", [[[word, word[-1]] for word in row] for row in words], y
    yield "numbers", [np.arange(6.0).reshape(2, 3) + i for i in range(10)], y


@pytest.mark.parametrize(("kind", "x", "y"), list(kinds()), ids=lambda value: value if isinstance(value, str) else "")
def test_auto_spaces_are_valid_for_every_kind_of_data(kind, x, y):
    traits = Traits.of(RaceData.read(x, y, None))
    assert traits.kind == kind
    found = candidates.candidates_of("auto", traits, 0)
    assert {type(one.estimator).__name__ for one in found} == set(spaces.auto_estimators(traits))
    assert len({one.setting for one in found}) == len(found) >= 10
    for one in found:
        one.fresh(n_jobs=1).fit(x, y)


@pytest.mark.parametrize("name", sorted(spaces.RANGES))
def test_ranges_for_optuna_are_valid(name):
    for end in (0, 1):
        values = {parameter: ends[end] for parameter, ends in spaces.RANGES[name].items()}
        getattr(hr, name)(**values).check_parameters()


def test_optuna_refines_the_finalists():
    pytest.importorskip("optuna")
    estimators = [hr.LinearCRF(window=1), hr.HMM()]
    result, again = (tuned(estimators=estimators, optuna=4) for _ in range(2))
    assert len(result.rows) == 6
    assert without_seconds(result) == without_seconds(again)
    assert result.best_score >= tuned(estimators=estimators).best_score


def test_optuna_is_an_extra(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs Optuna, which is not installed; pip install 'hedgerow\[tune\]'"):
        tuned(optuna=3)


INTERRUPTED = """
import sys, hedgerow as hr
X, Y = ["abcd", "bca"] * 40, [list("abcd"), list("bca")] * 40
endless = hr.TreeCRF(n_rounds=10**9)
def ready(record):
    print("ready", flush=True)
result = hr.tune(X, Y, estimators=[hr.HMM(), endless], n_jobs=int(sys.argv[1]), random_state=0,
                 callbacks=[ready], budget=1e12)
print(result.stopped, result.model)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the test sends a POSIX signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_running_fits(n_jobs):
    command = [sys.executable, "-W", "error", "-c", INTERRUPTED, str(n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("interrupted HMM(")


def test_constraints_hold_for_every_candidate():
    X = [["Anna", "Berg", "left"], ["in", "Rome"], ["Carl", "left"]] * 4
    y = [["B-P", "I-P", "O"], ["O", "B-L"], ["B-P", "O"]] * 4
    result = hr.tune(
        X, y, estimators={"HMM": {"order": [0, 1]}, "LinearCRF": {}}, constraints="IOB2", random_state=0, cv=2, n_jobs=1
    )
    assert result.model.constraints == "IOB2"
    assert all("constraints='IOB2'" in row["setting"] for row in result.rows)
    with pytest.raises(InputError, match="y: sequence 0, position 1: label 'I-P' may not follow 'O'"):
        hr.tune(X, [["O", "I-P", "O"], *y[1:]], constraints="IOB2", random_state=0)
    with pytest.raises(InputError, match="tune: constraints must be one of IOB1"):
        hr.tune(X, y, constraints="BIO")
