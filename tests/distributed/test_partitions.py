"""Partitions: every kind of source is read in order; bad ones are refused before a fit, by the partition's number."""

from __future__ import annotations

from itertools import chain, pairwise

import dask
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import distributed
import hedgerow as hr
from hedgerow.distributed import cluster, from_frame
from hedgerow.distributed.partitions import partitions
from hedgerow.distributed.reading import PartitionData
from hedgerow.errors import InputError

X = ["cat", "dog", "cot", "dag", "a", "bb", "cut"]
Y = [["-", "v", "-"] for _ in range(4)] + [["v"], ["-", "-"], ["-", "v", "-"]]
ROWS = pd.DataFrame(
    {
        "s": [1, 1, 2, 3, 3, 3, 4, 4],
        "word": ["a", "b", "c", "d", "e", "f", "g", "h"],
        "n": range(8),
        "tag": ["x", "y", "x", "y", "x", "y", "x", "y"],
    }
)


def contents(data: PartitionData) -> list[tuple[object, list[object]]]:
    """The sequences and labels of a partition as plain values."""
    labels = data.labels.tolist()
    starts = data.labels.starts.tolist()
    gold = [labels[a:b] for a, b in pairwise(starts)]
    return list(zip(data.sequences.tolist(), gold, strict=True))


def everything(parts):
    return list(chain.from_iterable(parts))


def with_extra(data: PartitionData, extra: int, *, factor: int) -> int:
    return (len(data.sequences) + extra) * factor


def delayed(parts):
    return [dask.delayed(part) for part in parts]


def cut(values, bounds=(0, 2, 5, 7)):
    return [values[a:b] for a, b in pairwise(bounds)]


SOURCES = {
    "bags": lambda: (db.from_sequence(X, npartitions=3), db.from_sequence(Y, npartitions=3)),
    "pairs": lambda: (db.from_sequence(list(zip(X, Y, strict=True)), npartitions=2), None),
    "delayed": lambda: (delayed(cut(X)), delayed(cut(Y))),
    "delayed pairs": lambda: (delayed(cut(list(zip(X, Y, strict=True)))), None),
    "lazy bags": lambda: (db.from_sequence(X, npartitions=3).map(str), db.from_sequence(Y, npartitions=3).map(list)),
    "delayed sequences": lambda: ([dask.delayed(hr.Sequences)(part) for part in cut(X)], delayed(cut(Y))),
    "one delayed": lambda: (dask.delayed(X), dask.delayed(Y)),
    "memory": lambda: (X, Y),
    "sequences in memory": lambda: (hr.Sequences(X), Y),
    "with empty partitions": lambda: (delayed(cut(X, (0, 0, 3, 3, 7, 7))), delayed(cut(Y, (0, 0, 3, 3, 7, 7)))),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_read_in_order(name, client):
    found = partitions(*SOURCES[name](), client)
    parts = found.results(contents)
    assert [pair for part in parts for pair in part] == list(zip(X, Y, strict=True))
    assert [partition.n_sequences for partition in found] == [len(part) for part in parts]
    assert [p.n_positions for p in found] == [sum(len(x) for x, _ in part) for part in parts]
    assert [p.first_sequence for p in found] == np.cumsum([0, *map(len, parts)])[:-1].tolist()
    assert (found.n_sequences, found.n_positions) == (len(X), sum(map(len, X)))


def test_futures_are_sources(client):
    found = partitions(client.scatter(cut(X)), client.scatter(cut(Y)), client)
    assert everything(found.results(contents)) == list(zip(X, Y, strict=True))


def test_empty_partitions_keep_their_numbers(client):
    found = partitions(*SOURCES["with empty partitions"](), client)
    assert [partition.number for partition in found] == [1, 3]


def test_memory_is_cut_into_one_partition_for_each_worker(client):
    assert len(partitions(X, Y, client)) == 2
    assert len(partitions(X[:1], Y[:1], client)) == 1


def test_frames(client):
    X_frame, y_frame = from_frame(dd.from_pandas(ROWS.set_index("s"), npartitions=2), sequence="s", label="tag")
    found = partitions(X_frame, y_frame, client)
    X_local, y_local = hr.from_frame(ROWS, sequence="s", label="tag")
    assert len(found) == 2
    expected = [(x, y.tolist()) for x, y in zip(X_local.tolist(), y_local, strict=True)]
    assert everything(found.results(contents)) == expected
    assert everything(partitions(X_frame, None, client).results(contents)) == expected


def test_map_passes_other_arguments_by_partition(client):
    found = partitions(delayed(cut(X)), delayed(cut(Y)), client)
    assert found.results(with_extra, [10, 20, 30], factor=2) == [24, 46, 64]


def test_every_partition_is_on_one_worker(client):
    found = partitions(*SOURCES["bags"](), client)
    found.results(contents)
    held = found.by_worker()
    assert set(held) <= set(client.nthreads())
    assert sorted(partition.number for parts in held.values() for partition in parts) == [0, 1, 2]


@pytest.mark.parametrize("form", ["memory", "bag", "delayed"])
def test_weights_and_groups_belong_to_their_sequences(form, client):
    weights, groups = [1.0, 2, 3, 4, 0, 6, 7], ["b", "b", "a", "c", "a", "d", "d"]
    given = {
        "memory": lambda values: values,
        "bag": lambda values: db.from_sequence(values, npartitions=3),
        "delayed": lambda values: delayed(cut(values, (0, 3, 6, 7))),
    }[form]
    bags = SOURCES["bags"]()
    found = partitions(*bags, client, sample_weight=given(weights), groups=given(groups))
    assert found.weights.tolist() == weights
    assert found.groups.tolist() == [0, 0, 1, 2, 1, 3, 3]
    assert [part.tolist() for part in found.cut(found.weights)] == [[1, 2, 3], [4, 0, 6], [7]]


def test_without_weights_and_groups_there_are_none(client):
    found = partitions(*SOURCES["bags"](), client)
    assert found.weights is None
    assert found.groups is None


def test_dicts_may_lack_keys_in_a_partition(client):
    first, second = [[{"w": "a", "n": 1.0}]], [[{"w": "b", "z": "q"}], [{"z": None}]]
    assert len(partitions(delayed([first, second]), delayed([[["x"]], [["x"], ["y"]]]), client)) == 2


# Misuse: each entry is (X, y, other arguments, message).
def bags(x, y, n=2):
    return db.from_sequence(x, npartitions=n), db.from_sequence(y, npartitions=n)


MISUSE = {
    "other number of partitions": (
        lambda: (*bags(X, Y)[:1], db.from_sequence(Y, npartitions=3)),
        "X has 2 partitions and y has 3 partitions; make both from the same parts",
    ),
    "y in memory": (lambda: (bags(X, Y)[0], Y), "X has 2 partitions and y is list; give y as a Dask bag"),
    "other number of sequences": (
        lambda: (delayed(cut(X)), delayed([*cut(Y)[:2], Y[:1]])),
        "partition 2: y must hold a list of labels for each sequence, but X has 2 sequences and y has 1 list",
    ),
    "labels without sequences": (
        lambda: (delayed([X[:2], []]), delayed([Y[:2], Y[:1]])),
        "partition 1: X has no sequences, but y has 1 list; give both the same sequences",
    ),
    "other number of positions": (
        lambda: (delayed(cut(X)), delayed([cut(Y)[0], [["v"], *Y[3:5]], cut(Y)[2]])),
        "partition 1: sequence 0 has 3 positions but 1 label; give one label for each position",
    ),
    "all empty": (lambda: (delayed([[], []]), delayed([[], []])), "all of its 2 partitions are empty"),
    "no pairs": (
        lambda: (delayed([list(zip(X, Y, strict=True)), X]), None),
        r"partition 1: sequence 0 must be a pair \(sequence, labels\), because y is None, but it is str; pass y",
    ),
    "no list": (
        lambda: (delayed(["cat", "dog"]), delayed([[], []])),
        "partition 0: X must be a list with an item for each sequence, but it is str",
    ),
    "bad sequence": (
        lambda: (delayed([["ab"], [["a", 3]]]), delayed([[["x", "y"]], [["x", "y"]]])),
        "partition 1: sequence 0, position 1",
    ),
    "other columns": (
        lambda: (
            delayed([[[("a", 1.0)]], [[("a", 1.0, "b")]]]),
            delayed([[["x"]], [["y"]]]),
        ),
        "partition 0 has 'x0', 'x1' and partition 1 has 'x0', 'x1', 'x2'; rename or add columns",
    ),
    "other kind of column": (
        lambda: (delayed([[[{"w": "a"}]], [[{"w": 1.0}]]]), delayed([[["x"]], [["y"]]])),
        "column 'w' must be of one kind in all partitions, but it is categorical in partition 0 and numeric in part",
    ),
    "other form": (
        lambda: (delayed([[[{"w": "a"}]], [["a"]]]), delayed([[["x"]], [["y"]]])),
        "partition 0 holds dicts and partition 1 sequences without dicts",
    ),
    "other kind of labels": (
        lambda: (delayed([["a"], ["b"]]), delayed([[["x"]], [[1]]])),
        "they are strings in partition 0 and integers in partition 1; convert them",
    ),
    "list of delayed and others": (
        lambda: ([*delayed([X]), X], delayed([Y, Y])),
        "item 1 is list; wrap it in dask.delayed",
    ),
    "no y": (lambda: (X, None), "y must hold the labels of each sequence of X, but it is None"),
    "data frame without groups": (
        lambda: (dd.from_pandas(ROWS, npartitions=2), None),
        r"rows must be grouped into sequences; write X, y = hedgerow.distributed.from_frame\(",
    ),
    "labels of another frame": (
        lambda: (
            from_frame(dd.from_pandas(ROWS, npartitions=1), sequence="s", label="tag")[0],
            from_frame(dd.from_pandas(ROWS, npartitions=1), sequence="s", label="tag")[1],
        ),
        "y must be what from_frame returned beside X",
    ),
    "cut sequence": (
        lambda: from_frame(dd.from_pandas(ROWS, npartitions=2), sequence="s", label="tag"),
        r"sequence 3 has rows in partitions 0 and 1; .* call df.set_index\('s', sorted=True\)",
    ),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_refused(name, client):
    source, message = MISUSE[name]
    with pytest.raises(InputError, match=message):
        partitions(*source(), client)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_weight": [1.0]}, r"sample_weight must hold one number for each of the 7 sequences"),
        ({"sample_weight": db.from_sequence([1.0] * 7, npartitions=2)}, "X has 3 partitions and sample_weight has 2"),
        (
            {"sample_weight": db.from_sequence([1.0] * 6, npartitions=3)},
            "partition 0: sample_weight must hold one value for each sequence, but X has 3 sequences and sample_weight "
            "has 2 values",
        ),
        ({"sample_weight": 3.0}, "sample_weight must hold one value for each sequence, but it is float"),
        ({"groups": ["a"]}, "groups must hold one value for each of the 7 sequences of X"),
        ({"groups": db.from_sequence(["a"] * 7, npartitions=1)}, "X has 3 partitions and groups has 1 partition"),
    ],
)
def test_bad_weights_and_groups_are_refused(arguments, message, client):
    with pytest.raises(InputError, match=message):
        partitions(*SOURCES["bags"](), client, **arguments)


def test_a_cut_sequence_is_cured_by_a_sorted_index(client):
    rows = dd.from_pandas(ROWS, npartitions=2).set_index("s", sorted=True)
    found = partitions(*from_frame(rows, sequence="s", label="tag"), client)
    X_local, _ = hr.from_frame(ROWS, sequence="s", label="tag")
    assert [x for x, _ in everything(found.results(contents))] == X_local.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sequence": "no"}, "df has no column 'no' for `sequence`; its columns are"),
        ({"sequence": "s", "label": "no"}, "df has no column 'no' for `label`"),
        ({"sequence": []}, "`sequence` must name at least one column"),
        ({"sequence": ["s", "word", "n"], "label": "tag"}, "df has no columns beside"),
    ],
)
def test_bad_columns_of_frames_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        from_frame(dd.from_pandas(ROWS, npartitions=2), **arguments)


def test_a_frame_in_memory_is_for_the_other_from_frame():
    with pytest.raises(InputError, match=r"df must be a Dask data frame, but got DataFrame; use hedgerow.from_frame"):
        from_frame(ROWS, sequence="s")
    with pytest.raises(InputError, match=r"df is a Dask data frame; use hedgerow\.distributed\.from_frame"):
        hr.from_frame(dd.from_pandas(ROWS, npartitions=2), sequence="s")


# The cluster.


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (None, r"there is none; pass client=distributed\.Client\("),
        ("tcp://127.0.0.1:8786", "it is str"),
    ],
)
def test_no_client_is_refused(client, message):
    with pytest.raises(InputError, match=message):
        partitions(X, Y, client)


def test_a_closed_client_is_refused(client):
    closed = distributed.Client(client.cluster)
    closed.close()
    with pytest.raises(InputError, match="it is closed; connect a new one"):
        partitions(X, Y, closed)


def test_a_cluster_without_workers_is_refused():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty) as client,
        pytest.raises(InputError, match=r"must have at least one worker, but the cluster \S+ has none; start workers"),
    ):
        partitions(X, Y, client)


@pytest.mark.parametrize(("version", "shown"), [("9.9", "9.9"), (None, "not installed")])
def test_workers_of_another_version_are_refused_by_name(version, shown, client, monkeypatch):
    address = max(client.nthreads())

    def reader():
        def read(dask_worker):
            return version if dask_worker.address == address else hr.__version__

        return read

    monkeypatch.setattr(cluster, "_version_reader", reader)
    message = (
        f"workers must have hedgerow {hr.__version__}, as this process has, but 1 have another: '{address}: {shown}'"
    )
    with pytest.raises(InputError, match=message):
        partitions(X, Y, client)


def test_an_error_of_the_users_own_code_comes_through(client):
    def broken():
        raise FileNotFoundError("no such corpus")

    with pytest.raises(FileNotFoundError, match="no such corpus"):
        partitions([dask.delayed(broken)()], delayed([Y]), client)


def test_nothing_is_left_on_the_workers_after_a_refusal(client):
    with pytest.raises(InputError):
        partitions(delayed(cut(X)), delayed([*cut(Y)[:2], Y[:1]]), client)
    for _ in range(100):
        if not any(client.has_what().values()):
            break
        client.sync(lambda: __import__("asyncio").sleep(0.02))
    assert not any(client.has_what().values())


@pytest.mark.parametrize("name", ["bags", "delayed"])
def test_without_a_client_collections_are_refused(name):
    for call in (hr.HMM().fit, hr.tune, lambda x, y: hr.Sequences(x)):
        with pytest.raises(InputError, match=r"it is a Dask collection; compute X first, or, for `fit`, pass client="):
            call(*SOURCES[name]())


# Encoded corpora.


def labels_of(data: PartitionData) -> list[object]:
    return data.labels.tolist()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora") / "letters.corpus"
    return hr.encode(list(zip(X, Y, strict=True)), folder, shard_positions=5)


@pytest.mark.parametrize("form", ["corpus", "shards", "corpus and y", "shards and y", "futures of y"])
def test_encoded_shards_are_partitions(form, corpus, client):
    shards = corpus.shards()
    given = {
        "corpus": (corpus, None),
        "shards": (shards, None),
        "corpus and y": (corpus, corpus.y),
        "shards and y": (shards, [shard.y for shard in shards]),
        "futures of y": (shards, client.scatter([shard.y for shard in shards], hash=False)),
    }[form]
    found = partitions(*given, client)
    assert [partition.n_sequences for partition in found] == list(map(len, shards))
    assert len(shards) > 1
    assert everything(found.results(labels_of)) == everything(Y)


def test_encoded_sequences_need_labels(client, tmp_path):
    bare = hr.encode([list(x) for x in X], tmp_path / "bare.corpus")
    with pytest.raises(InputError, match="partition 0: X must have labels, because y is None, but it has none; pass"):
        partitions(bare, None, client)
    with pytest.raises(InputError, match="y must be a list with the labels of each shard of X, or None, but it is int"):
        partitions(bare, 3, client)


def test_labels_of_another_corpus_are_refused(corpus, client, tmp_path):
    other = hr.encode(list(zip(X[:2], Y[:2], strict=True)), tmp_path / "other.corpus")
    with pytest.raises(InputError, match="X has 7 sequences and y has 2 lists; pass the y of the same corpus"):
        partitions(corpus, other.y, client)


def test_a_frame_without_labels_is_refused(client):
    X_frame, _ = from_frame(dd.from_pandas(ROWS.set_index("s"), npartitions=2), sequence="s")
    with pytest.raises(InputError, match="partition 0: X must have labels, because y is None"):
        partitions(X_frame, None, client)
