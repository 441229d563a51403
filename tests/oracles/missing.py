"""Regression trees where values are missing (dissertation, sections 4.2 and 4.3), on the expanded table.

An example is a (position, context) with a residual and a weight. Nothing is shared between nodes.
"""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

from oracles import trees as oracles_trees

MOST_SURROGATES = 5
TIE = 1e-6  # gains that differ by less are equal but for rounding


class Example(NamedTuple):
    position: int
    context: tuple
    residual: float
    weight: float = 1.0
    counted: bool = True  # a position in parts counts where the larger part of it goes, or by the published rule twice


class Feature(NamedTuple):
    key: tuple
    slot: int | None  # None for previous labels, which are never missing
    holds: object
    known: object


def examples_of(marginals, gold, starts, label, order, k, **kept):
    found = oracles_trees.examples_of(marginals, gold, starts, label, order, k)
    if kept:
        found = oracles_trees.kept_examples(found, label, k, **kept)
    return [Example(t, context, residual / oracles_trees.UNIT) for t, context, residual in found]


def features_of(rows, order, k):
    """In the order that breaks ties, with what they read; a feature is missing where its whole column is."""
    missing = rows.missing(0, rows.sequences.n_positions)
    names = [(c.name, o) for c in rows.sequences.columns for o in rows.window.offsets]
    found = []
    for key, test in oracles_trees.features_of(rows, order, k):
        slot = names.index(rows.name(key[1])[:2]) if key[0] == "id" else None
        found.append(Feature(key, slot, test, lambda e, slot=slot: slot is None or not missing[e.position, slot]))
    return found


class Rules(NamedTuple):
    l2: float
    newton: bool = False
    max_step: float = 1.0
    min_leaf: int = 1

    def sums(self, examples):
        """(sum of residuals, weight, number of positions)"""
        by_position = {}
        for e in examples:
            by_position.setdefault(e.position, []).append(e)
        counted = sum(group[0].counted for group in by_position.values())
        total = fsum(e.weight * e.residual for e in examples)
        if not self.newton:
            return total, fsum(e.weight for e in examples), counted
        sizes = [(group[0].weight, abs(fsum(e.residual for e in group))) for group in by_position.values()]
        return total, fsum(w * r * max(1 - r, 0) for w, r in sizes), counted

    def n(self, examples):
        """How many they are, parts as parts: examples, or in Newton mode positions."""
        if not self.newton:
            return fsum(e.weight for e in examples)
        return fsum({e.position: e.weight for e in examples}.values())

    def merit(self, examples):
        total, weight, _ = self.sums(examples)
        return total * total / (self.l2 + weight) if self.l2 + weight > 0 else 0.0

    def gain(self, yes, no):
        (_, w1, n1), (_, w2, n2) = self.sums(yes), self.sums(no)
        if min(n1, n2) < self.min_leaf or self.l2 + w1 <= 0 or self.l2 + w2 <= 0:
            return 0.0
        return self.merit(yes) + self.merit(no) - self.merit(yes + no)

    def value(self, examples):
        total, weight, _ = self.sums(examples)
        value = total / (self.l2 + weight) if self.l2 + weight > 0 else 0.0
        return max(-self.max_step, min(self.max_step, value)) if self.newton else value


def scaled(examples, share):
    larger = share >= 0.5
    return [e._replace(weight=e.weight * share, counted=e.counted and larger) for e in examples]


def rest_of(examples, share):
    larger = share < 0.5
    return [e._replace(weight=e.weight * (1 - share), counted=e.counted and larger) for e in examples]


def three_ways(examples, feature):
    known = [e for e in examples if feature.known(e)]
    gone = [e for e in examples if not feature.known(e)]
    return [e for e in known if feature.holds(e)], [e for e in known if not feature.holds(e)], gone


def as_sets(examples, features, rules, categorical):
    """The tests of a node where values are split into two sets: prefixes of them, the highest first.

    `categorical` are the slots of which that is so; previous labels are split like them.
    """
    groups = {}
    for f in features:
        groups.setdefault(("lag", f.key[1]) if f.slot is None else ("slot", f.slot), []).append(f)
    found = []
    for (kind, at), group in groups.items():
        if kind == "slot" and at not in categorical:
            found += group
            continue
        seen = [f for f in group if any(f.known(e) and f.holds(e) for e in examples)]

        def height(f):
            total, weight, _ = rules.sums([e for e in examples if f.known(e) and f.holds(e)])
            return total / (weight + 1e-3)

        ranked = sorted(seen, key=lambda f: -height(f))
        for n in range(1, len(ranked) + (kind == "slot")):
            found.append(union(ranked[:n]))
    return found


def union(features):
    keys = sorted(f.key for f in features)
    key = keys[0] if len(keys) == 1 else ("any of", *keys)
    return features[0]._replace(key=key, holds=lambda e: any(f.holds(e) for f in features))


def candidates(examples, features, method):
    """(feature, learned direction or None) in the order that breaks ties."""
    reads = [f for f in features if f.slot is not None]
    learned = {f.slot for f in reads if method == "learned" and any(not f.known(e) for e in examples)}
    yield from ((f, False if f.slot in learned else None) for f in reads)
    yield from ((f, True) for f in reads if f.slot in learned)
    yield from ((f, None) for f in features if f.slot is None)


def best_split(examples, features, rules, method, categorical=None):
    """(gain, (feature, direction, keys of those that gain as much))"""
    best, found = 0.0, None
    if categorical is not None:
        features = as_sets(examples, features, rules, categorical)
    for feature, direction in candidates(examples, features, method):
        yes, no, gone = three_ways(examples, feature)
        if yes and direction is not None:  # a test must hold somewhere to be one
            yes, no = (yes + gone, no) if direction else (yes, no + gone)
        if not yes or not no:
            continue
        gain = rules.gain(yes, no)
        if gain > best + TIE:
            best, found = gain, (feature, direction, [])
        elif found is not None and gain > best - TIE:
            found[2].append(feature.key)
    return best, found


def surrogates_of(examples, feature, features):
    """[(feature, opposite)], the best first, and what most positions say."""
    votes = {e.position: feature.holds(e) for e in examples if feature.known(e)}
    some = {e.position: e for e in examples}
    found = []
    for slot in sorted({f.slot for f in features if f.slot is not None} - {feature.slot}):
        best = None
        for other in (f for f in features if f.slot == slot):
            both = [t for t in votes if other.known(some[t])]
            if best is None:
                yes = sum(votes[t] for t in both)
                best = (max(yes, len(both) - yes), None)
            for opposite in (False, True):
                agree = sum((other.holds(some[t]) != opposite) == votes[t] for t in both)
                if agree > best[0]:
                    best = (agree, (other, opposite, agree / len(both)))
        if best is not None and best[1] is not None:
            found.append(best[1])
    found.sort(key=lambda one: -one[2])
    return found[:MOST_SURROGATES], 2 * sum(votes.values()) >= len(votes)


def printed_surrogates_of(examples, feature, features):
    """[(feature, opposite)] as section 4.3 prints it: all other features, by how many examples they predict; and
    what most examples show.

    A boolean feature predicts by its value or by the opposite. The first of equals comes first.
    """
    known = [e for e in examples if feature.known(e)]
    found = []
    for other in (f for f in features if f.slot is not None and f.key != feature.key):
        both = [e for e in known if other.known(e)]
        agree = sum(other.holds(e) == feature.holds(e) for e in both)
        if both:
            found.append((other, 2 * agree < len(both), max(agree, len(both) - agree) / len(both)))
    found.sort(key=lambda one: -one[2])
    return found, 2 * sum(feature.holds(e) for e in known) >= len(known)


def first_of_slots(surrogates, slot):
    """The surrogates that can decide: values of a slot are missing together, so only its first one does."""
    firsts = {}
    for one in surrogates:
        firsts.setdefault(one[0].slot, one)
    return [one for other, one in firsts.items() if other != slot]


def divide(node, examples, features, rules, method):
    """(where the test holds, where not), and in the node what becomes of missing values."""
    feature, direction, _ = node["split"]
    yes, no, gone = three_ways(examples, feature)
    node["surrogates"] = []
    if feature.slot is None:
        node["share"] = 0.0
    elif method == "learned":
        n_yes, n_no = (rules.sums(side)[2] for side in (yes, no))
        node["share"] = float(n_yes >= n_no if direction is None else direction)
        (yes if node["share"] else no).extend(gone)
    elif method in ("weighting", "published-weighting"):
        node["share"] = share = rules.n(yes) / (rules.n(yes) + rules.n(no))
        parts = scaled(gone, share), rest_of(gone, share)
        if method == "published-weighting":  # a part counts where it is
            parts = [[e._replace(counted=whole.counted) for e, whole in zip(part, gone, strict=True)] for part in parts]
        yes, no = yes + parts[0], no + parts[1]
    else:
        find = surrogates_of if method == "surrogate" else printed_surrogates_of
        node["surrogates"], most = find(examples, feature, features)
        node["share"] = float(most)
        for e in gone:
            (yes if goes(node, e) else no).append(e)
    return yes, no


def goes(node, e):
    """The share of an example, or what it is like, that goes where the test holds."""
    feature, _, _ = node["split"]
    if feature.known(e):
        return float(feature.holds(e))
    for other, opposite, _ in node["surrogates"]:
        if other.known(e):
            return float(other.holds(e) != opposite)
    return node["share"]


def fit_tree(examples, features, max_leaves, rules, method, categorical=None):
    """Best-first, the first of equals: {"split", "gain", "share", "surrogates", "true", "false"} or {"value"}."""
    return oracles_trees.best_first(
        examples,
        max_leaves,
        lambda part: best_split(part, features, rules, method, categorical),
        lambda node, part: divide(node, part, features, rules, method),
        rules.value,
    )


def evaluate(node, e):
    """The weighted average of section 4.2; with surrogates and learned directions all weights are 0 or 1."""
    if "split" not in node:
        return node["value"]
    share = goes(node, e)
    yes = evaluate(node["true"], e) if share > 0 else 0.0
    no = evaluate(node["false"], e) if share < 1 else 0.0
    return share * yes + (1 - share) * no
