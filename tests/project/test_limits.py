"""Too little memory, forks after threads, many threads with one model: an error or the same answers, never a crash."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology

X = ["abcd", "bca", "dab"] * 40
Y = [list(x) for x in X]

TOO_LARGE = """
import resource, sys
import numpy as np
import hedgerow as hr
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
X, Y = ["abcd", "bca"] * 4, [list(x) for x in ["abcd", "bca"] * 4]
text = hr.Sequences(["abcd" * 500_000])
models = [hr.HMM(n_jobs=2).fit(X, Y), hr.TreeCRF(n_rounds=1, n_jobs=2).fit(X, Y), hr.MEMM(n_rounds=1).fit(X, Y)]
lattice = Lattice(Topology(20, 2), np.arange(0, 20_001, 100), state=np.zeros((20_000, 20)), n_threads=4)
work = [
    lambda: hr.Sequences([[{"a": "x", "b": 1.0, "c": ["y", "z"]}] * 10**6] * 2),
    lambda: models[0].predict(text), lambda: models[1].predict(text), lambda: models[1].predict_proba(text),
    lambda: models[2].predict(text),
    lattice.pair_marginals, lambda: lattice.nbest(500), lambda: lattice.sample(10_000),
    lambda: hr.TreeCRF(n_rounds=1, order=3).fit(["abcdefgh" * 3000], [list("abcdefgh" * 3000)]),
]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]) * 2**20,) * 2)
for job in work:
    try:
        job()
    except MemoryError:
        print("too large", flush=True)
print(models[0].predict(["abcd"])[0].tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured as Linux does")
@pytest.mark.parametrize("megabytes", [1, 30])
def test_too_little_memory_is_an_error(megabytes):
    done = subprocess.run([sys.executable, "-c", TOO_LARGE, str(megabytes)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    *refused, last = done.stdout.splitlines()
    assert last == "['a', 'b', 'c', 'd']"
    assert len(refused) >= 5  # what was freed by one may do for the next


def answers(model):
    return [p.tolist() for p in model.predict_proba(X)], [p.tolist() for p in model.predict(X)]


def test_threads_may_share_a_model():
    for model in (hr.HMM(n_jobs=2).fit(X, Y), hr.TreeCRF(n_rounds=2, n_jobs=2).fit(X, Y)):
        alone = answers(model)
        with ThreadPoolExecutor(8) as pool:
            assert all(together == alone for together in pool.map(answers, [model] * 24))


def test_threads_may_share_a_lattice():
    state = np.random.default_rng(0).normal(size=(6000, 5))
    lattice = Lattice(Topology(5), np.arange(0, 6001, 50), state=state, n_threads=3)
    alone = str(lattice.nbest(3)), str(lattice.marginals())
    with ThreadPoolExecutor(8) as pool:
        asked = pool.map(lambda _: (str(lattice.nbest(3)), str(lattice.marginals())), range(24))
        assert all(together == alone for together in asked)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_fork_after_threads_answers_the_same():
    model = hr.HMM(n_jobs=4).fit(X * 20, Y * 20)
    alone = answers(model)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.apply_async(answers, (model,)).get(timeout=60) == alone
