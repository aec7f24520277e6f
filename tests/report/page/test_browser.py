"""The page in a real browser: Chromium, driven by Playwright; skipped without one of them."""

import contextlib
import shutil

import pandas
import pytest

from link_runs import of_modules, of_system
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


@pytest.fixture(scope="module")
def thousand(synthetic, tmp_path_factory):
    path = tmp_path_factory.mktemp("thousand") / "report.html"
    write_report(synthetic.make_result(kernels=1000, samples=300), path)
    return path


@contextlib.contextmanager
def shown(browser, report, mark="drawn", before=""):
    """A page, opened; whatever it complains about or asks of the network fails the test.

    ``mark``: what is waited for; ``before``: a script that is run before those of the page.
    """
    opened, faults = browser.new_page(viewport={"width": 1280, "height": 900}), []
    opened.add_init_script(before)
    opened.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda r: r.url.startswith("file:") or faults.append(r.url))
    opened.goto(report.as_uri())
    opened.wait_for_selector(f"body[data-{mark}]", state="attached")
    yield opened
    opened.close()
    assert not faults


@pytest.fixture
def page(browser, report):
    with shown(browser, report) as opened:
        yield opened


def drawn(canvas):
    """How many colours it has."""
    return canvas.evaluate(DRAWN)


def test_every_section_is_there_and_every_chart_is_drawn(page):
    ids = page.eval_on_selector_all("section", "all => all.map(s => s.id)")
    assert ids == ["overview", "kernels", "limits", "roofline", "time", "memory", "heat", "source",
                   "metrics"]  # fmt: skip
    linked = page.eval_on_selector_all("nav a", "all => all.map(a => a.hash.slice(1))")
    assert linked == ids
    for place, least in (("roofline", 3), ("time", 4)):
        canvases = page.query_selector_all(f"#{place} canvas")
        assert len(canvases) >= least
        assert all(drawn(canvas) > 3 for canvas in canvases), place
    maps = page.evaluate("D.heat.map(map => new Set(map.values.flat()).size)")
    assert [drawn(canvas) for canvas in page.query_selector_all("#heat canvas")] == maps
    assert sum(maps) > 20
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
    opened.get_by_text("This file is damaged").first.wait_for()
    opened.close()


IDLE = "window.requestIdleCallback = () => 0;"  # a browser that never is


@pytest.mark.long
def test_only_what_is_in_view_is_drawn_at_first(browser, thousand):
    with shown(browser, thousand, "ready", IDLE) as page:
        waiting = page.eval_on_selector_all("section.waiting", "all => all.map(s => s.id)")
        assert waiting == ["roofline", "time", "memory", "heat", "metrics"]
        assert page.locator("canvas").count() == 0, "pictures are what takes longest"
        assert page.locator("#kernels tbody tr").count() == 60
        page.locator("nav a", has_text="Heat maps").click()
        assert all(drawn(canvas) > 3 for canvas in page.query_selector_all("#heat canvas"))
        assert page.locator("#roofline.waiting").count() == 1, "what was jumped over waits"
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("section.waiting").count() == 0


def test_the_rest_is_drawn_when_the_browser_is_idle(browser, thousand):
    with shown(browser, thousand) as page:
        assert page.locator("section.waiting").count() == 0
        assert page.locator("canvas").count() >= 12


@pytest.mark.long
def test_rows_of_a_long_table_come_as_it_is_scrolled(browser, thousand):
    with shown(browser, thousand) as page:
        rows = page.locator("#kernels tbody tr")
        page.locator("#kernels .frame").evaluate("f => f.scrollTo(0, f.scrollHeight)")
        rows.nth(60).wait_for(state="attached")  # polled outside: the page forbids to evaluate
        page.locator("#kernels thead button").first.click()
        assert rows.count() == 60 and rows.first.locator("td").first.text_content() == "1,000"
        rows.last.focus()
        page.keyboard.press("ArrowDown")
        assert rows.count() == 260
        assert page.evaluate("document.activeElement.dataset.row") == str(1000 - 61)


def test_a_long_table_can_be_searched(browser, thousand):
    with shown(browser, thousand) as page:
        page.locator("#kernels input").fill("KERNEL_77")
        assert column(page, "kernels", 1) == ["77", *map(str, range(770, 780))]
        page.locator("#kernels input").fill("nothing of that name")
        assert column(page, "kernels", 1) == []


def test_links_of_modules_follow_the_chosen_kernel(browser, tmp_path):
    write_report(of_modules(), tmp_path / "r.html")
    with shown(browser, tmp_path / "r.html") as page:
        assert column(page, "links", 1) == ["module 0 > 1", "module 1 > 0"]
        assert column(page, "links", 3) == ["3,000", "0"]
        page.locator("#kernels tbody tr").first.click()
        assert column(page, "links", 3) == ["1,000", "0"]
        charts = page.query_selector_all("#links canvas")
        assert len(charts) == 2 and drawn(charts[0]) > 3
        assert drawn(charts[1]) == page.evaluate("new Set(D.links.series.flat()).size")


@pytest.mark.long
def test_a_system_shows_its_links_and_each_of_its_gpus(browser, tmp_path):
    write_report(of_system(), tmp_path / "r.html")
    with shown(browser, tmp_path / "r.html") as page:
        ids = page.eval_on_selector_all("section", "all => all.map(s => s.id)")
        assert ids == ["overview", "gpus", "links", "peers", "copies"]
        assert column(page, "links", 1) == ["GPU 0 > GPU 1"]
        assert page.locator("#peers tbody tr").count() == 1
        page.locator("#gpus tbody tr").nth(1).focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-drawn]", state="attached")
        assert page.locator("#gpu").input_value() == "1"
        assert page.locator("#kernels tbody tr").count() == 2
        page.locator("#gpu").select_option("-1")
        assert page.locator("#gpus tbody tr").count() == 2


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_can_be_told_from_what_is_behind_it(browser, report, scheme):
    """At least 4.5 : 1, as WCAG 2 asks for, of every text."""
    opened = browser.new_page(color_scheme=scheme)
    opened.goto(report.as_uri())
    opened.wait_for_selector("body[data-drawn]", state="attached")
    faint = opened.evaluate(FAINT)
    opened.close()
    assert faint == []


FAINT = """() => {
    const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.9) return c; } return [255, 255, 255]; };
    const found = new Set();
    for (const e of document.querySelectorAll("h1,h2,h3,h4,p,td,th,a,button,select,span,b,div.tip,.note")) {
        if (!e.textContent.trim()) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(behind(e).slice(0, 3))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.add(`${e.tagName}.${e.className} ${getComputedStyle(e).color} on ${behind(e)}`);
    }
    return [...found];
}"""  # noqa: E501


@pytest.mark.parametrize("width", [1280, 700])
def test_nothing_is_wider_than_the_page(browser, report, width):
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.goto(report.as_uri())
    opened.wait_for_selector("body[data-drawn]", state="attached")
    wide = opened.evaluate("document.documentElement.scrollWidth")
    opened.close()
    assert wide <= width
