"""Made-up words with hundreds of labels, as in languages with rich morphology: endings hint at labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from data import few

N_LABELS = few(535, 50)
N_WORDS = few(38_000, 600)
N_STEMS = 6000
N_FOLLOWERS = 40  # labels that often follow a label
LETTERS = list("aeioumnrstkl")


class Sentences(NamedTuple):
    words: list[list[str]]
    labels: list[list[str]]


def sentences(seed: int = 0) -> Sentences:
    """Sentences of 5 to 31 words. Frequencies of labels, of followers and of stems fall as 1 / rank."""
    rng = np.random.default_rng(seed)

    def strings(n: int, shortest: int, longest: int) -> list[str]:
        return ["".join(rng.choice(LETTERS, size=rng.integers(shortest, longest + 1))) for _ in range(n)]

    stems, endings = strings(N_STEMS, 2, 6), strings(N_LABELS, 1, 4)
    followers = [rng.permutation(N_LABELS)[:N_FOLLOWERS] for _ in range(N_LABELS)]
    found = Sentences([], [])
    n = 0
    while n < N_WORDS:
        labels: list[int] = []
        for t in range(int(rng.integers(5, 32))):
            follows = t > 0 and rng.random() < 0.5
            rank = (
                rng.choice(N_FOLLOWERS, p=_falling(N_FOLLOWERS))
                if follows
                else rng.choice(N_LABELS, p=_falling(N_LABELS))
            )
            labels.append(int(followers[labels[-1]][rank] if follows else rank))
        found.words.append([stems[rng.choice(N_STEMS, p=_falling(N_STEMS))] + endings[label] for label in labels])
        found.labels.append([str(label) for label in labels])
        n += len(labels)
    for label in range(N_LABELS):  # every label occurs
        found.labels[label % len(found.labels)][label // len(found.labels)] = str(label)
    return found


def _falling(n: int) -> Any:
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


def attributes(words: list[str]) -> list[dict[str, str]]:
    """30 attributes of each word: words around it, their beginnings and endings, alone and joined."""

    def word(t: int) -> str:
        return words[t] if 0 <= t < len(words) else "#"

    items = []
    for t in range(len(words)):
        before, own, after = word(t - 1), word(t), word(t + 1)
        item = {f"word {i}": word(t + i) for i in range(-2, 3)}
        item |= {f"ending {n} {i}": word(t + i)[-n:] for i in (-1, 0, 1) for n in range(1, 5)}
        item |= {f"beginning {n}": own[:n] for n in range(1, 5)}
        item |= {"words -1 0": f"{before}|{own}", "words 0 1": f"{own}|{after}"}
        for n in (2, 3):
            item |= {f"endings {n} -1 0": f"{before[-n:]}|{own[-n:]}", f"endings {n} 0 1": f"{own[-n:]}|{after[-n:]}"}
        item |= {"endings -1 1": f"{before[-2:]}|{after[-2:]}", "length": str(len(own)), "ends": own[0] + own[-1]}
        items.append(item)
    return items
