"""What an installed wheel must do anywhere: load the compiled module, bring its data, learn and predict."""

from importlib.resources import files

import hedgerow
import hedgerow._core

assert hedgerow._core.__doc__
for name in ("py.typed", "_core.pyi", "datasets/embedded/NOTICE"):
    assert files("hedgerow").joinpath(name).is_file(), f"{name} is missing in {files('hedgerow')}"
if "HMM" in hedgerow.__all__:
    X, y = ["aab", "ba"], [["A", "A", "B"], ["B", "A"]]
    predicted = [list(labels) for labels in hedgerow.HMM().fit(X, y).predict(X)]
    assert predicted == y, predicted
print(f"hedgerow {hedgerow.__version__} in {files('hedgerow')}")
