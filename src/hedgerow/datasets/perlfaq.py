"""Lines of the Perl FAQ with labels head, question, answer, tail: a stand-in for the Usenet FAQ data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_ORIGIN = (
    "perlfaq1.pod to perlfaq9.pod of the Perl distribution, release 5.20210520 of perlfaq "
    "(https://metacpan.org/dist/perlfaq), as plain text with <head>, <question>, <answer> or <tail> before "
    "each line, taken from the markup"
)
_FILES = tuple(
    DataFile(f"perlfaq/perlfaq{number}.labelled.txt", sha256, _ORIGIN)
    for number, sha256 in enumerate(
        (
            "4726c36907647343a8679d41149e33f1f51cf329dd0460cfe67e61e644de7c4f",
            "afbb0465e852c2e09c572011941941bcc345a04401f4e655c993b4995fecd1be",
            "0358c868b4fcb653c62da6c46b2d2419434746d6aae80c908c635560d1d8f4c2",
            "6276ec04660e2582c22734903179c9ac3c91c7446e5dc0337f8838196f903600",
            "c628ee47debc31d0a00680c486b8d9a2f243da60a87dbd1ad752810b76bb2ea4",
            "e5007b77e529d0807ac2f991dca44c4ca29cfe2962bdb75ebdd7104e3f51692f",
            "58e3e3bd48d707f474eb4a14ce0cda4fc4c62e4bfb9498ae9f1569d2d7ff0090",
            "d146af4ae4f8532716b81fb3372189466f4dbde3d94a015d9d4b1d0c50519ff2",
            "342e57c0d94a32bdde7908ea18356c726e0d793aa6c072ff7eb20af0f35ef30b",
        ),
        start=1,
    )
)
_LABELS = ("head", "question", "answer", "tail")
_KNOWN = (  # lines with each label, file by file
    (13, 14, 311, 14),
    (14, 15, 206, 14),
    (13, 30, 1087, 14),
    (15, 90, 2587, 14),
    (13, 78, 1469, 14),
    (18, 55, 1033, 14),
    (13, 32, 1031, 14),
    (19, 55, 1355, 14),
    (13, 25, 370, 14),
)
_SPLITS = {"train": range(6), "test": range(6, 9), "all": range(9)}
_LINE = re.compile(r"<(head|question|answer|tail)>(.*)")

_QUESTION_WORD = r"(?:who|what|when|where|why|which|how|is|are|can|could|do|does|should|will|would)\b"
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"


def _matches(pattern: str) -> Callable[[str], bool]:
    search = re.compile(pattern, re.IGNORECASE).search
    return lambda line: search(line) is not None


def _capitalised(line: str) -> bool:
    first = next((character for character in line if character.isalpha()), "")
    return first.isupper()


# Tests of a single line; the two `prev-` columns are tests of the line before.
_TESTS: dict[str, Callable[[str], bool]] = {
    "begins-with-number": _matches(r"^\s*\d"),
    "begins-with-ordinal": _matches(rf"^\s*{_ORDINAL}"),
    "begins-with-punctuation": _matches(r"^\s*[^\w\s]"),
    "begins-with-question-word": _matches(rf"^\s*{_QUESTION_WORD}"),
    "begins-with-subject": _matches(r"^subject:"),
    "blank": _matches(r"^\s*$"),
    "contains-alphanum": _matches(r"[a-z0-9]"),
    "contains-bracketed-number": _matches(r"[\[(<{]\d+[\])>}]"),
    "contains-http": _matches(r"https?:"),
    "contains-number": _matches(r"\d"),
    "contains-pipe": _matches(r"\|"),
    "contains-question-mark": _matches(r"\?"),
    "contains-question-word": _matches(rf"\b{_QUESTION_WORD}"),
    "ends-with-question-mark": _matches(r"\?\s*$"),
    "first-alpha-is-capitalized": _capitalised,
    "indented": _matches(r"^\s+\S"),
    "indented-1-to-4": _matches(r"^\s{1,4}\S"),
    "indented-5-to-10": _matches(r"^\s{5,10}\S"),
    "more-than-one-third-space": lambda line: 3 * sum(map(str.isspace, line)) > len(line),
    "only-punctuation": _matches(r"^\s*[^\w\s][^\w]*$"),
    "shorter-than-30": lambda line: len(line) < 30,
}
_OF_PREVIOUS_LINE = {"prev-is-blank": "blank", "prev-begins-with-ordinal": "begins-with-ordinal"}


def line_features(lines: list[str]) -> list[dict[str, bool]]:
    """The boolean columns of each line of one file; the `prev-` columns of the first line are False."""
    own = [{name: test(line) for name, test in _TESTS.items()} for line in lines]
    nothing = dict.fromkeys(_TESTS, False)
    before = [nothing, *own[:-1]]
    return [
        row | {name: previous[test] for name, test in _OF_PREVIOUS_LINE.items()}
        for row, previous in zip(own, before, strict=True)
    ]


def _read_file(number: int) -> tuple[list[str], list[str]]:
    """Labels and lines of a file; the mark before a line is its label and is removed from the line."""
    file = _FILES[number]
    labels, lines = [], []
    for position, line in enumerate(read_text(file).splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            rule = "<head>, <question>, <answer> or <tail> at the start of the line"
            raise bad_line(file, position, rule, line)
        labels.append(match[1])
        lines.append(match[2])
    counts = Counter(labels)
    verify(file, dict(zip(_LABELS, _KNOWN[number], strict=True)), {label: counts[label] for label in _LABELS})
    return labels, lines


def _read(split: str) -> SplitData:
    read = [_read_file(number) for number in _SPLITS[split]]
    X = [line_features(lines) for _, lines in read]
    return SplitData(X, [np.array(labels) for labels, _ in read], [lines for _, lines in read])


ENTRIES = {
    "perlfaq": Entry(
        About(
            title="lines of FAQ files to their role",
            columns=f"{len(_TESTS) + len(_OF_PREVIOUS_LINE)} boolean line features modelled on "
            "those of McCallum et al.; `.raw` has the lines",
            labels="`head`, `question`, `answer`, `tail`",
            source=_ORIGIN,
            licence="as Perl itself (Artistic Licence or GPL)",
            citation="the Perl FAQ; the task is from McCallum, Freitag & Pereira, Maximum entropy Markov models, 2000",
            note="a stand-in for the Usenet FAQ data, which cannot be obtained, and easier, because the "
            "labels come from the markup. One sequence a file; all has the nine files in order, for leave-one-out; "
            "train is files 1 to 6, test files 7 to 9",
        ),
        tuple(_SPLITS),
        _read,
        _FILES,
    )
}
