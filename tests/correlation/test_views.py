"""What is shown of a comparison: the tables, the plots and the page."""

import io
import re
import xml.etree.ElementTree

import pytest
from rich.console import Console

from correlation.samples import LOADS, NSIGHT
from lockstep.correlation import correlate, page, plots
from lockstep.correlation.report import percent, views
from lockstep.errors import LockstepError
from lockstep.report import pictures

needs_matplotlib = pytest.mark.skipif(
    not pictures.importlib.util.find_spec("matplotlib"), reason="needs matplotlib"
)


@pytest.fixture
def correlation(file, result_file):
    return correlate(file(NSIGHT), result_file(("scale<float,4>", 1100, 1600), ("add", 1500, 32)))


def printed(correlation, width, top=10):
    target = io.StringIO()
    console = Console(file=target, width=width, highlight=False, markup=False)
    for view in views(correlation, top, width):
        console.print(view)
    return target.getvalue()


def test_a_terminal_shows_statistics_and_the_worst_rows(correlation):
    lines = printed(correlation, 200).splitlines()
    compared, simulated, rows = lines[0].split("; ")
    assert compared == "2 of 2 measured launches compared, 100.0 % of their cycles"
    assert (simulated, rows) == ("2 simulated", "2 rows")
    cycles = next(line for line in lines if line.startswith("gpc__"))
    assert cycles.split("  ")[0] == "gpc__cycles_elapsed.max"
    assert "17.5 %" in cycles and "-7.5 %" in cycles and "1.0000" in cycles
    rows = lines[lines.index(next(x for x in lines if x.startswith("Worst rows"))) + 2 :]
    assert rows[0].startswith("app: add") and "-25.0 %" in rows[0]
    assert "+10.0 %" in rows[1] and f"{LOADS} +2,400 %" in rows[1]


def test_a_narrow_terminal_cuts_no_number(correlation):
    text = printed(correlation, 60)
    assert max(map(len, text.splitlines()[1:])) <= 60
    assert "17.5 %" in text and "-25.0 %" in text


def test_no_rows_are_shown_where_none_are_asked_for(correlation):
    assert "Worst rows" not in printed(correlation, 200, top=0)


@pytest.mark.parametrize(
    ("fraction", "sign", "text"),
    [(0.175, False, "17.5 %"), (0.175, True, "+17.5 %"), (-20, True, "-2,000 %"),
     (float("nan"), True, "–")],
)  # fmt: skip
def test_percents(fraction, sign, text):
    assert percent(fraction, sign) == text


@needs_matplotlib
def test_plots_are_pictures_of_each_counter(correlation, tmp_path):
    assert plots.drawable(correlation) == correlation.metrics
    correlation.metrics.remove(LOADS)
    written = plots.write_plots(correlation, tmp_path / "plots")
    assert len(written) == 2 * 2
    for path in written:
        data = path.read_bytes()
        if path.suffix == ".png":
            assert data.startswith(b"\x89PNG")
        else:
            root = xml.etree.ElementTree.fromstring(data)
            texts = {"".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")}
            assert texts >= {"add", "hardware"}


@needs_matplotlib
def test_the_same_rows_make_the_same_picture(correlation):
    first, second = (pictures.drawn(plots.scatter(correlation, LOADS), "svg") for _ in range(2))
    assert first == second


@needs_matplotlib
def test_points_are_the_rows_of_the_correlation_or_of_its_table(correlation):
    for metric in correlation.metrics:
        rows = [r for r in correlation.rows if metric in r.hardware and metric in r.ours]
        for source in (correlation, correlation.table):
            marks = plots.scatter(source, metric).axes[0].lines[1]
            expected = [(r.hardware[metric], r.ours[metric]) for r in rows]
            assert list(zip(marks.get_xdata(), marks.get_ydata())) == expected
            errors = plots.residuals(source, metric).axes[0].lines[1].get_ydata()
            assert list(errors) == [100 * r.error(metric) for r in rows]
    first = plots.scatter(correlation).axes[0]
    assert first.get_title().startswith(correlation.metrics[0])
    assert [text.get_text() for text in first.texts] == ["add", "scale<float,4>"]  # worst first


@needs_matplotlib
def test_what_is_no_correlation_is_refused(correlation):
    with pytest.raises(LockstepError, match="no counter of this correlation is named 'cycels'"):
        plots.scatter(correlation, "cycels")
    for wrong, lack in (
        (correlation.table[["kernel"]], "no column program"),
        (correlation.table.iloc[:0], "no rows"),
        (None, "no column program"),
    ):
        with pytest.raises(LockstepError, match=f"neither a correlation nor its table.*{lack}"):
            plots.residuals(wrong)


@needs_matplotlib
def test_the_page_needs_nothing_else_and_escapes_names(file, result_file, tmp_path):
    name = "a&lt;b$"
    hardware = file(f"kernel,cycles\n{name},100\n")
    found = correlate(hardware, result_file((name, 120, 0)))
    page.write_page(found, tmp_path / "page.html", "<title>", None)
    text = (tmp_path / "page.html").read_text()
    assert "&lt;title&gt;" in text and "a&amp;lt;b$" in text
    assert not re.search(r"""(src|href)=["'](?!#)|url\((?!#)""", text)
    assert text.count("<svg") == 2
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text)) <= set(ids)


def test_without_matplotlib_it_is_said_how_to_get_it(correlation, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    for write in (
        lambda: plots.write_plots(correlation, tmp_path / "plots"),
        lambda: page.write_page(correlation, tmp_path / "page.html", "title", None),
    ):
        with pytest.raises(LockstepError, match=r"pip install 'lockstep-gpu\[plots\]'"):
            write()
    assert not (tmp_path / "plots").exists() and not (tmp_path / "page.html").exists()
