"""The perceptron tables of the lecture (noun phrases, parts of speech, ATIS), with the structured SVM and LinearCRF.

The parts "-trigrams" have its models that see the two labels before, part "pairs" weights for pairs of attributes.

The number of epochs is the one with the highest accuracy on the last tenth of the training sentences; then the model is
trained on all of them and tested once. ATIS shows the error on dev data after each epoch, as the lecture does.

python experiments/margin.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

import hedgerow as hr
from common import arguments, log, percent, print_machine, print_table
from families import families
from hedgerow.errors import ConvergenceWarning

Sentences = list[list[dict[str, str]]]
Labels = list[list[str]]
Data = tuple[Sentences, Labels]

EPOCHS = 40
ATIS_SENTENCES = 488
ATIS_EPOCHS = 10
# (averaging, least frequency, published F1 of noun phrases, published error of parts of speech)
VARIANTS: tuple[tuple[Literal["average", "none"], int, str, str], ...] = (
    ("average", 1, "93.53 (13)", "2.93 (10)"),
    ("none", 1, "93.04 (35)", "3.68 (20)"),
    ("average", 5, "93.33 (9)", "3.03 (6)"),
    ("none", 5, "91.88 (39)", "4.04 (17)"),
)


def conll(split: str, quick: bool) -> list[list[tuple[str, str, str]]]:
    """Return (word, part of speech, chunk label) of each position."""
    if quick:
        data = hr.datasets.load("pronounce", split)
        pairs = list(zip(data.X, data.y, strict=True))[:40]
        return [[(c, c, "B-NP" if label == "_" else "O") for c, label in zip(x, y, strict=True)] for x, y in pairs]
    data = hr.datasets.load("conll2000", split)
    return [
        [(p["word"], p["pos"], str(label)) for p, label in zip(x, y, strict=True)]
        for x, y in zip(data.X, data.y, strict=True)
    ]


def joined(columns: dict[str, Sequence[str]], parts: dict[str, tuple[tuple[str, int], ...]]) -> list[dict[str, str]]:
    """Return a dict for each position: under each name the joined values of some columns around it, if all exist."""
    n = len(next(iter(columns.values())))
    items = []
    for t in range(n):
        item = {}
        for name, places in parts.items():
            if all(0 <= t + offset < n for _, offset in places):
                item[name] = " ".join(columns[column][t + offset] for column, offset in places)
        items.append(item)
    return items


def run_of(column: str, first: int, length: int) -> tuple[tuple[str, int], ...]:
    return tuple((column, first + i) for i in range(length))


CHUNK_PARTS = {
    **{f"w{i}": run_of("word", i, 1) for i in range(-2, 3)},
    **{f"ww{i}": run_of("word", i, 2) for i in range(-2, 2)},
    **{f"p{i}": run_of("pos", i, 1) for i in range(-2, 3)},
    **{f"pp{i}": run_of("pos", i, 2) for i in range(-2, 2)},
    **{f"ppp{i}": run_of("pos", i, 3) for i in range(-2, 1)},
}
WORD_PARTS = {f"w{i}": run_of("word", i, 1) for i in range(-2, 3)}


def noun_phrases(split: str, quick: bool) -> Data:
    """The lecture's feature table; labels are O outside noun phrases."""
    X, y = [], []
    for sentence in conll(split, quick):
        words, tags, chunks = zip(*sentence, strict=True)
        X.append(joined({"word": words, "pos": tags}, CHUNK_PARTS))
        y.append([chunk if chunk.endswith("-NP") else "O" for chunk in chunks])
    return X, y


def spelling(word: str) -> dict[str, str]:
    """Return the spelling features of a word, which help for words that training never saw."""
    ends = {f"first {n}": word[:n] for n in range(1, 5) if len(word) >= n}
    ends |= {f"last {n}": word[-n:] for n in range(1, 5) if len(word) >= n}
    marks = {"digit": any(map(str.isdigit, word)), "capital": word[0].isupper(), "hyphen": "-" in word}
    return ends | {name: "yes" for name, there in marks.items() if there}


def parts_of_speech(split: str, quick: bool) -> Data:
    """Words around a position and the spelling of its own, labelled with parts of speech."""
    X, y = [], []
    for sentence in conll(split, quick):
        words, tags, _ = zip(*sentence, strict=True)
        around = joined({"word": words}, WORD_PARTS)
        X.append([item | spelling(word) for item, word in zip(around, words, strict=True)])
        y.append(list(tags))
    return X, y


def chosen_epochs(model: Any, train: Data, largest: int) -> int:
    """Return the number of epochs that is best on the last tenth."""
    X, y = train
    n = len(X) * 9 // 10
    model.set_params(epochs=largest).fit(X[:n], y[:n], X_dev=X[n:], y_dev=y[n:])
    best = max(model.training_log_, key=lambda record: record["dev_accuracy"])
    return int(best["step"])


def models(quick: bool) -> Iterator[tuple[str, Any, int]]:
    """Yield (name, model, index into VARIANTS or -1)."""
    for i, (averaging, least, _, _) in enumerate(VARIANTS):
        name = f"perceptron, {'averaged' if averaging == 'average' else 'not averaged'}, cut-off {least}"
        yield name, hr.StructuredPerceptron(averaging=averaging, min_freq=least, random_state=0), i
    yield "structured SVM", hr.StructuredSVM(random_state=0), -1
    yield "LinearCRF, l2 = 1", hr.LinearCRF(l2=1.0, max_iter=5 if quick else 1000), -1


MAXIMUM_ENTROPY = {
    1: ("92.34", "3.4"),
    5: ("92.65", "3.28"),
}  # by cut-off: F1 of noun phrases, error of parts of speech
TRIGRAM_EPOCHS = 10
TRIGRAM_BEAM = 10  # of parts of speech, which have 44 labels
L2S = (0.1, 1.0)
CHOOSING_ITERATIONS, ITERATIONS = 40, 150  # of L-BFGS, at most


def chosen_l2(make: Callable[[float], Any], train: Data) -> float:
    """Return the L2 penalty that is best on the last tenth, after a few iterations."""
    X, y = train
    n = len(X) * 9 // 10

    def score(l2: float) -> float:
        model = make(l2)
        model.set_params(max_iter=min(CHOOSING_ITERATIONS, model.max_iter)).fit(X[:n], y[:n])
        return float(model.score(X[n:], y[n:]))

    return max(L2S, key=score)


def trigram_table(title: str, load: Callable[[str, bool], Data], measure: Callable[[Labels, Labels], float], at: int,
                  quick: bool) -> None:  # fmt: skip
    """Print a row for each model that sees the two labels before; `at` is the index in MAXIMUM_ENTROPY."""
    train, (X_test, y_test) = load("train", quick), load("test", quick)
    limit: dict[str, Any] = {"max_iter": 5 if quick else ITERATIONS}
    beam = None if at == 0 else TRIGRAM_BEAM
    rows = []

    def add(name: str, model: Any, chosen: str, published: str) -> None:
        log(f"{title}: {name}")
        model.fit(*train)
        found = [labels.tolist() for labels in model.predict(X_test)]
        rows.append([name, f"{measure(y_test, found):.2f}", chosen, published])

    for least, published in MAXIMUM_ENTROPY.items():

        def entropy(l2: float, least: int = least) -> Any:
            return hr.MEMM(order=2, learner="linear", l2=l2, min_freq=least, beam=beam, **limit)

        l2 = chosen_l2(entropy, train)
        add(f"maximum entropy (MEMM, order 2), cut-off {least}", entropy(l2), f"l2 = {l2:g}", published[at])
    perceptron = hr.StructuredPerceptron(order=2, beam=beam, random_state=0)
    epochs = chosen_epochs(perceptron, train, 2 if quick else TRIGRAM_EPOCHS)
    voted_or_averaged = "94.09, voted" if at == 0 else "2.93"
    add("perceptron, averaged, order 2", perceptron.set_params(epochs=epochs), f"{epochs} epochs", voted_or_averaged)
    if at == 0:

        def crf(l2: float) -> Any:
            return hr.LinearCRF(order=2, l2=l2, **limit)

        l2 = chosen_l2(crf, train)
        add("LinearCRF, order 2", crf(l2), f"l2 = {l2:g}", "94.38")
    print_table([title, "ours", "chosen", "published"], rows)


def table(title: str, load: Callable[[str, bool], Data], measure: Callable[[Labels, Labels], float], at: int,
          quick: bool) -> None:  # fmt: skip
    """Print a row for each model; `at` is the index of the published figure in VARIANTS."""
    train, (X_test, y_test) = load("train", quick), load("test", quick)
    rows = []
    for name, model, variant in models(quick):
        log(f"{title}: {name}")
        epochs = None
        if not isinstance(model, hr.LinearCRF):
            epochs = chosen_epochs(model, train, 2 if quick else EPOCHS)
            model.set_params(epochs=epochs)
        model.fit(*train)
        found = [labels.tolist() for labels in model.predict(X_test)]
        published = "" if variant < 0 else VARIANTS[variant][at]
        rows.append([name, f"{measure(y_test, found):.2f}", epochs or "", published])
    print_table([title, "ours", "epochs", "published (epochs)"], rows)


def atis(quick: bool) -> None:
    """Print the error on dev data after each epoch, from words only and 488 sentences, as in the lecture."""
    if quick:
        train = conll("train", quick)
        X: Any = [[{"word": w} for w, _, _ in sentence] for sentence in train]
        y: Any = [[label for _, _, label in sentence] for sentence in train]
        X_dev, y_dev = X[:9], y[:9]
    else:
        data, dev = hr.datasets.load("atis", "train"), hr.datasets.load("atis", "dev")
        seen = {str(label) for labels in data.y[:ATIS_SENTENCES] for label in labels}
        X, y = data.X[:ATIS_SENTENCES], data.y[:ATIS_SENTENCES]
        known = [i for i, labels in enumerate(dev.y) if seen.issuperset(map(str, labels))]
        X_dev, y_dev = [dev.X[i] for i in known], [dev.y[i] for i in known]
    shared: dict[str, Any] = {"epochs": ATIS_EPOCHS, "random_state": 0}
    tried = {
        "perceptron": hr.StructuredPerceptron(averaging="none", **shared),
        "averaged": hr.StructuredPerceptron(averaging="average", **shared),
        "SVM, C = 1": hr.StructuredSVM(C=1.0, averaging="none", **shared),
        "SVM, averaged": hr.StructuredSVM(C=1.0, averaging="average", **shared),
    }
    errors: dict[str, list[str]] = {}
    for name, model in tried.items():
        model.fit(X, y, X_dev=X_dev, y_dev=y_dev)
        shown = [f"{100 - 100 * record['dev_accuracy']:.2f}" for record in model.training_log_]
        errors[name] = shown + [shown[-1]] * (ATIS_EPOCHS - len(shown))  # the fit ended early, without a mistake
    published = {1: ("9.36", "6.14", "5.85"), 2: ("8.19", "4.97", "4.97"), 6: ("6.14", "5.56", "4.68")}
    rows = []
    for epoch in range(1, ATIS_EPOCHS + 1):
        printed = " / ".join(published.get(epoch, ()))
        rows.append([epoch, *(errors[name][epoch - 1] for name in tried), printed])
    print_table(["ATIS, dev error by epoch", *tried, "published: perceptron / averaged / SVM"], rows)


PAIR_TASKS = {"nettalk-stress": 3, "hyphen": 0, "protein": 6}  # windows; hyphen has the letters around as columns
PAIR_CS = (0.002, 0.01, 0.05, 0.5)


def windows_of(X: Sequence[Any], window: int) -> np.ndarray[Any, Any]:
    """Return the values (positions, columns and offsets) that a window reads, as numbers; 0 outside a sequence."""
    names = sorted(X[0][0]) if isinstance(X[0][0], dict) else [""]
    found = []
    for name in names:
        values = [[str(p[name]) if name else str(p) for p in x] for x in X]
        numbers = {value: i for i, value in enumerate(sorted({value for own in values for value in own}), 1)}
        padded = [np.pad([numbers[value] for value in own], window) for own in values]
        found.append(np.concatenate([np.lib.stride_tricks.sliding_window_view(p, 2 * window + 1) for p in padded]))
    return np.concatenate(found, axis=1).astype(np.int64)


def n_sets(codes: np.ndarray[Any, Any], size: int) -> int:
    """Return how many different sets of so many attributes occur together at a position."""
    found, base = 0, int(codes.max()) + 1
    for columns in combinations(codes.T, size):
        keys = np.zeros(len(codes), np.int64)
        for column in columns:
            keys = keys * base + column
        found += len(np.unique(keys))
    return found


def pairs(quick: bool) -> None:
    """Print the accuracy without and with weights for pairs of attributes, and what larger sets would cost."""
    rows, costs = [], []
    for task, window in ({"pronounce": 2} if quick else PAIR_TASKS).items():
        train, test = hr.datasets.load(task, "train"), hr.datasets.load(task, "test")
        X, y = list(train.X), list(train.y)
        family = families(X) if task == "protein" else list(range(len(X)))
        held = set(family[len(X) * 4 // 5 :])  # related proteins stay together
        parts = [[i for i in range(len(X)) if (family[i] in held) == is_held] for is_held in (False, True)]
        (X_own, y_own), (X_held, y_held) = (([X[i] for i in own], [y[i] for i in own]) for own in parts)
        for degree in (1, 2):
            log(f"{task}: degree {degree}")

            def svm(C: float, window: int = window, degree: int = degree) -> Any:
                return hr.StructuredSVM(window=window, degree=degree, C=C, random_state=0, n_jobs=1)  # type: ignore[arg-type]

            scores = {C: svm(C).fit(X_own, y_own).score(X_held, y_held) for C in PAIR_CS}
            C = max(scores, key=lambda C: scores[C])
            begin = time.process_time()
            model = svm(C).fit(X, y)
            seconds = time.process_time() - begin
            gold, found = [list(labels) for labels in test.y], [list(labels) for labels in model.predict(test.X)]
            rows.append([task, degree, f"{C:g}", f"{100 * scores[C]:.2f}", f"{percent(gold, found):.2f}",
                         f"{seconds:.2f}"])  # fmt: skip
        codes = windows_of(X, window)
        costs.append([task, codes.shape[1], *(f"{n_sets(codes, size):,}" for size in (1, 2, 3, 4))])
    print_table(["Structured SVM", "degree", "C", "held-out accuracy", "test accuracy", "fit, CPU s"], rows)
    print_table(["Sets that occur in training", "attributes at a position", "1", "2", "3", "4"], costs)


PARTS = ("chunks", "tags", "chunk-trigrams", "tag-trigrams", "atis", "pairs")


def main() -> None:
    parser = arguments(__doc__, [])
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="which tables")
    options = parser.parse_args()
    quick = options.quick
    print_machine()
    warnings.simplefilter("ignore", ConvergenceWarning)

    def f1(gold: Labels, found: Labels) -> float:
        return 100 * hr.metrics.span_f1(gold, found)

    def error(gold: Labels, found: Labels) -> float:
        return 100 - percent(gold, found)

    if "chunks" in options.parts:
        table("Noun phrases, F1", noun_phrases, f1, 2, quick)
    if "tags" in options.parts:
        table("Parts of speech, error", parts_of_speech, error, 3, quick)
    if "chunk-trigrams" in options.parts:
        trigram_table("Noun phrases, order 2, F1", noun_phrases, f1, 0, quick)
    if "tag-trigrams" in options.parts:
        trigram_table("Parts of speech, order 2, error", parts_of_speech, error, 1, quick)
    if "atis" in options.parts:
        atis(quick)
    if "pairs" in options.parts:
        pairs(quick)


if __name__ == "__main__":
    main()
