"""Sixteen threads ask one model everything at once: every estimator answers as it answers one thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.estimators.registry import REGISTRY
from hedgerow.inspection import future_features, importances, transition_table
from hedgerow.inspection.weights import state_features, transition_features

N_THREADS = 16
N_PARTS = 4  # of the sentences: neighbouring threads ask about different ones
WORDS = hr.templates.words()
TREES: dict[str, Any] = {"n_rounds": 2, "n_jobs": 2, "random_state": 0}
ONLINE: dict[str, Any] = {"epochs": 2, "n_jobs": 2, "random_state": 0}

MODELS: dict[str, Callable[[], Any]] = {
    "TreeCRF": lambda: hr.TreeCRF(features=WORDS, label_statistics=True, **TREES),
    "TreeCRF, linear": lambda: hr.TreeCRF(features=WORDS, linear=True, **TREES),
    "TreeCRF, transitions by trees": lambda: hr.TreeCRF(window=1, transitions="trees", **TREES),
    "LinearCRF": lambda: hr.LinearCRF(features=WORDS, tol=0.1, n_jobs=2),
    "LinearCRF, edges": lambda: hr.LinearCRF(window=1, edge_features=True, tol=0.1, n_jobs=2),
    "StructuredSVM": lambda: hr.StructuredSVM(features=WORDS, **ONLINE),
    "StructuredPerceptron": lambda: hr.StructuredPerceptron(window=1, **ONLINE),
    "HMM": lambda: hr.HMM(n_jobs=2),
    "MEMM": lambda: hr.MEMM(window=1, **TREES),
    "FutureMEMM": lambda: hr.FutureMEMM(max_future=1, **TREES),
    "SearchTagger": lambda: hr.SearchTagger(window=1, **ONLINE),
    "OutputCode": lambda: hr.OutputCode(base=hr.TreeCRF(window=1, n_rounds=2), n_bits=6, n_jobs=2, random_state=0),
    "OpinionPool": lambda: hr.OpinionPool(base=hr.TreeCRF(window=1, n_rounds=2), n_jobs=2, random_state=0),
}  # fmt: skip

VIEWS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "TreeCRF": (importances, transition_table),
    "TreeCRF, linear": (importances, transition_table),
    "TreeCRF, transitions by trees": (importances, transition_table),
    "LinearCRF": (state_features, transition_features),
    "LinearCRF, edges": (state_features, transition_features),
    "StructuredSVM": (state_features, transition_features),
    "StructuredPerceptron": (state_features, transition_features),
    "MEMM": (importances,),
    "FutureMEMM": (future_features,),
}


def sentences(seed: int, n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words whose last letter decides the label, mostly; a number has a label of its own."""
    rng = np.random.default_rng(seed)
    words = [[f"{'abcd'[rng.integers(4)]}{rng.integers(12)}{'xyz'[rng.integers(3)]}" for _ in range(rng.integers(1, 9))]
             for _ in range(n)]  # fmt: skip
    return words, [[("B-" if i % 2 else "I-") + w[-1].upper() if i else "O" for i, w in enumerate(x)] for x in words]


X, Y = sentences(0, 40)
X_NEW, _ = sentences(1, 12)  # has words that training never saw
Ask = Callable[[Any, list[list[str]]], Any]
QUESTIONS: dict[str, Ask] = {
    "labels": lambda model, x: [p.tolist() for p in model.predict(x)],
    "one sentence": lambda model, x: model.predict_single(x[0]).tolist(),
    "probabilities": lambda model, x: [p.tobytes() for p in model.predict_proba(x)],
    "n-best": lambda model, x: [[(p, y.tolist()) for p, y in best] for best in model.predict_nbest(x, n=2)],
    "spans": lambda model, x: model.predict_spans(x),
    "accuracy": lambda model, _: model.score(X, Y),
    "log-likelihood": lambda model, _: model.log_likelihood(X, Y).tobytes(),
}


def answers(model: Any, name: str, thread: int) -> dict[str, str]:
    """The answers to all questions. Threads differ in the first question and in the sentences they ask about."""
    views = {view.__name__: (lambda model, _, view=view: view(model.model_)) for view in VIEWS.get(name, ())}
    questions = list((QUESTIONS | views).items())
    first = thread % len(questions)
    own = X_NEW[thread % N_PARTS :: N_PARTS]
    return {question: str(ask(model, own)) for question, ask in questions[first:] + questions[:first]}


@pytest.fixture(autouse=True)
def _switch_threads_often() -> Iterator[None]:
    """Let Python change threads every few bytecodes: by default a race of a few lines would hardly ever show."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_every_estimator_is_asked_by_threads() -> None:
    assert {name.partition(",")[0] for name in MODELS} == set(REGISTRY)


@pytest.mark.parametrize("name", MODELS)
def test_threads_share_a_model(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.hedgerow"
    fitted = MODELS[name]().fit(X, Y)  # what it computes at its first use, all threads compute at once
    fitted.save(path)
    alone = [answers(hr.load(path), name, i) for i in range(N_PARTS)]
    for shared in (fitted, hr.load(path)):
        together = Barrier(N_THREADS + 1)

        def ask(thread: int, shared: Any = shared, together: Barrier = together) -> dict[str, str]:
            together.wait()
            return answers(shared, name, thread)

        def load(together: Barrier = together) -> dict[str, str]:
            together.wait()
            return answers([hr.load(path) for _ in range(3)][-1], name, N_THREADS)

        with ThreadPoolExecutor(N_THREADS + 1) as pool:
            waiting = [pool.submit(ask, i) for i in range(N_THREADS)] + [pool.submit(load)]
            for thread, reply in enumerate(waiting):
                assert reply.result() == alone[thread % N_PARTS]
