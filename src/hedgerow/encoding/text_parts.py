"""Parts of a text, such as its ending or its shape, as attributes of a position.

Letters are code points. A part that a text does not have, such as the last three letters of two, is absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet

# The value of a neighbour outside the sequence. A text that begins like this gets an apostrophe at its end, so that no
# text has this value, and different texts stay different.
OUTSIDE = "<outside>"
# With outside="distance": the values before the first position and after the last one, by distance.
BEFORE, AFTER = "_B-", "_B+"
WHOLE = "whole"  # the text as it is, where no value outside the sequence must differ from it
MOST_LETTERS = 8  # of a prefix or suffix: fewer than OUTSIDE has

PARTS = "text, lower, shape, outline, constant, prefix1 to prefix8 or suffix1 to suffix8"


def is_part(name: object) -> bool:
    """Whether a template can have a part of this name."""
    return isinstance(name, str) and (
        name in ("text", "constant", *_BY_CHARACTERS) or _AFFIX.fullmatch(name) is not None
    )


def part_alphabets(texts: Alphabet, parts: Sequence[tuple[str, Iterable[str]]], n_threads: int = 1) -> list[Alphabet]:
    """The alphabet of each part of all texts. A part is given as its name and the other values of its alphabet."""
    beyond = texts.beyond_ascii()
    more = [[*values, *(map(_BY_CHARACTERS[name], beyond) if name in _BY_CHARACTERS else ())] for name, values in parts]
    return texts.part_alphabets([name for name, _ in parts], more, OUTSIDE, n_threads)


def part_codes(alphabet: Alphabet, texts: Alphabet, name: str, n_threads: int = 1) -> NDArray[np.int32]:
    """The code in `alphabet` of the part of each text; ABSENT if the text or the alphabet does not have it."""
    codes, undecided = alphabet.part_codes(texts, name, OUTSIDE, n_threads)
    if len(undecided):
        codes[undecided] = alphabet.codes([_BY_CHARACTERS[name](texts[i]) for i in undecided.tolist()])
    return codes


_AFFIX = re.compile(rf"(prefix|suffix)[1-{MOST_LETTERS}]")


def _lower(text: str) -> str:
    lower = text.lower()
    return lower + "'" if lower.startswith(OUTSIDE) else lower


class _Classes(dict[int, str]):
    """What stands for a character in a shape; filled as characters are seen."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper():
            found = "X"
        elif character.isalpha():
            found = "x"
        else:
            found = "d" if character.isdigit() else character
        self[code] = found
        return found


_CLASSES = _Classes()


def _shape(text: str) -> str:
    """Each upper-case letter as X, each other letter as x, each digit as d; other characters as they are."""
    return text.translate(_CLASSES)


def _outline(text: str) -> str:
    """The shape, where equal characters that follow each other are one."""
    return _collapsed(_shape(text))


@lru_cache(maxsize=100_000)
def _collapsed(shape: str) -> str:
    return _REPEATED.sub(r"\1", shape)


_REPEATED = re.compile(r"(.)\1+", re.DOTALL)


# The parts that depend on classes of characters, those of Python's str. The core has them for ASCII only.
_BY_CHARACTERS: dict[str, Callable[[str], str]] = {"lower": _lower, "shape": _shape, "outline": _outline}
