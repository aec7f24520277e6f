"""Charts of a study are pictures with all programs in them."""

import dataclasses
import importlib.util
import xml.etree.ElementTree

import pytest

from lockstep.errors import LockstepError
from lockstep.report import pictures as drawing
from lockstep.studies import plots
from lockstep.studies.description import Bar, Chart

needs_matplotlib = pytest.mark.skipif(
    not importlib.util.find_spec("matplotlib"), reason="needs matplotlib"
)


@needs_matplotlib
def test_each_chart_is_drawn(scheduling, tmp_path):
    written = scheduling.plots(tmp_path / "plots")
    assert [path.name for path in written] == [
        f"dram-scheduling-{chart.name}.{suffix}"
        for chart in scheduling.study.charts
        for suffix in drawing.FORMATS
    ]
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            root = xml.etree.ElementTree.parse(path).getroot()
            texts = {"".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")}
            assert texts >= {"a", "b", "idle", "mean"}


@needs_matplotlib
def test_bars_are_as_high_as_the_figures(scheduling):
    figure = plots.draw(scheduling, scheduling.study.charts[0])
    heights = [round(patch.get_height(), 3) for patch in figure.axes[0].patches]
    assert heights == [1.1, 1.4, 9, 1.241, 2, 3.125, 9, 2.5]


@needs_matplotlib
def test_figures_of_one_bar_are_stacked(scheduling):
    chart = Chart("c", "t", "x", (Bar("both", ("old gain", "new gain")),))
    patches = plots.draw(scheduling, chart).axes[0].patches
    below, above = patches[0], patches[len(patches) // 2]
    assert below.get_y() == 0
    assert above.get_y() == pytest.approx(below.get_height()) == pytest.approx(1.1)


@needs_matplotlib
def test_what_is_not_known_has_no_bar(scheduling):
    scheduling.rows = [r for r in scheduling.rows if (r.program, r.variant) != ("a", "old FCFS")]
    figure = plots.draw(scheduling, scheduling.study.charts[0])
    assert figure.axes[0].patches[0].get_height() == 0


def test_without_matplotlib_one_line_says_so(scheduling, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LockstepError, match="pip install 'lockstep-gpu"):
        scheduling.plots(tmp_path)


@needs_matplotlib
def test_a_logarithmic_axis(scheduling):
    chart = dataclasses.replace(scheduling.study.charts[0], logarithmic=True)
    assert plots.draw(scheduling, chart).axes[0].get_yscale() == "log"
