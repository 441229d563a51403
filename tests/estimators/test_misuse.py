"""Wrong input is refused with a clear message before any work; unusual but valid input works."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hedgerow as hr
from hedgerow.errors import LONGEST_MESSAGE, InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology

X = ["abc", "de"]
Y = [["a", "b", "a"], ["b", "a"]]
NESTED: list = []
NESTED.append(NESTED)


@pytest.mark.parametrize(
    ("x", "rule"),
    [
        (np.ones((2, 3, 4, 5)), "X must be a list of sequences"),
        (np.array(1.0), "X must be a list of sequences"),
        (np.array([[1, 2], [3, 4]], dtype=object), "X must be a list of sequences"),
        ([np.array([[1, 2], [3]], dtype=object)], "sequence 0, position 0, column 'bag': a bag holds str, but got int"),
        ([memoryview(b"abc")], "sequence 0, position 0: .* but got int"),
        ([bytearray(b"abc")], "sequence 0 is of type bytearray"),
        ([np.array(["a"], dtype="S1")], r"array of numbers or text, but got \|S1; convert it"),
        ([np.zeros(2, dtype=[("a", int)])], "array of numbers or text"),
        ([np.ones((1, 1), np.longdouble) * np.longdouble("1e4000")], "position 0, column 'x0': numbers must be finite"),
        (NESTED, "a bag holds str, but got list"),
        ([[{"a": np.ma.masked}]], "column 'a': a value is .* but got MaskedConstant"),
        ([[{"a": pd.NaT}]], "column 'a': a value is .* but got NaTType"),
        ([[{"\ud800\0": b"x"}]], r"column '\\ud800\\x00': text must be str, but got bytes"),
        ([pd.DataFrame({"t": pd.to_timedelta([1])})], "column 't' must hold numbers.* but got Duration"),
    ],
)
def test_strange_x(x, rule):
    with pytest.raises(InputError, match=rule):
        hr.Sequences(x)


@pytest.mark.parametrize(
    ("y", "rule"),
    [
        (np.array(1), "y must be a list with a list of labels for each sequence, but got ndarray"),
        (scipy.sparse.eye(2), "y must be a list .* but got dia_"),
        (pd.DataFrame({"l": ["a", "b"]}), "the labels of sequence 0 must be a list, but got the str 'l'"),
        ([1, 2], "the labels of sequence 0 must be a list, but got int"),
        ([np.ma.masked_array([1, 2, 3], mask=[0, 0, 1]), [1, 2]], r"sequence 0, position 2 has no label \(None\)"),
        ([["a", "b", "a"], ["a", pd.NA]], r"sequence 1, position 1 has no label \(<NA>\); partial labels"),
        ([[2**70, 1, 1], [1, 1]], "must fit 64 bits"),
        ([["a", "b", "a"], ["b", ["a"]]], "sequence 1, position 1: .* but got list"),
    ],
)
def test_strange_y(y, rule):
    with pytest.raises(InputError, match=rule):
        hr.HMM().fit(X, y)


@pytest.mark.parametrize(
    ("weight", "rule"),
    [
        (["a", "b"], "must hold one number for each of the 2 sequences; it is no array of numbers"),
        ([[1], [1, 2]], "no array of numbers"),
        ([1j, 1], "no array of numbers"),
        ([10**400, 1], "no array of numbers"),
        ((1 for _ in X), "no array of numbers"),
        (3.0, r"its shape is \(\)"),
        ([1, None], "the weight of sequence 1 is nan"),
        (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "the weight of sequence 1 is nan"),
        ([1, 1e308], r"must be from 0 to 1e\+30; the weight of sequence 1 is 1e\+308"),
    ],
)
def test_strange_weights(weight, rule):
    model = hr.HMM()
    with pytest.raises(InputError, match=f"^sample_weight .*{rule}"):
        model.fit(X, Y, sample_weight=weight)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"order": 2**70}, "order must not be larger"),
        ({"order": 2**60}, rf"order {2**60} with 2 labels needs 2\^{2**60 + 1} numbers"),
        ({"order": np.array([1, 2])}, "order must be an integer"),
        ({"n_jobs": 2**70}, "n_jobs must not be larger"),
        ({"smoothing": float("inf")}, r"smoothing must not be larger than 1e\+30; it is inf"),
        ({"smoothing": 10**400}, "smoothing must not be larger"),
    ],
)
def test_numbers_beyond_all_measure(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.HMM(**change).fit(X, Y)


@pytest.mark.parametrize("callbacks", [None, print, [print, 3]], ids=str)
def test_callbacks_are_looked_at_before_work(callbacks):
    with pytest.raises(InputError, match="callbacks must be a list of functions"):
        hr.HMM().fit(X, Y, callbacks=callbacks)


@pytest.mark.parametrize("n", [0, 1.5, "2", None, True, 2**70], ids=str)
def test_counts_of_paths(n):
    with pytest.raises(InputError, match="n must be an integer of at least 1"):
        hr.HMM().fit(X, Y).predict_nbest(X, n=n)
    with pytest.raises(InputError, match="n must be an integer of at least 1"):
        Lattice(Topology(2), np.array([0, 1]), state=np.zeros((1, 2))).sample(n)


@pytest.mark.parametrize("n", [2**60, 2**62, 2**63 - 1], ids=str)
def test_more_paths_than_memory(n):
    lattice = Lattice(Topology(2), np.array([0, 3]), state=np.zeros((3, 2)))
    for ask in (lattice.nbest, lattice.sample):
        with pytest.raises(MemoryError):
            ask(n)


@pytest.mark.parametrize(
    ("columns", "arguments", "rule"),
    [
        ({"g": [[1], [2]]}, {"sequence": "g"}, "the column `sequence` must hold names or numbers"),
        ({"g": [1, 2]}, {"sequence": None}, "df has no column None for `sequence`"),
        ({"g": [1, 2]}, {"sequence": [["g"]]}, r"df has no column \['g'\] for `sequence`"),
        ({"g": [1, 2], "l": [2**70, 1]}, {"sequence": "g", "label": "l"}, "must fit 64 bits"),
        ({"g": [1, 2], "l": ["a\0", "b"]}, {"sequence": "g", "label": "l"}, "must not end in a NUL"),
    ],
)
def test_strange_frames(columns, arguments, rule):
    with pytest.raises(InputError, match=rule):
        hr.from_frame(pd.DataFrame({"x": [1, 2], **columns}), **arguments)


def test_predict_single_takes_one_sequence():
    model = hr.HMM().fit(X, Y)
    assert model.predict_single(hr.Sequences(["abc"])).tolist() == model.predict_single("abc").tolist()
    with pytest.raises(InputError, match="takes one sequence, but there are 2; use predict"):
        model.predict_single(hr.Sequences(X))


def test_a_message_stays_readable_whatever_came():
    for label in ("x" * 10**6, "\0" * 10**6):
        with pytest.raises(
            InputError,
            match=r"^the labels of sequence 0 must be a list, but got the str .* \.\.\. .*use list\(\.\.\.\)",
        ) as caught:
            hr.HMM().fit(["ab"], [label])
        assert len(str(caught.value)) < LONGEST_MESSAGE + 100
    with pytest.raises(InputError, match=r"decode them$"):
        hr.Sequences([[{"k" * 10**6: b"x"}]])


def test_masked_values_are_missing():
    numbers = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    for x in ([numbers], numbers[None]):
        assert hr.Sequences(x).column("x0").values.tolist() == [1.0, 3.0]
        assert hr.Sequences(x).column("x1").missing().tolist() == [True, False]
    text = np.ma.masked_array(["a", "b"], mask=[0, 1])
    assert hr.Sequences([text]).column("symbol").missing().tolist() == [False, True]
    assert hr.Sequences([text[:, None]]).column("x0").missing().tolist() == [False, True]


def test_generators_are_read_once():
    model = hr.HMM().fit((x for x in X), (iter(y) for y in Y), X_dev=iter(X), y_dev=(iter(y) for y in Y))
    assert model.score(X, (iter(y) for y in Y)) == hr.HMM().fit(X, Y).score(X, Y)


def test_numbers_of_numpy_as_parameters_can_be_saved(tmp_path):
    model = hr.HMM(order=np.int64(2), smoothing=np.float32(0.5), n_jobs=np.int8(1)).fit(X, Y)
    model.save(tmp_path / "m")
    assert hr.load(tmp_path / "m").get_params() == hr.HMM(order=2, smoothing=0.5, n_jobs=1).get_params()


def test_strange_text_is_kept_as_it_is(tmp_path):
    names = ["", "\0", "a\0b", "\ud800", "\U0010ffff", "é", "x" * 10**6]
    model = hr.HMM().fit([names] * 2, [[*names[2:], *names[:1], "z"]] * 2)
    model.save(tmp_path / "m")
    for fitted in (model, hr.load(tmp_path / "m")):
        assert fitted.predict([names])[0].tolist() == [*names[2:], *names[:1], "z"]
        assert not fitted.model_.encode([names]).unseen


def test_a_hundred_thousand_attributes():
    names = [f"a{i}" for i in range(100_000)]
    assert len(hr.Sequences([[dict.fromkeys(names, 1.0)]]).columns) == len(names)
    assert len(hr.Sequences([[names, names]]).column("bag").ids) == 2 * len(names)


def test_more_threads_than_there_can_be_change_nothing():
    x = ["abcde" * 2000] * 20
    model = hr.HMM(n_jobs=10**6).fit(X, Y)
    assert [a.tolist() for a in model.predict(x)] == [a.tolist() for a in hr.HMM(n_jobs=1).fit(X, Y).predict(x)]


def test_one_sequence_of_words_must_be_wrapped():
    with pytest.raises(InputError, match=r"give \[X\] and \[y\] if X and y are one sequence"):
        hr.HMM().fit(["the", "hedge"], ["D", "N"])


def test_predict_single_refuses_a_list_of_sequences():
    dicts = hr.LinearCRF(max_iter=2).fit([[{"w": "a"}, {"w": "b"}]], [["x", "y"]])
    with pytest.raises(InputError, match="x is a list of 1 sequence; use predict"):
        dicts.predict_single([[{"other": "a"}]])
    lists = {
        "dicts": [[{"w": "a"}, {"w": "b"}]] * 2,
        "bags": [[["a"], ["b"]]] * 2,
        "letters": ["ab", "ab"],
        "words": [["the", "cat"], ["a", "dog"]],
        "tuples": [[("a", 1), ("b", 2)]] * 2,
        "arrays": [np.eye(2)] * 2,
        "texts": [np.array(["a", "b"])] * 2,
        "frames": [pd.DataFrame({"w": ["a", "b"]})] * 2,
    }
    for x in lists.values():
        model = hr.LinearCRF(max_iter=2).fit(x, [["x", "y"]] * 2)
        with pytest.raises(InputError, match="takes one sequence, but x is a list of 2 sequences; use predict"):
            model.predict_single(x)
        assert len(model.predict_single(x[0])) == len(x[0])
    with pytest.raises(InputError, match="X must have columns of training"):
        dicts.predict_single([{"other": "a"}])


def test_names_of_parameters_elsewhere_lead_to_those_here():
    with pytest.raises(TypeError, match="LinearCRF has no parameter 'c1'; use 'l1' here"):
        hr.LinearCRF(c1=0.1)
    with pytest.raises(TypeError, match="use 'l2' here"):
        hr.LinearCRF(c2=0.1)
    with pytest.raises(TypeError, match=r"pass it to the base, as in base=TreeCRF\(window=...\)"):
        hr.OutputCode(window=1)


def test_one_is_not_plural():
    model = hr.TreeCRF(n_rounds=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    assert "3 labels '-', 'a', 'o'; 1 round; 1 column)" in model._repr_html_().replace("&#x27;", "'")
    assert "1 position)" in model.tree(1, "a")
    assert "1 positions" not in model.tree(1, "a")


def test_the_type_lines_of_help():
    text = hr.TreeCRF.__doc__
    assert "n_jobs : int >= 1, or -1 or None for all processors, default=-1" in text
    assert "validation_fraction : float > 0 and < 1 or 'auto', default='auto'" in text
    assert 'beam : "kl", an integer of at least 1, a number between 0 and 1, or None, default=None' in text


def test_predict_single_refuses_a_position():
    model = hr.HMM().fit([[{"w": "a"}, {"w": "b"}]], [["x", "y"]])
    with pytest.raises(InputError, match=r"^predict_single takes a list of positions, but x is a dict, .* pass \[x\]"):
        model.predict_single({"w": "a"})


def test_a_class_is_no_callback():
    with pytest.raises(InputError, match=r"pass Progress\(\), not the class Progress$"):
        hr.TreeCRF().fit(X, Y, callbacks=[hr.callbacks.Progress])


def test_a_model_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^cannot load .*nope.hedgerow: there is no such file;"):
        hr.load(tmp_path / "nope.hedgerow")
