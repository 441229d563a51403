"""Naive counterfactuals: every change of every value of a sequence, made in plain Python and labelled on its own."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hedgerow.errors import ImpossibleLatticeError


class Variant(NamedTuple):
    """A sequence with one value changed, its labels and their probabilities."""

    place: int
    column: int
    name: str
    value: Any
    new_value: Any
    size: float
    remote: float  # of a number that was missing: how far it is from the middle of those of training
    labels: list[Any]
    probabilities: Any


@dataclass
class Tried:
    """What is tried in place of a value, by column: texts, or numbers, their standard deviation and their middle."""

    texts: dict[str, list[str]]
    numbers: dict[str, tuple[list[float], float, float]] = field(default_factory=dict)
    missing: bool = False  # whether texts and numbers become missing
    sets: frozenset[str] = frozenset()  # the columns that hold sets of texts


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def changed(x, place, name, value, new_value, tried):
    """x, whose positions are dicts, with another value; sets of texts gain or lose a member."""
    variant = copy.deepcopy(x)
    if name not in tried.sets:
        variant[place][name] = new_value
        return variant
    members = variant[place].get(name) or set()
    weights = dict(members) if isinstance(members, dict) else dict.fromkeys(members, 1)
    if new_value is None:
        del weights[value]
    else:
        weights[new_value] = 1
    variant[place][name] = weights if isinstance(members, dict) else set(weights)
    return variant


def changes(x, place, name, tried):
    """(value, new value, size, remoteness) of each change of one value."""
    value = x[place].get(name)
    if name in tried.sets:
        yield from ((member, None, 1.0, 0.0) for member in sorted(value or ()))
        yield from ((None, text, 1.0, 0.0) for text in tried.texts[name] if text not in (value or ()))
        return
    if name in tried.numbers:
        value = x[place].get(name, 0)
        yield from number_changes(value, *tried.numbers[name])
    else:
        yield from ((value, text, 1.0, 0.0) for text in tried.texts[name] if text != value)
    if tried.missing and not is_missing(value):
        yield value, None, 1.0, 0.0


def number_changes(value, numbers, spread, middle):
    if is_missing(value):
        for number in {*numbers, float(np.float32(middle))}:
            yield None, number, 1.0, abs(number - middle)
        return
    for number in numbers:
        if number != value:
            yield value, number, abs(float(np.float32(number)) - float(np.float32(value))) / spread, 0.0


def variants(model, x, tried, write=lambda x: x):
    """Every variant of x that has labels; `write` makes of dicts what the model reads."""
    found = []
    for column, name in enumerate(model.feature_names_in_):
        for place in range(len(x)):
            for value, new_value, size, remote in changes(x, place, name, tried):
                variant = write(changed(x, place, name, value, new_value, tried))
                try:
                    labels = model.predict_single(variant).tolist()
                except ImpossibleLatticeError:
                    continue
                (probabilities,) = model.predict_proba([variant])
                found.append(Variant(place, column, name, value, new_value, size, remote, labels, probabilities))
    return found


def smallest_change(model, found, position, label, to=None):
    """The variant that flips the label of a position, and the new probability; None if none does.

    The nearest position comes first, then the smallest size, then the most probable new label, then the left position,
    then the first column. A missing number becomes the one nearest to the middle that flips the label.
    """
    best, best_key = None, None
    flips = [one for one in found if one.labels[position] != label and (to is None or one.labels[position] == to)]
    for variant in flips:
        new = variant.labels[position]
        if any(is_nearer_the_middle(other, variant) for other in flips):
            continue
        probability = float(variant.probabilities[position][model.classes_.tolist().index(new)])
        distance = abs(variant.place - position)
        key = (distance, variant.size, -probability, variant.place, variant.column)
        if best_key is None or key < best_key:
            best, best_key = (variant, probability), key
    return best


def is_nearer_the_middle(other, variant):
    """Whether both replace the same missing number, `other` by a number that is nearer to the middle."""
    both = (other, variant)
    if not all(one.value is None and isinstance(one.new_value, float) for one in both) or other[:2] != variant[:2]:
        return False
    return (other.remote, other.new_value) < (variant.remote, variant.new_value)


def nearest_number(model, x, position, column, numbers, to=None):
    """The number nearest to x[position, column] of an array that flips the label of the position; None if none does."""
    label, found = model.predict_single(x)[position], []
    for number in numbers:
        variant = x.copy()
        variant[position, column] = number
        new = model.predict_single(variant)[position]
        if new != label and to in (None, new):
            found.append(float(number))
    return min(found, key=lambda number: abs(number - x[position, column]), default=None)
