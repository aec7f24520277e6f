"""What a plot of a campaign draws, and of what there is none."""

import math

import pandas
import pytest

from lockstep.errors import LockstepError
from lockstep.plot import sweep

pytest.importorskip("matplotlib")


@pytest.fixture
def table():
    """Two programs, three sizes that go with a number of ways, two seeds; one point failed."""
    rows = [
        {"workload": name, "size": size, "ways": size // 2, "seed": seed, "digest": "d",
         "error": "no" if (name, size) == ("b", 16) else "",
         "cycles": math.nan if (name, size) == ("b", 16) else 100.0 * size + seed}
        for name in "ab" for size in (2, 4, 16) for seed in (0, 10)
    ]  # fmt: skip
    return pandas.DataFrame(rows)


def test_each_combination_of_the_others_is_a_line_of_means(table):
    [axes] = sweep(table, "size", "cycles").axes
    lines = [bars.lines[0] for bars in axes.containers]
    assert [list(line.get_xdata()) for line in lines] == [[2, 4, 16], [2, 4]]
    assert list(lines[0].get_ydata()) == [205, 405, 1605]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert axes.get_xscale() == "log" and axes.get_ylim()[0] == 0
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "4", "16"]


def test_texts_stand_side_by_side(table):
    [axes] = sweep(table, "workload", "cycles").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["size 2, ways 1", "size 4, ways 2", "size 16, ways 8"]


@pytest.mark.parametrize(
    ("parameter", "metric", "problem"),
    [
        ("sise", "cycles", "no parameter of these points is named 'sise'; did you mean size"),
        ("size", "cycle", "no metric of these points is named 'cycle'; did you mean cycles"),
        ("cycles", "size", "no parameter of these points is named 'cycles'"),
    ],
)
def test_what_is_not_there_is_not_drawn(table, parameter, metric, problem):
    with pytest.raises(LockstepError, match=problem):
        sweep(table, parameter, metric)


def test_without_a_value_there_is_nothing_to_draw(table):
    with pytest.raises(LockstepError, match="no point has size and cycles"):
        sweep(table[table["error"] != ""], "size", "cycles")
