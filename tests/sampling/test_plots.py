"""What is drawn of samples: the data of the axes."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.report.pictures import write_plot
from lockstep.sampling import Plan
from lockstep.sampling.inside import Trajectory
from lockstep.sampling.inside.stability import Stability
from lockstep.sampling.plots import COLOURS, cumulated, ipc_over_time, strata

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgba_array  # noqa: E402


def _plan(stratum, chosen):
    stratum, chosen = np.array(stratum, np.int32), np.array(chosen)
    share = np.bincount(stratum[chosen]) / np.bincount(stratum)
    return Plan("0" * 64, "by hand", stratum, chosen, share[stratum[chosen]])


def _axes(figure):
    (axes,) = figure.axes
    return axes


def test_launches_are_drawn_in_the_colours_of_strata():
    stratum = [0, 1, 0, 1, 2, 2]
    values, times = np.array([1.0, 20, 3, 40, 5, 6]), np.array([10.0, 9, 8, 7, 6, 5])
    axes = _axes(strata(_plan(stratum, [0, 1, 4]), values, times, ("grid_x", "cycles")))
    launches, chosen = axes.collections
    assert launches.get_offsets().tolist() == np.column_stack([values, times]).tolist()
    colours = launches.get_facecolors()[:, :3]
    assert (colours == to_rgba_array([f"C{h}" for h in stratum])[:, :3]).all()
    assert chosen.get_offsets().tolist() == [[1, 10], [20, 9], [5, 6]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("grid_x", "cycles")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_a_value_of_none_is_drawn_and_colours_come_round_again():
    plan = _plan(np.arange(2 * COLOURS), np.arange(2 * COLOURS))
    axes = _axes(strata(plan, np.arange(2.0 * COLOURS), np.ones(2 * COLOURS), ("new", "ns")))
    assert axes.get_xscale() == "linear", "a logarithm has no place for 0"
    colours = axes.collections[0].get_facecolors()
    assert (colours[:COLOURS] == colours[COLOURS:]).all()
    assert len(np.unique(colours, axis=0)) == COLOURS


def test_a_plan_is_drawn_beside_all_launches():
    times = np.array([1.0, 2, 3, 4])
    whole, plan = _axes(cumulated(_plan([0, 0, 1, 1], [1, 2]), times, "cycles")).lines
    assert whole.get_ydata().tolist() == [1, 3, 6, 10]
    assert plan.get_ydata().tolist() == [0, 4, 10, 10]


def _fed(trajectory, counters, ipc, launched=0):
    """A launch whose IPC in bins of 50 cycles is this, and has run for ten times as long."""
    total = 0
    for k, each in enumerate(ipc):
        total += each * 50
        seen = counters(total, done=k, launched=launched)
        assert not trajectory(SimpleNamespace(id=7), launched + (k + 1) * 50, seen)


@pytest.fixture
def counters():
    def make(instructions, done, launched):
        return SimpleNamespace(
            launched=launched, started=launched, ctas=1000, wave=1, ctas_done=done,
            sm={"warp_instructions": instructions},
        )  # fmt: skip

    return make


def test_ipc_is_drawn_over_time_with_the_end_by_pkp(counters):
    trajectory = Trajectory(Stability(window=200, bin=50))
    ipc = [1, 9, 1, 9, 5, 5, 5, 5, 5, 6]
    _fed(trajectory, counters, ipc, launched=1000)
    axes = _axes(ipc_over_time(trajectory, 7))
    (stairs,) = [patch for patch in axes.patches if hasattr(patch, "get_data")]
    assert stairs.get_data().values.tolist() == ipc
    assert stairs.get_data().edges.tolist() == list(range(0, 550, 50))
    (end,) = axes.lines
    assert end.get_xdata() == [400, 400], "four calm bins: from 200 on"
    (steady,) = axes.collections
    assert steady.get_segments()[0].tolist() == [[400, 5], [500, 5]]


def test_a_launch_that_is_never_steady_has_no_end(counters):
    trajectory = Trajectory(Stability(window=200, bin=50))
    _fed(trajectory, counters, [1, 9] * 10)
    axes = _axes(ipc_over_time(trajectory, 7))
    assert not axes.lines and not axes.collections
    assert 7 not in trajectory.stable


def test_a_picture_is_png_or_svg(tmp_path):
    figure = cumulated(_plan([0, 0], [1]), np.ones(2), "ns")
    write_plot(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    with pytest.raises(LockstepError, match=r"a.pdf: a picture's name ends in .png or .svg"):
        write_plot(figure, tmp_path / "a.pdf")
