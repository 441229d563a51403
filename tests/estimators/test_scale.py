"""The parameter `scale`: numbers that are not standardised are the weights of attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hedgerow as hr

LINEAR = [
    hr.LinearCRF(),
    hr.LinearCRF(solver="sgd", epochs=5, random_state=0),
    hr.StructuredPerceptron(random_state=0),
    hr.StructuredPerceptron(averaging="vote", random_state=0),
    hr.StructuredSVM(epochs=5, random_state=0),
    hr.SearchTagger(random_state=0),
    hr.MEMM(learner="linear"),
]


def numbers(n_sequences: int) -> tuple[list[Any], list[Any]]:
    """Sequences of two numeric columns with different means and units.

    There is no 0: the order of epochs depends on it, though a bag does not hold it.
    """
    rng = np.random.default_rng(0)
    X = [rng.normal([3.0, 0.2], [5.0, 0.5], size=(6, 2)) for _ in range(n_sequences)]
    return X, [np.where(x @ [0.2, 1.0] + rng.normal(size=6) > 1, "B", "A") for x in X]


@pytest.mark.filterwarnings("ignore::hedgerow.errors.ConvergenceWarning")
@pytest.mark.parametrize("estimator", LINEAR, ids=lambda e: f"{type(e).__name__}-{e.get_params().get('averaging')}")
def test_raw_numbers_equal_a_weighted_bag(estimator: Any) -> None:
    X, y = numbers(30)
    bags = [scipy.sparse.csr_matrix(x) for x in X]

    def probabilities(X: list[Any], *, scale: bool) -> Any:
        model = type(estimator)(**estimator.get_params() | {"scale": scale}).fit(X, y)
        return np.concatenate(model.predict_proba(X))

    raw = probabilities(X, scale=False)
    np.testing.assert_array_equal(raw, probabilities(bags, scale=False))
    assert not np.allclose(raw, probabilities(X, scale=True))
