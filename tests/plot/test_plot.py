"""What all pictures have in common, and those that are drawn elsewhere."""

import subprocess
import sys

import pytest

import lockstep
from lockstep import plot
from lockstep.errors import LockstepError
from lockstep.report import pictures


def test_it_is_there_without_an_import_of_its_own():
    program = "import lockstep, sys; assert 'lockstep.plot' not in sys.modules; lockstep.plot.sweep"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert lockstep.plot is plot


def test_importing_it_imports_no_matplotlib():
    program = "import sys, lockstep.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib_each_says_how_to_get_it(synthetic, monkeypatch):
    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    result = synthetic.make_result()
    for draw in (plot.roofline, plot.stalls, plot.heat_map):
        with pytest.raises(LockstepError, match="pip install 'lockstep-gpu"):
            draw(result)
    with pytest.raises(LockstepError, match="pip install 'lockstep-gpu"):
        plot.sweep([result], "sm.count")


def test_a_picture_is_written_and_shown_the_same_each_time(synthetic, tmp_path):
    pytest.importorskip("matplotlib")
    first, second = (plot.heat_map(synthetic.make_result()) for _ in range(2))
    plot.save(first, tmp_path / "first.svg")
    assert (tmp_path / "first.svg").read_text() == second._repr_svg_()
    with pytest.raises(LockstepError, match=r"a picture's name ends in .png or .svg"):
        plot.save(first, tmp_path / "picture.bmp")


def test_a_sweep_of_results_is_one_over_their_gpus(synthetic):
    pytest.importorskip("matplotlib")
    from msgspec.structs import replace

    results = [synthetic.make_result(seed) for seed in (1, 2, 3)]
    for count, result in zip((4, 2, 8), results):
        result.gpu = replace(result.gpu, sm=replace(result.gpu.sm, count=count))
    [axes] = plot.sweep(results, "sm.count").axes
    line = axes.containers[0].lines[0]
    expected = sorted((r.gpu.sm.count, r.cycles) for r in results)
    assert list(zip(line.get_xdata(), line.get_ydata())) == expected
    with pytest.raises(LockstepError, match=r"no parameter is named 'sm.cuont'; did you mean sm"):
        plot.sweep(results, "sm.cuont")
    for wrong in ([], None, ["QV100"]):
        with pytest.raises(LockstepError, match="expected the table of a campaign, or a list"):
            plot.sweep(wrong, "sm.count")
