"""Windows of every form, through the estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import storage
from hedgerow.errors import InputError, ModelFileError

RNG = np.random.default_rng(3)
X = ["".join(RNG.choice(list("abc"), 8)) for _ in range(40)]
# The label is the symbol two positions before, which a window of 1 cannot see.
Y = [list(("--" + x)[:8]) for x in X]


@pytest.mark.parametrize("window", [2, (2, 0), (-2, 1), [-2], [0, -2], np.array([-2, 1]), (np.int64(-2), 0)], ids=repr)
@pytest.mark.parametrize("make", [hr.TreeCRF, hr.LinearCRF, hr.StructuredPerceptron])
def test_every_form_reads_its_offsets(make: Any, window: Any, tmp_path: Path) -> None:
    rounds = {"n_rounds": 10} if make is hr.TreeCRF else {}
    model = make(window=window, order=0, random_state=0, **rounds).fit(X, Y)
    assert model.score(X, Y) == 1.0
    model.save(tmp_path / "m")
    again = hr.load(tmp_path / "m")
    for a, b in zip(model.predict_proba(X), again.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)
    again.fit(X, Y)
    assert again.score(X, Y) == 1.0


def test_forms_of_one_window_are_one_model() -> None:
    forms = [hr.LinearCRF(window=window).fit(X, Y) for window in (1, (1, 1), (-1, 1), [1, 0, -1])]
    for model in forms[1:]:
        for a, b in zip(forms[0].predict_proba(X), model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_window_that_is_none_is_refused() -> None:
    for window in (None, -1, [], (1, 2, 3), [0, 0], "1"):
        with pytest.raises(InputError, match=r"window must be a number n .* a pair \(left, right\) or a list"):
            hr.LinearCRF(window=window).fit(X, Y)


@pytest.mark.parametrize("window", [1_000_000, [1, 1], "x", None, [0.5]])
def test_a_small_file_cannot_describe_a_huge_window(window: Any, tmp_path: Path) -> None:
    hr.LinearCRF().fit(X, Y).save(tmp_path / "m")
    arrays, metadata = storage.read(tmp_path / "m")
    metadata["potential"]["window"] = window
    storage.write(tmp_path / "m", {name: array.copy() for name, array in arrays.items()}, metadata)
    with pytest.raises(ModelFileError, match="window must be"):
        hr.load(tmp_path / "m")
