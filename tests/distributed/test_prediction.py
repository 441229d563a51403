"""Lazy predictions equal those in memory, for every kind of collection and scheduler."""

from __future__ import annotations

import pickle
import warnings

import dask
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow.distributed import from_frame, model_copies
from hedgerow.distributed.model_copies import ModelCopy
from hedgerow.errors import AbsentColumnWarning, ImpossibleLatticeError, InputError, NotFittedError
from hedgerow.estimators.registry import REGISTRY

X = ["cat", "dog", "cot", "dag", "at", "bb", "cut"]
Y = [["v" if letter in "aou" else "-" for letter in x] for x in X]
PARTS = [X[:3], [], X[3:]]
ROWS = pd.DataFrame(
    {
        "s": [1, 1, 2, 3, 3, 3, 4, 4],
        "word": ["a", "b", "a", "d", "b", "b", "a", "d"],
        "n": [1.0, 2, 1, 4, 2, 2, 1, 4],
        "tag": ["x", "y", "x", "x", "y", "y", "x", "x"],
    }
)
METHODS = ["predict", "predict_proba"]


@pytest.fixture(scope="module")
def model():
    return hr.LinearCRF(window=1, max_iter=5).fit(X, Y)


@pytest.fixture(scope="module")
def frame_model():
    return hr.TreeCRF(n_rounds=3, random_state=0).fit(*hr.from_frame(ROWS, sequence="s", label="tag"))


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scheduler", ["sync", "threads", None])
def test_bags(method, scheduler, model, client):
    lazy = getattr(model, method)(db.from_sequence(X, npartitions=3))
    assert isinstance(lazy, db.Bag)
    assert lazy.npartitions == 3
    found = lazy.compute(scheduler=scheduler) if scheduler else client.compute(lazy).result()
    same(found, getattr(model, method)(X))


@pytest.mark.parametrize("method", METHODS)
def test_lists_of_delayed(method, model):
    lazy = getattr(model, method)([dask.delayed(part) for part in PARTS])
    found = dask.compute(*lazy, scheduler="sync")
    assert list(map(len, found)) == [3, 0, 4]
    same([p for part in found for p in part], getattr(model, method)(X))


def test_one_delayed(model):
    same(model.predict(dask.delayed(X)).compute(scheduler="sync"), model.predict(X))
    same(model.predict(dask.delayed(hr.Sequences)(X)).compute(scheduler="sync"), model.predict(X))


def test_futures(model, client):
    lazy = model.predict(client.scatter([X[:3], X[3:]]))
    same([p for part in client.gather(client.compute(lazy)) for p in part], model.predict(X))


def test_nothing_is_computed_before_it_is_asked_for(model):
    def broken():
        raise FileNotFoundError("no such corpus")

    lazy = model.predict([dask.delayed(broken)()])
    with pytest.raises(FileNotFoundError, match="no such corpus"):
        dask.compute(lazy, scheduler="sync")


@pytest.mark.parametrize("index", [None, "s"])
@pytest.mark.parametrize("npartitions", [1, 2, 4])
def test_frames(index, npartitions, frame_model):
    rows = ROWS if index is None else ROWS.set_index("s")
    df = dd.from_pandas(ROWS.set_index("s"), npartitions=npartitions)
    df = df if index else df.reset_index()
    X_lazy, _ = from_frame(df, sequence="s", label="tag")
    X_local, _ = hr.from_frame(rows, sequence="s", label="tag")
    found = frame_model.predict(X_lazy)
    assert isinstance(found, dd.DataFrame)
    computed = found.compute(scheduler="sync")
    expected = hr.to_frame(rows, frame_model.predict(X_local))
    assert computed["prediction"].tolist() == expected["prediction"].tolist()
    assert computed.drop(columns="prediction").equals(df.compute(scheduler="sync"))
    assert found.dtypes.astype(str).tolist() == computed.dtypes.astype(str).tolist()
    assert found.divisions == df.divisions
    proba = frame_model.predict_proba(X_lazy)
    table = proba.compute(scheduler="sync")[["prediction_x", "prediction_y"]].to_numpy()
    np.testing.assert_array_equal(table, np.concatenate(frame_model.predict_proba(X_local)))
    assert proba.dtypes["prediction_x"] == np.float64


@pytest.mark.parametrize("labels", [[1, 2], [True, False]])
def test_frames_keep_the_type_of_labels(labels):
    rows = ROWS.assign(tag=[labels[0] if tag == "x" else labels[1] for tag in ROWS["tag"]])
    fitted = hr.HMM().fit(*hr.from_frame(rows[["s", "word", "tag"]], sequence="s", label="tag"))
    df = dd.from_pandas(rows[["s", "word"]].set_index("s"), npartitions=2)
    found = fitted.predict(from_frame(df, sequence="s")[0])
    computed = found.compute(scheduler="sync")["prediction"]
    assert computed.dtype == found.dtypes["prediction"] == np.array(labels).dtype
    assert computed.tolist() == [
        p for one in fitted.predict(hr.from_frame(rows[["s", "word"]], sequence="s")[0]) for p in one
    ]


def test_empty_partitions_of_frames(frame_model):
    df = dd.from_pandas(ROWS.set_index("s"), npartitions=4)
    some = df[df["n"] > 1.5]
    empty = df[df["n"] > 100]
    computed = frame_model.predict(from_frame(empty, sequence="s", label="tag")[0]).compute(scheduler="sync")
    assert len(computed) == 0
    assert "prediction" in computed.columns
    assert len(frame_model.predict(from_frame(some, sequence="s", label="tag")[0]).compute(scheduler="sync")) == 5


def test_cut_sequences_of_frames_are_refused(frame_model):
    lazy = frame_model.predict(from_frame(dd.from_pandas(ROWS, npartitions=2), sequence="s", label="tag")[0])
    for part in (lazy, lazy.partitions[0], lazy.partitions[1]):
        with pytest.raises(InputError, match="sequence 3 has rows in partitions 0 and 1"):
            part.compute(scheduler="sync")


# The model travels as the bytes of its file.


@pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_estimator_travels(name, client):
    fitted = REGISTRY[name](random_state=0).fit(X, Y)
    with dask.config.set(scheduler=client):
        same(fitted.predict(db.from_sequence(X, npartitions=2)).compute(), fitted.predict(X))


class NoPickle:
    def __reduce__(self):
        raise AssertionError("a model was pickled")


def test_the_graph_holds_bytes_of_the_file_and_no_model(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m")
    monkeypatch.setattr(type(model.model_), "__reduce__", NoPickle.__reduce__)
    monkeypatch.setattr(type(model), "__reduce__", NoPickle.__reduce__, raising=False)
    graph = dict(model.predict(db.from_sequence(X, npartitions=2)).__dask_graph__())
    content = pickle.dumps(graph)
    assert (tmp_path / "m").read_bytes() in content
    assert content.count((tmp_path / "m").read_bytes()[:1000]) == 1  # once, not once for each partition
    with pytest.raises(AssertionError, match="a model was pickled"):
        pickle.dumps(model.model_)


def test_a_process_loads_a_model_once(model, monkeypatch):
    loads = []
    restored = ModelCopy._restored
    monkeypatch.setattr(ModelCopy, "_restored", lambda self: loads.append(self.digest) or restored(self))
    model_copies._loaded.clear()
    for _ in range(2):
        model.predict(db.from_sequence(X, npartitions=4)).compute(scheduler="threads")
    assert len(loads) == 1
    other = hr.LinearCRF(window=1, max_iter=2).fit(X, Y)
    other.predict(db.from_sequence(X, npartitions=4)).compute(scheduler="threads")
    assert len(set(loads)) == len(loads) == 2


def test_few_models_are_kept(model):
    for order in range(model_copies.KEPT + 3):
        copy = ModelCopy(
            estimator="LinearCRF", parameters={"order": 1}, content=model.model_.to_bytes(), digest=str(order)
        )
        copy.load()
    assert len(model_copies._loaded) == model_copies.KEPT
    assert str(model_copies.KEPT + 2) in model_copies._loaded


def test_present_parameters_are_used(client):
    labels = [["B-x", "I-x", "O"] for _ in range(3)]
    fitted = hr.LinearCRF(max_iter=1, decode="viterbi").fit(["abc", "bca", "aab"], labels)
    bag = db.from_sequence(["abc", "ccc", "bab"], npartitions=2)
    for decode in ("viterbi", "marginal"):
        fitted.set_params(decode=decode)
        assert ModelCopy.of(fitted).load().decode == decode
        same(fitted.predict(bag).compute(scheduler="sync"), fitted.predict(["abc", "ccc", "bab"]))
    same(
        fitted.predict(bag, decode="viterbi", constraints="IOB2").compute(scheduler="sync"),
        fitted.predict(["abc", "ccc", "bab"], decode="viterbi", constraints="IOB2"),
    )


def test_known_labels_have_the_partitions_of_x(model):
    known = [[None] * len(x) for x in X]
    known[4] = ["-", "v"]
    lazy = model.predict(db.from_sequence(X, npartitions=3), known=db.from_sequence(known, npartitions=3))
    found = lazy.compute(scheduler="sync")
    same(found, model.predict(X, known=known))
    assert found[4].tolist() == ["-", "v"]


# Errors and warnings name the partition.


def refused(lazy, client):
    """The message of the InputError that a worker raises."""
    with pytest.raises(InputError) as caught:
        client.compute(lazy, sync=True)
    return str(caught.value)


def test_errors_on_workers_are_input_errors_with_their_text(frame_model, client):
    other = [dask.delayed([[{"word": "a", "n": 1.0}]]), dask.delayed([[{"colour": "red"}]])]
    message = refused(frame_model.predict(other)[1], client)
    assert message.startswith("partition 1: X must have columns of training, but it has none of them; training had")


@pytest.mark.parametrize("part", ["cat", 3])
def test_a_partition_that_is_no_list_is_refused(part, model, client):
    assert refused(model.predict([dask.delayed(part)])[0], client).startswith("partition 0: X must be a list of seq")


def test_an_impossible_sequence_keeps_its_number(model, client):
    lazy = model.predict([dask.delayed(X[:2]), dask.delayed(X[2:])], constraints=[(None, "-"), ("-", "-")])
    known = [dask.delayed([None, None]), dask.delayed([None, None, ["v", "v"], None, None])]
    with pytest.raises(InputError, match=r"partition 1: .*sequence 2"):
        client.gather(
            client.compute(
                model.predict(
                    [dask.delayed(X[:2]), dask.delayed(X[2:])], known=known, constraints=[(None, "-"), ("-", "-")]
                )
            )
        )
    assert len(client.gather(client.compute(lazy))) == 2


def test_warnings_name_the_partition(frame_model):
    parts = [dask.delayed([[{"word": "a", "n": 1.0}]]), dask.delayed([[{"word": "a"}] * 5] * 20)]
    with pytest.warns(AbsentColumnWarning, match="partition 1: X lacks columns that training had: 'n'"):
        dask.compute(frame_model.predict(parts), scheduler="sync")


def test_warnings_of_workers_reach_the_client(frame_model, client, monkeypatch):
    seen = []
    monkeypatch.setattr(warnings, "warn", lambda message, *others, **named: seen.append(str(message)))
    parts = [dask.delayed([[{"word": "a"}] * 5] * 20)]
    client.gather(client.compute(frame_model.predict(parts)))
    for _ in range(200):
        if len(seen) >= 2:
            break
        client.sync(lambda: __import__("asyncio").sleep(0.01))
    assert len([message for message in seen if message.startswith("partition 0: X lacks columns")]) == 2


MISUSE = {
    "unfitted": (lambda model: hr.HMM().predict(db.from_sequence(X)), NotFittedError, "not fitted"),
    "decode": (lambda model: model.predict(db.from_sequence(X), decode="best"), InputError, "decode must be"),
    "constraints": (
        lambda model: model.predict_proba(db.from_sequence(X), constraints="no scheme"),
        InputError,
        "predict_proba: constraints must be",
    ),
    "data frame": (
        lambda model: model.predict(dd.from_pandas(ROWS, npartitions=1)),
        InputError,
        r"write X, _ = hedgerow\.distributed\.from_frame\(df, sequence",
    ),
    "known in memory": (
        lambda model: model.predict(db.from_sequence(X), known=[[None]]),
        InputError,
        "known must have the same partitions as X, but it is list",
    ),
    "known in other partitions": (
        lambda model: model.predict(db.from_sequence(X, npartitions=2), known=db.from_sequence(X, npartitions=3)),
        InputError,
        "X has 2 partitions and known has 3 partitions",
    ),
    "known of a frame": (
        lambda model: model.predict(
            from_frame(dd.from_pandas(ROWS, npartitions=1), sequence="s")[0], known=db.from_sequence(X)
        ),
        InputError,
        "known must be None for a Dask data frame",
    ),
    "taken column": (
        lambda model: model.predict(
            from_frame(dd.from_pandas(ROWS.assign(prediction=1), npartitions=1), sequence="s")[0]
        ),
        InputError,
        "df must not have a column 'prediction'",
    ),
    "another method": (
        lambda model: model.predict_nbest(db.from_sequence(X)),
        InputError,
        "X is a Dask collection, which only predict and predict_proba label",
    ),
    "score": (
        lambda model: model.score(db.from_sequence(X), db.from_sequence(Y)),
        InputError,
        "X is a Dask collection, which only predict and predict_proba label",
    ),
    "array": (
        lambda model: model.predict(__import__("dask.array").array.zeros((2, 3))),
        InputError,
        "X must be a Dask bag of sequences",
    ),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_refused_at_once(name, model):
    call, error, message = MISUSE[name]
    with pytest.raises(error, match=message):
        call(model)


def test_the_error_of_an_impossible_lattice_travels():
    error = ImpossibleLatticeError("no path")
    error.sequence = 3
    assert pickle.loads(pickle.dumps(error)).sequence == 3
