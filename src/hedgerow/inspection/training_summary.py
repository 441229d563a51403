"""One line about how a model was trained: steps of the last fit, time, loss, dev scores; and about its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.utilities import counted, duration

# Units of steps that are learned apart from each other: their losses do not continue each other.
LEARNED_APART = ("bit", "model")


def training_facts(log: list[Any]) -> dict[str, Any] | None:
    """The steps of training; None if there is no complete record of the last one."""
    of_last_fit = [record for record in log if isinstance(record, dict) and record.get("fit") == log[-1].get("fit")]
    match [of_last_fit[0], log[-1]] if of_last_fit else []:
        case [dict(first), {"unit": str(unit), "seconds": int() | float() as seconds} as last]:
            scores = {name: value for name, value in last.items() if name.startswith("dev_")}
            return {
                "unit": unit,
                "steps": len(of_last_fit),
                "steps_of_search": len(log) - len(of_last_fit),
                "seconds": seconds,
                "first_loss": first.get("loss"),
                "last_loss": last.get("loss"),
                "best_step": last.get("best_step"),
                **scores,
            }
    return None


def training_in_words(training: Mapping[str, Any] | None) -> str:
    """The facts in one line; nothing if there are none."""
    if training is None:
        return ""
    words = counted(training["steps"], training["unit"])
    if training["steps_of_search"]:
        words += f", the number found on held-out sequences in {counted(training['steps_of_search'], training['unit'])}"
    words += f", {duration(training['seconds'])}"
    if training["unit"] not in LEARNED_APART and _are_numbers(training["first_loss"], training["last_loss"]):
        first, last = (f"{training[name]:.4g}" for name in ("first_loss", "last_loss"))
        words += f", loss {last}" if first == last else f", loss from {first} to {last}"
    scores = [f"{k.replace('_', ' ')} {v:.4g}" for k, v in training.items() if k.startswith("dev_") and _are_numbers(v)]
    return ", ".join([words, *scores])


def calibration_in_words(temperature: float) -> str:
    """What the scores are divided by; nothing if that is 1."""
    return "" if temperature == 1 else f"scores divided by {temperature:.4g}"


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)
