"""Slow, obvious twins of the metrics and of the tests of significance."""

from __future__ import annotations

import re
from itertools import pairwise
from math import comb, exp, lgamma, log

# The chunk rules of conlleval as tables: between which letters of one type does a chunk end or start.
CONLLEVAL_ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
CONLLEVAL_STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
# With one-position chunks (IOBES): E and S end whatever follows, B and S start whatever came before.
IOBES_ENDS = {a + b for a in "BIESO" for b in "BIESO" if a in "ES" or (a in "BI" and b in "BSO")}
IOBES_STARTS = {a + b for a in "BIESO" for b in "BIESO" if b in "BS" or (a in "ESO" and b in "IE")}


def read(label: str, scheme: str) -> tuple[str, str]:
    """(letter of IOBES, type) of a label."""
    letter, _, kind = label.partition("-")
    if scheme == "BILOU":
        letter = {"L": "E", "U": "S"}.get(letter, letter)
    return letter, kind if letter != "O" else ""


def spans(labels: list[str], scheme: str) -> list[tuple[int, int, str]]:
    """Walk the positions with conlleval's two questions, does a chunk end here and does one start here."""
    wide = scheme in {"IOBES", "BILOU"}
    ends, starts = (IOBES_ENDS, IOBES_STARTS) if wide else (CONLLEVAL_ENDS, CONLLEVAL_STARTS)
    read_labels = [("O", ""), *(read(label, scheme) for label in labels), ("O", "")]
    found: list[tuple[int, int, str]] = []
    start = None
    for t, ((last, last_kind), (letter, kind)) in enumerate(pairwise(read_labels)):
        if last + letter in ends or (last != "O" and last_kind != kind):
            assert start is not None
            found.append((start, t, last_kind))
            start = None
        if last + letter in starts or (letter != "O" and last_kind != kind):
            start = t
    return found


# The letters of one type in a sequence, other labels as dots: what a well-formed span looks like between them.
WELL_FORMED = {
    "IOB1": r"(?<=[BI])BI*|(?<![BI])I+",
    "IOB2": r"BI*",
    "IOE1": r"I*E(?=[IE])|I+(?![IE])",
    "IOE2": r"I*E",
    "IOBES": r"S|BI*E",
    "BILOU": r"S|BI*E",
}


def strict_spans(labels: list[str], scheme: str) -> list[tuple[int, int, str]]:
    """Search for the pattern of well-formed spans, type by type."""
    parsed = [read(label, scheme) for label in labels]
    found = []
    for kind in {kind for letter, kind in parsed if letter != "O"}:
        text = "".join(letter if own == kind and letter != "O" else "." for letter, own in parsed)
        found += [(*match.span(), kind) for match in re.finditer(WELL_FORMED[scheme], text)]
    return sorted(found)


def conlleval(y_true: list[list[str]], y_pred: list[list[str]], scheme: str) -> dict[str, tuple[int, ...]]:
    """Type → (true chunks, found, correct), by sets of (sequence, start, end)."""
    true = {(i, *span) for i, labels in enumerate(y_true) for span in spans(labels, scheme)}
    pred = {(i, *span) for i, labels in enumerate(y_pred) for span in spans(labels, scheme)}
    return {
        kind: tuple(sum(span[3] == kind for span in group) for group in (true, pred, true & pred))
        for kind in sorted({span[3] for span in true | pred})
    }


def write(pieces: list[tuple[int, str]], scheme: str) -> list[str]:
    """Well-formed labels for pieces (length, type), type "" lying outside."""
    kinds = [kind for _, kind in pieces]
    labels: list[str] = []
    for i, (length, kind) in enumerate(pieces):
        before = kinds[i - 1] if i else ""
        after = kinds[i + 1] if i + 1 < len(kinds) else ""
        letters = _letters(length, scheme, touches_before=before == kind, touches_after=after == kind)
        labels += ["O"] * length if not kind else [f"{letter}-{kind}" for letter in letters]
    return labels


def _letters(length: int, scheme: str, *, touches_before: bool, touches_after: bool) -> list[str]:
    letters = ["I"] * length
    if scheme in {"IOB2", "IOBES", "BILOU"} or (scheme == "IOB1" and touches_before):
        letters[0] = "B"
    if scheme in {"IOE2", "IOBES"} or (scheme == "IOE1" and touches_after):
        letters[-1] = "E"
    if scheme == "BILOU":
        letters[-1] = "L"
    if length == 1 and scheme in {"IOBES", "BILOU"}:
        letters = ["S" if scheme == "IOBES" else "U"]
    return letters


def mcnemar_exact(n_a_only: int, n_b_only: int) -> float:
    """Sum the probabilities of all splits of the discordant positions at least as uneven as this one."""
    n = n_a_only + n_b_only
    uneven = abs(n_a_only - n_b_only)
    return sum(comb(n, k) for k in range(n + 1) if abs(n - 2 * k) >= uneven) / 2**n


def log_likelihood(correct: list[int], total: list[int], log_odds: list[float], *, constants: bool = False) -> float:
    """Binomial log-likelihood, row by row."""
    value = 0.0
    for c, n, eta in zip(correct, total, log_odds, strict=True):
        value += c * eta - n * (log(1 + exp(-abs(eta))) + max(eta, 0))
        if constants:
            value += lgamma(n + 1) - lgamma(c + 1) - lgamma(n - c + 1)
    return value


def saturated(correct: list[int], total: list[int]) -> float:
    """Log-likelihood when each row has its own probability."""
    return sum(x * log(x / n) for c, n in zip(correct, total, strict=True) for x in (c, n - c) if x)
