"""Trees that a group of processes grows together are those of one process with all sequences, to the bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import hedgerow as hr
from builders.groups import check_group, part_of, run_group, shares
from builders.missing import damaged_rows
from builders.trees import grow, growth_rules, random_marginals, random_rows
from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import LocalColumn
from hedgerow.encoding import AttributeReader, Binning, Window
from hedgerow.potentials.trees import Trees

pytestmark = pytest.mark.kernel

SIZES = (2, 3, 5)
ALL_KINDS = {"numeric": True, "bag": True, "flag": True, "local": True}


def whole_case(seed, order, *, k=3, lengths=(4, 1, 7, 3, 9, 2, 6, 5, 8, 4), window=1, kinds=ALL_KINDS):
    """Random sequences without missing values."""
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, list(lengths), window, **kinds)
    gold = rng.integers(0, k, size=rows.sequences.n_positions).astype(np.int32)
    return rows, order, k, random_marginals(rng, rows.sequences.starts, order, k), gold


def damaged_case(seed, order, *, k=3, lengths=(4, 1, 7, 3, 9, 2, 6, 5, 8, 4), rate=0.3):
    """Random sequences with missing values in every column."""
    rng = np.random.default_rng(seed)
    rows = damaged_rows(rng, list(lengths), 1, rate=rate)
    gold = rng.integers(0, k, size=rows.sequences.n_positions).astype(np.int32)
    return rows, order, k, random_marginals(rng, rows.sequences.starts, order, k), gold


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("size", SIZES)
def test_threads_grow_what_one_process_grows(size, order, newton):
    check_group(size, *whole_case(size, order), newton=newton, max_leaves=20, rounds=2)


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("rate", [0.3, 0.02])
@pytest.mark.parametrize("method", ["weighting", "published-weighting", "surrogate", "published-surrogate", "learned"])
@pytest.mark.parametrize("size", SIZES)
def test_groups_treat_missing_values_like_one_process(size, method, rate, order, newton):
    case = damaged_case(size, order, rate=rate)
    check_group(size, *case, newton=newton, missing=method, max_leaves=15, rounds=2)
    check_group(size, *case, newton=newton, missing=method, max_leaves=15, category_splits="subset")


@pytest.mark.parametrize(
    "changed",
    [
        {"category_splits": "subset"},
        {"max_features": 0.4},
        {"influence_trim": 0.3},
        {"min_leaf": 4},
        {"category_splits": "subset", "min_leaf": 3, "max_features": 0.7},
        {"example_share": 0.6},
        {"trim_by": "example", "influence_trim": 0.1, "example_share": 0.8, "category_splits": "subset"},
    ],
    ids=lambda changed: "-".join(changed),
)
@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_groups_follow_the_rules_of_growth(order, newton, changed):
    check_group(3, *whole_case(order, order), newton=newton, max_leaves=12, rounds=2, seed=7, **changed)


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("method", ["weighting", "surrogate"])
def test_groups_weigh_and_sample_positions(order, newton, method):
    rng = np.random.default_rng(5)
    case = damaged_case(4, order) if method == "weighting" else whole_case(4, order)
    n = case[0].sequences.n_positions
    weights = rng.choice([0.0, 0.3, 0.7, 1.0], size=n)
    in_sample = (rng.random(n) < 0.7).astype(np.uint8)
    how = {"newton": newton, "missing": method, "max_leaves": 10}
    check_group(3, *case, weights=weights, **how)
    check_group(3, *case, in_sample=in_sample, **how)
    check_group(3, *case, weights=weights, in_sample=in_sample, **how)
    check_group(3, *case, in_sample=in_sample, example_share=0.7, influence_trim=0.2, **how)
    check_group(3, *case, weights=weights, trim_by="example", influence_trim=0.1, **how)


@pytest.mark.parametrize("missing", ["weighting", "surrogate", "learned"])
@pytest.mark.parametrize("order", [0, 1])
def test_groups_share_many_entries(order, missing):
    """More entries than have tables of their own, most of them in one part only; few positions of a node touch them."""
    rng = np.random.default_rng(order)
    lengths = [11, 3, 8, 30, 5, 14, 2, 9, 40, 21]
    X = [
        [
            {"word": f"w{rng.zipf(1.2) % 500}", "shape": str(rng.choice(list("Aa1"))), "n": float(rng.normal())}
            for _ in range(n)
        ]
        for n in lengths
    ]
    if missing != "weighting":
        for sequence in X:
            sequence[0]["shape"] = None
    sequences = hr.Sequences(X)
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    rows = AttributeReader(sequences, Window.of(4), binnings)
    gold = rng.integers(0, 3, size=rows.sequences.n_positions).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, order, 3)
    for size in (2, 5):
        check_group(size, rows, order, 3, marginals, gold, missing=missing, newton=True, max_leaves=30, rounds=2)
        check_group(size, rows, order, 3, marginals, gold, missing=missing, min_leaf=3, max_leaves=9)
        if order == 0 and missing == "weighting":
            check_group(size, rows, order, 3, marginals, gold, shared=True, max_leaves=9)


@pytest.mark.parametrize("order", [0, 1])
def test_trees_do_not_depend_on_which_histograms_are_kept(order):
    """Histograms of more than a megabyte: one process keeps those of eight nodes, members of a group those of more."""
    rng = np.random.default_rng(order)
    n, n_rare, n_bits = 120_000, 55_000, 12
    rare, bit = Alphabet.of(map(str, range(n_rare))), Alphabet.of("ab")
    bits = rng.integers(0, 2, (n_bits, n)).astype(np.int32)
    columns = [LocalColumn(f"rare{i}", rng.permutation(n).astype(np.int32) % n_rare, rare) for i in range(2)]
    columns += [LocalColumn(f"bit{i}", values, bit) for i, values in enumerate(bits)]
    rows = AttributeReader(hr.Sequences.of_columns(np.arange(0, n + 1, 20), tuple(columns)), Window.of(0), {})
    gold = (rng.random(n) < bits.mean(axis=0)).astype(np.int32)  # splits halve a node, so many nodes are large
    marginals = random_marginals(rng, rows.sequences.starts, order, 2)
    check_group(2, rows, order, 2, marginals, gold, max_leaves=40)


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_groups_grow_one_tree_for_all_labels(size, newton):
    case = whole_case(size, 0, k=4)
    rng = np.random.default_rng(size)
    n = case[0].sequences.n_positions
    how = {"shared": True, "newton": newton}
    check_group(size, *case, max_leaves=20, rounds=2, n_threads=2, **how)
    check_group(size, *case, weights=rng.random(n), in_sample=(rng.random(n) < 0.6).astype(np.uint8), **how)
    check_group(size, *case, max_features=0.5, influence_trim=0.4, min_leaf=3, **how)


@pytest.mark.parametrize("method", ["weighting", "surrogate", "learned"])
def test_members_may_lack_values_and_sequences(method):
    """One member has no sequence; missing values and a letter are in a single part."""
    rng = np.random.default_rng(3)
    X = [
        [{"letter": str(rng.choice(list("ab"))), "number": float(rng.integers(0, 5))} for _ in range(6)]
        for _ in range(6)
    ]
    for position in X[5]:
        position["letter"] = "c"
        position["number"] = None
    sequences = hr.Sequences(X)
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    rows = AttributeReader(sequences, Window.of(1), binnings)
    gold = rng.integers(0, 2, size=36).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 1, 2)
    how = {"missing": method, "max_leaves": 12, "min_leaf": 2}
    for parts in ([range(5), range(0), range(5, 6)], [range(0), range(6)], [range(i, i + 1) for i in range(6)]):
        how["shares_of"] = lambda _n, _size, parts=parts: parts
        check_group(len(parts), rows, 1, 2, marginals, gold, **how)
        check_group(len(parts), rows, 1, 2, marginals, gold, weights=rng.random(36), **how)


@pytest.mark.parametrize("n_threads", [1, 4])
def test_threads_of_a_member_change_nothing(n_threads):
    check_group(2, *whole_case(8, 1, k=6), n_threads=n_threads, newton=True, rounds=2)


def test_a_round_takes_as_many_exchanges_as_its_two_largest_trees():
    """Labels grow in two teams, each in lockstep: more labels cost no exchanges."""

    def n_exchanges(k):
        rows, order, k, marginals, gold = whole_case(2, 1, k=k)
        rules = growth_rules(max_leaves=6)
        parts = [part_of(rows, chosen) for chosen in shares(len(rows.sequences), 2)]

        def work(member):
            reader, at = parts[member.rank]
            data = _core.TreeData(reader.reader, order, rules, 1, member)
            grower = _core.TreeGrower(data, k, rules, None, member)
            before = member.n_exchanges
            grower.grow(marginals[at], gold[at], np.zeros_like(marginals[at]), None, 1.0, 0, 2)
            return member.n_exchanges - before

        return run_group(2, work)

    for k in (2, 7):
        # For each team, two for the root and for each split, one for the last split.
        assert n_exchanges(k) == [22, 22]


def test_a_group_of_one_exchanges_nothing():
    rows, order, k, marginals, gold = whole_case(1, 1)

    class Alone:
        rank, size = 0, 1

        def __call__(self, outgoing):
            raise AssertionError(outgoing)

    rules = growth_rules()
    data = _core.TreeData(rows.reader, order, rules, 1, Alone())
    grower = _core.TreeGrower(data, k, rules, None, Alone())
    scores = np.zeros_like(marginals)
    grown = Trees.of_round(*grower.grow(marginals, gold, scores, None, 1.0, 0, 1))
    expected, expected_scores = grow(rows, order, k, marginals, gold)
    np.testing.assert_array_equal(grown.nodes, expected.nodes)
    np.testing.assert_array_equal(scores, expected_scores)


@pytest.mark.parametrize("fatal", [1, 2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("method", ["weighting", "surrogate"])
def test_an_exchange_that_fails_ends_all_threads(fatal, method):
    """The exception of the exchange reaches the caller, whatever the threads of labels were doing."""
    rows, order, k, marginals, gold = damaged_case(2, 1, k=5)
    rules = growth_rules(missing=method)
    parts = [part_of(rows, chosen) for chosen in shares(len(rows.sequences), 2)]

    class PeerDiedError(Exception):
        pass

    def work(member):
        class Dying:
            rank, size = member.rank, member.size

            def __call__(self, outgoing):
                if member.rank == 1 and member.n_exchanges == fatal:
                    raise PeerDiedError
                return member(outgoing)

        reader, at = parts[member.rank]
        data = _core.TreeData(reader.reader, order, rules, 2, Dying())
        grower = _core.TreeGrower(data, k, rules, None, Dying())
        grower.grow(marginals[at], gold[at], np.zeros_like(marginals[at]), None, 1.0, 0, 2)

    n_threads = threading.active_count()
    with pytest.raises(PeerDiedError):
        run_group(2, work)
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("damage", [lambda m: m[:-1], lambda m: m[:8], lambda m: np.full_like(m, 255), lambda m: m[:0]])
@pytest.mark.parametrize("at", [5, 6, 7, 8])
def test_damaged_messages_are_refused(damage, at):
    rows, order, k, marginals, gold = damaged_case(2, 1)
    rules = growth_rules(missing="surrogate", category_splits="subset")
    parts = [part_of(rows, chosen) for chosen in shares(len(rows.sequences), 2)]

    def work(member):
        class Faulty:
            rank, size = member.rank, member.size

            def __call__(self, outgoing):
                incoming = [np.frombuffer(bytes(message), np.uint8) for message in member(outgoing)]
                return [damage(message) if member.n_exchanges == at else message for message in incoming]

        reader, positions = parts[member.rank]
        data = _core.TreeData(reader.reader, order, rules, 1, Faulty())
        grower = _core.TreeGrower(data, k, rules, None, Faulty())
        scores = np.zeros_like(marginals[positions])
        grower.grow(marginals[positions], gold[positions], scores, None, 1.0, 0, 1)

    with pytest.raises((RuntimeError, ValueError), match="group"):
        run_group(2, work)


def test_members_must_have_the_same_columns_and_rules():
    rows, order, *_ = whole_case(0, 0)

    def work(member):
        return _core.TreeData(rows.reader, order, growth_rules(min_leaf=1 + member.rank), 1, member)

    with pytest.raises(ValueError, match="same columns"):
        run_group(2, work)
