import math
from pathlib import Path

import pytest

from lockstep.report import summary as module
from lockstep.report.summary import summary

SNAPSHOT = Path(__file__).with_name("summary.txt")


def test_the_summary_looks_like_this(synthetic):
    """To accept a new look, write the new text to the file and read it."""
    assert summary(synthetic.make_result(), 100) == SNAPSHOT.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_lines_fit_the_width(synthetic, width):
    result = synthetic.make_result(kernels=3)
    result.run.kernels[0].name = "a_very_long_kernel_name_" * 10
    lines = summary(result, width).splitlines()
    assert max(map(len, lines)) <= width
    assert "cycles" in lines[0]


def test_many_kernels_show_the_longest_in_launch_order(synthetic):
    result = synthetic.make_result(kernels=30)
    text = summary(result)
    assert "Kernels: the 12 longest of 30" in text
    longest = max(result.run.kernels, key=lambda k: k.cycles)
    assert f"{longest.id} kernel_{longest.id} " in text
    shown = [int(line.split()[0]) for line in text.splitlines() if " kernel_" in line]
    assert len(shown) == 12 and shown == sorted(shown)


def test_names_with_markup_or_control_characters_are_harmless(synthetic):
    result = synthetic.make_result(kernels=1)
    result.run.kernels[0].name = "k[red]\x1b[2J"
    assert "k[red]?[2J" in summary(result)


def test_speeds_are_ranked_and_idle_units_left_out():
    metrics = {
        "sim__sol_unit_fp32.pct": 10.0,
        "sim__sol_dram.pct": 90.0,
        "sim__sol_l2.pct": 0.0,
        "sim__sol_l1.pct": math.nan,
        "sim__scheduler_unit_busy.pct": 4.0,
    }
    assert module.speeds(metrics) == [("dram", 90.0), ("fp32", 10.0)]
    assert module.stalls(metrics) == [("unit busy", 4.0)]


def test_a_run_that_did_nothing_has_a_summary(synthetic):
    result = synthetic.make_result(kernels=0, samples=0, stopped="cycle limit\nof 10")
    text = summary(result)
    assert "0 cycles" in text
    assert "Ended early, the numbers are partial: cycle limit\nof 10" in text


def test_warnings_say_what_is_uncertain(synthetic):
    lines = module.warnings(synthetic.make_result())
    assert lines == [
        "Unknown opcodes, classed by family: FROB.X (7)",
        "SMALL was never compared with hardware measurements.",
    ]
