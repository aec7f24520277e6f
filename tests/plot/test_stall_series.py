import itertools

import numpy as np
import pytest

from lockstep import plot
from lockstep.errors import LockstepError
from lockstep.report.page.document import STALL

pytest.importorskip("matplotlib")


@pytest.fixture
def result(synthetic):
    return synthetic.make_result(samples=5)


def bands(figure):
    """Of each state: the heights of its band, an interval each."""
    found = {}
    for band in figure.axes[0].collections:
        vertices = band.get_paths()[0].vertices
        found[band.get_label()] = vertices
    return found


def heights(vertices, place):
    """The height of a band at a place on the axis, inside a step."""
    around = [y for x, y in vertices if abs(x - place) < 1e-9]
    return max(around) - min(around)


def test_bands_are_as_high_as_the_metrics(result):
    table = result.series
    figure = plot.stalls(table)
    shown = bands(figure)
    names = [n for n in table.columns if n.startswith(STALL) and (table[n] > 0).any()]
    assert len(shown) == len(names) > 3
    assert next(iter(shown)) == "issued"  # at the bottom
    for name in names:
        label = name.removeprefix(STALL).removesuffix(".pct").replace("_", " ")
        # The first place has only the first interval beside it, the last only the last one.
        assert heights(shown[label], table["start"].iloc[0]) == pytest.approx(table[name].iloc[0])
        assert heights(shown[label], table["end"].iloc[-1]) == pytest.approx(table[name].iloc[-1])


def test_the_bands_stand_on_each_other(result):
    shown = list(bands(plot.stalls(result)).values())
    place = result.series["start"].iloc[0]
    edges = [sorted(y for x, y in v if x == place) for v in shown]
    assert edges[0][0] == 0
    for lower, upper in itertools.pairwise(edges):
        assert upper[0] == pytest.approx(lower[-1])
    sums = result.series[[n for n in result.series if n.startswith(STALL)]].iloc[0].sum()
    assert edges[-1][-1] == pytest.approx(sums)


def test_the_axis_is_the_time_of_the_run(result):
    [axes] = plot.stalls(result).axes
    assert axes.get_xlim() == (result.series["start"].iloc[0], result.series["end"].iloc[-1])
    assert axes.get_title() == "synthetic on SMALL"


def test_a_state_that_never_was_is_left_out(result):
    table = result.series
    name = next(n for n in table.columns if n.startswith(STALL))
    table[name] = 0.0
    label = name.removeprefix(STALL).removesuffix(".pct").replace("_", " ")
    assert label not in bands(plot.stalls(table))


def test_an_interval_without_a_value_is_a_gap(result):
    table = result.series
    name = next(n for n in table.columns if n.startswith(STALL) and (table[n] > 0).any())
    table.loc[0, name] = np.nan
    label = name.removeprefix(STALL).removesuffix(".pct").replace("_", " ")
    assert heights(bands(plot.stalls(table))[label], table["start"].iloc[0]) == 0


@pytest.mark.parametrize("source", [lambda s: s.make_result(samples=0), lambda s: None])
def test_without_intervals_it_is_said_how_to_get_some(synthetic, source):
    with pytest.raises(LockstepError, match=r"lockstep.simulate\(..., interval=500\)"):
        plot.stalls(source(synthetic))
