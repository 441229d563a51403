"""docs/model-format.md is complete: scores computed from a file by this page alone equal those of the library."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import groupby, pairwise

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import storage

X = [
    [{"word": "the", "size": 3.0, "has": ["t", "h"]}, {"word": "hedge", "size": 5.5, "has": ["h", "g"]}, {"has": []}],
    [{"word": "row", "size": 1.5, "has": ["r"]}, {"word": "the", "size": 3.0}],
    [{"word": "hedge", "size": -2.0, "has": ["g", "h", "t"]}] * 5,
] * 3
Y = [["D", "N", "."], ["N", "D"], ["N", ".", "N", "D", "D"]] * 3
NEW = [[{"word": "row", "size": 99.0, "has": ["new", "h"]}, {"word": "new", "size": 2.2}, {"word": "the"}, {}]]


class File:
    """The content of a model file, by the words of the page."""

    def __init__(self, path):
        self.arrays, self.metadata = storage.read(path)
        self.columns = self.metadata["encoder"]["columns"]
        self.n_labels, self.order = len(self.metadata["labels"]["values"]), self.metadata["order"]

    def values(self, i):
        """The alphabet of column i."""
        column = self.columns[i]
        if column.get("cascade"):
            return ["0", "1", "outside"]
        if "alphabet_of" in column:
            return self.values([other["name"] for other in self.columns].index(column["alphabet_of"]))
        if f"encoder.{i}.rights" in self.arrays:
            return self._pairs(i, column["derived"])
        blob, offsets = self.arrays[f"encoder.{i}.blob"].tobytes(), self.arrays[f"encoder.{i}.offsets"]
        return [blob[a:b].decode() for a, b in pairwise(offsets)]

    def _pairs(self, i, rule):
        names = [column["name"] for column in self.columns]
        left, right = (self.values(names.index(rule[side])) for side in ("left", "right"))
        starts, rights = self.arrays[f"encoder.{i}.starts"], self.arrays[f"encoder.{i}.rights"]
        return [f"{left[v]} and {right[r]}" for v, (a, b) in enumerate(pairwise(starts)) for r in rights[a:b]]

    def derived(self, sequence):
        """The sequence with derived columns."""
        found = [dict(position) for position in sequence]
        for column in self.columns:
            rule, name = column.get("derived"), column["name"]
            for t in range(len(found)) if rule else []:
                if "left" in rule:
                    both = [found[t].get(rule[side]) for side in ("left", "right")]
                    value = None if None in both else " and ".join(both)
                else:
                    value = (_part if "part" in rule else _statistic)(rule, sequence, t)
                found[t] |= {} if value is None else {name: value}
        return found

    def treated(self, sequence):
        """The sequence with nothing missing: filled in, and marked."""
        return [self._treated(position) for position in sequence]

    def _treated(self, position):
        found = dict(position)
        for i, column in enumerate(self.columns):
            name, indicated = column["name"], column.get("indicates")
            if indicated is not None and position.get(indicated, "absent") is None:
                found[name] = "missing"
            if "fill_value" in column and position.get(name, "absent") is None:
                found[name] = self._fill_value(i, column)
        return {name: value for name, value in found.items() if value != "absent"}

    def _fill_value(self, i, column):
        value = column["fill_value"]
        if column["kind"] == "numeric":
            return value
        if column["kind"] == "bag":
            assert set(value["weights"]) <= {1.0}
            return [self.values(i)[member] for member in value["ids"]]
        return "absent" if value == -2 else self.values(i)[value]

    def contexts(self, length):
        """By number, the labels of each context of that length, most recent first."""
        return [
            [h // self.n_labels**j % self.n_labels for j in reversed(range(length))]
            for h in range(self.n_labels**length)
        ]

    def attributes(self):
        """(column, offset, test) by number; test(position or None) says whether the attribute is there."""
        found = []
        for i, column in enumerate(self.columns):
            offsets = [0] if column.get("cascade") else self.metadata["potential"]["window"]
            for offset in offsets:
                found += [(column["name"], offset, test) for test in self._tests(i, column)]
                if offsets != [0]:
                    found.append((column["name"], offset, lambda position: position is None))
        return found

    def _tests(self, i, column):
        name = column["name"]
        if column["kind"] == "numeric":
            numeric = [c["name"] for c in self.columns if c["kind"] == "numeric" and not c.get("hidden")]
            edges = self.arrays[f"potential.bins.{numeric.index(name)}"].tolist()
            for b in range(len(edges) + 1):
                yield lambda p, b=b: p is not None and bisect_right(edges, np.float32(p.get(name, 0.0))) <= b
            return
        for value in self.values(i):
            if column["kind"] == "categorical":
                yield lambda p, v=value: p is not None and p.get(name) == v
            else:
                yield lambda p, v=value: p is not None and v in p.get(name, [])

    def trees(self, sequence, t, context):
        """The sum of the trees at position t after a context, for each label."""
        tests, scores = self.attributes(), np.zeros(self.n_labels)
        part = {name.removeprefix("potential.trees."): array for name, array in self.arrays.items()}
        for label, start in zip(part["labels"], part["starts"][:-1], strict=True):
            value = self._tree(part, int(start), 0, tests, sequence, t, context)
            if len(value) == 1:
                scores[label] += value[0]
            else:
                scores += value
        return scores

    def _tree(self, part, start, node, tests, sequence, t, context):
        """What a node says: a mean of its children where a value is missing."""
        at = start + node
        node = {name: array[at] for name, array in part.items() if name.startswith("nodes.")}
        attribute, lag, wanted, if_true, if_false = (
            int(node[f"nodes.{name}"]) for name in ("attribute", "lag", "label", "if_true", "if_false")
        )

        def listed(name):
            """The members of a list that the node has: lists are in the order of nodes."""
            first = part[f"nodes.n_{name}"][:at].sum()
            return part[name][first : first + node[f"nodes.n_{name}"]].tolist()

        if attribute < 0 and lag < 0:
            return part["values"][at]
        others = listed("alternatives")

        def passes(attributes):
            """Whether any of them is there; None where it is missing."""
            name, offset, _ = tests[attributes[0]]
            there = sequence[t + offset] if 0 <= t + offset < len(sequence) else None
            if there is not None and there.get(name, "") is None:
                return None
            return any(tests[a][2](there) for a in attributes)

        if attribute >= 0:
            share = passes([attribute, *others])
            for surrogate in listed("surrogates"):
                other = passes([surrogate if surrogate >= 0 else -surrogate - 1])
                if share is None and other is not None:
                    share = other if surrogate >= 0 else not other
            share = float(node["nodes.true_fraction"] if share is None else share)
        else:
            share = float((context[lag] if lag < len(context) else self.n_labels) in [wanted, *others])
        said = [self._tree(part, start, child, tests, sequence, t, context) for child in (if_true, if_false)]
        return share * said[0] + (1 - share) * said[1]

    def linear(self, sequence, t):
        """The state score of a position under weights."""
        values = []
        for i, column in enumerate(self.columns):
            if column.get("hidden"):
                continue
            offsets = [0] if "derived" in column else self.metadata["potential"]["window"]
            for offset in offsets:
                there = sequence[t + offset] if 0 <= t + offset < len(sequence) else None
                values += [0.0 if there is None else value for value in self._values(i, column, there or {})]
                values += [float(there is None)] * (offsets != [0])
        members = self.arrays.get("potential.conjunctions.members")
        for first, last in pairwise(self.arrays.get("potential.conjunctions.starts", [0])):
            values.append(float(all(values[m] for m in members[first:last])))
        scores, part = np.zeros(self.n_labels), "potential.state."
        for value, (a, b) in zip(values, pairwise(self.arrays[part + "starts"]), strict=True):
            scores[self.arrays[part + "labels"][a:b]] += value * self.arrays[part + "weights"][a:b]
        return scores / self.metadata["potential"].get("temperature", 1.0)

    def _values(self, i, column, position):
        given = position.get(column["name"], 0.0 if column["kind"] == "numeric" else [])
        if column["kind"] == "numeric":
            mean, deviation = self.metadata["potential"]["scalings"][column["name"]]
            return [(given - mean) / deviation]
        return [float(value in ([given] if isinstance(given, str) else given)) for value in self.values(i)]

    def n_grams(self):
        """Scores of labels after contexts: a table, its rows those of all lengths."""
        names = [tuple(h) for length in range(self.order + 1) for h in self.contexts(length)]
        weights = dict(zip(*(self.arrays[f"potential.n_grams.{part}"].tolist() for part in ("cells", "weights")),
                           strict=True))  # fmt: skip
        table = [
            [sum(weights.get(names.index(h[:m]) * self.n_labels + y, 0.0) for m in range(len(h) + 1))
             for y in range(self.n_labels)]
            for h in names
        ]  # fmt: skip
        return np.array(table) / self.metadata["potential"].get("temperature", 1.0)

    def densities(self, position):
        """The state score of a position under a table of probabilities."""
        scores = np.zeros(self.n_labels)
        for i, column in enumerate(self.columns):
            value = position.get(column["name"], 0.0 if column["kind"] == "numeric" else [])
            if column["kind"] == "numeric":
                mean, variance = self.arrays[f"potential.{i}.mean"], self.arrays[f"potential.{i}.variance"]
                scores += -0.5 * (np.log(2 * np.pi * variance) + (np.float32(value) - mean) ** 2 / variance)
                continue
            known = self.values(i)
            for one in [value] if isinstance(value, str) else value:
                if one in known:
                    scores += self.arrays[f"potential.{i}.log_probability"][known.index(one)]
        return scores


def _part(rule, sequence, t):
    """The value of a rule with a part; None if it is empty."""
    part, at = rule["part"], t + rule["offset"]
    if not 0 <= at < len(sequence):
        distance = f"_B{at}" if at < 0 else f"_B+{at - len(sequence) + 1}"
        return "<outside>" if rule["outside"] == "same" else distance
    text = sequence[at].get(rule["source"])
    if text is None:
        return None
    if part == "constant" or (part == "text" and rule["outside"] == "distance"):
        return "" if part == "constant" else text
    if part in ("text", "lower"):
        text = text.lower() if part == "lower" else text
        return text + "'" if text.startswith("<outside>") else text
    if part in ("shape", "outline"):
        shape = "".join("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in text)
        return shape if part == "shape" else "".join(character for character, _ in groupby(shape))
    n = int(part[-1])
    return None if len(text) < n else text[:n] if part.startswith("prefix") else text[-n:]


def _statistic(rule, sequence, t):
    numbers = [position.get(rule["source"], 0.0) for position in sequence]
    if rule["statistic"] == "change":
        return numbers[t] - numbers[min(max(t + rule["first"], 0), len(numbers) - 1)]
    around = numbers[max(t + rule["first"], 0) : t + rule["last"] + 1]
    return {"mean": np.mean, "deviation": np.std, "lowest": min, "highest": max}[rule["statistic"]](around)


JOINS = hr.templates.columns(
    {
        "all": {"from": "form", "part": "constant"},
        "word after": {"from": "word", "at": 2, "outside": "distance"},
        "three": {"join": [{"from": "word", "at": -2, "outside": "distance"}, "word after", {"from": "tag", "at": 2}]},
    }
)
TEMPLATES = [hr.templates.words(), hr.templates.words("form"), hr.templates.numbers(), JOINS]


@pytest.mark.parametrize("features", TEMPLATES, ids=["words", "form", "numbers", "joins"])
def test_derived_columns_read_by_the_page(features, tmp_path):
    def renamed(sequences):  # one more column of text, and texts that look like the outside
        return [
            [p | {"tag": p.get("word", "<outside>")[-1:], "form": "Co-Op 1st"[t:]} for t, p in enumerate(x)]
            for x in sequences
        ]

    model = hr.LinearCRF(window=1, features=features).fit(renamed(X), Y)
    model.save(tmp_path / "m.hedgerow")
    file, new = File(tmp_path / "m.hedgerow"), renamed(NEW)
    assert any("derived" in column for column in file.columns)
    scores = model.model_.potential.scores(model.model_.encode(new))
    (sequence,) = map(file.derived, new)
    for t in range(len(sequence)):
        expected = file.linear(sequence, t)
        np.testing.assert_allclose(scores.state[t], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("splits", ["one-hot", "subset"])
@pytest.mark.parametrize("transitions", ["trees", "table"])
@pytest.mark.parametrize(("order", "window"), [(0, 0), (1, 1), (2, 2)])
def test_trees_read_by_the_page(transitions, order, window, splits, tmp_path):
    make = hr.TreeCRF(
        order=order, window=window, transitions=transitions, n_rounds=4, learning_rate=0.5, l2=0.1,
        category_splits=splits,
    )  # fmt: skip
    model = make.fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    scores = model.model_.potential.scores(model.model_.encode(NEW))
    for t in range(len(NEW[0])):
        if transitions == "table":
            np.testing.assert_allclose(scores.state[t], file.trees(NEW[0], t, []), atol=1e-5)
            continue
        for h, context in enumerate(file.contexts(min(t, order))):
            np.testing.assert_allclose(scores.edge[t, h], file.trees(NEW[0], t, context), atol=1e-5)
    if transitions == "table":
        np.testing.assert_array_equal(scores.table, file.arrays["potential.table"])
    else:
        assert "potential.table" not in file.arrays
        assert set(file.arrays["potential.trees.nodes.lag"]) >= set(range(order))  # every lag is tested somewhere


@pytest.mark.parametrize("missing", ["weighting", "published-weighting", "surrogate", "published-surrogate", "learned"])
def test_trees_with_missing_values_read_by_the_page(missing, tmp_path):
    def damaged(sequences, seed):
        rng = np.random.default_rng(seed)
        return [[{k: None if rng.random() < 0.3 else v for k, v in p.items()} for p in x] for x in sequences]

    model = hr.TreeCRF(window=1, n_rounds=4, learning_rate=0.5, l2=0.1, missing=missing).fit(damaged(X * 5, 1), Y * 5)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    assert (len(file.arrays["potential.trees.surrogates"]) > 0) == missing.endswith("surrogate")
    new = damaged(NEW, 2)
    scores = model.model_.potential.scores(model.model_.encode(new))
    for t in range(len(new[0])):
        for h, context in enumerate(file.contexts(min(t, 1))):
            np.testing.assert_allclose(scores.edge[t, h], file.trees(new[0], t, context), atol=1e-5)


def test_shared_trees_read_by_the_page(tmp_path):
    model = hr.TreeCRF(window=1, trees="shared", n_rounds=4, l2=0.1, learning_rate=0.5).fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    scores = model.model_.potential.scores(model.model_.encode(NEW))
    for t in range(len(NEW[0])):
        np.testing.assert_allclose(scores.state[t], file.trees(NEW[0], t, ()), atol=1e-6)


@pytest.mark.parametrize(("order", "window"), [(0, 0), (1, 1), (2, 2)])
@pytest.mark.parametrize("make", [hr.LinearCRF, partial(hr.LinearCRF, induce="mccallum", max_iter=30),
                                  hr.StructuredPerceptron, hr.StructuredSVM])  # fmt: skip
def test_weights_read_by_the_page(make, order, window, tmp_path):
    model = make(order=order, window=window, random_state=0).fit(X, Y, X_dev=X, y_dev=Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    assert ("temperature" in file.metadata["potential"]) == (not isinstance(model, hr.LinearCRF))
    assert ("potential.conjunctions.starts" in file.arrays) == bool(getattr(model, "induce", None))
    scores = model.model_.potential.scores(model.model_.encode(NEW))
    for t in range(len(NEW[0])):
        expected = file.linear(NEW[0], t)
        np.testing.assert_allclose(scores.state[t], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_allclose(scores.table, file.n_grams(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
def test_searches_read_by_the_page(direction, tmp_path):
    model = hr.SearchTagger(window=1, direction=direction, random_state=0).fit(X, Y, X_dev=X, y_dev=Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    potential, k = file.metadata["potential"], file.n_labels
    assert potential["direction"] == direction
    cells = file.arrays["potential.n_grams.cells"].tolist()
    weights = dict(zip(cells, file.arrays["potential.n_grams.weights"].tolist(), strict=True))
    bits = 1
    while 2**bits <= k:
        bits += 1
    (sequence,) = NEW
    places = range(len(sequence))
    for labels in ([0] * len(sequence), [t % k for t in places], model.model_.labels.codes(model.predict(NEW), None)):
        score = 0.0
        search = [*places] if direction == "left-to-right" else [*reversed(places)]
        for step, t in enumerate(search):
            score += file.linear(sequence, t)[labels[t]] * potential["temperature"]
            for j in range(min(step + 1, potential["order"]) + 1):
                digits = [labels[search[step - i]] if step >= i else k for i in range(1, j + 1)]
                number = 2 ** (bits * j) - 1 + sum(d << bits * (j - 1 - i) for i, d in enumerate(digits))
                score += weights.get(number * k + labels[t], 0.0)
        given = model._answers(model.model_.encode(NEW))
        found = next(given).score(np.array(labels, np.int32))[0]
        assert found == pytest.approx(score / potential["temperature"], rel=1e-4)


class Inner(File):
    """What a locally normalised potential normalises, as if it were a file of its own."""

    def __init__(self, path):
        super().__init__(path)
        self.metadata = {"potential": self.metadata["potential"]["of"]}
        inner = {name: array for name, array in self.arrays.items() if name.startswith("potential.of.")}
        self.arrays |= {name.replace("potential.of.", "potential."): array for name, array in inner.items()}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_local_potentials_read_by_the_page(learner, order, tmp_path):
    model = hr.MEMM(order=order, window=1, learner=learner, n_rounds=4, learning_rate=0.5, l2=0.1).fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    file = Inner(tmp_path / "m.hedgerow")
    assert file.metadata["potential"]["kind"] == learner
    edge = model.model_.potential.scores(model.model_.encode(NEW)).edge
    table = {} if learner == "trees" else dict(zip(model.model_.topology.contexts(), file.n_grams(), strict=True))
    for t in range(len(NEW[0])):
        for h, context in enumerate(file.contexts(min(t, order))):
            if learner == "trees":
                raw = file.trees(NEW[0], t, context)
            else:
                raw = file.linear(NEW[0], t) + table[tuple(context)]
            np.testing.assert_allclose(edge[t, h], raw - np.log(np.exp(raw).sum()), atol=1e-4)


class Ahead(File):
    """Trees over future features, and these features."""

    def __init__(self, path):
        super().__init__(path)
        self.own, self.potential = self.columns, self.metadata["potential"]["of"]
        features = range(len(self.potential["features"]))
        more = [{"name": f"future feature {i + 1}", "kind": "numeric", "cascade": True} for i in features]
        self.columns = [*self.own, *more]
        self.stored = self.arrays
        self._as("potential.of.of.", self.potential["of"]["window"])

    def _as(self, prefix, window):
        bins = {n.replace("potential.of.of.", "potential."): a for n, a in self.stored.items() if ".bins." in n}
        found = {n.replace(prefix, "potential."): a for n, a in self.stored.items() if n.startswith(prefix)}
        encoder = {n: a for n, a in self.stored.items() if n.startswith("encoder.")}
        self.arrays, self.metadata = encoder | bins | found, {"potential": {"window": window}}

    def feature(self, i, sequence):
        """Q of the bag of each position."""
        bags, columns, n_labels = self.potential["instance_bags"], self.columns, self.n_labels
        self._as(f"potential.of.features.{i}.", [0])
        self.columns, self.n_labels = self.own, len(self.arrays["potential.trees.labels"])
        shown = []
        for t in range(len(sequence)):
            log_odds = bags["initial_log_odds"]
            for said in self.trees(sequence, t, []):
                log_odds = min(max(log_odds + said, bags["bounds"][0]), bags["bounds"][1])
            shown.append(1 / (1 + np.exp(-log_odds)))
        self.columns, self.n_labels = columns, n_labels
        self._as("potential.of.of.", self.potential["of"]["window"])
        size, back = bags["size"] or len(sequence), self.potential["features"][i]["back"]
        spans = [shown[max(t - size, 0) : t] if back else shown[t + 1 : t + 1 + size] for t in range(len(sequence))]
        return [1 - np.prod([1 - q for q in span]) for span in spans]


@pytest.mark.parametrize("bag", [1, 2, "rest"])
def test_future_features_read_by_the_page(bag, tmp_path):
    rng = np.random.default_rng(0)
    positions = [position for x in X for position in x]
    train = [[positions[i] for i in rng.integers(len(positions), size=9)] for _ in range(60)]
    seen = [[position.get("word") for position in x] for x in train]
    y = [["+" if "row" in words[t + 1 : t + 3] else "-" for t in range(9)] for words in seen]
    model = hr.FutureMEMM(window=1, bag=bag, bag_side="both", max_future=3, random_state=0).fit(train, y)
    model.save(tmp_path / "m.hedgerow")
    file, asked = Ahead(tmp_path / "m.hedgerow"), X[0] + NEW[0]
    n = len(file.potential["features"])
    assert n > 0
    features = [file.feature(i, asked) for i in range(n)]
    whole = [
        position | {f"future feature {i + 1}": features[i][t] for i in range(n)} for t, position in enumerate(asked)
    ]
    edge = model.model_.potential.scores(model.model_.encode([asked])).edge
    for t in range(len(asked)):
        linear = sum(features[i][t] * file.stored[f"potential.of.features.{i}.weights"] for i in range(n))
        for h, context in enumerate(file.contexts(min(t, 1))):
            raw = file.trees(whole, t, context) + linear
            np.testing.assert_allclose(edge[t, h], raw - np.log(np.exp(raw).sum()), atol=1e-4)


class Bit(File):
    """A bit of a code, as if it were a file of its own."""

    def __init__(self, file, i):
        potential, own = file.metadata["potential"], f"potential.bits.{i}."
        length, left, right = potential["cascade"]
        seen = [
            {"name": (j, offset), "kind": "categorical", "cascade": True}
            for j in range(i - 1, max(i - 1 - length, -1), -1)
            for offset in [*range(-left, 0), *range(1, right + 1)]
        ]
        self.columns = [*file.columns, *seen]
        self.n_labels, self.order = 2, potential["bit_order"]
        self.metadata = {"potential": potential["bits"][i]}
        self.arrays = file.arrays | {
            name.replace(own, "potential."): array for name, array in file.arrays.items() if name.startswith(own)
        }

    def probabilities(self, sequence, predicted):
        """P(1) at each position, from what earlier bits predict; the order is 0."""

        def read(t, j, offset):
            return str(predicted[j][t + offset]) if 0 <= t + offset < len(sequence) else "outside"

        whole = [
            position | {c["name"]: read(t, *c["name"]) for c in self.columns if c.get("cascade")}
            for t, position in enumerate(sequence)
        ]
        scores = [self.trees(whole, t, []) for t in range(len(whole))]
        return [1 / (1 + np.exp(zero - one)) for zero, one in scores]


def test_codes_read_by_the_page(tmp_path):
    base = hr.TreeCRF(order=0, window=1, n_rounds=4, learning_rate=0.5, l2=0.1)
    model = hr.OutputCode(base=base, cascade=2, cascade_left=2, distance="likelihood").fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    words, potential = file.arrays["potential.code_words"], file.metadata["potential"]
    asked, found = X[0] + NEW[0], []
    for i in range(words.shape[1]):
        found.append(Bit(file, i).probabilities(asked, [[int(p > 0.5) for p in row] for row in found]))
    np.testing.assert_allclose(model.predict_bits([asked])[0].T, found, atol=1e-5)
    scores = model.model_.potential.scores(model.model_.encode([asked])).state
    for t in range(len(asked)):
        bits = np.clip([row[t] for row in found], 2**-20, 1 - 2**-20)
        expected = np.where(words == 1, np.log(bits), np.log(1 - bits)).sum(axis=1) / potential["temperature"]
        np.testing.assert_allclose(scores[t], expected, atol=1e-4)


HOLES = [[{"word": "the", "size": None, "has": ["t"]}, {"word": None, "size": 4.0, "has": None}, {"size": None}]] * 2
MORE_HOLES = [[{"word": None, "size": None, "has": None}, {"word": "the", "size": 1.0}, {"word": None, "has": ["h"]}]]


@pytest.mark.parametrize("missing", ["impute", "indicator"])
@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_treatments_read_by_the_page(missing, kind, tmp_path):
    rules = {"n_rounds": 4, "l2": 0.1, "transitions": "table"} if kind == "trees" else {"l2": 0.1}
    make = hr.TreeCRF if kind == "trees" else hr.LinearCRF
    model = make(window=1, missing=missing, **rules).fit(X + HOLES, [*Y, ["D", "N", "."], [".", ".", "D"]])
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    scores = model.model_.potential.scores(model.model_.encode(MORE_HOLES))
    treated = file.treated(MORE_HOLES[0])
    for t in range(len(treated)):
        expected = file.trees(treated, t, []) if kind == "trees" else file.linear(treated, t)
        np.testing.assert_allclose(scores.state[t], expected, rtol=1e-4, atol=1e-4)


def test_tables_read_by_the_page(tmp_path):
    model = hr.HMM(order=2).fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    file = File(tmp_path / "m.hedgerow")
    scores = model.model_.potential.scores(model.model_.encode(NEW))
    for t, position in enumerate(NEW[0]):
        np.testing.assert_allclose(scores.state[t], file.densities(position), rtol=1e-6)
    assert file.arrays["potential.transitions"].shape == (1 + 3 + 9, 3)
