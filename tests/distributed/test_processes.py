"""A worker in a process of its own: everything that is sent there and back can be pickled."""

from __future__ import annotations

import dask
import dask.bag as db
import numpy as np
import pytest

import distributed
import hedgerow as hr
from hedgerow.distributed.partitions import partitions
from hedgerow.errors import ImpossibleLatticeError, InputError

X = ["cat", "dog", "cot", "dag", "at", "bb", "cut"]
Y = [["v" if letter in "aou" else "-" for letter in x] for x in X]
THREE = [[{"a": "v", "o": "v", "u": "u"}.get(letter, "-") for letter in x] for x in X]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0", worker_dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_partitions(client):
    found = partitions(db.from_sequence(X, npartitions=3), db.from_sequence(Y, npartitions=3), client)
    assert [partition.n_sequences for partition in found] == [3, 3, 1]
    assert found.results(lambda data: [len(data.sequences), data.labels.kind]) == [[n, "strings"] for n in (3, 3, 1)]
    local = partitions(X, Y, client)
    assert sum(local.results(lambda data: len(data.sequences))) == len(X)


def test_a_refusal(client):
    with pytest.raises(InputError, match="partition 1: sequence 0 has 1 position but 2 labels"):
        partitions([dask.delayed(["ab"]), dask.delayed(["a"])], [dask.delayed([["x", "y"]])] * 2, client)


def test_predictions(client):
    fitted = hr.LinearCRF(window=1, max_iter=5).fit(X, Y)
    lazy = fitted.predict(db.from_sequence(X, npartitions=3)), fitted.predict_proba(db.from_sequence(X, npartitions=2))
    labels, probabilities = client.gather(client.compute(lazy))
    same(labels, fitted.predict(X))
    same(probabilities, fitted.predict_proba(X))


def test_errors_of_predictions(client):
    rows = [[{"word": "a", "n": 1.0}, {"word": "b", "n": 2.0}]] * 3
    fitted = hr.TreeCRF(n_rounds=2, random_state=0).fit(rows, [["x", "y"]] * 3)
    with pytest.raises(InputError, match=r"^partition 0: X must have columns of training, but it has none of them"):
        client.compute(fitted.predict([dask.delayed([[{"colour": "red"}]])])[0], sync=True)
    narrow = hr.LinearCRF(constraints=[(None, "x"), ("x", "y"), ("y", "x")]).fit(rows, [["x", "y"]] * 3)
    impossible = [(None, "y"), ("x", "x")]
    with pytest.raises(ImpossibleLatticeError, match=r"^partition 0: sequence 0 has no allowed path") as caught:
        client.compute(narrow.predict([dask.delayed(rows)], constraints=impossible)[0], sync=True)
    assert caught.value.sequence == 0


def test_races_and_folds(client):
    arguments = {"estimators": {"HMM": {"order": [1, 2]}}, "cv": 2, "random_state": 0, "verbose": 0}
    local, remote = hr.tune(X, Y, **arguments), hr.tune(X, Y, **arguments, client=client)
    assert [(row["setting"], row["score"]) for row in remote.rows] == [
        (row["setting"], row["score"]) for row in local.rows
    ]
    folds = {"cv": 3, "random_state": 0}
    same(hr.cross_val_predict(hr.HMM(), X, Y, **folds, client=client), hr.cross_val_predict(hr.HMM(), X, Y, **folds))


def test_a_score_of_the_users_own(client):
    def last(gold, predicted):
        return float(np.mean([one[-1] == other[-1] for one, other in zip(gold, predicted, strict=True)]))

    arguments = {"estimators": ["HMM"], "cv": 2, "random_state": 0, "verbose": 0, "scoring": last}
    assert hr.tune(X, Y, **arguments, client=client).best_score == hr.tune(X, Y, **arguments).best_score


@pytest.mark.parametrize("base", [hr.TreeCRF(n_rounds=2), hr.LinearCRF(max_iter=3), hr.MEMM(max_iter=2)])
def test_bits(base, client):
    code = {"base": base, "code": "one-vs-rest", "random_state": 0}
    local, remote = hr.OutputCode(**code).fit(X, THREE), hr.OutputCode(**code).fit(X, THREE, client=client)
    same(remote.predict_bits(X), local.predict_bits(X))


def test_workers_keep_the_model_for_the_next_prediction(client):
    fitted = hr.HMM().fit(X, Y)
    bag = fitted.predict(db.from_sequence(X, npartitions=2))
    client.compute(bag, sync=True)

    def loaded():
        from hedgerow.distributed import model_copies

        return len(model_copies._loaded)

    assert all(0 <= n <= 4 for n in client.run(loaded).values())
    assert sum(client.run(loaded).values()) >= 1
