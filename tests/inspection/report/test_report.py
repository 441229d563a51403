"""The file of the report: what is in it, what is not, and what is refused."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection.report import content as page_limits
from hedgerow.inspection.report import explanation_data, learned_section, shown_columns, training_section
from hedgerow.inspection.report import sequence_data as limits
from hedgerow.inspection.report.markup import shown
from hedgerow.inspection.report.page import json_text, styles_as_classes
from inspection.report.pages import page_of, words_of

X = [["the", "cat", "sat"], ["a", "dog"], ["dogs", "ran", "home"]]
Y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP"], ["B-NP", "B-VP", "B-ADVP"]]


@pytest.fixture(scope="module")
def model() -> hr.LinearCRF:
    return hr.LinearCRF(max_iter=10, n_jobs=1).fit(X, Y)


def test_the_data_of_the_browser_are_the_predictions(tmp_path: Path, model: hr.LinearCRF) -> None:
    wrong = [["B-NP", "B-NP", "B-VP"], *Y[1:]]
    page = page_of(tmp_path, model, X, wrong)
    data = page.data
    assert words_of(page) == [word for x in X for word in x]
    predicted = [data["labels"][code] for code in data["predicted"]]
    assert predicted == np.concatenate(model.predict(X)).tolist()
    gold = list(predicted)
    for place, code in data["gold"]:
        gold[place] = data["labels"][code]
    assert gold == [label for y in wrong for label in y]
    tables, codes = np.concatenate(model.predict_proba(X)), {label: i for i, label in enumerate(model.classes_)}
    chances = [table[model.classes_.tolist().index(label)] for table, label in zip(tables, predicted, strict=True)]
    np.testing.assert_allclose(data["probability"], np.array(chances) * 1000, atol=0.5001)
    for row in data["listed"]:
        place, *pairs = row
        named = {data["labels"][code]: amount for code, amount in zip(pairs[::2], pairs[1::2], strict=True)}
        best = [label for _, label in sorted(zip(tables[place], model.classes_.tolist(), strict=True), reverse=True)]
        right = gold[place] == predicted[place]
        assert list(named) == best[: len(named)] or (
            not right and list(named) == [*best[: len(named) - 1], gold[place]]
        )
        assert right or named[gold[place]] == pytest.approx(1000 * tables[place][codes[gold[place]]], abs=0.5001)
    assert {place for place, _ in data["gold"]} <= {row[0] for row in data["listed"]}
    assert data["lengths"] == [3, 2, 3]
    assert data["pieces"] == {}


def test_the_policy_allows_only_what_is_in_the_file(tmp_path: Path, model: hr.LinearCRF) -> None:
    page = page_of(tmp_path, model, X, Y)
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert not {"src", "srcset", "action", "formaction"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#"), tag
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", page.text)


def test_sections_follow_what_is_there(tmp_path: Path, model: hr.LinearCRF) -> None:
    assert page_of(tmp_path, model, X, Y).sections == [
        "summary", "training", "confusions", "calibration", "learned", "sequences",
    ]  # fmt: skip
    unlabelled = page_of(tmp_path, model, X)
    assert unlabelled.sections == ["summary", "training", "learned", "sequences"]
    assert unlabelled.data["gold"] is None
    empty = page_of(tmp_path, model, [], [])
    assert empty.sections == ["summary", "training", "learned"]
    assert "There are no sequences" in empty.text


def test_markup_in_words_and_labels_is_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    X = [[evil, "<b>", "&amp;", 'x" style="color:red']]
    y = [["<i>", "O", '"><img src=x>', "O"]]
    model = hr.LinearCRF(max_iter=3, n_jobs=1).fit(X, y)
    page = page_of(tmp_path, model, X, [["O", "<i>", "O", "<i>"]], title=evil)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2
    assert not {"img", "b", "i"} & set(tags)
    assert words_of(page) == X[0]
    assert page.contents["h1"] == evil


def test_control_characters_are_shown_as_escapes(tmp_path: Path) -> None:
    assert shown("a\x1b[31m\u202eb\ud800") == r"a\x1b[31m\u202eb\ud800"
    assert len(shown("x" * 10_000)) == 121
    X = [["a\x00b", "\u2028", "x" * 10_000]]
    model = hr.HMM().fit(X, [["A", "B", "A"]])
    page = page_of(tmp_path, model, X, [["A", "B", "A"]])
    assert words_of(page) == [r"a\x00b", r"\u2028", "x" * 120 + "…"]
    assert "\u2028" not in page.text


def test_blank_words_are_visible(tmp_path: Path) -> None:
    X = [["", " ", "a"]]
    assert words_of(page_of(tmp_path, hr.HMM().fit(X, [["A", "B", "A"]]), X)) == ['""', '" "', "a"]


def test_gold_labels_that_training_never_saw_are_named(tmp_path: Path, model: hr.LinearCRF) -> None:
    with pytest.warns(hr.errors.UnseenLabelWarning):
        page = page_of(tmp_path, model, X[:1], [["B-NP", "new", "B-VP"]])
    assert "training never saw, which count as wrong: new." in page.text
    assert "training never saw, which" not in page_of(tmp_path, model, X, Y).text


def test_explanations_are_fewer_where_they_take_long(tmp_path: Path, model: hr.LinearCRF, monkeypatch: Any) -> None:
    assert explanation_data.scores_at_a_position(model) == len(model.classes_) ** 2
    assert explanation_data.scores_at_a_position(hr.HMM(order=0).fit(X, Y)) == len(model.classes_)
    gold = [Y[0], ["B-VP", "B-VP"], Y[2]]
    for most, expected in ((2, 0), (3, 1), (4, 2), (8, 3), (100, 8)):
        monkeypatch.setattr(explanation_data, "MOST_NUMBERS", most * len(model.classes_) ** 2)
        assert len(page_of(tmp_path, model, X, gold).data["explanations"]["at"]) == expected


def test_json_text_is_inert_and_reads_back() -> None:
    value = {"a": ["</script>", "<!--", "&", "\u2028\u2029", "é", None, 1]}
    text = json_text(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_styles_become_classes() -> None:
    found, rules = styles_as_classes('<a style="x:1" class="k">style="no"</a><b style="x:1"/><i style="y:2">')
    assert found == '<a class="k s0">style="no"</a><b class="s0"/><i class="s1">'
    assert rules == ".s0{x:1}\n.s1{y:2}\n"


ESTIMATORS = [
    hr.TreeCRF(n_rounds=3, n_jobs=1),
    hr.LinearCRF(max_iter=3, n_jobs=1),
    hr.StructuredPerceptron(epochs=2, n_jobs=1),
    hr.StructuredPerceptron(epochs=2, averaging="vote", n_jobs=1),
    hr.StructuredSVM(epochs=2, n_jobs=1),
    hr.HMM(n_jobs=1),
    hr.MEMM(n_rounds=2, n_jobs=1),
    hr.FutureMEMM(n_jobs=1),
    hr.SearchTagger(epochs=2, n_jobs=1),
    hr.OutputCode(n_bits=4, base=hr.LinearCRF(max_iter=3, n_jobs=1), n_jobs=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_every_estimator_has_a_report(tmp_path: Path, estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = estimator.fit(X * 4, Y * 4)
    page = page_of(tmp_path, fitted, X, Y)
    assert "sequences" in page.sections
    assert (page.data["doubt"] is None) == (hr.inspection.reliability(fitted, X, Y).note is None)


def test_tests_of_trees_have_a_table(tmp_path: Path) -> None:
    numbers = [np.arange(12.0).reshape(4, 3), np.ones((2, 3))]
    page = page_of(tmp_path, hr.TreeCRF(n_rounds=2, n_jobs=1).fit(numbers, [[0, 1, 0, 1], [1, 1]]), numbers)
    section = page.text.split('id="learned"')[1].split("</section>")[0]
    assert "Tests as a table" in section
    assert "<bdi>x0</bdi>" in section
    assert "any value" not in section


def test_the_summary_says_the_order_and_the_temperature(tmp_path: Path) -> None:
    model: Any = hr.SearchTagger(order=2, epochs=2, n_jobs=1).fit(X * 4, Y * 4)
    for fitted in (model, hr.calibrate(model, X, [y[::-1] for y in Y])):
        text = page_of(tmp_path, fitted, X).text
        assert '<th scope="row">order</th><td><bdi>2</bdi>' in text
        words = f"scores divided by {fitted.model_.temperature:.4g}"
        assert (words in text) == (fitted is not model)


def test_inputs_of_other_kinds(tmp_path: Path) -> None:
    numbers = [np.arange(12.0).reshape(4, 3), np.ones((2, 3))]
    y = [[0, 1, 0, 1], [1, 1]]
    data = page_of(tmp_path, hr.TreeCRF(n_rounds=2, n_jobs=1).fit(numbers, y), numbers, y).data
    assert data["text"] is None
    assert [column["name"] for column in data["columns"]] == ["x0", "x1", "x2"]
    assert data["labels"] == ["0", "1"]
    dicts = [[{"n": 1.5, "word": "a", "tag": "T"}, {"n": None, "word": None, "tag": "U"}]]
    data = page_of(tmp_path, hr.TreeCRF(n_rounds=2, n_jobs=1).fit(dicts, [["A", "B"]]), dicts, [["A", "B"]]).data
    names = [column["name"] for column in data["columns"]]
    assert {data["text"]["name"], *names} == {"n", "word", "tag"}
    assert "(missing)" in data["text"]["values"] + data["columns"][0]["values"]
    bags = [[["x", "y"], ["z"]]]
    data = page_of(tmp_path, hr.LinearCRF(max_iter=2, n_jobs=1).fit(bags, [["A", "B"]]), bags, [["A", "B"]]).data
    assert data["text"]["values"] == ["x, y", "z"]


def test_one_class_and_unseen_gold_labels(tmp_path: Path, model: hr.LinearCRF) -> None:
    page = page_of(tmp_path, hr.HMM().fit(["ab", "b"], [["A", "B"], ["B"]]), ["a"], [["A"]])
    assert "Every position has its gold label" in page.text
    with pytest.warns(hr.errors.UnseenLabelWarning):
        page = page_of(tmp_path, model, X[:1], [["B-NP", "new", "B-VP"]])
    assert "new" in page.data["labels"]
    assert page.data["labels"].index("new") in [code for _, code in page.data["gold"]]


def test_many_labels_stay_small(tmp_path: Path) -> None:
    n = 10_000
    X = [[f"w{i}" for i in range(j, j + 100)] for j in range(0, n, 100)]
    y = [[f"L{i}" for i in range(j, j + 100)] for j in range(0, n, 100)]
    model = hr.SearchTagger(epochs=1, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    page = page_of(tmp_path, model, X[:3], y[1:4])
    assert len(page.text) < 1_000_000


def test_long_data_are_cut(tmp_path: Path, model: hr.LinearCRF, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_PIECE", 5)
    long = [["the"] * 12, ["cat"] * 3, ["dog"] * 4]
    data = page_of(tmp_path, model, long).data
    assert (data["sequences"], data["lengths"]) == ([0, 0, 0, 1, 2], [5, 5, 2, 3, 4])
    assert data["pieces"] == {"0": [0, 12], "1": [5, 12], "2": [10, 12]}
    assert [data["labels"][code] for code in data["predicted"]] == np.concatenate(model.predict(long)).tolist()
    monkeypatch.setattr(page_limits, "MOST_POSITIONS", 9)
    page = page_of(tmp_path, model, long)
    assert sum(page.data["lengths"]) == len(page.data["predicted"]) <= 9
    assert f"The page has {sum(page.data['lengths'])} of 19 positions, in pieces of" in page.text
    assert "Longer sequences are divided into pieces of 5 positions" in page.text


def test_pieces_with_errors_come_first(tmp_path: Path, model: hr.LinearCRF, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_PIECE", 4)
    monkeypatch.setattr(page_limits, "MOST_POSITIONS", 4)
    x = ["the", "cat"] * 8
    y = model.predict([x])[0].tolist()
    y[10] = "B-ADVP" if y[10] != "B-ADVP" else "B-NP"
    data = page_of(tmp_path, model, [x], [y]).data
    assert data["pieces"] == {"0": [8, 16]}
    assert [place for place, _ in data["gold"]] == [2]


def test_columns_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_columns, "MOST_COLUMNS", 2)
    X = [[{f"c{i}": "v" for i in range(6)}] * 2]
    page = page_of(tmp_path, hr.LinearCRF(max_iter=2, n_jobs=1).fit(X, [["A", "B"]]), X)
    data = page.data
    assert len(data["columns"]) == 2
    assert "The panel leaves out 3 columns: c3, c4, c5." in page.text


FIT_AND_REPORT = """
import sys
import hedgerow as hr

X = [["the", "cat", "sat"], ["a", "dog"], ["dogs", "ran", "home"]] * 4
y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP"], ["B-NP", "B-VP", "B-ADVP"]] * 4
gold = [["B-NP", "B-NP", "B-VP"], *y[1:3], ["B-PP", "I-PP", "O"], *y[4:]]
model = hr.TreeCRF(n_rounds=3, random_state=0, n_jobs=1).fit(X, y)
hr.report(model, X, gold, sys.argv[1], compare=hr.HMM().fit(X, y))
"""


def test_the_same_page_for_repeated_runs(tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.html"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-W", "ignore", "-c", FIT_AND_REPORT, str(path)]
        subprocess.run(command, check=True, env=environment)
        text, n_times = re.subn(r"(3 rounds), \d+\.\d s,", r"\1,", path.read_text(encoding="utf-8"))
        assert n_times == 1
        pages.append(text)
    assert pages[0] == pages[1]


def test_infinite_contributions_keep_their_sign() -> None:
    amounts = {math.inf: "Infinity", -math.inf: "-Infinity", math.nan: "NaN", 1.234: 123}
    for amount, expected in amounts.items():
        assert explanation_data._hundredths(amount) == expected


def test_long_curves_are_thinned() -> None:
    points = tuple((i, 1.0 / (i + 1)) for i in range(20_000))
    found = training_section._thinned(points)
    assert len(found) == training_section.MOST_POINTS
    assert (found[0], found[-1]) == (points[0], points[-1])
    assert training_section._thinned(points[:10]) == points[:10]


def test_an_error_of_a_view_is_not_hidden(tmp_path: Path, model: hr.LinearCRF, monkeypatch: Any) -> None:
    def broken(*_: object) -> None:
        raise InputError("broken")

    monkeypatch.setattr(learned_section, "strongest_features", broken)
    with pytest.raises(InputError, match="broken"):
        page_of(tmp_path, model, X, Y)


def test_an_iterator_is_read_once(tmp_path: Path, model: hr.LinearCRF) -> None:
    assert page_of(tmp_path, model, iter(X), iter(Y)).text == page_of(tmp_path, model, X, Y).text


def test_refusals_come_before_work(tmp_path: Path, model: hr.LinearCRF) -> None:
    target = tmp_path / "r.html"
    target.write_text("mine")
    with pytest.raises(InputError, match="exists already; pass force=True"):
        hr.report(model, X, Y, target)
    with pytest.raises(InputError, match="force must be True or False; it is 'no'"):
        hr.report(model, X, Y, target, force="no")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"y must be a list of lists of labels, .*; name the file with path='a.html'"):
        hr.report(model, X, "a.html")  # type: ignore[arg-type]
    assert target.read_text() == "mine"
    with pytest.raises(InputError, match="is a folder"):
        hr.report(model, X, Y, tmp_path)
    with pytest.raises(InputError, match="model must be a fitted estimator"):
        hr.report("model", X, Y, tmp_path / "a.html")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        hr.report(hr.HMM(), X, Y, tmp_path / "a.html")
    with pytest.raises(InputError, match="compare needs gold labels"):
        hr.report(model, X, None, tmp_path / "a.html", compare=model)
    with pytest.raises(InputError, match="title must be a text"):
        hr.report(model, X, Y, tmp_path / "a.html", title=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="title must not be empty; give a heading, or leave title out"):
        hr.report(model, X, Y, tmp_path / "a.html", title=" ")
    with pytest.raises(InputError, match="path must be the name of a file"):
        hr.report(model, X, Y, 3)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="nowhere"):
        hr.report(model, X, Y, tmp_path / "nowhere" / "a.html")
    with pytest.raises(InputError):
        hr.report(model, X, Y[:2], tmp_path / "a.html")
    assert [one.name for one in tmp_path.iterdir()] == ["r.html"]


def test_the_model_that_rejects_the_columns_is_named(tmp_path: Path) -> None:
    words, lemmas = ([[{name: "cat"}, {name: "."}]] for name in ("word", "lemma"))
    a, b = (hr.HMM().fit(x, [["N", "."]]) for x in (words, lemmas))
    for x, name in ((words, "compare"), (lemmas, "model")):
        with pytest.raises(InputError, match=f"^report: {name}: X must have columns of training"):
            hr.report(a, x, [["N", "."]], tmp_path / "r.html", compare=b)
    with pytest.raises(InputError, match=r"^X must have columns of training"):
        hr.report(a, lemmas, [["N", "."]], tmp_path / "r.html")


def test_two_models_are_compared_by_label_values(tmp_path: Path, model: hr.LinearCRF) -> None:
    other = hr.HMM().fit([*X, ["the", "end"]], [*Y[:2], ["B-NP", "I-NP", "B-ADVP"], ["O", "O"]])
    page = page_of(tmp_path, model, iter(X), iter(Y), compare=other)
    assert "comparison" in page.sections
    data = page.data
    predicted, theirs = model.predict(X), other.predict(X)
    expected = []
    for gold, own, rival in zip(Y, predicted, theirs, strict=True):
        gain = sum(a == g for a, g in zip(own, gold, strict=True)) - sum(
            b == g for b, g in zip(rival, gold, strict=True)
        )
        same = own.tolist() == rival.tolist()
        expected.append(-1 if same else 0 if gain > 0 else 1 if gain < 0 else 2)
    assert data["changes"]["at"] == expected
    assert len(set(expected)) > 1
    shown_other = {place: data["labels"][code] for place, code in data["changes"]["other"]}
    flat = list(zip(np.concatenate(predicted).tolist(), np.concatenate(theirs).tolist(), strict=True))
    assert shown_other == {i: b for i, (a, b) in enumerate(flat) if a != b}


def test_kinds_of_errors_are_those_of_the_analysis(tmp_path: Path, model: hr.LinearCRF) -> None:
    gold = [["B-NP", "B-NP", "B-VP"], ["B-VP", "I-VP"], Y[2]]
    with pytest.warns(hr.errors.UnseenLabelWarning):
        page = page_of(tmp_path, model, X, gold)
    with pytest.warns(hr.errors.UnseenLabelWarning):
        found = hr.inspection.errors(model, X, gold)
    kinds = page.data["kinds"]
    expected = {i: found.kinds[kind] for i, kind in enumerate(found.kinds_by_position.tolist()) if kind}
    assert {place: kinds["names"][kind] for place, kind, *_ in kinds["at"]} == expected
    assert len(expected) >= 3
    assert "errors" in page.sections


def test_models_with_labels_of_two_types_are_refused(tmp_path: Path, model: hr.LinearCRF) -> None:
    numbers = hr.HMM().fit(X, [[len(label) for label in y] for y in Y])
    with pytest.raises(InputError, match="strings"):
        hr.report(model, X, Y, tmp_path / "a.html", compare=numbers)


def test_explanations_are_those_of_the_model(tmp_path: Path, model: hr.LinearCRF) -> None:
    data = page_of(tmp_path, model, X, Y).data
    places = [(i, t) for i, x in enumerate(X) for t in range(len(x))]
    rows = data["explanations"]["at"]
    assert [row[0] for row in rows] == list(range(len(places)))
    for place, against, odds, n_others, others, *parts in rows:
        i, t = places[place]
        expected = model.explain(X[i], t)
        assert data["labels"][against] == expected.against[0]
        assert odds == pytest.approx(100 * expected.log_odds, abs=0.51)
        assert len(parts) // 2 + n_others == len(expected.contributions)
        assert sum(parts[1::2]) + others == pytest.approx(100 * expected.log_odds, abs=6)
        texts = [data["explanations"]["texts"][code] for code in parts[::2]]
        assert set(texts) <= {str(part) for part in expected.contributions}


def test_wrong_positions_are_compared_with_their_gold_labels(tmp_path: Path, model: hr.LinearCRF) -> None:
    gold = [["B-ADVP"] * len(x) for x in X]
    gold[1][0] = "B-NEW"
    with pytest.warns(hr.errors.UnseenLabelWarning):
        data = page_of(tmp_path, model, X, gold).data
    places = [(i, t) for i, x in enumerate(X) for t in range(len(x))]
    n_other = 0
    for place, against, odds, *_ in data["explanations"]["at"]:
        i, t = places[place]
        runner_up = model.explain(X[i], t)
        wrong = runner_up.label != "B-ADVP" and (i, t) != (1, 0)
        expected = model.explain(X[i], t, against="B-ADVP") if wrong else runner_up
        assert data["labels"][against] == expected.against[0]
        assert odds == pytest.approx(100 * expected.log_odds, abs=0.51)
        n_other += expected.against != runner_up.against
    assert n_other > 1


def test_explanations_show_words_that_training_never_saw(tmp_path: Path) -> None:
    model = hr.TreeCRF(window=1, n_rounds=5, random_state=0, n_jobs=1).fit(X, Y)
    x = ["zebra", *X[0][1:]]
    texts = page_of(tmp_path, model, [x, *X]).data["explanations"]["texts"]
    expected = {str(part) for t in range(len(x)) for part in model.explain(x, t).contributions}
    assert any("zebra (unknown)" in one for one in expected)
    assert {one for one in expected if "zebra" in one} <= set(texts)


def test_a_note_about_log_odds_is_in_the_data(tmp_path: Path, model: hr.LinearCRF) -> None:
    tagger = hr.SearchTagger(epochs=2, random_state=0, n_jobs=1).fit(X, Y)
    assert page_of(tmp_path, tagger, X, Y).data["explanations"]["note"] == tagger.explain(X[0], 0).note
    assert page_of(tmp_path, model, X, Y).data["explanations"]["note"] is None


def test_wrong_positions_are_explained_first(tmp_path: Path, model: hr.LinearCRF, monkeypatch: Any) -> None:
    monkeypatch.setattr(explanation_data, "MOST_EXPLAINED", 2)
    page = page_of(tmp_path, model, X, [["B-NP", "I-NP", "B-NP"], Y[1], ["B-VP", "B-VP", "B-ADVP"]])
    wrong = {place for place, _ in page.data["gold"]}
    assert len(wrong) == 2
    assert {row[0] for row in page.data["explanations"]["at"]} == wrong
