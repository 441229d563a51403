"""The temperature of `calibrate`, against enumeration of label sequences and a grid of temperatures."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import storage
from hedgerow.errors import ConvergenceWarning, InputError, ModelFileError, NotFittedError, UnseenLabelWarning
from hedgerow.estimators.label_codes import label_codes
from hedgerow.inspection import calibration
from hedgerow.inspection.calibration import uncalibrated
from oracles import trust

LABELS = ["a", "b", "c"]


def noisy(seed, n=40, length=5, noise=0.3):
    """Letters that mostly are their labels; some sequences are a single position."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = rng.integers(3, size=rng.integers(1, length + 1))
        letters = np.where(rng.random(len(labels)) < noise, rng.integers(3, size=len(labels)), labels)
        X.append(["xyz"[i] for i in letters])
        y.append([LABELS[i] for i in labels])
    return X, y


ESTIMATORS = {
    "TreeCRF": hr.TreeCRF(n_rounds=5, n_jobs=1, random_state=0),
    "TreeCRF of trees": hr.TreeCRF(n_rounds=5, transitions="trees", n_jobs=1, random_state=0),
    "LinearCRF": hr.LinearCRF(n_jobs=1),
    "LinearCRF of order 2": hr.LinearCRF(order=2, l2=0.01, n_jobs=1),
    "HMM": hr.HMM(n_jobs=1),
    "MEMM": hr.MEMM(n_jobs=1),
    "FutureMEMM": hr.FutureMEMM(n_jobs=1, random_state=0),
    "averaged perceptron": hr.StructuredPerceptron(n_jobs=1, random_state=0),
    "plain perceptron": hr.StructuredPerceptron(averaging="none", n_jobs=1, random_state=0),
    "voted perceptron": hr.StructuredPerceptron(averaging="vote", n_jobs=1, random_state=0),
    "SVM": hr.StructuredSVM(n_jobs=1, random_state=0),
    "SearchTagger": hr.SearchTagger(n_jobs=1, random_state=0),
    "OutputCode": hr.OutputCode(base=hr.HMM(), n_bits=3, n_jobs=1, random_state=0),
    "OutputCode with a lattice": hr.OutputCode(base=hr.HMM(), n_bits=3, distance="lattice", n_jobs=1, random_state=0),
    "OutputCode of perceptrons": hr.OutputCode(
        base=hr.StructuredPerceptron(random_state=0), n_bits=3, n_jobs=1, random_state=0
    ),
}
X, Y = noisy(0)
X_DEV, Y_DEV = noisy(1)
X_TEST, _ = noisy(2)


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda name: name.replace(" ", "-"))
def pair(request):
    """A fitted estimator and its calibrated copy."""
    model = copy.deepcopy(ESTIMATORS[request.param]).fit(X, Y)
    return model, hr.calibrate(model, X_DEV, Y_DEV)


def total(model):
    values = model.log_likelihood(X_DEV, Y_DEV)
    return values[values > -np.inf].sum()


def at(model, temperature):
    other = copy.copy(model)
    other._set_model(replace(model.model_, temperature=temperature))
    return other


def test_the_calibrated_model_is_another_of_the_same_class(pair):
    model, calibrated = pair
    assert type(calibrated) is type(model)
    assert model.model_.temperature == 1
    assert calibrated.model_.temperature != 1
    assert calibrated.get_params() == model.get_params()


def test_no_other_temperature_makes_the_dev_labels_more_probable(pair):
    model, calibrated = pair
    best, temperature = total(calibrated), calibrated.model_.temperature
    assert best >= total(model)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert total(at(model, temperature * factor)) <= best + 1e-4


TRANSITIONS_ONLY = {
    "HMM": hr.HMM(),
    "LinearCRF": hr.LinearCRF(),
    "TreeCRF": hr.TreeCRF(n_rounds=5, transitions="table", random_state=0),
    "perceptron": hr.StructuredPerceptron(random_state=0),
    "SVM": hr.StructuredSVM(random_state=0),
    "SearchTagger": hr.SearchTagger(order=1, beam=64, random_state=0),
    "code": hr.OutputCode(base=hr.HMM(), n_bits=2, distance="lattice", random_state=0),
}


@pytest.mark.parametrize("name", TRANSITIONS_ONLY)
def test_transitions_alone_have_a_temperature(name):
    """All positions have the same attribute, so that only the labels before tell labels apart."""
    X, y = ["aaaa"] * 20, [list("pqpq")] * 18 + [list("ppqq"), list("rrrr")]
    X_dev, y_dev = ["aaaa"] * 6, [list("ppqq")] * 4 + [list("pqpq")] * 2
    model = copy.deepcopy(TRANSITIONS_ONLY[name]).fit(X, y)
    calibrated = hr.calibrate(model, X_dev, y_dev)

    def likelihood(temperature):
        return at(model, temperature).log_likelihood(X_dev, y_dev).sum()

    best = likelihood(calibrated.model_.temperature)
    assert best >= max(map(likelihood, np.geomspace(0.1, 100, 61))) - 1e-3
    if name in ("perceptron", "SVM", "SearchTagger"):
        fitted = copy.deepcopy(TRANSITIONS_ONLY[name]).fit(X, y, X_dev=X_dev, y_dev=y_dev)
        again = hr.calibrate(fitted, X_dev, y_dev)
        own, better = (one.log_likelihood(X_dev, y_dev).sum() for one in (fitted, again))
        assert own == pytest.approx(better, abs=0.01)


def test_best_paths_stay_the_same(pair):
    model, calibrated = pair
    before = model.predict(X_TEST, decode="viterbi")
    for temperature in (calibrated.model_.temperature, 0.25, 4.0):
        after = at(model, temperature).predict(X_TEST, decode="viterbi")
        assert all(map(np.array_equal, before, after))


def test_marginals_become_softer_or_sharper(pair):
    model, _ = pair
    soft, sharp = (np.concatenate(at(model, t).predict_proba(X_TEST)).max(axis=1).mean() for t in (3.0, 1 / 3))
    assert soft < sharp
    for p in at(model, 3.0).predict_proba(X_TEST):
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_probabilities_are_powers_of_those_without_temperature(pair):
    model, calibrated = pair
    if isinstance(model, hr.SearchTagger):
        pytest.skip("a beam sums over some paths only")
    x = ["x", "z", "y"]
    expected = trust.tempered(trust.path_probabilities(model, x), calibrated.model_.temperature)
    found = trust.path_probabilities(calibrated, x)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-7)
    for p, row in zip(calibrated.predict_proba([x])[0], trust.marginals(expected, LABELS), strict=True):
        assert p.tolist() == pytest.approx(list(row.values()), rel=1e-3, abs=1e-6)


def test_calibrating_twice_changes_nothing(pair):
    _, calibrated = pair
    again = hr.calibrate(calibrated, X_DEV, Y_DEV)
    assert again.model_.temperature == calibrated.model_.temperature


def test_threads_and_the_order_of_sequences_change_nothing(pair):
    model, calibrated = pair
    other = copy.copy(model).set_params(n_jobs=2)
    assert hr.calibrate(other, X_DEV, Y_DEV).model_.temperature == calibrated.model_.temperature
    shuffled = np.random.default_rng(0).permutation(len(X_DEV))
    permuted = hr.calibrate(model, [X_DEV[i] for i in shuffled], [Y_DEV[i] for i in shuffled])
    assert permuted.model_.temperature == pytest.approx(calibrated.model_.temperature, rel=1e-9)


def test_copies_and_files_keep_the_temperature(pair, tmp_path):
    _, calibrated = pair
    calibrated.save(tmp_path / "m.hedgerow")
    for other in (hr.load(tmp_path / "m.hedgerow"), copy.deepcopy(calibrated), pickle.loads(pickle.dumps(calibrated))):
        assert other.model_.temperature == calibrated.model_.temperature
        for p, q in zip(calibrated.predict_proba(X_TEST), other.predict_proba(X_TEST), strict=True):
            assert (p == q).all()


def test_a_new_fit_forgets_the_temperature(pair):
    model, calibrated = pair
    other = copy.copy(calibrated)
    assert other.fit(X, Y).model_.temperature == 1
    assert hr.calibrate(model, X_DEV, Y_DEV).model_.temperature == calibrated.model_.temperature


def test_the_temperature_is_that_of_a_grid_search():
    model = hr.LinearCRF(n_jobs=1, l2=0.001).fit(X, Y)
    distributions = [trust.path_probabilities(model, x) for x in X_DEV]
    grid = np.exp(np.arange(-1, 2, 0.01)).tolist()
    expected = trust.best_temperature(distributions, Y_DEV, grid)
    assert hr.calibrate(model, X_DEV, Y_DEV).model_.temperature == pytest.approx(expected, rel=0.011)


def test_a_beam_keeps_the_gold_path():
    model = hr.LinearCRF(n_jobs=1).fit(X, Y).set_params(beam=2)
    calibrated = hr.calibrate(model, X_DEV, Y_DEV)
    for factor in (0.9, 1.1):
        assert total(at(model, calibrated.model_.temperature * factor)) < total(calibrated)


@pytest.mark.parametrize("name", ["MEMM", "FutureMEMM"])
@pytest.mark.parametrize("beam", [1, 2])
def test_the_likelihood_under_a_beam_is_one_function_of_the_temperature(name, beam):
    """Also of models whose scores add up to log-probabilities at the temperature 1."""
    model = copy.deepcopy(ESTIMATORS[name]).set_params(order=2).fit(X, Y).set_params(beam=beam)
    encoded = model._encode(X_DEV)
    loss = calibration._DevLoss(model, encoded, label_codes(model.model_.labels, Y_DEV, encoded, "y_dev"))
    assert loss(1.0) == pytest.approx(loss(1.0001), abs=0.01)
    low, high = loss.bounds()
    calibrated = hr.calibrate(model, X_DEV, Y_DEV)
    chosen = calibrated.model_.temperature
    assert chosen != pytest.approx(1, abs=0.01)
    others = {min(max(factor * chosen, low), high) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)}
    for other in others - {1.0}:
        assert total(at(model, other)) <= total(calibrated) + 0.02  # at a bound the search ends just before it


def test_scores_that_are_computed_again_give_the_same(monkeypatch):
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    expected = hr.calibrate(model, X_DEV, Y_DEV).model_.temperature
    monkeypatch.setattr(calibration, "MAX_KEPT_SCORES", 200)
    assert hr.calibrate(model, X_DEV, Y_DEV).model_.temperature == pytest.approx(expected, rel=1e-9)
    monkeypatch.setattr(calibration, "MAX_KEPT_SCORES", 0)
    assert hr.calibrate(model, X_DEV, Y_DEV).model_.temperature == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["averaged perceptron", "SVM", "SearchTagger", "OutputCode"])
def test_the_temperature_of_an_estimator_is_the_product(name):
    model = copy.deepcopy(ESTIMATORS[name]).fit(X, Y, X_dev=X_DEV, y_dev=Y_DEV)
    own = model.model_.potential.temperature
    calibrated = hr.calibrate(model, *noisy(3))
    assert model.temperature_ == own
    assert calibrated.temperature_ == pytest.approx(own * calibrated.model_.temperature)
    assert hr.calibrate(model, X_DEV, Y_DEV).model_.temperature == pytest.approx(1, abs=0.05)  # the same dev data


def test_easy_dev_data_leave_a_bounded_temperature():
    """Right labels are certain, in floating point, before the temperature reaches its lowest value."""
    model = hr.LinearCRF(n_jobs=1).fit(["xyz"] * 5, [["a", "b", "c"]] * 5)
    with pytest.warns(ConvergenceWarning, match="labels of all 1 dev sequences are the gold labels"):
        calibrated = hr.calibrate(model, ["xyz"], [["a", "b", "c"]])
    spread = calibration._spread(next(iter(model._answers(model._encode(["xyz"])))))
    assert min(1, spread) / 20 <= calibrated.model_.temperature < 0.1
    assert calibrated.log_likelihood(["xyz"], [["a", "b", "c"]])[0] == pytest.approx(0, abs=1e-9)


def test_one_mistake_among_many_dev_sequences_is_enough():
    model = hr.LinearCRF(n_jobs=1).fit(["xyz"] * 5 + ["xyy"], [["a", "b", "c"]] * 5 + [["a", "b", "b"]])
    assert model.predict(["xyy"], decode="viterbi")[0].tolist() == ["a", "b", "b"]
    calibrated = hr.calibrate(model, [*["xyz"] * 20_000, "xyy"], [["a", "b", "c"]] * 20_001)  # without a warning
    assert calibrated.model_.temperature < 1


def test_wrong_dev_labels_leave_the_highest_temperature():
    model = hr.LinearCRF(n_jobs=1).fit(["xyz"] * 5, [["a", "b", "c"]] * 5)
    calibrated = hr.calibrate(model, ["xyz"], [["c", "a", "b"]])
    spread = calibration._spread(next(iter(model._answers(model._encode(["xyz"])))))
    assert calibrated.model_.temperature == pytest.approx(max(1, spread) * 20, rel=0.01)


LEFT_OUT = r"y_dev never occurred in training \('new'\): sequences with such a label are left out$"


def test_sequences_with_impossible_labels_are_left_out():
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    expected = hr.calibrate(model, X_DEV, Y_DEV).model_.temperature
    with pytest.warns(UnseenLabelWarning, match=LEFT_OUT):
        found = hr.calibrate(model, [*X_DEV, ["x", "y"]], [*Y_DEV, ["a", "new"]])
    assert found.model_.temperature == expected
    with pytest.warns(UnseenLabelWarning), pytest.raises(InputError, match="labels that the model can give"):
        hr.calibrate(model, [["x", "y"]], [["a", "new"]])
    allowed = [(None, label) for label in "abc"] + [("a", "b"), ("b", "c")]
    bound = hr.LinearCRF(n_jobs=1, constraints=allowed).fit(["xyz", "xy"], [["a", "b", "c"], ["a", "b"]])
    with pytest.raises(InputError, match="labels that the model excludes"):
        hr.calibrate(bound, ["xx"], [["a", "a"]])
    one = hr.calibrate(bound, ["yy", "x"], [["b", "c"], ["b"]])
    assert hr.calibrate(bound, ["xx", "yy", "x"], [["a", "a"], ["b", "c"], ["b"]]).model_.temperature == pytest.approx(
        one.model_.temperature
    )


def test_sequences_that_are_left_out_do_not_widen_the_bounds():
    y = [["a"], ["b"]] * 5
    model = hr.LinearCRF(n_jobs=1, order=0).fit([[{"n": 1.0}], [{"n": 2.0}]] * 5, y)
    wrong, huge = [[{"n": 1.0}], [{"n": 2.0}]], [{"n": 1e6}]
    expected = hr.calibrate(model, wrong, [["b"], ["a"]]).model_.temperature
    with pytest.warns(UnseenLabelWarning):
        found = hr.calibrate(model, [*wrong, huge], [["b"], ["a"], ["new"]])
    assert found.model_.temperature == expected


def test_bad_input_is_refused():
    model = hr.HMM(n_jobs=1)
    with pytest.raises(NotFittedError):
        hr.calibrate(model, X_DEV, Y_DEV)
    model.fit(X, Y)
    with pytest.raises(InputError, match=r"must be a fitted estimator, but got .*Model.*; pass the estimator"):
        hr.calibrate(model.model_, X_DEV, Y_DEV)
    with pytest.raises(InputError, match="X_dev: X must hold at least one sequence"):
        hr.calibrate(model, [], [])
    with pytest.raises(InputError, match="sequence 0 has 2 positions but 1 label"):
        hr.calibrate(model, [["x", "y"]], [["a"]])


def test_a_stored_temperature_is_checked(tmp_path):
    path = tmp_path / "m.hedgerow"
    hr.calibrate(hr.HMM(n_jobs=1).fit(X, Y), X_DEV, Y_DEV).save(path)
    arrays, metadata = storage.read(path)
    for wrong in (0.0, -1.0, "2", 1e9, None):
        storage.write(tmp_path / "wrong.hedgerow", dict(arrays), {**metadata, "temperature": wrong})
        with pytest.raises(ModelFileError, match="temperature must be a number"):
            hr.load(tmp_path / "wrong.hedgerow")
    hr.HMM(n_jobs=1).fit(X, Y).save(path)
    assert "temperature" not in storage.read(path)[1]


def test_what_is_said_about_models_without_probabilities():
    for name in ("averaged perceptron", "SVM", "SearchTagger", "voted perceptron"):
        model = copy.deepcopy(ESTIMATORS[name]).fit(X, Y)
        assert "not calibrated probabilities" in (uncalibrated(model) or "")
        assert uncalibrated(hr.calibrate(model, X_DEV, Y_DEV)) is None
    assert uncalibrated(hr.HMM().fit(X, Y)) is None
    assert uncalibrated(copy.deepcopy(ESTIMATORS["OutputCode with a lattice"]).fit(X, Y)) is None
    assert uncalibrated(copy.deepcopy(ESTIMATORS["SVM"]).fit(X, Y, X_dev=X_DEV, y_dev=Y_DEV)) is None


def test_errors_name_the_arguments():
    model = hr.HMM().fit(X, Y)
    with pytest.raises(InputError, match=r"^y_dev: y must hold a list of labels for each sequence"):
        hr.calibrate(model, X_DEV, Y_DEV[1:])
