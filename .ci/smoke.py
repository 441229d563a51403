"""Check an installed wheel: the compiled module loads, the data files are there, a model learns and predicts."""

from importlib.resources import files

import hedgerow
import hedgerow._core

assert hedgerow._core.__doc__
for name in ("py.typed", "_core.pyi", "datasets/embedded/NOTICE"):
    assert files("hedgerow").joinpath(name).is_file(), f"{name} is missing in {files('hedgerow')}"
data = hedgerow.datasets.load("pronounce", "train")
X, y = data.X[:200], data.y[:200]
share = hedgerow.HMM().fit(X, y).score(X, y)
assert share > 0.5, f"an HMM labels only {share:.0%} of its training data correctly"
print(f"hedgerow {hedgerow.__version__} in {files('hedgerow')}")
