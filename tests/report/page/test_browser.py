"""The page in a real browser: Chromium, driven by Playwright; skipped without one of them."""

import shutil

import pandas
import pytest

from lockstep.report.page.write import write_report

playwright = pytest.importorskip("playwright.sync_api")
NAMES = ("chromium", "chromium-browser", "google-chrome")
FOUND = next(filter(None, map(shutil.which, NAMES)), None)
HOSTILE = "<img src=x onerror=document.title='bad'>"
DRAWN = """canvas => {
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < pixels.length; i += 4) seen.add(pixels.slice(i, i + 4).join());
    return seen.size;
}"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        try:
            chromium = started.chromium.launch(executable_path=FOUND, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium: {error}")
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(synthetic, tmp_path_factory):
    result = synthetic.make_result(kernels=4, samples=12)
    result.run.kernels[2].name = HOSTILE
    source = pandas.DataFrame({"line": [1, 2, 3], "text": ["a", HOSTILE, "c"], "issued": [5, 9, 2]})
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(result, path, source=source)
    return path


@pytest.fixture
def page(browser, report):
    """The report, opened; whatever it complains about or asks of the network fails the test."""
    opened, faults = browser.new_page(), []
    opened.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda r: r.url.startswith("file:") or faults.append(r.url))
    opened.goto(report.as_uri())
    opened.wait_for_selector("body[data-ready]")
    yield opened
    opened.close()
    assert not faults


def test_every_section_is_there_and_every_chart_is_drawn(page):
    ids = page.eval_on_selector_all("section", "all => all.map(s => s.id)")
    assert ids == ["overview", "kernels", "limits", "roofline", "time", "memory", "heat", "source",
                   "metrics"]  # fmt: skip
    linked = page.eval_on_selector_all("nav a", "all => all.map(a => a.hash.slice(1))")
    assert linked == ids
    for place, least in (("roofline", 3), ("time", 4), ("heat", 3)):
        canvases = page.query_selector_all(f"#{place} canvas")
        assert len(canvases) >= least
        for canvas in canvases:
            assert canvas.evaluate(DRAWN) > 3, place
    assert page.locator("#memory svg line").count() == 6


def column(page, place, number):
    cells = f"#{place} tbody tr td:nth-child({number})"
    return page.eval_on_selector_all(cells, "all => all.map(c => c.textContent)")


def test_tables_sort_by_their_headings_both_ways(page):
    button = page.locator("#kernels thead button", has_text="cycles")
    before = [int(text.replace(",", "")) for text in column(page, "kernels", 5)]
    for order, reverse in (("descending", True), ("ascending", False)):
        button.click()
        now = [int(text.replace(",", "")) for text in column(page, "kernels", 5)]
        assert now == sorted(before, reverse=reverse)
        assert page.locator(f"#kernels th[aria-sort={order}]").count() == 1


def test_the_keyboard_sorts_and_chooses_a_kernel(page):
    page.locator("#kernels thead button").first.focus()
    page.keyboard.press("Enter")
    assert column(page, "kernels", 1) == sorted(column(page, "kernels", 1), key=int, reverse=True)
    page.locator("#kernels tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#which").input_value() == "2"
    assert page.locator("#kernels tbody tr.chosen").count() == 1
    shown = page.locator("#limits .two").text_content()
    page.keyboard.press("Enter")
    assert page.locator("#which").input_value() == "-1"
    assert page.locator("#limits .two").text_content() != shown


def test_there_is_a_dark_and_a_light_form(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate(colour) != before


def test_what_files_say_is_shown_as_text(page):
    assert page.title() == "synthetic on SMALL – lockstep"
    assert HOSTILE in column(page, "source", 2)
    assert page.locator("img").count() == 0


def test_a_damaged_page_says_so(browser, report, tmp_path):
    damaged = tmp_path / "damaged.html"
    damaged.write_text(
        report.read_text().replace('type="text/plain">H4sI', 'type="text/plain">AAAA')
    )
    opened = browser.new_page()
    opened.goto(damaged.as_uri())
    opened.wait_for_function("document.body.textContent.includes('This file is damaged')")
    opened.close()
