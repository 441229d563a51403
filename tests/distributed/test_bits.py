"""An output code whose bits were trained on workers is the one that was trained here, bit for bit."""

from __future__ import annotations

import dask.bag as db
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.codes.bits import BitTrainer
from hedgerow.errors import ConvergenceWarning, InputError

X = ["cat", "dog", "cot", "dag", "at", "bb", "cut", "tact"]
Y = [[{"a": "v", "o": "w", "u": "u"}.get(letter, "-") for letter in x] for x in X]
CODES = {
    "trees": lambda: hr.OutputCode(base=hr.TreeCRF(n_rounds=3, window=1), code="one-vs-rest", random_state=0),
    "linear": lambda: hr.OutputCode(base=hr.LinearCRF(max_iter=4), n_bits=5, random_state=0),
    "lattice": lambda: hr.OutputCode(base=hr.LinearCRF(max_iter=4), distance="lattice", random_state=0),
    "letters": lambda: hr.OutputCode(
        base=hr.StructuredPerceptron(epochs=2), features=hr.templates.letters(1), random_state=0
    ),
    "cascade": lambda: hr.OutputCode(base=hr.TreeCRF(n_rounds=2), cascade=1, random_state=0),
    "chosen cascade": lambda: hr.OutputCode(base=hr.TreeCRF(n_rounds=2), cascade="auto", random_state=0),
    "grown": lambda: hr.OutputCode(base=hr.TreeCRF(n_rounds=2), code="grow", random_state=0),
}


def content(fitted):
    """The arrays and metadata of the model file, without times."""
    metadata, arrays = fitted.model_._to_arrays()
    log = [{name: value for name, value in record.items() if name != "seconds"} for record in metadata["training_log"]]
    return metadata | {"training_log": log}, arrays


def check_same(one, other):
    (metadata, arrays), (expected, expected_arrays) = content(one), content(other)
    assert metadata == expected
    assert arrays.keys() == expected_arrays.keys()
    for name, array in arrays.items():
        assert array.dtype == expected_arrays[name].dtype
        np.testing.assert_array_equal(array, expected_arrays[name])


@pytest.mark.parametrize("name", CODES)
def test_the_code_is_that_of_this_process(name, client):
    check_same(CODES[name]().fit(X, Y, client=client), CODES[name]().fit(X, Y))


def test_with_dev_data_weights_and_spans(client):
    gold = [["B-x" if letter in "aou" else "O" for letter in x] for x in X]
    gold[1][1] = "B-y"
    arguments = {"X_dev": X[:3], "y_dev": gold[:3], "sample_weight": np.arange(1.0, 9.0)}
    check_same(CODES["trees"]().fit(X, gold, **arguments, client=client), CODES["trees"]().fit(X, gold, **arguments))


def test_a_callback_ends_the_fit_with_the_bits_so_far(client):
    with pytest.warns(hr.errors.CodeWarning, match="stopped when 2 of 4 bits"):
        fitted = CODES["trees"]().fit(X, Y, client=client, callbacks=[lambda record: record["step"] == 2])
    assert len(fitted.training_log_) == 2
    assert fitted.code_.shape == (4, 2)


def test_warnings_of_bits_reach_the_user(client):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        CODES["linear"]().fit(X, Y, client=client)


def test_an_error_of_a_bit_is_an_input_error(client, monkeypatch):
    def refuse(self, training, bit):
        raise InputError(f"bit {bit} has one label; use another code")

    monkeypatch.setattr(BitTrainer, "_run", refuse)  # the workers are threads of this process
    with pytest.raises(InputError, match=r"^bit 0 has one label; use another code$"):
        CODES["linear"]().fit(X, Y, client=client)


def test_a_wrong_client_is_refused():
    with pytest.raises(InputError, match=r"client must be a distributed\.Client"):
        CODES["linear"]().fit(X, Y, client=object())


def test_data_in_partitions_are_refused(client):
    with pytest.raises(InputError, match="OutputCode trains every bit on all sequences, so X must be in memory"):
        CODES["linear"]().fit(db.from_sequence(X, npartitions=2), db.from_sequence(Y, npartitions=2), client=client)
