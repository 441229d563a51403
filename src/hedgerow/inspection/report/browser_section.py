"""The browser of sequences: its controls; the script of the page draws the sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from hedgerow.inspection.report.kind_data import kinds_on_page
from hedgerow.inspection.report.markup import Section, details, note, paragraph, safe
from hedgerow.inspection.report.view import View

MOST_OPTIONS = 200  # labels in a list of choices

_HELP = (
    "A position shows its {text} and the predicted label; a dotted line marks a {probability} below 90 %. Point at a "
    "position, or move to it with Tab and the arrow keys, to see more. A click or Enter explains it, Escape closes. In "
    "the search box, {search}, and #12 finds sequence 12. Positions that pass the filters have a green frame; the "
    "buttons go to the next and the previous of them; so do the keys n and p, while a button or a position has the "
    "focus. Sequences and positions are counted from 0, as in Python."
)
_OF_TEXTS = {"text": "text", "search": "several words find neighbouring positions"}
_OF_NUMBERS = {"text": "number", "search": "120 finds position 120 of each sequence"}

_TERMS = {
    "log-odds": "The logarithm of how many times more probable one label is than another: +0.69 is twice as probable, "
    "+2.3 ten times. Where the prediction is wrong, the other label is the gold label, otherwise the next best one.",
    "contributions": "What each value adds to the log-odds; a negative one speaks against the predicted label. Their "
    "sum is the log-odds.",
    "word[-1], word & pos, word|pos": "The value of the column word one position before; two columns that the trees "
    "test together; one column with the values of two, which the setting features has joined.",
    "bias": "What a label has at every position: frequent labels have more.",
    "left context": "What the model believes about the labels before, and how well this label follows them.",
    "right context": "What the rest of the sequence says about this label.",
    "bit": "A bit of the code word of an output code, where it cannot be divided among columns.",
    "(outside), (missing), (absent), (unknown)": "There is no position there; the value exists but is not known; the "
    "position has no such value; training never saw the value.",
}


def browser_section(view: View, data: Mapping[str, Any], notes: Iterable[str]) -> Section:
    """Controls, and the places where the script puts sequences and explanations."""
    has_gold, probability = data["gold"] is not None, "probability" if view.doubt is None else "score"
    controls = [_search()]
    if has_gold:
        controls += [_kinds(data), _labels("gold", "gold label", _gold_codes(data), data)]
    predicted = _labels("predicted", "predicted label", data["predicted"], data)
    controls += [predicted, _below(probability), _order(has_gold)]
    controls.append('<button type="button" class="plain" id="reset">Reset</button>')
    more = "" if view.scheme is None else " Labels of one type, such as B-NP and I-NP, have one colour."
    more += " A wrong position is red, with the gold label below." if has_gold else ""
    if data.get("changes"):
        more += " Where another model predicts otherwise, its label is below too."
    kind = _OF_NUMBERS if data["text"] is None else _OF_TEXTS
    body = (
        f"{paragraph(_HELP.format(probability=probability, **kind) + more, 'note help')}{''.join(map(note, notes))}"
        f"{details('The words of an explanation', _terms())}"
        '<p id="without-script">The browser of sequences needs JavaScript.</p>'
        f'<div id="browser" hidden><div class="controls" role="search" aria-label="Filters">{"".join(controls)}</div>'
        '<div class="found"><p class="status" id="status" role="status"></p><div class="steps" id="steps" hidden>'
        '<button type="button" class="plain" id="previous">Previous</button>'
        '<button type="button" class="plain" id="next">Next</button></div></div>'
        '<ul class="sequences" id="sequence-list"></ul>'
        '<button type="button" class="plain more" id="more" hidden>Show more</button></div>'
        '<div class="panel" id="panel" role="dialog" aria-label="Explanation" hidden></div>'
    )
    return Section("sequences", "Sequences", body)


def _terms() -> str:
    rows = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in _TERMS.items())
    return f'<dl class="terms">{rows}</dl>'


def _search() -> str:
    return '<label>search<input type="search" id="search" autocomplete="off" spellcheck="false"></label>'


def _kinds(data: Mapping[str, Any]) -> str:
    options = [("", "all"), ("wrong", "with an error")]
    if data.get("kinds"):
        names = data["kinds"]["names"]
        used = sorted(kinds_on_page(data))
        used = [] if [names[i] for i in used] == ["label"] else used  # the same as any error
        options += [(f"kind-{i}", f"with an error: {names[i]}") for i in used]
    if data.get("changes"):
        options += [(f"change-{i}", name) for i, name in enumerate(data["changes"]["names"])]
    return _select("kind", "sequences", options)


def _labels(key: str, name: str, codes: Iterable[int], data: Mapping[str, Any]) -> str:
    """The labels that occur; of many, the most frequent ones."""
    found = Counter(codes)
    frequent = sorted(code for code, _ in found.most_common(MOST_OPTIONS))
    others = len(found) - len(frequent)
    last = f"<option disabled>{others:,} rarer labels</option>" if others else ""
    return _select(key, name, [("", "any"), *((str(code), data["labels"][code]) for code in frequent)], last)


def _gold_codes(data: Mapping[str, Any]) -> list[int]:
    gold = list(data["predicted"])
    for place, code in data["gold"]:
        gold[place] = code
    return gold


def _below(probability: str) -> str:
    return (
        f'<label>{probability}: <span id="below-value">any</span>'
        '<input type="range" id="below" min="100" max="1000" step="10" value="1000" aria-valuetext="any"></label>'
    )


def _order(has_gold: bool) -> str:
    options = [("data", "as in the data"), ("unsure", "least certain first")]
    return _select("order", "order", [*options, ("errors", "most errors first")] if has_gold else options)


def _select(key: str, name: str, options: Iterable[tuple[str, str]], last: str = "") -> str:
    choices = "".join(f'<option value="{escape(value)}">{safe(text)}</option>' for value, text in options)
    return f'<label>{escape(name)}<select id="{key}">{choices}{last}</select></label>'
