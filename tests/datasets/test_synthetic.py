"""Generators: frequencies against the definitions, labels against a naive twin, seeds."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.datasets import Dataset, cycle, future, hmm_forty, hmm_three
from hedgerow.errors import InputError
from oracles.datasets import future_labels


def transitions(data: Dataset) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    for labels in data.y:
        for before, after in pairwise(labels.tolist()):
            table.setdefault(before, Counter())[after] += 1
    return table


def emissions(data: Dataset) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    for observations, labels in zip(data.X, data.y, strict=True):
        for observation, label in zip(observations, labels.tolist(), strict=True):
            table.setdefault(label, Counter())[observation] += 1
    return table


def test_hmm_three_has_the_published_frequencies() -> None:
    data = hmm_three(200, 300, seed=1)
    assert len(data) == 200
    assert {len(x) for x in data.X} == {300}
    for i in (1, 2, 3):
        moves = transitions(data)[f"l{i}"]
        for j in (1, 2, 3):
            assert moves[f"l{j}"] / moves.total() == pytest.approx(0.6 if i == j else 0.2, abs=0.01)
        spoken = emissions(data)[f"l{i}"]
        for o in range(1, 25):
            expected = 0.6 / 8 if i * 8 - 7 <= o <= i * 8 else 0.4 / 16
            assert spoken[f"o{o}"] / spoken.total() == pytest.approx(expected, abs=0.005)
    first = Counter(labels[0] for labels in hmm_three(9000, 1, seed=2).y)
    assert [first[f"l{i}"] / 9000 for i in (1, 2, 3)] == pytest.approx([1 / 3] * 3, abs=0.02)


@pytest.mark.parametrize(
    ("kind", "p_o", "k_o", "p_l", "k_l"), [("transition", 0.2, 8, 0.6, 2), ("both", 0.6, 2, 0.6, 2)]
)
def test_hmm_forty_has_the_published_frequencies(kind: str, p_o: float, k_o: int, p_l: float, k_l: int) -> None:
    data = hmm_forty(500, 300, kind=kind, seed=3)  # type: ignore[arg-type]
    spoken, moves = emissions(data), transitions(data)
    assert len(spoken) == 40
    for table, own, n_others, letter in ((spoken, p_o, k_o, "o"), (moves, p_l, k_l, "l")):
        for i in range(1, 41):
            row = table[f"l{i}"]
            others = row.copy()
            kept = others.pop(f"{letter}{i}")
            margin = 2.5 / np.sqrt(row.total())  # five standard deviations of a share; some labels are rare
            assert kept / row.total() == pytest.approx(own, abs=margin)
            assert len(others) == n_others if row.total() > 500 else len(others) <= n_others
            for count in others.values():
                assert count / row.total() == pytest.approx((1 - own) / n_others, abs=margin)
        kept = sum(row[f"{letter}{label[1:]}"] for label, row in table.items())
        assert kept / sum(row.total() for row in table.values()) == pytest.approx(own, abs=0.005)


def test_hmm_forty_keeps_its_structure_across_seeds() -> None:
    def support(**seeds: int) -> dict[str, set[str]]:
        data = hmm_forty(300, 200, kind="both", **seeds)  # type: ignore[arg-type]
        return {label: set(row) for label, row in transitions(data).items()}

    train = support(seed=1, structure_seed=5)
    assert train == support(seed=2, structure_seed=5)
    assert train != support(seed=1, structure_seed=6)
    drawn = [hmm_forty(3, 50, seed=seed, structure_seed=5).X for seed in (1, 2)]
    assert drawn[0] != drawn[1]


@given(
    kind=st.sampled_from(["xor", "or", "extra"]),
    n=st.integers(1, 4),
    length=st.integers(1, 20),
    seed=st.integers(0, 2**32),
)
def test_future_equals_its_naive_twin(kind: str, n: int, length: int, seed: int) -> None:
    data = future(kind, n, length, seed=seed)  # type: ignore[arg-type]
    assert [x.shape for x in data.X] == [(length, 8)] * n
    for bits, labels in zip(data.X, data.y, strict=True):
        assert labels.tolist() == future_labels(kind, bits.tolist())


def test_future_is_as_ambiguous_as_published() -> None:
    """A window of x_t alone gets about 50, 67 and 84 % right, as in table 5.4 of the dissertation."""
    for kind, published in (("xor", 0.516), ("or", 0.675), ("extra", 0.844)):
        data = future(kind, 500, seed=0)  # type: ignore[arg-type]
        by_bits: dict[int, Counter[str]] = {}
        for bits, labels in zip(data.X, data.y, strict=True):
            for true, label in zip(bits[:, :6].sum(1), labels, strict=True):
                by_bits.setdefault(int(true), Counter())[label] += 1
        right = sum(max(row.values()) for row in by_bits.values())
        assert right / sum(row.total() for row in by_bits.values()) == pytest.approx(published, abs=0.06)
    bits = np.concatenate(future("xor", 500, seed=0).X)
    assert bits.mean(0) == pytest.approx(np.full(8, 0.5), abs=0.02)


def test_cycle_turns_and_names_only_its_first_label() -> None:
    data = cycle(50, 7, seed=0)
    following = {"1": "2", "2": "3", "3": "1"}
    for x, labels in zip(data.X, data.y, strict=True):
        assert x == [labels[0], *["."] * 6]
        assert all(following[before] == after for before, after in pairwise(labels.tolist()))
    assert {labels[0] for labels in data.y} == {"1", "2", "3"}


def test_binary_view_of_the_cycle_is_a_coin_after_zero() -> None:
    pairs = Counter(
        (before == "1", after == "1") for labels in cycle(300, 60, seed=0).y for before, after in pairwise(labels)
    )
    assert pairs[True, True] == 0
    after_zero = pairs[False, True] + pairs[False, False]
    assert pairs[False, True] / after_zero == pytest.approx(0.5, abs=0.01)


def test_same_seed_same_data_for_ever() -> None:
    made = {
        "hmm_three": hmm_three(2, 20, seed=7),
        "hmm_forty": hmm_forty(2, 20, seed=7, structure_seed=1),
        "future": future("xor", 2, seed=7),
        "cycle": cycle(5, 4, seed=7),
    }
    digests = {}
    for name, data in made.items():
        text = repr([np.asarray(x).tolist() for x in data.X]) + repr([labels.tolist() for labels in data.y])
        digests[name] = hashlib.sha256(text.encode()).hexdigest()[:12]
    assert digests == DIGESTS


DIGESTS = {
    "hmm_three": "28cf3f9eac52",
    "hmm_forty": "f5359d1f4685",
    "future": "6f9b650999b1",
    "cycle": "3337f7358129",
}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hmm_three(0, 5, seed=1), "n_sequences must be an integer of at least 1, not 0"),
        (lambda: cycle(5, 2.5, seed=1), "length must be an integer of at least 1, not 2.5"),
        (lambda: cycle(5, True, seed=1), "length must be an integer of at least 1, not True"),
        (lambda: cycle(5, 2, seed=-1), "seed must be an integer of at least 0, not -1"),
        (lambda: hmm_forty(1, 1, seed=1, structure_seed="a"), "structure_seed must be an integer"),
        (lambda: hmm_forty(1, 1, kind="none", seed=1), "no kind 'none'; choose from transition, both"),
        (lambda: future("and", seed=1), "no kind 'and'; choose from xor, or, extra"),
    ],
)
def test_bad_parameters_are_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


def test_generators_describe_themselves() -> None:
    text = hmm_forty(3, 10, kind="both", seed=1, structure_seed=4).describe()
    for part in ("hmm_forty-both, split seed 1", "sequences  3", "positions  30", "structure_seed 4", "2007"):
        assert part in text
