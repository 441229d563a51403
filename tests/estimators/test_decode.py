"""decode="auto": best paths for spans and for models of paths, otherwise the best label of each position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr

X = ["abcab", "bcbca", "cabba", "aacbc", "bbaca"] * 3
POSITIONS = [["v" if letter in "ab" else "w" for letter in x] for x in X]
SPANS = [["B-X" if letter == "a" else "I-X" if letter == "b" else "O" for letter in x] for x in X]
NEW = ["abba", "ccab", "bac", "cccc"]
PROBABILITIES = [hr.TreeCRF(n_rounds=3), hr.LinearCRF(), hr.MEMM(n_rounds=3), hr.HMM()]
PATHS = [hr.StructuredPerceptron(random_state=0), hr.StructuredSVM(random_state=0), hr.SearchTagger(random_state=0)]


def said(model: Any) -> str:
    return str(model.training_log_[0]["decode"])


@pytest.mark.parametrize("model", PROBABILITIES, ids=lambda model: type(model).__name__)
def test_probabilities_decide_by_position_unless_labels_mark_spans(model: Any) -> None:
    assert said(model.fit(X, POSITIONS)) == "marginal"
    assert said(model.fit(X, SPANS)) == "viterbi"


@pytest.mark.parametrize("labels", [["B-X", "I-X"], ["I-X", "O"], ["I-X", "E-X", "O"], ["U-X", "L-X", "B-X", "O"]])
def test_labels_of_every_scheme_mark_spans(labels: list[str]) -> None:
    y = [[labels[i % len(labels)] for i in range(len(x))] for x in X]
    assert said(hr.HMM().fit(X, y)) == "viterbi"


@pytest.mark.parametrize("model", PATHS, ids=lambda model: type(model).__name__)
def test_models_of_paths_decode_paths(model: Any) -> None:
    assert said(model.fit(X, POSITIONS)) == "viterbi"


@pytest.mark.parametrize("labels", [[0, 1], [True, False], ["B", "I"], ["B-X", "O", "other"]])
def test_labels_of_no_scheme_mark_no_spans(labels: list[Any]) -> None:
    y = [[labels[i % len(labels)] for i in range(len(x))] for x in X]
    assert said(hr.HMM().fit(X, y)) == "marginal"


def noisy() -> tuple[list[str], list[list[str]]]:
    """Sequences on which the two decodings differ: labels that last, seen through a weak letter."""
    rng = np.random.default_rng(0)
    labels = [np.cumsum(rng.random(30) < 0.2) % 3 for _ in range(40)]
    letters = [np.where(rng.random(30) < 0.5, y, rng.integers(0, 3, 30)) for y in labels]
    return ["".join("abc"[i] for i in x) for x in letters], [["klm"[i] for i in y] for y in labels]


def test_the_default_predicts_what_the_log_says(tmp_path: Path) -> None:
    X, y = noisy()
    model = hr.HMM().fit(X, y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    paths, positions = (np.concatenate(model.predict(X, decode=decode)) for decode in ("viterbi", "marginal"))
    assert (paths != positions).any()
    for one in (model, loaded):
        assert said(one) == "marginal"
        assert (np.concatenate(one.predict(X)) == positions).all()
        assert one.score(X, y) == np.mean(positions == np.concatenate(y))
        assert (np.concatenate(one.set_params(decode="viterbi").predict(X)) == paths).all()
        assert (np.concatenate(one.predict(X, decode="auto")) == positions).all()


@pytest.mark.parametrize("decode", ["auto", "viterbi", "marginal"])
def test_dev_accuracy_is_that_of_the_decoding(decode: Any) -> None:
    X, y = noisy()
    model = hr.LinearCRF(decode=decode, max_iter=30).fit(X[:20], y[:20], X[20:], y[20:])
    assert model.training_log_[-1]["dev_accuracy"] == model.score(X[20:], y[20:])
    assert said(model) == {"auto": "marginal"}.get(decode, decode)


@pytest.mark.parametrize(("base", "expected"), [(hr.HMM(), "marginal"), (hr.StructuredSVM(random_state=0), "viterbi")])
def test_a_bit_is_decoded_as_its_base_decodes_positions(base: Any, expected: str) -> None:
    from hedgerow.estimators.output_code import _BaseLearners

    assert _BaseLearners(base, 0).decode == expected
    assert said(hr.OutputCode(base=base, code="one-vs-rest").fit(X, SPANS)) == "viterbi"
