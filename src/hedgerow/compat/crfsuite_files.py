"""What CRFsuite's model files hold: the binary file, and the text that `crfsuite dump` prints."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from hedgerow.errors import ModelFileError

MAGIC = b"lCRF"
_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1
_STRINGS = struct.Struct("<4s5I")  # the head of a list of strings
_BLOCK = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = \{")
_NAME = re.compile(r" *(\d+): (.*)")
_WEIGHT = re.compile(r" *\(\d+\) (.*): ([-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?(?:nan|inf))")


@dataclass(frozen=True)
class Weights:
    """The labels of a CRFsuite model in its own order, and its weights.

    The keys of `states` are (attribute, label), those of `transitions` (previous label, label).
    """

    labels: list[str]
    states: Mapping[tuple[str, str], float]
    transitions: Mapping[tuple[str, str], float]


def read_binary(content: bytes, name: str) -> Weights:
    """The weights of a binary model file; raises ModelFileError if the file is damaged."""
    try:
        return _read_binary(content)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{name} is a damaged model of CRFsuite ({error}); train it again") from None


def _read_binary(content: bytes) -> Weights:
    magic, size, kind, _, _, n_labels, n_attributes, features_at, labels_at, attributes_at, *_ = _HEADER.unpack_from(
        content
    )
    if magic != MAGIC or kind != b"FOMC":
        raise ValueError("it is no linear-chain model")
    if size != len(content):
        raise ValueError(f"it has {len(content)} bytes instead of {size}")
    labels, attributes = _strings(content, labels_at, n_labels), _strings(content, attributes_at, n_attributes)
    chunk, _, n = struct.unpack_from("<4sII", content, features_at)
    if chunk != b"FEAT":
        raise ValueError("there are no features where they should be")
    features = np.frombuffer(content, _FEATURE, n, features_at + 12)
    states, transitions = {}, {}
    for kind_of, source, label, weight in features.tolist():
        if kind_of == _STATE:
            states[attributes[source], labels[label]] = weight
        elif kind_of == _TRANSITION:
            transitions[labels[source], labels[label]] = weight
        else:
            raise ValueError(f"a feature has the unknown type {kind_of}")
    return Weights(labels, states, transitions)


def _strings(content: bytes, at: int, n: int) -> list[str]:
    """The n strings of the list that begins at a byte: CRFsuite finds them by hashing, here they are read by number."""
    chunk, _, _, _, n_ids, ids_at = _STRINGS.unpack_from(content, at)
    if chunk != b"CQDB" or n_ids < n:
        raise ValueError("a list of strings is not complete")
    strings = []
    for offset in struct.unpack_from(f"<{n}I", content, at + ids_at):
        _, length = struct.unpack_from("<II", content, at + offset)
        begin = at + offset + 8
        if length == 0 or begin + length > len(content):
            raise ValueError("a string lies outside the file")
        strings.append(content[begin : begin + length - 1].decode("utf-8"))  # without the NUL at the end
    return strings


def read_dump(text: str, name: str) -> Weights:
    """The weights in a text of `crfsuite dump`; raises ModelFileError where a line cannot be read."""
    blocks: dict[str, list[tuple[int, str]]] = {}
    for block, number, line in _lines(text, name):
        blocks.setdefault(block, []).append((number, line))
    if "LABELS" not in blocks:
        raise ModelFileError(f"{name} is no text of `crfsuite dump`: it has no block LABELS")
    numbers = dict(_name(name, *line) for line in blocks["LABELS"])
    labels = numbers.keys()
    attributes = {_name(name, *line)[0] for line in blocks.get("ATTRIBUTES", ())}
    return Weights(
        sorted(labels, key=numbers.__getitem__),
        dict(_feature(name, *line, attributes, labels) for line in blocks.get("STATE_FEATURES", ())),
        dict(_feature(name, *line, labels, labels) for line in blocks.get("TRANSITIONS", ())),
    )


def _lines(text: str, name: str) -> Iterator[tuple[str, int, str]]:
    """(name of the block, number, text) of the lines inside blocks."""
    block = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        begins = _BLOCK.fullmatch(line)
        if begins:
            block = begins[1]
        elif line == "}":
            block = None
        elif block is not None and line.strip():
            yield block, number, line
        elif line.strip():
            raise ModelFileError(f"{name}, line {number}: this is no text of `crfsuite dump`, but {line[:60]!r}")


def _name(name: str, number: int, line: str) -> tuple[str, int]:
    """(name of a label or attribute, its number)."""
    found = _NAME.fullmatch(line)
    if found is None:
        raise ModelFileError(f"{name}, line {number}: a number and a name must stand here, but found {line[:60]!r}")
    return found[2], int(found[1])


def _feature(name: str, number: int, line: str, sources: Set[str], labels: Set[str]) -> tuple[tuple[str, str], float]:
    found = _WEIGHT.fullmatch(line)
    # Names may contain the arrow: the cut is where both sides are known.
    for cut in re.finditer(" --> ", found[1] if found else ""):
        source, label = found[1][: cut.start()], found[1][cut.end() :]  # type: ignore[index]
        if source in sources and label in labels:
            return (source, label), float(found[2])  # type: ignore[index]
    raise ModelFileError(f"{name}, line {number}: a feature and its weight must stand here, but found {line[:60]!r}")
