"""Groups whose members are threads of this process: what processes exchange, they hand over at a barrier."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier, BrokenBarrierError

import numpy as np

from builders.trees import grow, growth_rules
from hedgerow import _core
from hedgerow.encoding import AttributeReader
from hedgerow.estimators.fitting import prepare
from hedgerow.group import Group
from hedgerow.learning.base import DevData
from hedgerow.learning.tree_inputs import TreeInputs
from hedgerow.potentials.trees import Trees


class Member(Group):
    """One member of a group, as learners and the core call it: an all-to-all of byte messages."""

    def __init__(self, rank, boxes, barrier):
        self.rank = rank
        self.size = len(boxes)
        self.n_exchanges = 0
        self._boxes = boxes
        self._barrier = barrier

    def __call__(self, outgoing):
        assert len(outgoing) == self.size
        assert all(message.dtype == np.uint8 for message in outgoing)
        self.n_exchanges += 1
        self._boxes[self.rank] = outgoing
        self._barrier.wait()
        incoming = [box[self.rank] for box in self._boxes]
        self._barrier.wait()
        return [message.tobytes() if self.n_exchanges % 2 else message for message in incoming]

    def leave(self):
        """Let all other members fail."""
        self._barrier.abort()


def run_group(size, work):
    """What work(member) returns for each member; the first failure of a member is raised here."""
    barrier = Barrier(size, timeout=60)
    boxes = [None] * size
    failures = []

    def run(rank):
        member = Member(rank, boxes, barrier)
        try:
            return work(member)
        except BaseException as failure:
            failures.append(failure)
            member.leave()
            return None

    with ThreadPoolExecutor(size) as pool:
        results = list(pool.map(run, range(size)))
    failures.sort(key=lambda failure: isinstance(failure, BrokenBarrierError))
    if failures:
        raise failures[0]
    return results


def part_of(rows, chosen):
    """A reader of the chosen sequences, with the alphabets, bins and window of all; and their positions."""
    starts = rows.sequences.starts
    positions = np.concatenate([np.arange(0), *(np.arange(starts[i], starts[i + 1]) for i in chosen)])
    part = rows.sequences[list(chosen)]
    return AttributeReader(part, rows.window, rows._numeric), positions


def shares(n_sequences, size):
    """Which sequences each member has: runs of different lengths, perhaps none."""
    cuts = [n_sequences * (i * i) // (size * size) for i in range(size + 1)]
    return [range(first, last) for first, last in pairwise(cuts)]


def grow_in_group(size, rows, order, k, marginals, gold, *, rounds=1, weights=None, in_sample=None, n_threads=1,
                  seed=0, shared=False, shares_of=shares, **changed):  # fmt: skip
    """Trees and scores (all positions) of every round, as the members of a group grow them; all must agree."""
    parts = [part_of(rows, chosen) for chosen in shares_of(len(rows.sequences), size)]
    rules = growth_rules(**changed)

    def work(member):
        reader, at = parts[member.rank]
        data = _core.TreeData(reader.reader, order, rules, n_threads, member)
        grower = _core.TreeGrower(data, k, rules, None if weights is None else weights[at], member)
        found = []
        for i in range(rounds):
            scores = np.zeros_like(marginals[at])
            grown = (grower.grow_shared if shared else grower.grow)(
                marginals[at], gold[at], scores, None if in_sample is None else in_sample[at], 1.0, seed + i, n_threads
            )
            found.append((grown, scores))
        return found

    found = run_group(size, work)
    together = []
    for i in range(rounds):
        scores = np.zeros_like(marginals)
        for (_, at), member in zip(parts, found, strict=True):
            scores[at] = member[i][1]
        grown = found[0][i][0]
        for member in found[1:]:
            for mine, other in zip(grown, member[i][0], strict=True):
                np.testing.assert_array_equal(mine, other)
        together.append((Trees.of_round(*grown), scores))
    return together


def check_group(size, rows, order, k, marginals, gold, *, rounds=1, seed=0, shares_of=shares, **how):
    """A group grows, to the bit, the trees that one process grows on all sequences."""
    together = grow_in_group(
        size, rows, order, k, marginals, gold, rounds=rounds, seed=seed, shares_of=shares_of, **how
    )
    for i, (trees, scores) in enumerate(together):
        expected, expected_scores = grow(rows, order, k, marginals, gold, seed=seed + i, **how)
        for name in ("starts", "nodes", "values", "alternatives", "surrogates"):
            np.testing.assert_array_equal(getattr(trees, name), getattr(expected, name), err_msg=name)
        np.testing.assert_array_equal(scores, expected_scores)
    return together


def learned_in_group(size, make, X, y, X_dev=None, y_dev=None, *, shares_of=shares, sample_weight=None, groups=None):
    """(records, metadata, arrays) of what an estimator learns, first in one process, then of each member of a group.

    `shares_of(n, size)` divides n training or dev sequences.
    """
    training, _ = prepare(make(), X, y, X_dev, y_dev, sample_weight, groups, None)

    def learn(own):
        learner = make()._learner(own, None)
        records = list(learner)
        return records, *learner.potential.to_arrays()

    def work(member):
        return learn(_own_part(training, member, shares_of))

    return learn(training), run_group(size, work)


def _own_part(training, member, shares_of):
    own, positions = _part(training.sequences, shares_of, member)
    dev = training.dev
    if dev is not None:
        dev_own, dev_positions = _part(dev.sequences, shares_of, member)
        dev = DevData(dev.sequences[dev_own], dev.codes[dev_positions], dev.span_f1, member)
    return replace(
        training,
        sequences=training.sequences[own],
        codes=training.codes[positions],
        weights=training.weights[own],
        groups=None if training.groups is None else training.groups[own],
        dev=dev,
        group=member,
        tree_inputs=TreeInputs(),
    )


def _part(sequences, shares_of, member):
    """(sequences, positions) of a member, as slices."""
    share = shares_of(len(sequences), member.size)[member.rank]
    own = slice(share.start, share.stop)
    return own, slice(int(sequences.starts[share.start]), int(sequences.starts[share.stop]))
