import numpy as np
import pytest

from lockstep import plot
from lockstep.errors import LockstepError
from lockstep.report.page.heat import MAPS, heat_maps

pytest.importorskip("matplotlib")


@pytest.fixture
def result(synthetic):
    return synthetic.make_result(kernels=3)


@pytest.mark.parametrize(("of", "row"), [("active", "SM"), ("issue", "SM"), ("dram", "channel")])
def test_a_cell_is_a_unit_in_a_kernel(result, of, row):
    axes, _ = plot.heat_map(result, of).axes
    found = heat_maps(result)[MAPS.index(of)]
    drawn = np.asarray(axes.images[0].get_array())
    assert drawn.tolist() == found["values"]
    assert drawn.shape == ({"SM": 4, "channel": 2}[row], 3)
    assert (axes.get_ylabel(), axes.get_title()) == (row, found["title"])
    assert axes.images[0].get_clim() == (0, 100)
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == ["1 kernel_1", "2 kernel_2", "3 kernel_3"]


def test_active_cycles_are_counted_by_hand(result):
    run = result.run.kernels[0]
    run.sm["active_cycles"] = [0, run.running // 2, run.running, 2 * run.running]
    [column, *_] = np.asarray(plot.heat_map(result).axes[0].images[0].get_array()).T
    assert column.tolist() == [0, 50, 100, 100]


def test_what_cannot_be_drawn_says_why(result, synthetic):
    with pytest.raises(LockstepError, match="no heat map is named 'drom'; did you mean dram"):
        plot.heat_map(result, "drom")
    with pytest.raises(LockstepError, match="a heat map needs a result"):
        plot.heat_map(result.kernels)
    with pytest.raises(LockstepError, match="no kernel has run"):
        plot.heat_map(synthetic.make_result(kernels=0, samples=0))
