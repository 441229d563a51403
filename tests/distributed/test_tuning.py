"""Races and folds on workers give what they give in this process."""

from __future__ import annotations

import time

import numpy as np
import pytest

import distributed
import hedgerow as hr
from hedgerow.distributed.tasks import WorkerTasks, is_cancelled
from hedgerow.errors import ConvergenceWarning, InputError, warn_user
from hedgerow.tuning import entry, fits

DATA = hr.datasets.load("pronounce", "train")
X = DATA.X[:40]
Y = [["silent" if p == "_" else "heard" for p in labels] for labels in DATA.y[:40]]
SPACE = {"HMM": {"order": [1, 2], "smoothing": [0.1, 1.0]}, "LinearCRF": {"window": [1], "max_iter": [3]}}


def tuned(**others):
    return hr.tune(X, Y, **{"estimators": SPACE, "cv": 3, "random_state": 0, "n_jobs": 1, "verbose": 0} | others)


def without_seconds(result):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in result.rows]


def test_a_race_on_workers_is_that_of_this_process(client):
    local, remote = tuned(), tuned(client=client)
    assert without_seconds(remote) == without_seconds(local)
    assert repr(remote.model) == repr(local.model)
    assert remote.model.model_.potential.to_arrays()[0] == local.model.model_.potential.to_arrays()[0]
    assert (remote.best_score, remote.standard_error) == (local.best_score, local.standard_error)


def last_label(gold, predicted):
    return float(np.mean([one[-1] == other[-1] for one, other in zip(gold, predicted, strict=True)]))


@pytest.mark.parametrize("scoring", ["log_likelihood", last_label])
def test_other_scores_are_the_same_too(scoring, client):
    assert without_seconds(tuned(client=client, scoring=scoring)) == without_seconds(tuned(scoring=scoring))


def test_a_checkpoint_of_workers_continues_here_and_there(client, tmp_path, monkeypatch):
    path = tmp_path / "race.json"
    first = tuned(client=client, checkpoint=path)

    def no_fit(*arguments):
        raise AssertionError("a known fit was repeated")

    monkeypatch.setattr(fits.Fits, "outcome", no_fit)
    for again in (tuned(checkpoint=path), tuned(client=client, checkpoint=path)):
        assert again.rows == first.rows


def test_a_setting_that_fails_on_a_worker_is_shown(client):
    space = [hr.HMM(), hr.LinearCRF(solver="sgd", beam=1)]
    local, remote = tuned(estimators=space), tuned(estimators=space, client=client)
    assert [row["status"] for row in remote.rows][1].startswith("failed: ")
    assert without_seconds(remote) == without_seconds(local)


def wait_for_idle_workers(client):
    for _ in range(500):
        if not any(client.processing().values()):
            return
        time.sleep(0.01)
    raise AssertionError(f"tasks still run: {client.processing()}")


@pytest.mark.parametrize(
    ("others", "reason"),
    [({"callbacks": [lambda record: True]}, "stopped by a callback"), ({"budget": 0.5}, "out of time")],
)
def test_what_ends_a_race_ends_the_fits_on_workers(others, reason, client, monkeypatch):
    monkeypatch.setattr(entry, "fit_seconds", lambda estimator, traits: 1e-12)
    endless = {"HMM": {}, "TreeCRF": {"n_rounds": [1_000_000]}}
    result = tuned(estimators=endless, client=client, **others)
    assert result.stopped == reason
    assert isinstance(result.model, hr.HMM)
    assert result.rows[1]["status"] == f"not run: {reason}"
    wait_for_idle_workers(client)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_folds_on_workers_predict_what_they_predict_here(method, client):
    estimator = hr.LinearCRF(window=1, max_iter=3)
    arguments = {"cv": 3, "method": method, "random_state": 1}
    local = hr.cross_val_predict(estimator, X, Y, **arguments)
    remote = hr.cross_val_predict(estimator, X, Y, **arguments, client=client)
    for one, other in zip(remote, local, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("call", [tuned, lambda **others: hr.cross_val_predict(hr.HMM(), X, Y, **others)])
def test_a_wrong_client_is_refused(call):
    with pytest.raises(InputError, match=r"client must be a distributed\.Client .* but it is str"):
        call(client="tcp://somewhere")


# Tasks on workers.


def doubled(shared, task, is_due):
    if task == "warn":
        warn_user("too few steps", ConvergenceWarning)
        return None
    if task == "refuse":
        raise InputError("X must be longer; give more")
    if task == "crash":
        raise ZeroDivisionError("no hedgerow error")
    if task == "time out":
        raise TimeoutError("of the task")
    return shared["factor"] * task


def never() -> bool:
    return False


@pytest.fixture
def tasks(client):
    return WorkerTasks(client, {"factor": 2})


def test_results_are_in_the_order_of_tasks(tasks):
    assert list(tasks.run(doubled, range(20), never)) == list(range(0, 40, 2))


def test_an_input_error_comes_through_as_itself(tasks, caplog):
    with pytest.raises(InputError, match=r"^X must be longer; give more$") as caught:
        list(tasks.run(doubled, [1, "refuse", 2], never))
    assert caught.value.__cause__ is None
    assert "doubled" not in [frame.name for frame in caught.traceback]  # no traceback of the worker
    assert not [record for record in caplog.records if "Compute Failed" in record.message]


@pytest.mark.parametrize(("task", "error"), [("crash", ZeroDivisionError), ("time out", TimeoutError)])
def test_other_errors_come_through_too(task, error, tasks):
    with pytest.raises(error):
        list(tasks.run(doubled, [task], never))


def test_warnings_come_through(tasks):
    with pytest.warns(ConvergenceWarning, match="too few steps"):
        list(tasks.run(doubled, ["warn"], never))


def test_a_stop_leaves_none(tasks):
    assert list(tasks.run(doubled, [1, 2], lambda: True)) == [None, None]


def wait_until_due(shared, task, is_due):
    deadline = time.monotonic() + 60
    while not is_due() and time.monotonic() < deadline:
        time.sleep(0.01)
    distributed.Variable("ended", client=distributed.get_client()).set(bool(is_due()))


def test_running_tasks_see_that_they_are_cancelled(tasks, client):
    results = tasks.run(wait_until_due, [1], iter([False, False, True]).__next__)
    assert list(results) == [None]
    assert distributed.Variable("ended", client=client).get(timeout=30) is True


def is_cancelled_now(shared, task, is_due):
    return is_due is is_cancelled and is_due()


def test_a_task_is_not_cancelled_without_reason(tasks):
    assert list(tasks.run(is_cancelled_now, [1], never)) == [False]


class Interrupting:
    """Raises Ctrl-C while the client waits for the second time."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls == 2:
            raise KeyboardInterrupt
        return False


def test_ctrl_c_cancels_what_runs(tasks, client):
    with pytest.raises(KeyboardInterrupt):
        list(tasks.run(wait_until_due, [1, 2, 3], Interrupting()))
    wait_for_idle_workers(client)
