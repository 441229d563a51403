"""Encoding the CoNLL-2000 training set: time beside python-crfsuite's Trainer.append, and memory.

Run with HEDGEROW_DATA set: `python benchmarks/encoding.py`. Every time is CPU seconds, the best of several
runs in one process; every peak of memory that of a fresh process which does one thing only.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OFFSETS = (-2, -1, 0, 1, 2)
TEMPLATES = {
    **{f"w[{i}]": [("word", i)] for i in OFFSETS},
    **{f"w[{i}]|w[{i + 1}]": [("word", i), ("word", i + 1)] for i in (-1, 0)},
    **{f"p[{i}]": [("pos", i)] for i in OFFSETS},
    **{f"p[{i}]|p[{i + 1}]": [("pos", i), ("pos", i + 1)] for i in OFFSETS[:-1]},
    **{f"p[{i}]|p[{i + 1}]|p[{i + 2}]": [("pos", i), ("pos", i + 1), ("pos", i + 2)] for i in OFFSETS[:-2]},
}
REPEATS = 3


def sentences(split: str = "train") -> list[tuple[list[str], list[str], list[str]]]:
    """Words, parts of speech and chunk labels of each sentence."""
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to the folder that holds conll2000/")
    blocks = (Path(folder) / "conll2000" / f"{split}.txt").read_text().split("\n\n")
    rows = [[line.split(" ") for line in block.splitlines()] for block in blocks if block.strip()]
    return [tuple(map(list, zip(*block, strict=True))) for block in rows]  # type: ignore[misc]


def attributes(words: list[str], tags: list[str]) -> list[dict[str, str]]:
    """One dict for each position: the words and tags around it, alone and joined; none that reach outside."""
    sources = {"word": words, "pos": tags}
    items = []
    for t in range(len(words)):
        item = {}
        for name, parts in TEMPLATES.items():
            if all(0 <= t + offset < len(words) for _, offset in parts):
                item[name] = "|".join(sources[source][t + offset] for source, offset in parts)
        items.append(item)
    return items


def to_bags(items: list[dict[str, str]]) -> list[list[str]]:
    return [[f"{name}:{value}" for name, value in item.items()] for item in items]


def best(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(REPEATS):
        gc.collect()
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def append_to_crfsuite(items: list[Any], labels: list[list[str]]) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for item, label in zip(items, labels, strict=True):
        trainer.append(item, label)


def times() -> None:
    from hedgerow import Sequences
    from hedgerow.encoding import Encoder, Labels

    data = sentences()
    labels = [list(chunk) for _, _, chunk in data]
    dicts = [attributes(words, tags) for words, tags, _ in data]
    bags = [to_bags(sequence) for sequence in dicts]
    n_attributes = sum(len(item) for sequence in dicts for item in sequence)
    encoded = Sequences(dicts)
    encoder = Encoder.fit(encoded)
    half = Encoder.fit(encoded[::2])
    print(f"{len(data):,} sequences, {encoded.n_positions:,} positions, {n_attributes:,} attributes")
    rows = [
        ("Sequences(dicts)", best(lambda: Sequences(dicts)), best(lambda: append_to_crfsuite(dicts, labels))),
        ("Sequences(bags)", best(lambda: Sequences(bags)), best(lambda: append_to_crfsuite(bags, labels))),
    ]
    print(f"{'':34}{'hedgerow s':>12}{'crfsuite s':>12}{'ratio':>8}")
    for name, ours, theirs in rows:
        print(f"{name:34}{ours:12.3f}{theirs:12.3f}{ours / theirs:8.3f}")
    for name, work in {
        "Labels.fit and codes": lambda: Labels.fit(labels, encoded).codes(labels, encoded),
        "Encoder.fit": lambda: Encoder.fit(encoded),
        "Sequences(Sequences)": lambda: Sequences(encoded),
        "Encoder.transform, aligned": lambda: encoder.transform(encoded),
        "Encoder.transform, other alphabet": lambda: half.transform(encoded),
    }.items():
        print(f"{name:34}{best(work):12.6f}")


def peak(form: str) -> None:
    """Prints how much the peak of this process rose above the raw input, in MB."""
    from hedgerow import Sequences

    data = sentences()
    shape = to_bags if form == "bags" else list
    X: list[Any] = [shape(attributes(words, tags)) for words, tags, _ in data]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if form == "crfsuite":
        append_to_crfsuite(X, [list(chunk) for _, _, chunk in data])
    else:
        Sequences(X)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def main() -> None:
    # children first: a process starts with the peak of the one that it was forked from
    print("peak memory above the input, MB")
    for form in ("dicts", "bags", "crfsuite"):
        answer = subprocess.run([sys.executable, __file__, form], check=True, capture_output=True, text=True).stdout
        print(f"{form:34}{float(answer):12.0f}")
    times()


if __name__ == "__main__":
    peak(sys.argv[1]) if len(sys.argv) > 1 else main()
