"""Secondary structure of globular proteins (Qian & Sejnowski 1988)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/molecular-biology/protein-secondary-structure/"
_ORIGIN = f"the UCI archive, {_UCI}"


def _file(split: str, sha256: str) -> DataFile:
    name = f"protein-secondary-structure.{split}"
    return DataFile(f"protein/{name}", sha256, _ORIGIN, _UCI + name)


_FILES = {
    "train": _file("train", "089030a3224116ffce9972c945b1487f0b594705189d4b7645e9e0fb6c0b5f5a"),
    "test": _file("test", "b794c73169bc50c88826b72332653db79415d8cca234ceb7a05232cffb5f2f9d"),
}
_KNOWN = {
    "train": {"sequences": 111, "residues": 18105, "_": 9868, "h": 4601, "e": 3636},
    "test": {"sequences": 17, "residues": 3520, "_": 1923, "h": 849, "e": 748},
}
# "<>" starts a sequence and "end" or "<end>" closes one, but not every sequence is closed: split at each.
_BOUNDARIES = {"<>", "end", "<end>"}
_LABELS = ("_", "h", "e")


def _read(split: str) -> SplitData:
    file = _FILES[split]
    sequences: list[list[tuple[str, str]]] = [[]]
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text in _BOUNDARIES:
            sequences.append([])
            continue
        residue, _, label = text.partition(" ")
        if len(residue) != 1 or label not in _LABELS:
            raise bad_line(file, number, "a residue and one of _ h e", line)
        sequences[-1].append((residue, label))
    sequences = [sequence for sequence in sequences if sequence]
    counts = Counter(label for sequence in sequences for _, label in sequence)
    counted = {"sequences": len(sequences), "residues": counts.total()}
    verify(file, _KNOWN[split], counted | {label: counts[label] for label in _LABELS})
    X = ["".join(residue for residue, _ in sequence) for sequence in sequences]
    y = [np.array([label for _, label in sequence]) for sequence in sequences]
    return SplitData(X, y)


ENTRIES = {
    "protein": Entry(
        About(
            title="amino acid residues to secondary structure",
            columns="the residue, one of 20 letters (a protein is one string); the papers use window=5",
            labels="`h` alpha helix, `e` beta sheet, `_` neither",
            source=_ORIGIN,
            licence="1988 notice of T. J. Sejnowski: non-commercial research only",
            citation="Qian & Sejnowski, Predicting the secondary structure of globular proteins using neural "
            "network models, 1988",
        ),
        tuple(_FILES),
        _read,
        tuple(_FILES.values()),
    )
}
