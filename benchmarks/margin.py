"""StructuredPerceptron, StructuredSVM and LinearCRF by SGD on CoNLL-2000, beside python-crfsuite's averaged perceptron.

HEDGEROW_DATA=... python benchmarks/margin.py

The attributes are those of benchmarks/encoding.py. Learning is on one thread, so are the objective of the SVM and
tagging. An epoch of python-crfsuite is the time of training less that of training for one epoch, shared out, so that
what it does before the first counts for nobody; ours are the differences of `training_log_`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow as hr
from encoding import attributes, sentences
from machine import describe_machine

EPOCHS = 10


def main() -> None:
    train, test = sentences("train"), sentences("test")
    X, y = [attributes(words, tags) for words, tags, _ in train], [chunks for _, _, chunks in train]
    X_test, gold = [attributes(words, tags) for words, tags, _ in test], [chunks for _, _, chunks in test]
    print(describe_machine())
    theirs = with_crfsuite(X, y, X_test, gold)
    print(f"{'':38}{'s':>8}{'s an epoch':>12}{'F1':>8}{'positions a s':>15}   ratios of epoch, F1, tagging")
    report("python-crfsuite ap, 10 epochs", theirs, theirs)
    encoded = hr.Sequences(X)
    given: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
    models: dict[str, Any] = {
        "StructuredPerceptron": hr.StructuredPerceptron(epochs=EPOCHS, **given),
        "StructuredPerceptron(min_freq=2)": hr.StructuredPerceptron(epochs=EPOCHS, min_freq=2, **given),
        'StructuredPerceptron(averaging="none")': hr.StructuredPerceptron(epochs=EPOCHS, averaging="none", **given),
        "StructuredSVM": hr.StructuredSVM(**given),
        'LinearCRF(solver="sgd"), 20 epochs': hr.LinearCRF(solver="sgd", max_iter=20, **given),
    }
    for name, model in models.items():
        report(name, with_hedgerow(model, encoded, y, X_test, gold), theirs)


def report(name: str, ours: tuple[float, float, float, float], theirs: tuple[float, float, float, float]) -> None:
    seconds, epoch, f1, speed = ours
    ratios = f"{epoch / theirs[1]:.2f}  {f1 / theirs[2]:.4f}  {speed / theirs[3]:.2f}"
    print(f"{name:38}{seconds:8.2f}{epoch:12.3f}{100 * f1:8.2f}{speed:15,.0f}   {ratios}", flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def with_hedgerow(model: Any, X: hr.Sequences, y: Any, X_test: Any, gold: Any) -> tuple[float, float, float, float]:
    seconds, _ = timed(lambda: model.fit(X, y))
    first, last = model.training_log_[0]["seconds"], model.training_log_[-1]["seconds"]
    items = hr.Sequences(X_test)
    model.predict(items[:10])
    tagging, found = timed(lambda: model.predict(items))
    f1 = hr.metrics.span_f1(gold, [labels.tolist() for labels in found])
    return seconds, (last - first) / (len(model.training_log_) - 1), f1, items.n_positions / tagging


def with_crfsuite(X: Any, y: Any, X_test: Any, gold: Any) -> tuple[float, float, float, float]:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    for x, labels in zip(X, y, strict=True):
        trainer.append(x, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "m.crfsuite")
        times = []
        for epochs in (1, EPOCHS):
            trainer.set_params({"max_iterations": epochs, "epsilon": 0.0})
            times.append(timed(lambda: trainer.train(path))[0])
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        items = [pycrfsuite.ItemSequence(x) for x in X_test]
        tagging, found = timed(lambda: [tagger.tag(item) for item in items])
    epoch = (times[1] - times[0]) / (EPOCHS - 1)
    return times[1], epoch, hr.metrics.span_f1(gold, found), sum(map(len, found)) / tagging


if __name__ == "__main__":
    main()
