"""Every instruction set gives the same model and the same probabilities, to the bit."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.storage import read
from hedgerow.topology import Topology

pytestmark = pytest.mark.kernel

TREES: dict[str, Any] = {"n_rounds": 6, "random_state": 0}
ONLINE: dict[str, Any] = {"epochs": 2, "random_state": 0}
MODELS: dict[str, Callable[[], Any]] = {
    "TreeCRF, published": lambda: hr.TreeCRF.published(window=1, n_rounds=6),
    "TreeCRF, published 2004": lambda: hr.TreeCRF.published_2004(window=1, n_rounds=6),
    "TreeCRF, virtual evidence": lambda: hr.TreeCRF(window=1, objective="virtual-evidence", **TREES),
    "TreeCRF, table": lambda: hr.TreeCRF(window=1, transitions="table", **TREES),
    "TreeCRF, shared": lambda: hr.TreeCRF(window=1, trees="shared", **TREES),
    "TreeCRF, order 2": lambda: hr.TreeCRF(order=2, **TREES),
    "TreeCRF, beam": lambda: hr.TreeCRF(window=1, beam=4, **TREES),
    "LinearCRF": lambda: hr.LinearCRF(window=1, max_iter=12),
    "LinearCRF, sgd": lambda: hr.LinearCRF(window=1, solver="sgd", max_iter=3, random_state=0),
    "LinearCRF, edges": lambda: hr.LinearCRF(window=1, edge_features=True, max_iter=6),
    "LinearCRF, beam": lambda: hr.LinearCRF(window=1, beam=4, max_iter=12),
    "StructuredSVM": lambda: hr.StructuredSVM(window=1, **ONLINE),
    "StructuredPerceptron": lambda: hr.StructuredPerceptron(window=1, **ONLINE),
    "HMM": lambda: hr.HMM(),
    "MEMM": lambda: hr.MEMM(window=1, **TREES),
    "FutureMEMM": lambda: hr.FutureMEMM(max_future=1, **TREES),
    "SearchTagger": lambda: hr.SearchTagger(window=1, **ONLINE),
    "OutputCode": lambda: hr.OutputCode(base=hr.TreeCRF(window=1, n_rounds=3), n_bits=6, random_state=0),
}  # fmt: skip


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    before = _core.instruction_set()
    _core.use_instruction_set(name)
    try:
        yield
    finally:
        _core.use_instruction_set(before)


def data(n_labels: int = 11) -> tuple[list[list[str]], list[list[str]]]:
    made = hr.datasets.hmm_forty(30, 12, kind="both", seed=0)
    return made.X, [[f"l{int(label[1:]) % n_labels}" for label in labels] for labels in made.y]


def digest(make: Callable[[], Any], folder: Path) -> str:
    """A digest of the arrays of a fitted model, and of its answers."""
    X, y = data()
    model = make().fit(X, y)
    model.save(folder / "model.hedgerow")
    arrays, _ = read(folder / "model.hedgerow")
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(name.encode() + arrays[name].tobytes())
    found.update(repr([labels.tolist() for labels in model.predict(X)]).encode())
    if not isinstance(model, hr.StructuredPerceptron | hr.StructuredSVM | hr.SearchTagger):
        for p in model.predict_proba(X):
            found.update(np.ascontiguousarray(p).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("name", MODELS)
def test_every_instruction_set_fits_the_same_model(name, tmp_path):
    found = set()
    for isa in _core.instruction_sets():
        with instruction_set(isa):
            found.add(digest(MODELS[name], tmp_path))
    assert len(found) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("k", "beam"), [(k, beam) for k in (2, 3, 4, 5, 7, 8, 9, 15, 17, 31, 40) for beam in (None, 3) if k > (beam or 0)]
)
def test_every_instruction_set_sums_alike(k, dtype, beam):
    rng = np.random.default_rng(k)
    starts = np.array([0, 1, 8, 20, 60])
    state, edge = rng.normal(size=(60, k)), rng.normal(size=(60, k, k))
    table = rng.normal(size=(k + 1, k))
    parts = {"state": state.astype(dtype), "table": table.astype(dtype)}, {"edge": edge.astype(dtype)}
    for scores in parts:
        answers = []
        for isa in _core.instruction_sets():
            with instruction_set(isa):
                lattice = Lattice(Topology(k, 1), starts, **scores, beam=beam)
                answers.append([lattice.log_partition(), *lattice.pair_marginals(), *lattice.summed_pairs()])
        for other in answers[1:]:
            for a, b in zip(answers[0], other, strict=True):
                np.testing.assert_array_equal(a, b)


CHECK = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from estimators.test_instruction_sets import MODELS, digest
with tempfile.TemporaryDirectory() as folder:
    print([digest(make, Path(folder)) for make in MODELS.values()])
"""
NO_VECTORS = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the settings are those of Linux on x86-64"
)
@pytest.mark.parametrize(
    "settings",
    [{"NPY_DISABLE_CPU_FEATURES": NO_VECTORS}, {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX"}],
    ids=["numpy", "C library"],
)
def test_other_variants_of_libraries_fit_the_same_model(settings):
    """NumPy and the C library choose their logarithms and exponentials by the processor as well."""
    command = [sys.executable, "-W", "ignore", "-c", CHECK, str(Path(__file__).parents[1])]
    usual, other = (
        subprocess.run(command, env=os.environ | extra, capture_output=True, text=True, check=True).stdout
        for extra in ({}, settings)
    )
    assert usual == other
