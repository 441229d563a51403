"""Feature induction: gains and choices against the naive version, accuracy on small tasks, reproducibility."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.training import training_of
from hedgerow import Sequences, _core
from hedgerow.encoding import PADDING, AttributeReader, Conjunctions, Encoder, Scaling, Window
from hedgerow.errors import InputError, ModelFileError
from hedgerow.learning.induction import Candidates, candidates, enlarged
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import ROUNDING
from hedgerow.potentials.base import Stored
from oracles.induction import NaiveInduction

pytestmark = pytest.mark.kernel


def made(rng, n_sequences=4, weighted=False):
    """Sequences of a letter, a bag and a number, or of a weighted bag; labels drawn at random."""

    def position():
        bag = [b for b in "pqr" if rng.random() < 0.5]
        return {"c": str(rng.choice(list("ab"))), "b": bag, "n": float(rng.integers(-2, 3))}

    lengths = rng.integers(2, 5, n_sequences)
    if weighted:
        X = [scipy.sparse.csr_matrix(rng.integers(0, 3, (n, 4)).astype(float)) for n in lengths]
    else:
        X = [[position() for _ in range(n)] for n in lengths]
    y = [[str(rng.choice(list("xyz"))) for _ in range(n)] for n in lengths]
    y[0][:2], y[1][:1] = ["x", "y"], ["z"]
    return X, y


def a_few(rng, n_basic, valued, k):
    """Features for a model to have: single ones, then pairs of plain attributes."""
    singles = rng.permutation(n_basic)[:5]
    plain = [i for i in range(n_basic) if i not in valued]
    first = Candidates(
        singles.astype(np.int32), np.full(len(singles), -1, np.int32),
        rng.integers(0, k, len(singles)).astype(np.int32), np.zeros(5), np.zeros(5),
    )  # fmt: skip
    contexts = [i for i in singles if i in plain][:1]
    pairs = [(int(rng.choice([p for p in plain if p != c])), int(c)) for c in contexts[: len(plain) - 1]]
    second = Candidates(
        *(np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1)),
        rng.integers(0, k, len(pairs)).astype(np.int32), np.zeros(len(pairs)), np.zeros(len(pairs)),
    )  # fmt: skip
    return first, second


def members_of(space):
    """{members: (id, labels)} of the features of a space."""
    sets = space.conjunctions.sets()
    n_basic = len(space.state.starts) - 1 - len(sets)
    every = [(i,) for i in range(n_basic)] + sets
    outputs = np.split(space.state.outputs, space.state.starts[1:-1])
    return {m: (i, set(out.tolist())) for i, (m, out) in enumerate(zip(every, outputs, strict=True)) if len(out)}


def shown_at(rows, positions):
    found = []
    for t in positions:
        (_, ids), values = rows.ids(t, t + 1), rows.weights(t, t + 1)
        found.append({int(i): float(v) for i, v in zip(ids, values, strict=True) if i < rows.n_basic})
    return found


def valued_attributes(rows):
    """Those of numbers and of a weighted bag; not what is read outside."""
    valued = {c.name for c in rows.sequences.columns if c.kind == "numeric" or getattr(c, "weights", None) is not None}
    assert valued
    names = {i: rows.name(i) for i in range(rows.n_basic)}
    return {i for i, (column, _, value) in names.items() if column in valued and value is not PADDING}


@given(
    seed=st.integers(0, 2**32),
    l2=st.sampled_from([0.025, 0.5, 3.0]),
    min_count=st.sampled_from([1, 2]),
    observed_only=st.booleans(),
    threshold=st.sampled_from([0.3, 0.95]),
    window=st.sampled_from([0, 1]),
    weighted=st.booleans(),
)
@example(
    seed=3482799, l2=0.025, min_count=1, observed_only=False, threshold=0.95, window=1, weighted=False
)  # plain Newton cycles
@settings(max_examples=30, deadline=None)
def test_gains_and_choice_equal_the_naive_twin(seed, l2, min_count, observed_only, threshold, window, weighted):
    rng = np.random.default_rng(seed)
    X, y = made(rng, weighted=weighted)
    training = training_of(X, y, weights=rng.integers(0, 3, len(X)) * 0.5)
    space = LinearSpace.bare(training, window)
    valued = valued_attributes(space.attributes(training))
    for features in a_few(rng, space.attributes(training).n_basic, valued, 3):
        space = enlarged(space, features)
    probabilities = rng.dirichlet(np.ones(3), size=len(training.codes))
    gold = training.codes
    there = np.flatnonzero((probabilities[np.arange(len(gold)), gold] < threshold) & (training.position_weights > 0))
    twin = NaiveInduction(
        shown_at(space.attributes(training), there), valued, members_of(space), l2, min_count, observed_only
    )
    expected = twin.ranked(probabilities[there], gold[there], training.position_weights[there])
    for n in (10**6, 7):
        found = candidates(space, training, probabilities, l2, n, min_count, observed_only, threshold)
        assert len(found.gains) == min(n, len(expected))
        np.testing.assert_allclose(found.gains, [e[0] for e in expected[:n]], rtol=1e-6, atol=1e-9)
        by_feature = {tuple(e[2:]): e[:2] for e in expected}
        for *feature, gain, mu in zip(*(part.tolist() for part in found), strict=True):
            assert by_feature[tuple(feature)][0] == pytest.approx(gain, rel=1e-6, abs=1e-9)
            assert by_feature[tuple(feature)][1] == pytest.approx(mu, abs=1e-3)


def test_equal_gains_are_ordered_by_attribute_context_and_label():
    X = [[["a", "b", "c"]], [["a", "b", "c"]], [["d"]]]
    training = training_of(X, [["x"], ["y"], ["z"]])
    found = candidates(LinearSpace.bare(training, 0), training, np.full((3, 3), 1 / 3), 0.5, 100)
    assert found.attributes.tolist() == [3, 0, 0, 1, 1, 2, 2]
    assert found.labels.tolist() == [2, 0, 1, 0, 1, 0, 1]
    fewer = candidates(LinearSpace.bare(training, 0), training, np.full((3, 3), 1 / 3), 0.5, 4)
    assert fewer.attributes.tolist() == [3, 0, 0, 1]


@pytest.mark.parametrize("n", [5, 40])
def test_threads_do_not_change_the_choice(n):
    rng = np.random.default_rng(0)
    X, y = made(rng, n_sequences=60)
    training = training_of(X, y)
    space = LinearSpace.bare(training, 1)
    for features in a_few(rng, space.attributes(training).n_basic, valued_attributes(space.attributes(training)), 3):
        space = enlarged(space, features)
    probabilities = rng.dirichlet(np.ones(3), size=len(training.codes))
    first, *others = (_chosen(space, training, probabilities, n, n_threads) for n_threads in (1, 2, 3, 8))
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, two)


def _chosen(space, training, probabilities, n, n_threads):
    return candidates(space, replace(training, n_threads=n_threads), probabilities, 0.1, n)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_a_conjunction_is_there_where_its_members_are(seed):
    rng = np.random.default_rng(seed)
    X, _ = made(rng)
    sequences = Encoder.fit(Sequences(X)).transform(Sequences(X))
    scalings = {"n": Scaling(0.0, 1.0)}
    basic = AttributeReader(sequences, Window.of(1), scalings)
    sets = {tuple(sorted(rng.permutation(basic.n_ids)[: rng.integers(1, 4)].tolist())) for _ in range(30)}
    conjunctions = Conjunctions.of(sorted(sets))
    assert conjunctions.sets() == sorted(sets)
    rows = AttributeReader(sequences, Window.of(1), scalings, conjunctions)
    assert rows.n_ids == basic.n_ids + len(sets)
    for t in range(sequences.n_positions):
        ids = set(basic.ids(t, t + 1)[1].tolist())
        conjoined = [basic.n_ids + c for c, members in enumerate(sorted(sets)) if ids.issuperset(members)]
        assert rows.ids(t, t + 1)[1].tolist() == [*basic.ids(t, t + 1)[1].tolist(), *conjoined]


@pytest.mark.parametrize(
    ("starts", "members", "message"),
    [
        ([1], [], "must begin with 0"),
        ([0, 0], [], "at least one member"),
        ([0, 2], [1], "end at the number"),
        ([0, 2], [2, 1], "rise"),
        ([0, 2], [1, 1], "rise"),
        ([0, 1], [-1], "rise"),
    ],
)
def test_broken_conjunctions_are_refused(starts, members, message):
    with pytest.raises(ValueError, match=message):
        Conjunctions(np.array(starts, np.int64), np.array(members, np.int32))


def test_conjunctions_of_attributes_that_are_not_there_are_refused():
    sequences = Sequences(["ab"])
    with pytest.raises(InputError, match="attributes of the columns"):
        AttributeReader(sequences, Window.of(0), None, Conjunctions.of([(0, 2)]))


# Neither letter says anything of the label, both together say all; what is before and after is noise.
NOTES = [[{"a": a, "b": b, "c": c} for a, b, c in piece] for piece in product(product("01", "01", "01"), repeat=2)]
XOR = [["same" if p["a"] == p["b"] else "other" for p in x] for x in NOTES]


def induced(**given_parameters):
    return hr.LinearCRF(**{"induce": "mccallum", "random_state": 0, "l2": 0.05, "max_iter": 60} | given_parameters)


def test_learns_what_needs_conjunctions():
    assert hr.LinearCRF(l2=0.05).fit(NOTES, XOR).score(NOTES, XOR) < 0.7
    model = induced().fit(NOTES, XOR)
    assert model.score(NOTES, XOR) == 1.0
    weights = model.state_features_
    assert weights["a:0 & b:0", "same"] > 0 > weights.get(("a:0 & b:0", "other"), -1)


def test_names_tell_the_offset_of_each_member():
    X = ["".join(letters) for letters in product("ab", repeat=4)]
    y = [[("=" if a == b else "#") for a, b in pairwise("a" + x)] for x in X]
    model = induced(window=1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert any(name == "symbol[-1]:a & symbol:b" for name, _ in model.state_features_)


def test_three_attributes_at_once():
    X = [[{"a": a, "b": b, "c": c}] for a, b, c in product("01", repeat=3)] * 5
    y = [[str((int(p["a"]) + int(p["b"]) + int(p["c"])) % 2) for p in x] for x in X]
    model = induced(max_iter=200).fit(X, y)
    assert model.score(X, y) == 1.0
    assert any(name.count("&") == 2 for name, _ in model.state_features_)


def test_history_counts_iterations_and_features():
    model = induced(max_iter=40, tol=1e-12).fit(NOTES, XOR)
    numbers = [record["step"] for record in model.training_log_]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) <= 40
    assert model.training_log_[0]["n_features"] == 0
    grown = [record["step"] for record in model.training_log_ if record["growing_seconds"] > 0]
    assert grown[0] == 9
    assert all((step - 1) % 8 == 0 for step in grown)
    assert model.training_log_[0]["n_sequences"] == round(0.2 * len(NOTES))
    assert model.training_log_[8]["n_sequences"] == round(0.5 * len(NOTES))
    assert model.training_log_[8]["n_features"] > 0
    assert model.training_log_[-1]["n_sequences"] == len(NOTES)
    assert model.training_log_[-1]["n_features"] == len(model.state_features_)
    objectives = [r["loss"] for r in model.training_log_ if r["n_sequences"] == len(NOTES)]
    noise = ROUNDING * sum(map(len, NOTES))
    assert all(later <= earlier + noise for earlier, later in pairwise(objectives))


def test_a_fit_ends_when_nothing_is_left_to_gain():
    model = induced(max_iter=10**6, l2=1.0).fit(NOTES, XOR)
    assert model.training_log_[-1]["step"] < 1000


def test_a_seed_gives_the_same_model_for_any_number_of_threads():
    first, *others = (induced(n_jobs=n).fit(NOTES, XOR) for n in (1, 1, 2, 3))
    for other in others:
        assert other.state_features_ == first.state_features_
        assert other.transition_features_ == first.transition_features_
        assert [r["loss"] for r in other.training_log_] == [r["loss"] for r in first.training_log_]


def test_another_seed_draws_other_shares():
    objectives = {induced(max_iter=8).set_params(random_state=seed).fit(NOTES, XOR).training_log_[-1]["loss"]
                  for seed in range(4)}  # fmt: skip
    assert len(objectives) > 1


def test_all_predictions_survive_a_file(tmp_path):
    rng = np.random.default_rng(1)
    X, y = made(rng, n_sequences=30)
    model = induced(window=1, max_iter=40).fit(X, y)
    assert len(model.model_.potential.conjunctions) > 0
    model.save(tmp_path / "m.hedgerow")
    again = hr.load(tmp_path / "m.hedgerow")
    assert again.get_params() == model.get_params()
    assert again.state_features_ == model.state_features_
    new, _ = made(np.random.default_rng(2), n_sequences=10)
    for decode in ("viterbi", "marginal"):
        for one, two in zip(model.predict(new, decode=decode), again.predict(new, decode=decode), strict=True):
            assert one.tolist() == two.tolist()
    for one, two in zip(model.predict_proba(new), again.predict_proba(new), strict=True):
        np.testing.assert_array_equal(one, two)
    for x, ranked in zip(new, again.predict_nbest(new, n=2), strict=True):
        assert ranked[0][1].tolist() == model.predict([x], decode="viterbi")[0].tolist()
        assert ranked[0][0] == pytest.approx(model.log_likelihood([x], [ranked[0][1]])[0], abs=1e-5)


def test_damaged_conjunctions_in_a_file_are_refused(tmp_path):
    model = induced(max_iter=40).fit(NOTES, XOR)
    metadata, arrays = model.model_.potential.to_arrays()
    stored = Stored(metadata, arrays, model.model_.encoder, len(model.classes_), 1)
    load = type(model.model_.potential).from_arrays
    load(stored)
    members = arrays["conjunctions.members"]
    for name, value, message in [
        ("conjunctions.members", np.full_like(members, 2**31 - 1), "must be below 6"),
        ("conjunctions.members", members[::-1].copy(), "members of a conjunction must rise"),
        ("conjunctions.members", members.astype(np.int64), "must have 1 dimensions of int32"),
        ("conjunctions.starts", arrays["conjunctions.starts"][:-1], "starts must end at the number of members"),
        ("conjunctions.starts", arrays["conjunctions.starts"].astype(np.int32), "must have 1 dimensions of int64"),
    ]:
        with pytest.raises(InputError, match=message):
            load(stored._replace(arrays={**arrays, name: value}))
    gone = {name: array for name, array in arrays.items() if not name.startswith("conjunctions")}
    with pytest.raises(InputError, match="do not fit the columns"):
        load(stored._replace(arrays=gone))
    (tmp_path / "m.hedgerow").write_bytes(b"nothing")
    with pytest.raises(ModelFileError):
        hr.load(tmp_path / "m.hedgerow")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"induce": "yes"}, "induce must be \"mccallum\", a dict of its rules, or None; it is 'yes'"),
        ({"induce": {"often": 3}}, "induce must be a dict of every, features, threshold, proportions; it has 'often'"),
        ({"induce": {"every": 0}}, "LinearCRF: induce: every must be an integer of at least 1; it is 0"),
        ({"induce": {"features": 2.5}}, "LinearCRF: induce: features must be an integer of at least 1; it is 2.5"),
        ({"induce": {"threshold": 1.5}}, "LinearCRF: induce: threshold must be .*; it is 1.5"),
        ({"induce": {"proportions": [0.5, 0]}}, "induce: proportions must be a list of numbers above 0 and at most 1"),
        ({"induce": {"proportions": "all"}}, "induce: proportions must be a list of numbers above 0 and at most 1"),
        ({"induce": {"every": 2}, "solver": "owlqn"}, 'induce needs solver="lbfgs"'),
        ({"solver": "owlqn"}, 'needs solver="lbfgs"'),
        ({"edge_features": True, "order": 0}, "but order is 0; use order=1 or higher"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        induced().set_params(**parameters).fit(NOTES, XOR)


def test_the_defaults_of_rules_are_mccallums():
    named, said = induced().fit(NOTES, XOR), induced(induce={"every": 8, "features": 500}).fit(NOTES, XOR)
    spelled = {"every": 8, "features": 500, "threshold": 0.95, "proportions": (0.2, 0.5, 0.8)}
    for other in (said, induced(induce={}).fit(NOTES, XOR), induced(induce=spelled).fit(NOTES, XOR)):
        assert other.state_features_ == named.state_features_


def test_rules_are_followed():
    rules = {"every": np.int64(3), "features": 2, "threshold": 0.9, "proportions": [0.5]}
    model = induced(induce=rules, max_iter=20, tol=1e-12).fit(NOTES, XOR)
    log = model.training_log_
    assert [record["n_sequences"] for record in log[:4]] == [round(0.5 * len(NOTES))] * 3 + [len(NOTES)]
    assert [record["n_features"] for record in log[:7]] == [0, 0, 0, 2, 2, 2, 4]


def test_the_first_induction_may_read_all_sequences():
    """Also where the model without features is optimal from the start, because labels are equally frequent."""
    X = [["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"]]
    y = [["x" if c == "a" else "y" for c in x] for x in X]
    model = induced(induce={"proportions": ()}, order=0).fit(X, y)
    assert {record["n_sequences"] for record in model.training_log_} == {len(X)}
    assert model.score(X, y) == 1.0


def test_a_lower_threshold_reads_fewer_positions():
    """Where the first iterations have made every gold label probable enough, nothing is added."""
    strict = induced(induce={"threshold": 1e-6}, max_iter=20).fit(NOTES, XOR)
    assert not strict.state_features_
    assert induced(max_iter=20).fit(NOTES, XOR).state_features_


def test_rules_are_stored(tmp_path):
    rules = {"every": 4, "features": 30, "proportions": (0.4,)}
    induced(induce=rules, max_iter=10).fit(NOTES, XOR).save(tmp_path / "m.hedgerow")
    assert hr.load(tmp_path / "m.hedgerow").induce == {**rules, "proportions": [0.4]}


def test_bad_samples_are_refused():
    training = training_of(NOTES, XOR)
    space = LinearSpace.bare(training, 0)
    reader, none = space.attributes(training).reader, np.zeros(1, np.int64)
    good = [np.array([0, 1]), np.full((2, 2), 0.5), np.zeros(2, np.int32), np.ones(2)]

    def induce(which, value):
        sample = [value if i == which else part for i, part in enumerate(good)]
        return _core.induce(reader, space.state.core, none, none[:0].astype(np.int32), *sample, 0.5, 1, True, 9, 1)

    assert len(induce(0, good[0])[0])
    for which, value, message in [
        (0, np.array([1, 1]), "positions must rise"),
        (0, np.array([0, 10**6]), "positions must rise"),
        (1, np.full((2, 3), 0.3), "positions, labels"),
        (1, np.full((2, 2), np.nan), "between 0 and 1"),
        (2, np.array([0, 2], np.int32), "gold labels must be below"),
        (3, np.zeros(2), "above 0"),
        (3, np.ones(3), "one gold label and one weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            induce(which, value)


@pytest.mark.parametrize("order", [1, 2])
def test_attributes_that_speak_of_edges(order):
    """Two letters that agree repeat the label before them, others change it."""
    X = ["".join(letters) for letters in product("abc", repeat=4)]
    y = []
    for x in X:
        labels = ["up"]
        for a, b in pairwise(x):
            labels.append(labels[-1] if a == b else {"up": "down", "down": "up"}[labels[-1]])
        y.append(labels)
    plain = induced(window=1, order=order).fit(X, y)
    model = induced(window=1, order=order, edge_features=True).fit(X, y)
    assert plain.score(X, y) < 0.9
    assert model.score(X, y) == 1.0
    features = model.model_.potential
    assert len(features.edge_features.starts) == len(features.state_features.starts)
    assert len(features.conjunctions) > 0


def test_edges_are_those_of_the_labels_that_an_attribute_speaks_of():
    training = training_of(NOTES, XOR)
    space = LinearSpace.bare(training, 0, edges=True)
    one = np.array([4, 1, 1], np.int32), np.array([-1, -1, 4], np.int32), np.array([1, 0, 1], np.int32)
    grown = enlarged(space, Candidates(*one, np.zeros(3), np.zeros(3)))
    assert grown.conjunctions.sets() == [(1, 4)]
    assert list(zip(grown.state.attributes.tolist(), grown.state.outputs.tolist(), strict=True)) == [
        (1, 0), (4, 1), (6, 1),
    ]  # fmt: skip
    assert list(zip(grown.edge.attributes.tolist(), grown.edge.outputs.tolist(), strict=True)) == [
        (1, 0), (1, 2), (4, 1), (4, 3), (6, 1), (6, 3),
    ]  # fmt: skip


def test_numbers_take_part_alone():
    rng = np.random.default_rng(3)
    X = [np.array(rng.normal(size=(6, 2)), np.float32) for _ in range(20)]
    y = [["high" if row[0] > 0 else "low" for row in x] for x in X]
    model = induced(l2=0.01).fit(X, y)
    assert model.score(X, y) > 0.95
    assert len(model.model_.potential.conjunctions) == 0
    assert model.state_features_
