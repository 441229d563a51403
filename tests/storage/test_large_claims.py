"""A small file that claims large sizes: it loads in little memory or raises ModelFileError."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import storage
from hedgerow.errors import ModelFileError

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.BagWarning")

X = ["cat", "dog", "cog", "at", "dot", "tact"] * 2
Y = [[c if c in "ao" else "-" for c in x] for x in X]
MODELS = {
    "HMM": hr.HMM(),
    "LinearCRF": hr.LinearCRF(max_iter=5),
    "LinearCRF with edges": hr.LinearCRF(max_iter=5, edge_features=True),
    "TreeCRF": hr.TreeCRF(n_rounds=2),
    "TreeCRF with a table": hr.TreeCRF(n_rounds=2, transitions="table"),
    "MEMM": hr.MEMM(n_rounds=2),
    "MEMM of weights": hr.MEMM(learner="linear", max_iter=5),
    "FutureMEMM": hr.FutureMEMM(n_rounds=4, random_state=0),
    "SearchTagger": hr.SearchTagger(random_state=0),
    "perceptron": hr.StructuredPerceptron(random_state=0),
    "votes": hr.StructuredPerceptron(averaging="vote", random_state=0),
    "OutputCode": hr.OutputCode(base=hr.TreeCRF(n_rounds=2), random_state=0),
    "OpinionPool": hr.OpinionPool(base=hr.TreeCRF(n_rounds=2, window=1), random_state=0),
}


def changed(value: Any, keys: tuple[str, ...], new: Any) -> Any:
    """The JSON value with every entry of these keys replaced."""
    if isinstance(value, dict):
        return {key: new if key in keys else changed(inner, keys, new) for key, inner in value.items()}
    return [changed(inner, keys, new) for inner in value] if isinstance(value, list) else value


CLAIMS = {
    "window": lambda metadata: metadata | {"potential": changed(metadata["potential"], ("window",), [10**6, 10**6])},
    "order": lambda metadata: changed(metadata, ("order", "tree_order"), 16),
    "label": lambda metadata: metadata | {"labels": {"kind": "i", "values": [1, 2, 2**63]}},
    "huge label": lambda metadata: metadata | {"labels": {"kind": "i", "values": [1, 2, 10**400]}},
}

LOAD = """
import sys
import hedgerow as hr, resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    hr.load(sys.argv[1])
except hr.errors.ModelFileError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_small_file_never_takes_much_memory_to_load(name: str, claim: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    MODELS[name].fit(X, Y).save(path)
    arrays, metadata = storage.read(path)
    kept = {key: np.array(array) for key, array in arrays.items()}
    storage.write(path, kept, CLAIMS[claim](json.loads(json.dumps(metadata))))
    assert path.stat().st_size < 30_000
    done = subprocess.run([sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 200 * 2**20


@pytest.mark.parametrize("label", [2**63, -(2**63) - 1, 10**400])
def test_labels_beyond_64_bits_are_damage(label: int, tmp_path: Path) -> None:
    path = tmp_path / "m"
    hr.HMM().fit(["ab", "ba"], [[0, 1], [1, 0]]).save(path)
    arrays, metadata = storage.read(path)
    storage.write(path, arrays, metadata | {"labels": {"kind": "i", "values": sorted([0, label])}})
    with pytest.raises(ModelFileError):
        hr.load(path)


def test_a_model_of_a_high_order_can_be_saved_and_loaded(tmp_path: Path) -> None:
    model = hr.MEMM(order=14, n_rounds=2).fit(X, Y)
    model.save(tmp_path / "m")
    assert hr.load(tmp_path / "m").order == 14
