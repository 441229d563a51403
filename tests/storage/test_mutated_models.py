"""Model files whose checksum is right but whose content is not: refused or usable, never a crash."""

from __future__ import annotations

import copy
import os
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import storage
from hedgerow.errors import ImpossibleLatticeError, InputError, ModelFileError

MUTATIONS = int(os.environ.get("HEDGEROW_MUTATIONS", "200"))
WORDS = ["cat", "dog", "cog", "at", "dot", "tact"]
WHOLE: list[list[dict[str, Any]]] = [[{"w": w, "n": i / 3, "b": ["x", w]} for i, w in enumerate(x)] for x in WORDS * 2]
Y = [[p["w"] if p["w"] in "ao" else "-" for p in x] for x in WHOLE]
AHEAD = [["v" if any(p["w"] in "ao" for p in x[t + 1 : t + 3]) else "-" for t in range(len(x))] for x in WHOLE]
HOLES = [[{"w": None, "n": None, "b": None}, *x[1:]] for x in WHOLE]
PAIRS = sorted({pair for labels in Y for pair in pairwise([None, *labels])}, key=str)
MODELS = {
    "HMM": hr.HMM(order=2),
    "trees": hr.TreeCRF(window=1, n_rounds=3, transitions="trees"),
    "table": hr.TreeCRF(window=2, n_rounds=3, transitions="table", order=2),
    "subsets": hr.TreeCRF(window=1, n_rounds=3, transitions="trees", category_splits="subset", order=2),
    "induced": hr.LinearCRF(window=1, l2=0.1, induce="mccallum", max_iter=30, random_state=0),
    "shared": hr.TreeCRF(window=1, n_rounds=3, trees="shared"),
    "linear": hr.StructuredSVM(window=1, order=2, epochs=2, random_state=0),
    "votes": hr.StructuredPerceptron(window=1, epochs=2, averaging="vote", random_state=0),
    "ahead": hr.SearchTagger(future=hr.FutureMEMM(order=0, n_rounds=3, max_future=3), epochs=2, random_state=0),
    "constraints": hr.LinearCRF(window=1, max_iter=5, constraints=PAIRS),
    "local constraints": hr.MEMM(window=1, n_rounds=3, constraints=PAIRS),
    "search constraints": hr.SearchTagger(window=1, epochs=2, constraints=PAIRS, random_state=0),
    "search": hr.SearchTagger(window=1, epochs=2, direction="right-to-left", random_state=0),
    "missing": hr.LinearCRF(max_iter=5),
    "local trees": hr.MEMM(window=1, n_rounds=3, order=2),
    "local weights": hr.MEMM(window=1, learner="linear", max_iter=10),
    "future": hr.FutureMEMM(window=1, bag=2, bag_side="both", pattern_rounds=2, n_rounds=6, random_state=0),
    "code": hr.OutputCode(base=hr.TreeCRF(n_rounds=2, window=1), cascade=1, distance="lattice", random_state=0),
    "pool": hr.OpinionPool(base=hr.TreeCRF(n_rounds=2, window=1), random_state=0),
}
STRANGE: list[Any] = [
    None, True, -1, 0, 1, 2, 255, 2**31, 2**63, 10**40, 0.5, -1e300, 1.0, "", "x", "numeric", "bag", "categorical",
    "trees", "table", "HMM", "TreeCRF", [], {}, ["x"], [0], [-1, 1], [10**6, 10**6], {"kind": "trees"}, "\ud800",
]  # fmt: skip

EXTREMES = [np.nan, np.inf, -np.inf, 1e30, 1e-300, -1.0, 0.0, 1.0, 255.0, 2.0**31 - 1, 2.0**31, -(2.0**31), 2.0**62]


def places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    if isinstance(value, dict):
        inside = list(value.items())
    else:
        inside = list(enumerate(value)) if isinstance(value, list) else []
    return [(value, key) for key, _ in inside] + [place for _, part in inside for place in places(part)]


def mutate_metadata(metadata: dict[str, Any], rng: random.Random) -> None:
    container, key = rng.choice(places(metadata))
    action = rng.randrange(4)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container, list):
        container.insert(key, copy.deepcopy(rng.choice(container)))
    elif action == 2:
        source, other = rng.choice(places(metadata))
        container[key] = copy.deepcopy(source[other])
    else:
        container[key] = copy.deepcopy(rng.choice(STRANGE))


def mutate_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    action = rng.randrange(8)
    if action == 0:
        del arrays[name]
    elif action == 1:
        arrays[name] = array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?"]))
    elif action == 2:
        arrays[name] = array.reshape(rng.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
    elif action == 3:
        arrays[name] = np.concatenate([array, array[: rng.randrange(3)]]) if array.ndim else array
    elif action == 4:
        arrays[name] = array[: len(array) // 2] if array.ndim else array
    elif action == 5:
        arrays[name] = arrays[rng.choice(sorted(arrays))]
    elif array.size:
        flat = array.reshape(-1)
        for _ in range(rng.choice([1, 1, 3])):
            at = rng.randrange(array.size)
            near = flat[rng.randrange(array.size)].astype(np.float64) + rng.choice([-1, 0, 0, 1])
            flat[at] = np.array(rng.choice([near, near, *EXTREMES])).astype(array.dtype)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")  # a column whose name was mutated
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_mutated_models_are_refused_or_usable(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # half the time
    path = tmp_path / "m"
    X = HOLES if name == "missing" else WHOLE
    y = AHEAD if name == "future" else Y
    MODELS[name].fit(X, y, X_dev=X, y_dev=y).save(path)
    arrays, metadata = storage.read(path)
    assert name != "future" or len(metadata["potential"]["of"]["features"]) > 0
    outcomes = {"refused": 0, "used": 0}
    for seed in range(MUTATIONS):
        rng = random.Random(f"{name} {seed}")
        changed, told = {key: array.copy() for key, array in arrays.items()}, copy.deepcopy(metadata)
        with np.errstate(all="ignore"):
            for _ in range(rng.choice([1, 1, 1, 2, 4])):
                mutate_arrays(changed, rng) if changed and rng.random() < 0.6 else mutate_metadata(told, rng)
        storage.write(path, changed, told)
        try:
            model = hr.load(path)
            questions = (model.predict, model.predict_proba, lambda x, m=model: m.predict_nbest(x, 2))
            for ask in questions[: 1 if name == "votes" else 3]:  # votes are for labels alone
                assert len(ask(X)) == len(X), seed
            model.save(path)
            repr(model)
            outcomes["used"] += 1
        except ImpossibleLatticeError:  # other constraints, which allow no labels for some sequence
            outcomes["used"] += 1
        except (ModelFileError, InputError):
            outcomes["refused"] += 1
        except Exception as error:
            raise AssertionError(f"mutation {seed} of {name}: {type(error).__name__}: {error}") from error
    assert min(outcomes.values()) > MUTATIONS // 10
