"""The report in a real browser: keyboard, filters, dark mode, phones, print, and faults of accessibility."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")
EVIL = "<script>document.title='run'</script>"

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.slow


def sentences(n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of nouns and verbs; some labels are wrong, so that a model cannot learn them."""
    X, y = [], []
    for i in range(n):
        X.append(["the", f"noun{i % 7}", f"verb{i % 5}", "a", f"noun{i % 11}", "."])
        y.append(["B-NP", "I-NP", "B-VP", "B-NP" if i % 9 else "O", "I-NP", "O"])
    X.append([EVIL, "שלום", "a\x1bb", "w" * 500])
    y.append(["O", "B-NP", "O", "B-NP"])
    return X, y


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("HEDGEROW_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium: install it, or name it with HEDGEROW_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = sentences(90)
    model = hr.LinearCRF(max_iter=15, n_jobs=1).fit(X, y, X[:9], y[:9])
    other = hr.HMM().fit(X, y)
    return hr.report(model, X, y, tmp_path_factory.mktemp("report") / "report.html", compare=other)


class Opened:
    """A page that is open, and what the browser said about it."""

    def __init__(self, browser: Any, path: Path, **settings: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def status(self) -> str:
        text: str = self.page.locator("#status").inner_text()
        return text

    def found(self) -> int:
        """How many sequences pass the filters."""
        return int(re.sub(r"^[\d,]+ positions? in ", "", self.status()).split()[0])

    def focused(self) -> str:
        text: str = self.page.evaluate("document.activeElement.innerText")
        return text.split("\n")[0]


def test_nothing_is_loaded_and_nothing_is_refused(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.mouse.wheel(0, 100_000)
        opened.page.wait_for_timeout(200)
        assert opened.messages == []
        assert opened.requests == [report.as_uri()]
        assert opened.page.title() == "LinearCRF report"
        assert opened.page.locator("h2").count() == 8


def test_the_policy_forbids_other_scripts(browser: Any, report: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.html"
    text = report.read_text(encoding="utf-8")
    changed.write_text(text.replace("</body>", "<script>document.title='run'</script></body>"), encoding="utf-8")
    with Opened(browser, changed) as opened:
        assert opened.page.title() == "LinearCRF report"
        assert any("Content Security Policy" in message for message in opened.messages)


def test_a_word_that_is_markup_is_text(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.fill("#search", "#90")
        words = opened.page.locator("#sequence-list .word").all_text_contents()
        assert words[0] == EVIL
        assert words[2] == r"a\x1bb"
        assert words[3].endswith("…")
        assert opened.page.title() == "LinearCRF report"
        opened.page.locator(".token").first.click()
        assert opened.page.locator("#panel h3").inner_text() == EVIL


def test_the_panel_says_where_a_position_is_in_the_data(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.fill("#search", "#12")
        assert (opened.page.locator(".sequence-head").text_content() or "").startswith("sequence 12,")
        opened.page.locator(".token").nth(3).click()
        assert "Sequence 12, position 3." in opened.page.locator("#panel").inner_text()


def test_labels_of_the_other_model_are_marked(browser: Any, report: Path) -> None:
    X, y = sentences(90)
    model, other = (
        one.predict(X) for one in (hr.LinearCRF(max_iter=15, n_jobs=1).fit(X, y, X[:9], y[:9]), hr.HMM().fit(X, y))
    )
    changed = [(i, t) for i, (a, b) in enumerate(zip(model, other, strict=True)) for t in (a != b).nonzero()[0]]
    assert changed
    with Opened(browser, report) as opened:
        i, t = changed[0]
        opened.page.fill("#search", f"#{i}")
        marked = opened.page.locator(".token:has(.other)")
        assert marked.count() == sum(one == i for one, _ in changed)
        assert marked.first.get_attribute("data-t") == opened.page.locator(".token").nth(t).get_attribute("data-t")
        assert marked.first.locator(".other").text_content() == f"other {other[i][t]}"


def test_buttons_go_to_the_positions_that_changed(browser: Any, report: Path) -> None:
    with Opened(browser, report, reduced_motion="reduce") as opened:
        page = opened.page
        changes = page.evaluate("JSON.parse(document.getElementById('data').textContent).changes.at")
        page.select_option("#kind", f"change-{max(changes)}")
        assert re.match(r"[\d,]+ positions? in \d+ of 91 sequences", opened.status())
        assert page.locator(".fits").count() == page.locator(".other").count() > 0
        page.click("#next")
        assert page.locator(".token.visited .other").count() == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_long_values_stay_inside_the_panel(browser: Any, report: Path, width: int) -> None:
    with Opened(browser, report, viewport={"width": width, "height": 800}) as opened:
        opened.page.fill("#search", "#90")
        opened.page.locator(".token").nth(3).click()
        panel = opened.page.locator("#panel")
        assert panel.locator("tbody tr").count()
        assert panel.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_the_keyboard_reaches_everything(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        page = opened.page
        page.focus("#reset")
        page.keyboard.press("Tab")
        assert opened.focused() == "the"
        assert page.locator("#tip").is_visible()
        page.keyboard.press("ArrowRight")
        assert opened.focused() == "noun0"
        page.keyboard.press("ArrowDown")
        assert opened.focused() == "noun1"
        page.keyboard.press("End")
        assert opened.focused() == "."
        page.keyboard.press("ArrowRight")
        assert opened.focused() == "the"
        page.keyboard.press("Home")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        assert page.locator("#panel").is_visible()
        assert opened.focused() == "Close"
        assert "Why B-NP rather than" in page.locator("#panel").inner_text()
        assert page.locator("#panel tbody tr").count() > 1
        page.keyboard.press("Escape")
        assert not page.locator("#panel").is_visible()
        assert opened.focused() == "the"
        assert opened.messages == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("search", "place"), [("", 60), ("#12", 5)], ids=["middle", "end"])
def test_the_panel_does_not_cover_its_position(browser: Any, report: Path, width: int, search: str, place: int) -> None:
    settings = {"viewport": {"width": width, "height": 800}, "reduced_motion": "reduce"}
    with Opened(browser, report, **settings) as opened:
        opened.page.fill("#search", search)
        token = opened.page.locator(".token").nth(place)
        token.focus()
        opened.page.keyboard.press("Enter")
        own, cover = token.bounding_box(), opened.page.locator("#panel").bounding_box()
        assert own["x"] + own["width"] <= cover["x"] or own["y"] + own["height"] <= cover["y"]


def test_arrows_draw_more_sequences(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.locator(".token").first.focus()
        for _ in range(90):
            opened.page.keyboard.press("ArrowDown")
        assert opened.focused() == EVIL


def test_filters(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        page = opened.page
        assert opened.status() == "91 of 91 sequences"
        page.select_option("#kind", "wrong")
        shown = opened.found()
        assert 0 < shown < 91
        assert page.locator(".sequence:not(:has(.wrong))").count() == 0
        assert page.locator(".fits").count() == page.locator(".wrong").count()
        page.click("#reset")
        page.fill("#search", "noun3 verb")
        assert 0 < opened.found() < 91
        assert page.locator("mark").count() > 0
        page.fill("#search", "nowhere")
        assert opened.status() == "No sequence passes the filters."
        page.click("#reset")
        page.select_option("#predicted", label="B-VP")
        page.select_option("#order", "unsure")
        assert opened.found() >= 90
        assert page.locator(".sequence:not(:has(.fits))").count() == 0
        page.click("#reset")
        assert opened.status() == "91 of 91 sequences"
        page.locator(".show[data-gold]").first.click()
        assert opened.found() < 91
        assert page.locator("#gold").input_value() != ""
        assert opened.messages == []


def at(opened: Opened, selector: str = ".token.visited") -> tuple[int, bool]:
    """The position of an element of the list, and whether it is in the window."""
    found = opened.page.locator(selector)
    box = found.bounding_box()
    return int(found.get_attribute("data-t") or -1), 0 <= box["y"] <= 800


def test_buttons_and_keys_go_from_match_to_match(browser: Any, report: Path) -> None:
    with Opened(browser, report, reduced_motion="reduce") as opened:
        page = opened.page
        assert not page.locator("#next").is_visible()
        page.select_option("#kind", "wrong")
        wrong = page.evaluate("JSON.parse(document.getElementById('data').textContent).gold.map((row) => row[0])")
        assert opened.status().startswith(f"{len(wrong)} positions in ")
        for expected in [*wrong, wrong[0]]:
            page.click("#next")
            assert at(opened) == (expected, True)
        page.click("#previous")
        assert at(opened) == (wrong[-1], True)
        page.locator(".token.visited").focus()
        page.keyboard.press("n")
        assert at(opened, ".token:focus") == (wrong[0], True)
        page.keyboard.press("p")
        assert at(opened, ".token:focus") == (wrong[-1], True)
        page.focus("#next")
        page.keyboard.press("n")
        assert at(opened, ".token:focus") == (wrong[0], True)
        page.focus("#search")
        page.keyboard.press("p")
        assert page.locator("#search").input_value() == "p"
        page.click("#reset")
        page.fill("#search", "noun10")
        assert opened.status().startswith("8 positions in 8 of 91")
        page.click("#next")
        assert "noun10" in page.locator(".token.visited").inner_text()
        assert opened.messages == []


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of numbers in long sequences."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)).cumsum(axis=0) for n in (1_300, 700)]
    y = [np.where(x[:, 0] + x[:, 1] > 0, "up", "down").tolist() for x in X]
    model = hr.TreeCRF(n_rounds=3, max_leaves=3, random_state=0, n_jobs=1).fit(X, y)
    return hr.report(model, X, y, tmp_path_factory.mktemp("recordings") / "report.html")


def test_long_sequences_are_divided(browser: Any, recordings: Path) -> None:
    with Opened(browser, recordings, reduced_motion="reduce") as opened:
        page = opened.page
        assert opened.status() == "2 of 2 sequences"
        page.mouse.wheel(0, 1_000_000)
        page.wait_for_timeout(300)
        heads = page.locator(".sequence-head").all_text_contents()
        assert [re.sub(r", (\d+ wrong|all right)$", "", head) for head in heads] == [
            "sequence 0, positions 0 to 499 of 1,300",
            "sequence 0, positions 500 to 999 of 1,300",
            "sequence 0, positions 1,000 to 1,299 of 1,300",
            "sequence 1, positions 0 to 499 of 700",
            "sequence 1, positions 500 to 699 of 700",
        ]
        assert page.locator(".strip").count() == 5
        page.fill("#search", "1,100")
        assert opened.status() == "1 position in 1 of 2 sequences"
        page.click("#next")
        token = page.locator(".token.visited")
        assert token.locator(".word").text_content() == "1100"
        token.click()
        panel = page.locator("#panel")
        assert "Sequence 0, position 1,100." in panel.inner_text()
        assert panel.locator("h3").inner_text() == "Position 1,100"
        assert panel.locator("table").last.locator("th").all_text_contents() == ["x0", "x1", "x2"]
        page.keyboard.press("Escape")
        page.fill("#search", "#1")
        assert page.locator(".sequence").count() == 2
        line = page.locator(".line").first
        box = line.bounding_box()
        line.click(position={"x": box["width"] * 0.5, "y": 3})
        assert abs(int(opened.focused()) - 250) <= 2
        assert opened.messages == []


def test_the_search_finds_texts_of_several_positions_together(browser: Any, tmp_path: Path) -> None:
    X, y = ["running", "gin", "ginger"], [list("c" * 7), list("ccv"), list("ccvccv")]
    model = hr.LinearCRF(max_iter=5, n_jobs=1).fit(X, y)
    with Opened(browser, hr.report(model, X, y, tmp_path / "letters.html")) as opened:
        for wanted, found, marked in (("ing", 2, "inging"), ("n g", 2, "ngng"), ("nn", 1, "nn"), ("runx", 0, "")):
            opened.page.fill("#search", wanted)
            assert (f" in {found} of 3 sequences" if found else "No sequence") in opened.status()
            assert "".join(opened.page.locator("mark").all_text_contents()) == marked


def test_positions_that_pass_the_filters_are_marked_and_reached(browser: Any, report: Path) -> None:
    with Opened(browser, report, reduced_motion="reduce") as opened:
        opened.page.locator("#confusions .show").first.click()
        first = opened.page.locator(".token.fits").first
        assert first.evaluate("(one) => one === document.activeElement")
        shadows = [
            opened.page.locator(f".token.wrong{kind}").first.evaluate("(one) => getComputedStyle(one).boxShadow")
            for kind in (".fits", ":not(.fits)")
        ]
        assert shadows[0] != "none" == shadows[1]


def test_the_numbers_of_the_page_can_be_searched(browser: Any, report: Path, tmp_path: Path) -> None:
    data = re.sub(r'"sequences":\[0,', '"sequences":[2011,', report.read_text(encoding="utf-8"))
    changed = tmp_path / "changed.html"
    changed.write_text(data, encoding="utf-8")
    with Opened(browser, changed) as opened:
        for wanted in ("#2,011", "#2011"):
            opened.page.fill("#search", wanted)
            assert opened.page.locator(".sequence-head").all_text_contents()[0].startswith("sequence 2,011,")


def test_a_search_without_a_number_is_a_text(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.fill("#search", "#,")
        assert opened.status() == "No sequence passes the filters."


@pytest.mark.filterwarnings("ignore::hedgerow.errors.UnseenLabelWarning")
def test_every_button_finds_its_sequences(browser: Any, tmp_path: Path) -> None:
    X = [["a", "b", "c", "d"], ["e", "f"], ["a", "e"]]
    y = [["B-A", "B-B", "I-B", "O"], ["O", "O"], ["B-A", "O"]]
    model = hr.HMM(order=0, smoothing=0.01).fit(X, y)
    path = hr.report(model, X, [["B-A", "I-A", "I-A", "O"], *y[1:]], tmp_path / "kinds.html")
    with Opened(browser, path) as opened:
        buttons = opened.page.locator(".show[data-kind]")
        assert buttons.count() == 2
        for button in buttons.all():
            button.click()
            assert opened.page.locator("#kind").input_value() == button.get_attribute("data-kind")
            assert re.fullmatch(r"\d positions? in 1 of 3 sequences", opened.status())
        opened.page.locator(".token").nth(1).click()
        assert "wrong; errors of the spans: boundary and both." in opened.page.locator("#panel").inner_text()


def test_words_of_scripts_from_right_to_left_begin_on_the_right(browser: Any, tmp_path: Path) -> None:
    X = [["(", "שלום", "abc"], ["(", "abc", "שלום"]]
    y = [["O", "B-NP", "O"], ["O", "B-NP", "O"]]
    with Opened(browser, hr.report(hr.HMM().fit(X, y), X, y, tmp_path / "right.html")) as opened:
        places = [token.bounding_box()["x"] for token in opened.page.locator(".token").all()]
        assert places[0] > places[1] > places[2]
        assert places[3] < places[4] < places[5]


def test_negative_log_odds_are_explained(browser: Any, report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    place, odds = re.search(r'"at":\[\[(\d+),\d+,(\d+),', text.split('"explanations"')[1]).groups()
    changed = tmp_path / "changed.html"
    head, tail = text.split('"explanations"')
    changed.write_text(f'{head}"explanations"{tail.replace(f",{odds},", f",-{odds},", 1)}', encoding="utf-8")
    for path, expected in ((report, 0), (changed, 1)):
        with Opened(browser, path) as opened:
            opened.page.locator(f'.token[data-t="{place}"]').click()
            assert opened.page.get_by_text("belongs to the best label sequence").count() == expected


def test_infinite_contributions_have_a_sign_and_a_full_bar(browser: Any, tmp_path: Path) -> None:
    X, y = ["ab", "ba"], [["A", "B"], ["B", "A"]]
    path = hr.report(hr.HMM(smoothing=0.0).fit(X, y), X, y, tmp_path / "infinite.html")
    text = path.read_text(encoding="utf-8")
    assert text.count('"Infinity",0,0,0,"Infinity",1,0,2,0]') == 2
    path.write_text(text.replace('"Infinity",0,0,0,"Infinity",1,0,2,0]', '"Infinity",0,0,0,"-Infinity",1,300,2,0]', 1))
    with Opened(browser, path) as opened:
        for place, sign, kind in ((0, "−", "against"), (1, "+", "for")):
            opened.page.locator(".token").nth(place).click()
            panel = opened.page.locator("#panel")
            assert panel.locator("caption").first.inner_text().endswith("+∞")
            row = panel.locator("tbody tr").first
            assert row.locator(".number").inner_text() == f"{sign}∞"
            assert row.locator(f".amount .{kind}").evaluate("(one) => one.style.width") == "100%"
            assert panel.locator(".amount span").nth(1).evaluate("(one) => one.style.width") == "0%"


def test_the_slider_says_its_value_in_words(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        slider = opened.page.locator("#below")
        assert slider.get_attribute("aria-valuetext") == "any"
        slider.fill("500")
        assert slider.get_attribute("aria-valuetext") == "below 50 %"
        assert opened.page.locator("#below-value").inner_text() == "below 50 %"
        opened.page.click("#reset")
        assert slider.get_attribute("aria-valuetext") == "any"


COVERED = """(table) => {
  const edge = table.closest(".scroll").getBoundingClientRect().right;
  return [...table.querySelectorAll("tr")].flatMap((row) => {
    const action = row.querySelector(".action").getBoundingClientRect();
    return [...row.querySelectorAll(".number")]
      .filter((cell) => cell.getBoundingClientRect().right > Math.min(action.left, edge) + 1)
      .map((cell) => `${table.caption.innerText}: ${cell.innerText}`);
  });
}"""


def test_buttons_cover_no_numbers_on_phones(browser: Any, report: Path) -> None:
    with Opened(browser, report, viewport={"width": 390, "height": 800}) as opened:
        for summary in opened.page.locator("summary").all():
            summary.click()
        tables = opened.page.locator("table:has(.action)")
        assert tables.count() == 4
        assert [table.evaluate(COVERED) for table in tables.all()] == [[]] * 4


def test_the_tip_goes_away_when_the_window_changes(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.locator(".token").nth(5).focus()
        assert opened.page.locator("#tip").is_visible()
        opened.page.set_viewport_size({"width": 390, "height": 800})
        opened.page.wait_for_function("document.getElementById('tip').hidden")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_dark_mode_has_other_colours(browser: Any, report: Path) -> None:
    found = []
    for scheme in ("light", "dark"):
        with Opened(browser, report, color_scheme=scheme) as opened:
            found.append(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert found[0] != found[1]


@pytest.mark.parametrize("width", [320, 390, 768, 1600])
def test_the_page_never_scrolls_sideways(browser: Any, report: Path, width: int) -> None:
    with Opened(browser, report, viewport={"width": width, "height": 700}) as opened:
        for summary in opened.page.locator("summary").all():
            summary.click()
        opened.page.fill("#search", "#90")
        opened.page.locator(".token").last.click()
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        box = opened.page.locator("#panel").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_print_leaves_controls_out(browser: Any, report: Path) -> None:
    with Opened(browser, report) as opened:
        opened.page.emulate_media(media="print")
        assert not opened.page.locator(".controls").is_visible()
        assert not opened.page.locator(".contents").is_visible()
        assert not opened.page.locator("#confusions .show").first.is_visible()
        assert opened.page.locator("#summary table").first.is_visible()
        assert not opened.page.get_by_text("needs JavaScript").is_visible()
        assert len(opened.page.pdf()) > 10_000


def test_without_scripts_the_rest_is_there(browser: Any, report: Path) -> None:
    with Opened(browser, report, java_script_enabled=False) as opened:
        assert opened.page.locator("#summary").is_visible()
        assert opened.page.get_by_text("The browser of sequences needs JavaScript").is_visible()
        assert not opened.page.locator("#browser").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_serious_fault_of_accessibility(browser: Any, report: Path, scheme: str, width: int) -> None:
    axe_api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
    settings = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}, "bypass_csp": True}
    with Opened(browser, report, **settings) as opened:
        for summary in opened.page.locator("summary").all():
            summary.click()
        opened.page.locator(".wrong").first.click()
        found = axe_api.Axe().run(opened.page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == []
