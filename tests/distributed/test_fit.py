"""A fit on workers gives, array by array, the model of a fit in one process."""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from builders.workers import N, assert_identical, data
from hedgerow.distributed.shards import Shard, digest_of, joined
from hedgerow.errors import ConvergenceWarning, InputError
from hedgerow.estimators.fitting import prepare
from hedgerow.learning.temperature import with_temperature

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import dask.bag as bags  # noqa: E402

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "trees": lambda: hr.TreeCRF(window=1, n_rounds=4, random_state=1),
    "number of rounds found": lambda: hr.TreeCRF(window=1, random_state=1, patience=2),
    "table": lambda: hr.TreeCRF(n_rounds=4, transitions="table", label_statistics=False, random_state=1),
    "shared": lambda: hr.TreeCRF(n_rounds=3, trees="shared", label_statistics=False, max_leaves=9, random_state=1),
    "published": lambda: hr.TreeCRF.published(n_rounds=3, max_leaves=8, order=2),
    "samples": lambda: hr.TreeCRF(n_rounds=4, subsample=0.5, max_features=0.5, influence_trim=0.01, random_state=2),
    "samples of examples": lambda: hr.TreeCRF(
        n_rounds=4, subsample=0.5, sample_by="example", influence_trim=0.05, trim_by="example", random_state=2
    ),
    "pseudo-likelihood": lambda: hr.TreeCRF(n_rounds=4, pseudo_rounds=2, transitions="table", random_state=2),
    "virtual evidence": lambda: hr.TreeCRF(n_rounds=4, objective="virtual-evidence", random_state=2),
    "line search": lambda: hr.TreeCRF(n_rounds=3, line_search=True, learning_rate=1.0, random_state=2),
    "early stopping": lambda: hr.TreeCRF(n_rounds=9, early_stopping="loss", patience=2, random_state=2),
    "L-BFGS": lambda: hr.LinearCRF(window=1, solver="lbfgs", max_iter=9, tol=1e-9),
    "OWL-QN": lambda: hr.LinearCRF(l1=0.2, solver="owlqn", max_iter=9, tol=1e-9),
    "edges": lambda: hr.LinearCRF(edge_features=True, solver="lbfgs", max_iter=5, tol=1e-9),
    "template": lambda: hr.LinearCRF(features=hr.templates.words("word"), solver="lbfgs", max_iter=5, tol=1e-9),
    "HMM": lambda: hr.HMM(order=2),
    "MEMM": lambda: hr.MEMM(n_rounds=3, random_state=0),
    "future features": lambda: hr.FutureMEMM(bag=3, bag_side="both", n_rounds=9, max_future=2, random_state=0),
}


def fitted(make: Callable[[], Any], *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make().fit(*args, **kwargs)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_workers_fit_the_model_of_one_process(name: str, client: Any) -> None:
    X, y = data()
    assert_identical(fitted(ESTIMATORS[name], X, y), fitted(ESTIMATORS[name], X, y, client=client))


def test_two_workers_fit_the_published_future_features(client: Any) -> None:
    X, y = data()
    y = [["yes" if label == y[0][0] else "no" for label in labels] for labels in y]
    make = lambda: hr.FutureMEMM.published(bag=3, n_rounds=9, max_future=1)  # noqa: E731
    assert_identical(fitted(make, X, y), fitted(make, X, y, client=client))


METHODS = ("weighting", "surrogate", "learned", "impute", "indicator")


@pytest.mark.parametrize(
    "policy", [*METHODS, *(f"published-{name}" for name in ("weighting", "surrogate", "indicator"))]
)
def test_missing_values(policy: Any, client: Any) -> None:
    X, y = data(1, missing=0.2)

    def make() -> Any:
        return hr.TreeCRF(window=1, n_rounds=3, missing=policy, random_state=1)

    assert_identical(make().fit(X, y), make().fit(X, y, client=client))


@pytest.mark.parametrize("policy", ["weighting", "learned", "impute", "indicator"])
def test_missing_values_of_future_features(policy: Any, client: Any) -> None:
    X, y = data(1, missing=0.2)

    def make() -> Any:
        return hr.FutureMEMM(bag=3, n_rounds=6, max_future=1, missing=policy, random_state=1)

    assert_identical(make().fit(X, y), make().fit(X, y, client=client))


def test_weights_groups_and_dev_data(client: Any) -> None:
    X, y = data(2, 80)
    more = {"sample_weight": np.random.default_rng(0).random(N) * 3, "groups": [i // 3 for i in range(N)]}
    arguments = X[:N], y[:N], X[N:], y[N:]
    for name in ("trees", "number of rounds found", "L-BFGS", "HMM", "future features"):
        make = ESTIMATORS[name]
        assert_identical(fitted(make, *arguments, **more), fitted(make, *arguments, **more, client=client))


def test_a_worker_may_have_no_dev_data(client: Any) -> None:
    X, y = data(2)
    make, arguments = ESTIMATORS["future features"], (X[1:], y[1:], X[:1], y[:1])
    assert_identical(fitted(make, *arguments), fitted(make, *arguments, client=client))


@pytest.mark.parametrize("n_partitions", [1, 3, 7])
def test_partitions_of_any_size(n_partitions: int, client: Any) -> None:
    X, y = data(3, missing=0.1)
    parts = [bags.from_sequence(values, npartitions=n_partitions) for values in (X, y)]
    weights = np.random.default_rng(0).random(N)
    for name in ("early stopping", "template"):
        make = ESTIMATORS[name]
        local = fitted(make, X, y, sample_weight=weights)
        assert_identical(local, fitted(make, *parts, sample_weight=weights, client=client))


def test_shards_of_a_corpus(client: Any, tmp_path: Path) -> None:
    X, y = data(4)
    encoded = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", shard_positions=60)
    shards = encoded.shards()
    assert len(shards) > 2
    local = ESTIMATORS["trees"]().fit(X, y)
    assert_identical(local, ESTIMATORS["trees"]().fit(encoded, encoded.y, client=client))
    labels = [shard.y for shard in shards]
    assert_identical(local, ESTIMATORS["trees"]().fit(shards, labels, client=client))


def test_neighbouring_shards_of_a_corpus_stay_mapped(tmp_path: Path) -> None:
    X, y = data(4)
    encoded = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", shard_positions=60)

    def shard(first: int, last: int) -> Shard:
        part = encoded[first:last]
        return Shard.of(part, np.zeros(part.n_positions, np.int32), np.ones(len(part)), None)

    together, _ = joined([shard(5, 20), shard(20, 31)], encoded.encoder)
    apart, _ = joined([shard(5, 20), shard(21, 31)], encoded.encoder)
    assert together.view is not None
    assert together.view.folder is not None
    assert apart.view is None
    whole = Shard.of(together, np.zeros(together.n_positions, np.int32), np.ones(len(together)), None)
    assert digest_of(whole) == digest_of(shard(5, 31))
    np.testing.assert_array_equal(together.lengths, encoded[5:31].lengths)


def test_shards_of_different_encoders_are_refused(client: Any, tmp_path: Path) -> None:
    X, y = data(4)
    halves = [
        hr.encode(list(zip(X[some], y[some], strict=True)), tmp_path / str(i))
        for i, some in enumerate((slice(30), slice(30, None)))
    ]
    with pytest.raises(InputError, match=r"all shards must have one encoder, but those of shards 0 and 1 differ"):
        ESTIMATORS["trees"]().fit(halves, [half.y for half in halves], client=client)


def test_a_shard_that_cannot_be_read_names_its_file(tmp_path: Path) -> None:
    X, y = data(4)
    encoded = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus")
    sent = pickle.dumps(Shard.of(encoded, np.zeros(encoded.n_positions, np.int32), np.ones(N), None))
    assert len(sent) < 100 * N  # the path and the range, not the columns
    (tmp_path / "corpus").rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError, match="corpus"):
        pickle.loads(sent)


MIXED: dict[str, Callable[[], Any]] = {
    "perceptron": lambda: hr.StructuredPerceptron(window=1, random_state=0, epochs=5),
    "SVM": lambda: hr.StructuredSVM(window=1, random_state=0, epochs=10),
    "last weights": lambda: hr.StructuredSVM(window=1, random_state=0, epochs=10, averaging="none"),
}


@pytest.mark.parametrize("name", MIXED)
def test_weights_of_parts_are_mixed(name: str, client: Any) -> None:
    X, y = data(5, 300)
    fit, test, make = (X[:200], y[:200]), (X[200:], y[200:]), MIXED[name]
    model = make().fit(*fit, client=client)
    assert_identical(model, make().fit(*fit, client=client))
    assert model.training_log_[0]["parts"] == 2
    assert model.score(*test) > make().fit(*fit).score(*test) - 0.03


@pytest.mark.parametrize("name", MIXED)
def test_the_temperature_of_mixed_weights_is_that_of_one_process(name: str, client: Any) -> None:
    X, y = data(5, 250)
    arguments, make = (X[:200], y[:200], X[200:], y[200:]), MIXED[name]
    model = make().fit(*arguments, client=client)
    training, _ = prepare(make(), *arguments, None, None, None)
    assert training.dev is not None
    alone, record = with_temperature(replace(model.model_.potential, temperature=1.0), training, training.dev)
    assert model.temperature_ == model.training_log_[-1]["temperature"] != 1
    assert model.temperature_ == pytest.approx(alone.temperature, rel=1e-6)
    assert model.training_log_[-1]["dev_loss"] == pytest.approx(record["dev_loss"], rel=1e-6)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (hr.TreeCRF(linear=True), "linear is set"),
        (hr.LinearCRF(solver="sgd"), 'set solver="lbfgs"'),
        (hr.LinearCRF(solver="lbfgs", induce="mccallum"), "set induce=None"),
        (hr.StructuredPerceptron(degree=2), "set degree=1"),
        (hr.StructuredSVM(solver="frank-wolfe"), 'set solver="pegasos"'),
        (hr.StructuredPerceptron(averaging="vote"), 'set averaging="average" or "none"'),
        (hr.SearchTagger(), "SearchTagger cannot be fitted on several workers"),
        (hr.MEMM(learner="linear"), 'learner="trees"'),
        (hr.TreeCRF(n_rounds=3, checkpoint="c.hedgerow"), "checkpoint needs a random_state"),
    ],
)
def test_fits_that_cannot_be_divided_are_refused(estimator: Any, message: str, client: Any) -> None:
    with pytest.raises(InputError, match=message):
        estimator.fit(*data(), client=client)


@pytest.mark.parametrize(("l1", "solver"), [(0.0, "lbfgs"), (0.1, "owlqn")])
def test_the_solver_of_a_linear_crf_does_not_depend_on_the_number_of_workers(
    l1: float, solver: Any, client: Any
) -> None:
    X, y = data(8, 220)  # in this process "auto" would use dual ascent
    local = fitted(lambda: hr.LinearCRF(l1=l1, solver=solver, max_iter=6), X, y)
    one_part = [dask.delayed(X)], [dask.delayed(y)]
    for arguments in ((X, y), one_part):
        model = fitted(lambda: hr.LinearCRF(l1=l1, max_iter=6), *arguments, client=client)
        assert model.training_log_[0].pop("solver") == solver
        assert_identical(local, model)


def test_a_callback_ends_the_fit_with_the_model_so_far(client: Any) -> None:
    X, y = data()
    make = ESTIMATORS["trees"]

    def stop(record: Any) -> bool:
        return bool(record["step"] == 2)

    assert_identical(make().fit(X, y, callbacks=[stop]), make().fit(X, y, client=client, callbacks=[stop]))


def test_ctrl_c_leaves_the_model_so_far_and_frees_the_workers(client: Any) -> None:
    X, y = data()
    model = ESTIMATORS["trees"]()

    def interrupt(record: Any) -> None:
        if record["step"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, client=client, callbacks=[interrupt])
    assert [record["step"] for record in model.training_log_] == [1, 2]
    assert client.submit(sum, [1, 2], pure=False).result(timeout=10) == 3


def test_a_checkpoint_goes_on_after_everything_was_lost(client: Any, tmp_path: Path) -> None:
    X, y = data()
    parts = [bags.from_sequence(values, npartitions=3) for values in (X, y)]
    path = tmp_path / "fit.hedgerow"

    def make(**more: Any) -> Any:
        return hr.TreeCRF(window=1, n_rounds=14, random_state=1, **more)

    def fail(record: Any) -> None:
        if record["step"] == 12:
            raise RuntimeError

    for arguments in ((X, y), parts):
        path.unlink(missing_ok=True)
        with pytest.raises(RuntimeError):
            make(checkpoint=path).fit(*arguments, client=client, callbacks=[fail])
        records: list[Any] = []
        model = make(checkpoint=path).fit(*arguments, client=client, callbacks=[records.append])
        assert [record["step"] for record in records] == [13, 14]
        assert_identical(make().fit(X, y), model)


def test_a_warm_start_goes_on(client: Any) -> None:
    X, y = data()
    model = hr.TreeCRF(window=1, n_rounds=2, random_state=1, warm_start=True).fit(X, y)
    model.set_params(n_rounds=5).fit(X, y, client=client)
    assert_identical(hr.TreeCRF(window=1, n_rounds=5, random_state=1).fit(X, y), model)


def test_traffic_and_slow_workers_are_logged(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "hedgerow.distributed"):
        ESTIMATORS["trees"]().fit(*data(), client=client)
    steps = [record for record in caplog.records if hasattr(record, "step")]
    assert len(steps) == 4
    assert all(record.step[0] > 0 and record.step[1] > 0 for record in steps)


@pytest.mark.parametrize(
    "name", ["trees", "number of rounds found", "table", "shared", "L-BFGS", "HMM", "MEMM", "future features"]
)
def test_a_worker_may_have_no_dev_sequences(name: str, client: Any) -> None:
    """One dev sequence, and too few sequences to hold out some on every worker."""
    X, y = data(10, 7)
    make = ESTIMATORS[name]
    arguments = X[:6], y[:6], X[6:], y[6:]
    assert_identical(fitted(make, *arguments), fitted(make, *arguments, client=client))
    assert_identical(fitted(make, X, y), fitted(make, X, y, client=client))


def test_partitions_are_checked_like_data_in_memory(client: Any, tmp_path: Path) -> None:
    X, y = data(11)
    bag, labels = (bags.from_sequence(values, npartitions=3) for values in (X, y))
    padded = [dask.delayed([[-100, *range(1, len(x))] for x in X])]
    with pytest.warns(hr.errors.PaddingWarning, match="label -100 stands at 60 positions"):
        hr.HMM().fit([dask.delayed(X)], padded, client=client)
    with pytest.warns(hr.errors.BeamWarning, match="beam is 99, but 3 labels"):
        hr.LinearCRF(max_iter=300, beam=99).fit(bag, labels, client=client)
    with pytest.raises(InputError, match="X_dev must be sequences in memory"):
        hr.HMM().fit(bag, labels, X_dev=bag, y_dev=labels, client=client)
    model = hr.TreeCRF(n_rounds=1, warm_start=True, random_state=0).fit(X, y)
    other = bags.from_sequence([["new"] * len(x) for x in X], npartitions=3)
    with pytest.raises(InputError, match=r"partition 0: label 'new' was not .*; set warm_start=False"):
        model.set_params(n_rounds=2).fit(bag, other, client=client)
    with pytest.raises(InputError, match="features must not change"):
        model.set_params(features=hr.templates.words("word")).fit(bag, labels, client=client)
    shards = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", shard_positions=60).shards()
    with pytest.raises(InputError, match="features must be those of the corpus"):
        hr.HMM(features=hr.templates.words("word")).fit(shards, [shard.y for shard in shards], client=client)
    with pytest.raises(InputError, match=r"pass \[shard.y for shard in shards\]"):
        hr.HMM().fit(shards, y, client=client)
