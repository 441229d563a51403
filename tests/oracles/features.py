"""Slow, obvious twins of the templates: the attributes of a position, computed from its sequence alone."""

from __future__ import annotations

import math
import statistics
from typing import Any

from oracles.encoding import GONE

OUTSIDE = "<outside>"


def kept_apart(text: str) -> str:
    """The text, changed if it could be taken for OUTSIDE."""
    return text + "'" if text.startswith(OUTSIDE) else text


def shape(text: str) -> str:
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in text)


def outline(text: str) -> str:
    found = ""
    for character in shape(text):
        if not found or found[-1] != character:
            found += character
    return found


def part(text: str, name: str) -> Any:
    """The named part of a text; GONE if it has no such part."""
    if name == "text":
        return kept_apart(text)
    if name == "lower":
        return kept_apart(text.lower())
    if name == "shape":
        return shape(text)
    if name == "outline":
        return outline(text)
    if name == "constant":
        return ""
    n = int(name[-1])
    if len(text) < n:
        return GONE
    return text[:n] if name.startswith("prefix") else text[len(text) - n :]


def at(sequence: list[Any], t: int, offset: int, name: str) -> Any:
    """The part of the text that far from position t; None if it is missing."""
    if not 0 <= t + offset < len(sequence):
        return OUTSIDE
    text = sequence[t + offset]
    return text if text is None or text is GONE else part(text, name)


def joined(*values: Any) -> Any:
    """Several values as one: missing if one of them is, otherwise absent if one of them is."""
    if any(value is None for value in values):
        return None
    return GONE if any(value is GONE for value in values) else "|".join(values)


def shown(name: str, offset: int) -> str:
    return name if offset == 0 else f"{name}[{offset}]"


def word_attributes(word: list[Any], t: int, name: str = "word") -> dict[str, Any]:
    """What `words` derives of a column of words at position t."""
    found = {shown(name, offset): at(word, t, offset, "text") for offset in range(-2, 3)}
    for n in range(1, 5):
        found[f"prefix{n}"] = at(word, t, 0, f"prefix{n}")
        found[f"suffix{n}"] = at(word, t, 0, f"suffix{n}")
    for each in ("lower", "shape", "outline", "outline[-1]", "outline[1]"):
        plain, _, offset = each.partition("[")
        found[each] = at(word, t, int(offset[:-1] or 0), plain)
    found[f"{name}[-1]|{name}"] = joined(found[f"{name}[-1]"], found[name])
    found[f"{name}|{name}[1]"] = joined(found[name], found[f"{name}[1]"])
    return found


def tag_attributes(tags: list[Any], t: int, name: str) -> dict[str, Any]:
    """What `words` derives of another column of text at position t."""
    found = {shown(name, offset): at(tags, t, offset, "text") for offset in range(-2, 3)}
    for first, last in [(-2, -1), (-1, 0), (0, 1), (1, 2), (-2, 0), (-1, 1), (0, 2)]:
        names = [shown(name, offset) for offset in range(first, last + 1)]
        found["|".join(names)] = joined(*(found[each] for each in names))
    return found


def letter_attributes(letters: list[Any], t: int, n: int, name: str = "letter") -> dict[str, Any]:
    """What `letters` derives at position t."""
    found = {shown(name, offset): at(letters, t, offset, "text") for offset in range(-n, n + 1)}
    for length in (2, 3, 4, 5):
        for first in range(-n, n - length + 2):
            last = first + length - 1
            if first <= 0 <= last:
                values = [found[shown(name, offset)] for offset in range(first, last + 1)]
                found[f"{name}[{first}..{last}]"] = joined(*values)
    return found


def number_attributes(numbers: list[float], t: int, name: str) -> dict[str, float]:
    """What `numbers` derives of a column at position t; NaN is missing."""
    last = len(numbers) - 1
    found = {
        f"{name} change[{offset}]": numbers[t] - numbers[min(max(t + offset, 0), last)] for offset in (-5, -1, 1, 5)
    }
    known = [number for number in numbers[max(t - 5, 0) : t + 6] if not math.isnan(number)]
    found[f"{name} mean[-5..5]"] = statistics.fmean(known) if known else math.nan
    found[f"{name} deviation[-5..5]"] = statistics.pstdev(known) if known else math.nan
    return found


def defined(definitions: dict[str, Any], columns: dict[str, list[Any]], t: int) -> dict[str, Any]:
    """What a template of `columns` derives of the columns of one sequence at position t."""
    found: dict[str, Any] = {}
    for name, definition in definitions.items():
        if "any" in definition:
            values = [found[m] if isinstance(m, str) else member_value(m, found, columns, t) for m in definition["any"]]
            found[name] = bag_of(values)
        elif "join" in definition:
            found[name] = member_value(definition, found, columns, t)
        elif "statistic" in definition:
            found[name] = statistic(definition, columns[definition["from"]], t)
        else:
            found[name] = text_value(definition, columns, t)
    return found


def member_value(definition: dict[str, Any], found: dict[str, Any], columns: dict[str, list[Any]], t: int) -> Any:
    """The value of a part or of a join."""
    if "join" not in definition:
        return text_value(definition, columns, t)
    return joined(*(found[m] if isinstance(m, str) else text_value(m, columns, t) for m in definition["join"]))


def bag_of(values: list[Any]) -> Any:
    """How often each value occurs; missing if nothing but missing values is there."""
    known = [value for value in values if value is not None and value is not GONE]
    return None if not known and None in values else {value: float(known.count(value)) for value in known}


def text_value(definition: dict[str, Any], columns: dict[str, list[Any]], t: int) -> Any:
    texts, offset, name = columns[definition["from"]], definition.get("at", 0), definition.get("part", "text")
    if definition.get("outside") == "distance":
        if t + offset < 0:
            return f"_B{t + offset}"
        if t + offset >= len(texts):
            return f"_B+{t + offset - len(texts) + 1}"
        if name == "text":
            return texts[t + offset]
    return at(texts, t, offset, name)


def statistic(definition: dict[str, Any], numbers: list[float], t: int) -> float:
    last = len(numbers) - 1
    if definition["statistic"] == "change":
        return numbers[t] - numbers[min(max(t + definition["at"], 0), last)]
    first, end = definition["at"]
    known = [numbers[i] for i in range(t + first, t + end + 1) if 0 <= i <= last and not math.isnan(numbers[i])]
    computed: dict[str, Any] = {"mean": statistics.fmean, "deviation": statistics.pstdev, "lowest": min, "highest": max}
    return float(computed[definition["statistic"]](known)) if known else math.nan
