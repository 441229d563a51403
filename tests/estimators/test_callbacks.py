"""Callbacks: they see every record, can end a fit, get the model on demand; Progress shows a bar or lines."""

from __future__ import annotations

import io
import json
import logging
import sys
from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.callbacks import TrainingRecord
from hedgerow.errors import CodeWarning
from hedgerow.estimators.registry import REGISTRY

pytestmark = [
    pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning"),
    pytest.mark.filterwarnings("ignore::hedgerow.errors.ConvergenceWarning"),
]

RNG = np.random.default_rng(0)
X = ["".join(RNG.choice(list("abcd"), 8)) for _ in range(30)]
Y = [[str((ord(c) + i // 3) % 3) for i, c in enumerate(x)] for x in X]
ITERATIVE = sorted(set(REGISTRY) - {"HMM"})


def stop_after(n, answer):
    seen = []

    def callback(record):
        seen.append(record)
        return answer() if len(seen) == n else None

    callback.seen = seen
    return callback


def raise_stop():
    raise hr.StopTraining


@pytest.mark.parametrize(
    "answer", [lambda: True, lambda: np.bool_(True), raise_stop], ids=["True", "np.True_", "raise"]
)
@pytest.mark.parametrize("name", ITERATIVE)
def test_a_callback_ends_a_fit_with_what_has_been_learned(name, answer):
    make = REGISTRY[name]
    callback = stop_after(2, answer)
    model = make(random_state=0).fit(X, Y, callbacks=[callback])
    assert len(callback.seen) == len(model.training_log_) == 2
    assert len(make(random_state=0).fit(X, Y).training_log_) > 2
    assert len(model.predict(X)) == len(X)


def test_other_answers_do_not_end_a_fit():
    for answer in (None, False, 1, "stop", np.bool_(False)):
        assert (
            len(hr.TreeCRF(n_rounds=3).fit(X, Y, callbacks=[lambda record, answer=answer: answer]).training_log_) == 3
        )


def test_other_errors_come_through_and_the_steps_done_are_kept():
    def fail(record):
        raise RuntimeError("mine")

    model = hr.TreeCRF(n_rounds=3)
    with pytest.raises(RuntimeError, match="mine"):
        model.fit(X, Y, callbacks=[fail])
    assert len(model.training_log_) == 1


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_record_has_the_model_of_its_step_on_demand(name):
    models, records = [], []

    def callback(record):
        assert isinstance(record, TrainingRecord)
        assert record.estimator == name
        json.dumps(record)
        records.append(record)
        models.append(record.model())

    few = {"n_rounds": 20} if name == "TreeCRF" else {}
    fitted = REGISTRY[name](random_state=0, **few).fit(X, Y, callbacks=[callback])
    encoded = fitted.model_.encode(X)
    assert models[-1].training_log == fitted.training_log_ if hasattr(models[-1], "training_log") else True
    if name in ("TreeCRF", "LinearCRF", "HMM"):
        last, whole = models[-1].answers(encoded).marginals()[1], fitted.model_.answers(encoded).marginals()[1]
        np.testing.assert_array_equal(last, whole)
    if name == "TreeCRF":
        first, rounds = models[0].answers(encoded).marginals()[1], hr.TreeCRF(n_rounds=1, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(first, rounds.model_.answers(encoded).marginals()[1])
    with pytest.raises(RuntimeError, match="only inside the callback"):
        records[0].model()


def test_a_callback_is_closed_however_the_fit_ends():
    class Closing:
        closed = 0

        def __init__(self, fail):
            self.fail = fail

        def __call__(self, record):
            if self.fail:
                raise KeyboardInterrupt

        def close(self):
            self.closed += 1

    for fail in (False, True):
        callback = Closing(fail)
        try:
            hr.TreeCRF(n_rounds=2).fit(X, Y, callbacks=[callback])
        except KeyboardInterrupt:
            assert fail
        assert callback.closed == 1


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_verbose_logs_where_logging_is_configured(name, caplog, capsys):
    with caplog.at_level("INFO", logger="hedgerow"):
        model = REGISTRY[name](verbose=1, random_state=0).fit(X, Y)
    assert len(caplog.messages) == len(model.training_log_)
    assert all(message.startswith(f"{name}: ") for message in caplog.messages)
    assert capsys.readouterr().out == ""


def test_verbose_writes_lines_where_it_is_not(monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda self: False)
    text = io.StringIO()
    monkeypatch.setattr(sys, "stderr", text)
    hr.TreeCRF(n_rounds=2, verbose=1).fit(X, Y, X, Y)
    lines = text.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("TreeCRF: round 2")
    assert "dev accuracy 0." in lines[1]
    assert lines[1].endswith(" s")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_draws_a_bar_on_a_terminal_and_leaves_a_line(monkeypatch):
    text = Terminal()
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    progress = hr.callbacks.Progress()
    hr.TreeCRF(n_rounds=3).fit(X, Y, callbacks=[progress])
    assert "TreeCRF rounds" in text.getvalue()
    assert "3/3" in text.getvalue()
    hr.StructuredPerceptron(epochs=2, random_state=0).fit(X, Y, callbacks=[progress])  # and again
    assert "StructuredPerceptron epochs" in text.getvalue()
    last = [line for line in text.getvalue().splitlines() if line.endswith(" s")]
    assert [line.rpartition("\x1b")[2].partition("K")[2].split(", ")[0] for line in last] == [
        "TreeCRF: 3 rounds",
        "StructuredPerceptron: 2 epochs",
    ]
    assert all(", loss " in line for line in last)


def test_standard_error_gets_few_lines_of_many_steps(monkeypatch):
    text = io.StringIO()
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setattr(hr.callbacks.log, "hasHandlers", lambda: False)
    progress = hr.callbacks.Progress()

    def steps(n, seconds=0.0, total=None, **more):
        text.truncate(0)
        for i in range(1, n + 1):
            record = {"unit": "round", "step": i, "loss": 1.0, "seconds": i * seconds, **more}
            progress(hr.callbacks.TrainingRecord(record, estimator="E", total=total, make_model=lambda: None))
        progress.close()
        return [int(line.split()[2].strip(",")) for line in text.getvalue().lstrip("\0").splitlines()]

    tens = [*range(1, 11), *range(20, 101, 10)]
    assert steps(8) == list(range(1, 9))
    assert steps(100) == tens
    assert steps(234, total=1000) == [*tens, 200, 234]
    assert steps(34, seconds=4.0) == [*range(1, 11), 13, 16, 19, 20, 23, 26, 29, 30, 33, 34]
    assert steps(13, fit="search") == [*range(1, 11), 13]


def test_the_last_step_of_a_search_has_a_line(monkeypatch):
    text = io.StringIO()
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setattr(hr.callbacks.log, "hasHandlers", lambda: False)
    log = hr.TreeCRF(random_state=0, verbose=1).fit(X, Y).training_log_
    n = sum(record["fit"] == "search" for record in log)
    heads = [line.split(",")[0] for line in text.getvalue().splitlines()]
    assert f"TreeCRF: round {n} (search)" in heads
    assert heads[-1] == f"TreeCRF: round {len(log) - n} of {len(log) - n} (all sequences)"
    assert len(heads) < len(log)


@pytest.mark.parametrize("room", range(80))
def test_the_text_beside_the_bar_ends_with_a_whole_part(room):
    parts = ["loss 0.12", "dev accuracy 0.9", "TreeCRF rounds (search)"]
    shown = hr.callbacks._fitting(parts, room)
    assert len(shown) <= room
    assert shown in ("", *(", ".join(parts[:n]) for n in (1, 2, 3)))


def test_the_fit_on_all_sequences_has_a_total_a_bar_and_a_line_of_its_own(monkeypatch, caplog):
    records = []
    with caplog.at_level("INFO", logger="hedgerow"):
        log = hr.TreeCRF(random_state=0, verbose=1).fit(X, Y, callbacks=[records.append]).training_log_
    n = sum(record["fit"] == "search" for record in log)
    kept = log[n - 1]["best_step"]
    assert [record.total for record in records] == [None] * n + [kept] * kept
    heads = [message.split(",")[0] for message in caplog.messages]
    assert (heads[n - 1], heads[n]) == (f"TreeCRF: round {n} (search)", f"TreeCRF: round 1 of {kept} (all sequences)")
    text = Terminal()
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    hr.TreeCRF(random_state=0).fit(X, Y, callbacks=[hr.callbacks.Progress()])
    assert f"{kept}/{kept}" in text.getvalue()
    first, last = (line.partition("TreeCRF: ")[2] for line in text.getvalue().splitlines() if line.endswith(" s"))
    assert first.startswith(f"{n} rounds (search), best round {kept}, loss ")
    assert last.startswith(f"{kept} rounds (all sequences), loss ")


def test_progress_names_the_estimator_before_the_first_step(monkeypatch):
    text = Terminal()
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    progress = hr.callbacks.Progress()
    progress.begin("TreeCRF")
    progress.close()
    assert "TreeCRF" in text.getvalue()
    assert "loss" not in text.getvalue()


def test_a_callback_with_a_method_begin_learns_the_name_of_the_estimator():
    class Beginning:
        calls: ClassVar = []

        def begin(self, estimator):
            self.calls.append(estimator)

        def __call__(self, record):
            self.calls.append(record["step"])

    hr.TreeCRF(n_rounds=2).fit(X, Y, callbacks=[Beginning()])
    assert Beginning.calls == ["TreeCRF", 1, 2]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_records_hold_plain_values(name):
    bio = [["O", "B-x", "I-x", "O"]] * 12
    model = REGISTRY[name](random_state=0).fit(["abcd"] * 12, bio, ["abca"] * 2, bio[:2])
    plain = (int, float, str, bool, list, dict, type(None))
    assert "dev_span_f1" in model.training_log_[-1]
    for record in model.training_log_:
        assert {key: type(value) for key, value in record.items() if type(value) not in plain} == {}


@pytest.mark.filterwarnings("error::hedgerow.errors.CodeWarning")
def test_an_output_code_that_was_stopped_warns():
    def interrupt(record):
        if record["step"] == 2:
            raise KeyboardInterrupt

    letters = [list(x) for x in X]
    code = hr.OutputCode(base=hr.TreeCRF(n_rounds=2), n_bits=6, random_state=0, n_jobs=1)
    with (
        pytest.warns(CodeWarning, match="^the fit was stopped when 2 of 6 bits had been learned"),
        suppress(KeyboardInterrupt),
    ):
        code.fit(X, letters, callbacks=[interrupt])
    assert code.code_.shape[1] == 2
    growing = hr.OutputCode(base=hr.TreeCRF(n_rounds=2), code="grow", n_bits=6, random_state=0, n_jobs=1)
    with pytest.warns(CodeWarning, match="^the fit was stopped when 1 of 6 bits had been learned"):
        growing.fit(X, letters, X, letters, callbacks=[lambda record: True])
    growing.fit(X, letters, X, letters, callbacks=[lambda record: record["step"] == 4])  # code words are distinct
    assert growing.code_.shape[1] == 4
    code.fit(X, letters)
    hr.TreeCRF(n_rounds=4).fit(X, Y, callbacks=[lambda record: True])
