"""Parameters: numpy scalars for each of them, seeds from generators, unknown names, and what signatures show."""

from __future__ import annotations

import inspect
import json
import re

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.estimators.parameters import ELSEWHERE, parameters
from hedgerow.estimators.registry import REGISTRY

pytestmark = [
    pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning"),
    pytest.mark.filterwarnings("ignore::hedgerow.errors.BeamWarning"),
    pytest.mark.filterwarnings("ignore::hedgerow.errors.BagWarning"),
    pytest.mark.filterwarnings("ignore::hedgerow.errors.ConvergenceWarning"),
]

X = ["cat", "dog", "cog", "at", "dot", "tact"]
Y = [[c if c in "ao" else "-" for c in x] for x in X]
#: Short fits.
SHORT = {"n_rounds": 2, "epochs": 2, "max_iter": 3, "n_bits": 3}
#: Values that say more than the default, or that a default of None needs.
VALUES = {
    "beam": 2, "n_bits": 3, "random_state": 3, "early_stopping": "accuracy", "induce": "mccallum", "l1": 0.1,
    "bag": 2, "cascade": 1, "code": "random", "patience": 2, "validation_fraction": 0.3,
}  # fmt: skip
#: What a value needs beside it.
WITH = {("LinearCRF", "l1"): {"solver": "owlqn"}}
NUMPY = {
    int: (np.int64, np.int32, np.uint8),
    float: (np.float64, np.float32),
    bool: (np.bool_,),
    str: (np.str_,),
}
ALL = [(name, parameter) for name in sorted(REGISTRY) for parameter in parameters(REGISTRY[name])]


def numpy_scalars(value):
    for make in NUMPY.get(type(value), ()):
        if make is np.uint8 and not 0 <= value < 256:
            continue
        scalar = make(value)
        if scalar.item() == value:  # not what single precision rounds
            yield scalar


def short(name):
    return {key: value for key, value in SHORT.items() if key in parameters(REGISTRY[name])}


def values_of(name, parameter, tmp_path):
    declared = parameters(REGISTRY[name])[parameter]
    if parameter == "checkpoint":
        return [str(tmp_path / "checkpoint")]
    if parameter in VALUES | SHORT:
        return [(VALUES | SHORT)[parameter]]
    return list(declared.choices) or [declared.default]


@pytest.mark.parametrize(("name", "parameter"), ALL)
def test_numpy_scalars_are_as_good_as_python_s(name, parameter, tmp_path):
    make = REGISTRY[name]
    dev = (X, Y)
    for value in values_of(name, parameter, tmp_path):
        others = short(name) | {"random_state": 0} | WITH.get((name, parameter), {})
        outcomes = []
        for same in (value, *numpy_scalars(value)):
            model = make(**others | {parameter: same})
            (tmp_path / "checkpoint").unlink(missing_ok=True)
            try:
                model.fit(X, Y, *dev)
            except InputError as error:  # some values do not go together; then none of their types does
                outcomes.append(str(error))
                continue
            assert model.get_params()[parameter] is same
            stored = model.model_.parameters[parameter]
            assert stored is None or type(stored) in (int, float, bool, str, list, dict), type(stored)
            arrays = model.model_.potential.to_arrays()[1]
            outcomes.append({name: array.tolist() for name, array in arrays.items()})
        assert all(outcome == outcomes[0] for outcome in outcomes), (value, parameter)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_numpy_float_is_not_rounded_to_single_precision(name):
    for parameter, declared in parameters(REGISTRY[name]).items():
        if declared.type is float:
            assert type(declared.convert(np.float32(0.5))) is float, parameter
            assert declared.convert(np.float64(0.1)) == 0.1, parameter


def test_wrong_kinds_of_numpy_scalars_are_refused():
    for change in ({"order": np.float64(1)}, {"order": np.bool_(True)}, {"smoothing": np.float64("nan")}):
        with pytest.raises(InputError, match="must be"):
            hr.HMM(**change).fit(X, Y)


def test_random_search_and_grids_of_numpy_numbers():
    from scipy.stats import expon
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    model = hr.LinearCRF(solver="owlqn", max_iter=5)
    spread = {"l1": expon(scale=0.1), "l2": expon(scale=0.1)}
    search = RandomizedSearchCV(model, spread, n_iter=3, cv=2, random_state=0).fit(X, Y)
    assert type(search.best_params_["l1"]) is np.float64
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
    grid = GridSearchCV(hr.LinearCRF(max_iter=5), {"l2": np.logspace(-3, 1, 3), "order": np.arange(2)}, cv=2).fit(X, Y)
    json.dumps(grid.best_estimator_.model_.parameters)


@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("name", ["StructuredPerceptron", "TreeCRF", "OutputCode"])
def test_a_generator_gives_the_seed(generator, name, tmp_path):
    x = ["".join(np.random.default_rng(i).choice(list("abcd"), 12)) for i in range(20)]
    y = [[str((ord(c) + i) % 3) for i, c in enumerate(s)] for s in x]
    more = short(name) | ({"subsample": 0.5} if name == "TreeCRF" else {})

    def answers(random_state):
        model = REGISTRY[name](random_state=random_state, **more).fit(x, y)
        assert model.random_state is random_state
        return model, [p.tolist() for p in model.predict_proba(x)]

    model, first = answers(generator(0))
    assert answers(generator(0))[1] == first
    seed = model.model_.parameters["random_state"]
    assert answers(seed)[1] == first
    running = generator(0)
    assert answers(running)[1] == first
    assert answers(running)[0].model_.parameters["random_state"] != seed  # each fit draws another one
    model.save(tmp_path / "m")
    assert hr.load(tmp_path / "m").random_state == seed


def test_an_unknown_parameter_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match=r"^TreeCRF has no parameter 'windw'; did you mean 'window'\?$"):
        hr.TreeCRF(windw=3)
    with pytest.raises(InputError, match=r"^TreeCRF has no parameter 'max_leafs'; did you mean 'max_leaves'\?$"):
        hr.TreeCRF().set_params(max_leafs=3)
    with pytest.raises(TypeError, match=r"^HMM has no parameter 'zzz'; it has smoothing, order, decode"):
        hr.HMM(zzz=1)
    with pytest.raises(InputError, match=r"^LinearCRF has no parameter 'L2'; did you mean 'l2'\?$"):
        hr.LinearCRF().set_params(L2=1)


@pytest.mark.parametrize(
    ("name", "parameter", "cure"),
    [
        ("TreeCRF", "max_depth", "use 'max_leaves' here"),
        ("TreeCRF", "n_estimators", "use 'n_rounds' here"),
        ("LinearCRF", "num_iterations", "use 'max_iter' here"),
        ("StructuredPerceptron", "n_iter", "use 'epochs' here"),
        ("LinearCRF", "algorithm", "use 'solver' here"),
        ("LinearCRF", "C", "use 'l2' here; a larger l2 does what a smaller C does"),
        ("HMM", "max_depth", "it has smoothing, order, decode, constraints, features, n_jobs, random_state, verbose"),
        ("StructuredSVM", "c", "did you mean 'C'?"),
    ],
)
def test_a_parameter_of_another_library_is_refused_with_its_name_here(name, parameter, cure):
    with pytest.raises(TypeError, match=re.escape(f"{name} has no parameter {parameter!r}; {cure}") + "$"):
        REGISTRY[name](**{parameter: 1})


def test_the_names_of_other_libraries_are_those_of_some_estimator():
    known = {parameter for cls in REGISTRY.values() for parameter in cls().get_params()}
    assert {name for names in ELSEWHERE.values() for name in names} <= known


def test_parameters_without_a_name_are_refused():
    with pytest.raises(TypeError, match=r"^LinearCRF takes its parameters by name, for example window=3$"):
        hr.LinearCRF(*[3])
    with pytest.raises(TypeError, match=r"^OutputCode takes its parameters by name, for example base=TreeCRF\(\)$"):
        hr.OutputCode(*[hr.TreeCRF()])


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_signature_and_docstring_are_made_from_the_declarations(name):
    cls = REGISTRY[name]
    signature = inspect.signature(cls)
    assert list(signature.parameters) == list(cls().get_params(deep=False))
    for parameter in signature.parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert "Annotated" not in str(parameter)
    text = cls.__doc__
    assert "\nParameters\n----------\n" in text
    for parameter, declared in parameters(cls).items():
        assert f"\n{parameter} : " in text
        assert declared.help
    assert max(map(len, text.splitlines())) <= 120


def test_n_jobs_none_is_all_processors():
    from hedgerow.estimators.threads import n_threads

    assert n_threads(None) == n_threads(-1)
    assert hr.HMM(n_jobs=None).fit(X, Y).score(X, Y) == 1.0


def test_one_thread_labels_a_sentence():
    from hedgerow.estimators.threads import FEW_POSITIONS, n_threads, threads_to_label, threads_to_read

    sentence = ["word"] * FEW_POSITIONS
    assert threads_to_read(4, [sentence]) == threads_to_read(4, ["x" * 9, "y"]) == 1
    assert threads_to_label(4, FEW_POSITIONS) == 1
    assert threads_to_label(4, FEW_POSITIONS + 1) == threads_to_read(4, [sentence, ["word"]]) == 4
    for others in (hr.Sequences(["x"]), iter(["x"]), [np.zeros((9, 9))], None):  # not looked into
        assert threads_to_read(-1, others) == n_threads(-1)


def test_min_freq_counts_pairs_or_attributes():
    """In y, the letter a has the label 1 three times and 0 once; b occurs once."""
    X, y = [["a", "a", "a", "a", "b"], ["c", "c", "c", "d", "d"]], [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]
    pairs = hr.LinearCRF(min_freq=2).fit(X, y).state_features_
    assert set(pairs) == {("symbol:a", 1), ("symbol:c", 0), ("symbol:d", 1)}
    pairs = hr.MEMM(learner="linear", min_freq=2).fit(X, y).state_features_
    assert set(pairs) == {("symbol:a", 1), ("symbol:c", 0), ("symbol:d", 1)}
    attributes = {attribute for attribute, _ in hr.LinearCRF(min_freq=2, observed_only=False).fit(X, y).state_features_}
    assert attributes == {"symbol:a", "symbol:c", "symbol:d"}
    for make in (hr.StructuredPerceptron, hr.StructuredSVM, hr.SearchTagger):
        weights = make(min_freq=2, random_state=0).fit(X, y).state_features_
        assert {("symbol:a", 0), ("symbol:a", 1)} <= set(weights)
        assert not any(attribute == "symbol:b" for attribute, _ in weights)
