"""FITREGRESSIONTREE of the dissertation (table 3.1 with the shrinkage of equation 3.1), on the expanded table.

Every example is a (position, context) with its residual; every feature is a boolean function of an example. Nothing
is shared between nodes, nothing is remembered. Residuals are whole multiples of 2^-30, as in the library.
"""

from __future__ import annotations

from itertools import pairwise, product

UNIT = 2**30


def examples_of(marginals, gold, starts, label, order, k):
    """GENERATEEXAMPLES: (position, context as labels most recent first, padded with None for start, residual)."""
    found = []
    for begin, end in pairwise(starts):
        for t in range(begin, end):
            m = min(t - begin, order)
            gold_context = tuple(int(gold[t - back]) for back in range(1, m + 1))
            for h, context in enumerate(product(range(k), repeat=m)):
                truth = float(gold[t] == label and context == gold_context)
                residual = round((truth - float(marginals[t, h, label])) * UNIT)
                found.append((t, context + (None,) * (order - m), residual))
    return found


GOLDEN_RATIO, OF_SAMPLES = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def mix_bits(x):
    """SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def is_drawn(seed, label, position, context, k, share):
    """Whether the sample of a label's tree has this example; seed: of the round."""
    number = 0
    for v in context:
        number = number if v is None else number * k + v
    seed = (seed * GOLDEN_RATIO + label) % 2**64
    key = mix_bits(((seed ^ OF_SAMPLES) + GOLDEN_RATIO * (position + 1)) % 2**64)
    return mix_bits((key + GOLDEN_RATIO * (number + 1)) % 2**64) >> 11 < share * 2**53


def kept_examples(examples, label, k, *, trim=0.0, share=1.0, seed=0):
    """Sampling and influence trimming by example: those that are drawn, without those whose |residual| is small."""
    return [e for e in examples if abs(e[2]) >= int(trim * UNIT) and is_drawn(seed, label, e[0], e[1], k, share)]


def features_of(rows, order, k):
    """[(key, test of an example)] in the order that breaks ties: attributes by id, then lag by lag, start last."""
    reads = {}
    sequences = rows.sequences
    ids = {t: set(rows.ids(t, t + 1)[1].tolist()) for t in range(sequences.n_positions)}
    numeric = {}
    for attribute in range(rows.n_ids):
        column, _, value = rows.name(attribute)
        if sequences.column(column).kind == "numeric" and isinstance(value, int):
            numeric[attribute] = attribute - value  # the first bin of the slot
    for attribute in range(rows.n_ids):
        wanted = set(range(numeric.get(attribute, attribute), attribute + 1))
        reads["id", attribute] = lambda example, wanted=wanted: bool(ids[example[0]] & wanted)
    for lag in range(order):
        for v in [*range(k), None]:
            reads["lag", lag, k if v is None else v] = lambda e, lag=lag, v=v: e[1][lag] == v
    return list(reads.items())


class Rules:
    def __init__(self, l2, newton=False, max_step=1.0, min_leaf=1):
        self.l2, self.newton, self.max_step, self.min_leaf = l2, newton, max_step, min_leaf

    def sums(self, examples):
        """(sum of residuals, weight, number of positions)"""
        total = sum(r for _, _, r in examples) / UNIT
        by_position = {}
        for t, _, r in examples:
            by_position[t] = by_position.get(t, 0) + r
        if not self.newton:
            return total, float(len(examples)), len(by_position)
        curvature = sum((abs(r) * (UNIT - abs(r)) + 2**43) >> 44 for r in by_position.values())
        return total, curvature / 65536, len(by_position)

    def merit(self, examples):
        total, weight, _ = self.sums(examples)
        return total * total / (self.l2 + weight) if self.l2 + weight > 0 else 0.0

    def gain(self, yes, no, before):
        """merit(yes) + merit(no) - before, in one division."""
        (r1, w1, n1), (r2, w2, n2) = self.sums(yes), self.sums(no)
        w1, w2 = w1 + self.l2, w2 + self.l2
        if min(n1, n2) < self.min_leaf or w1 <= 0 or w2 <= 0:
            return 0.0
        return (r1 * r1 * w2 + r2 * r2 * w1) / (w1 * w2) - before

    def value(self, examples):
        total, weight, _ = self.sums(examples)
        value = total / (self.l2 + weight) if self.l2 + weight > 0 else 0.0
        return max(-self.max_step, min(self.max_step, value)) if self.newton else value


def best_split(examples, features, rules):
    best, found = 0.0, None
    before = rules.merit(examples)
    for key, test in features:
        yes = [e for e in examples if test(e)]
        no = [e for e in examples if not test(e)]
        gain = rules.gain(yes, no, before) if yes and no else 0.0
        if gain > best:
            best, found = gain, (key, yes, no)
    return best, found


def best_first(examples, max_leaves, best, divide, value):
    """{"split", "gain", "true", "false"} or {"value"}; the first of equals first.

    best(examples) is (gain, split), (0, None) where nothing is gained; divide(node, examples) the two sides of a node
    whose split is known; value(examples) that of a leaf.
    """
    root = {}
    queue = [(root, examples, best(examples))]
    while len(queue) < max_leaves:
        at = max(range(len(queue)), key=lambda i: (queue[i][2][0], -i))
        node, inside, (gain, split) = queue[at]
        if split is None:
            break
        del queue[at]
        node |= {"split": split, "gain": gain}
        for branch, part in zip(("true", "false"), divide(node, inside), strict=True):
            node[branch] = {}
            queue.append((node[branch], part, best(part)))
    for node, inside, _ in queue:
        node["value"] = value(inside)
    return root


def fit_regression_tree(examples, features, max_leaves, rules):
    """{"test", "gain", "true", "false"} or {"value"}."""

    def divide(node, _):
        node["test"], yes, no = node.pop("split")
        return yes, no

    return best_first(examples, max_leaves, lambda part: best_split(part, features, rules), divide, rules.value)


def fit_tree_with_sets(examples, rows, order, k, max_leaves, rules):
    """{(position, context): value} of a tree that splits categories and previous labels into two sets.

    Sets are prefixes of the values in the order of residual / (weight + 0.001); a value is where one is read. Columns
    of more than 50 values are split one value at a time.
    """
    sequences = rows.sequences
    ids = {t: set(rows.ids(t, t + 1)[1].tolist()) for t in range(sequences.n_positions)}
    slots = {}
    for attribute in range(rows.n_ids):
        column, offset, _ = rows.name(attribute)
        slots.setdefault((column, offset), []).append(attribute)
    one_by_one = features_of(rows, order, k)

    def candidates(inside):
        for (column, _), attributes in slots.items():
            read = sequences.column(column)
            if read.kind != "categorical" or len(read.alphabet) > 50:
                yield from (test for key, test in one_by_one if key[0] == "id" and key[1] in attributes)
                continue
            yield from prefixes(inside, attributes, lambda e, a: a in ids[e[0]])
        for lag in range(order):
            yield from prefixes(inside, [*range(k), None], lambda e, v, lag=lag: e[1][lag] == v)

    def prefixes(inside, values, shows):
        seen = [v for v in values if any(shows(e, v) for e in inside)]

        def height(value):
            total, weight, _ = rules.sums([e for e in inside if shows(e, value)])
            return total / (weight + 1e-3)

        ranked = sorted(seen, key=lambda v: -height(v))
        for i in range(len(ranked)):
            yield lambda e, chosen=tuple(ranked[: i + 1]): any(shows(e, v) for v in chosen)

    def best(inside):
        found, top = None, 0.0
        before = rules.merit(inside)
        for test in candidates(inside):
            yes, no = [e for e in inside if test(e)], [e for e in inside if not test(e)]
            if yes and no and (gain := rules.gain(yes, no, before)) > top:
                found, top = (yes, no), gain
        return top, found

    found = {}

    def keep(inside):
        found.update({(t, context): rules.value(inside) for t, context, _ in inside})

    best_first(examples, max_leaves, best, lambda node, _: node["split"], keep)
    return found
