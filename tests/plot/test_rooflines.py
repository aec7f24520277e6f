import pytest

from lockstep import plot
from lockstep.errors import LockstepError
from lockstep.report.roofline import LEVELS, issue_ceiling, level_ceilings, roofline

pytest.importorskip("matplotlib")


@pytest.fixture
def result(synthetic):
    return synthetic.make_result(kernels=3)


def points(figure):
    """What is drawn of each level: places of its marks."""
    [axes] = figure.axes
    lines = {line.get_label().partition(" ")[0]: line for line in axes.lines}
    return {
        level: list(zip(lines[level].get_xdata(), lines[level].get_ydata())) for level in LEVELS
    }


def test_each_kernel_is_a_point_of_each_level(result):
    expected = roofline(result).points
    drawn = points(plot.roofline(result))
    for level in LEVELS:
        assert drawn[level] == [(p.intensity[level], p.rate) for p in expected]
        assert len(drawn[level]) == 3


def test_the_ceilings_are_those_of_the_gpu(result):
    [axes] = plot.roofline(result).axes
    lines = {line.get_label(): line for line in axes.lines}
    roof = issue_ceiling(result.gpu).rate
    assert list(lines["_issue"].get_ydata()) == [roof, roof]
    for level in LEVELS:
        (x0, x1), (y0, y1) = lines["_" + level].get_data()
        slope = level_ceilings(result.gpu)[level].rate
        assert y1 == roof and y1 / x1 == pytest.approx(slope) and y0 / x0 == pytest.approx(slope)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_a_level_alone(result):
    [axes] = plot.roofline(result, levels=("DRAM",)).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["DRAM (3)"]


def test_a_table_of_kernels_has_the_same_points(result):
    assert points(plot.roofline(result.kernels, result.gpu)) == points(plot.roofline(result))


def test_a_table_of_a_campaign_knows_its_gpu(result):
    table = result.kernels.assign(gpu="QV100", workload="w")
    [axes] = plot.roofline(table).axes
    assert axes.get_title() == "Instruction roofline of QV100"
    with pytest.raises(LockstepError, match="this one has A100, QV100: say which with gpu="):
        plot.roofline(table.assign(gpu=["A100", "QV100", "QV100"]))
    with pytest.raises(LockstepError, match="this one has none"):
        plot.roofline(result.kernels)


def test_a_kernel_without_sectors_of_a_level_has_no_point_there(result):
    result.run.kernels[1].partition["dram_reads"] = 0
    table = result.kernels
    table.loc[1, ["dram__bytes_read.sum", "dram__bytes_write.sum"]] = 0
    drawn = points(plot.roofline(table, result.gpu))
    assert [len(drawn[level]) for level in LEVELS] == [3, 3, 2]


def test_what_cannot_be_drawn_says_what_it_lacks(result, synthetic):
    with pytest.raises(LockstepError, match="there is no column sim__ipc"):
        plot.roofline(result.kernels[["name"]], result.gpu)
    with pytest.raises(LockstepError, match="pass a result, its table of kernels, or the table"):
        plot.roofline(None)
    with pytest.raises(LockstepError, match="no kernel has issued an instruction"):
        plot.roofline(synthetic.make_result(kernels=0, samples=0))
    with pytest.raises(LockstepError, match="no level 'L3': expected some of L1, L2, DRAM"):
        plot.roofline(result, levels=("L3",))
    with pytest.raises(LockstepError, match="no level ''"):
        plot.roofline(result, levels=())


def test_a_dollar_begins_no_formula(result):
    result.run.kernels[0].name = "a$b$c"
    plot.roofline(result).canvas.draw()
    texts = [text.get_text() for text in plot.roofline(result).axes[0].texts]
    assert r"a\$b\$c" in texts
