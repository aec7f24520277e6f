import io
import math
import re
from pathlib import Path

import pytest
from rich.console import Console

from lockstep.engine.record import LeftOut
from lockstep.report import summary as module
from lockstep.report.summary import summary

SNAPSHOT = Path(__file__).with_name("summary.txt")


def test_the_summary_looks_like_this(synthetic):
    """To accept a new look, write the new text to the file and read it."""
    assert summary(synthetic.make_result(), 100) == SNAPSHOT.read_text(encoding="utf-8")


def figures_of(text):
    """Words of a text that are numbers, with their signs and commas."""
    return set(re.findall(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w,.]*\w)", text))


@pytest.fixture
def large(synthetic):
    """A result with a long name and figures of many digits."""
    result = synthetic.make_result(kernels=3)
    result.run.kernels[0].name = "_Z23a_very_long_kernel_nameIN2ns4TypeIfLi128ELi64EEEEvPT_"
    for kernel in result.run.kernels:
        kernel.end += 123_456_789_000
        kernel.sm["l1_global_read_sectors"] += 987_654_321
    result.run.sm["l1_global_read_sectors"] += 987_654_321
    return result


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_lines_fit_the_width_and_no_number_is_cut(large, width):
    text, whole = summary(large, width), summary(large, 10_000)
    assert max(map(len, text.splitlines())) <= width
    assert "cycles" in text.splitlines()[0]
    assert figures_of(text) <= figures_of(whole)
    for line in text.splitlines():
        assert not re.search(r"\d…|…[\d,.]*%", line), line
    for k in large.run.kernels:
        assert f"{k.cycles:,}" in text


def test_a_pipe_has_room_for_everything(large):
    whole = summary(large, 10_000)
    assert "…" not in whole
    assert "1 a_very_long_kernel_name<ns::Type<float, 128, 64>> " in whole
    assert "occupancy limiter" in whole and "nearest limit" in whole


def test_a_short_summary_has_a_head_and_warnings(synthetic):
    result = synthetic.make_result()
    text = summary(result, short=True)
    assert text.splitlines()[:3] == summary(result).splitlines()[:3]
    assert text.splitlines()[3:] == module.warnings(result)


def test_launches_of_a_kernel_are_taken_together(synthetic):
    result = synthetic.make_result(kernels=5)
    for run, name in zip(result.run.kernels, ("_Z1aPf", "b", "_Z1aPf", "b", "c")):
        run.name = name
    groups = module.by_kernel(result)
    assert [len(runs) for runs in groups] == [len(g) for g in sorted(groups, key=cycles, reverse=1)]
    assert {runs[0].title: len(runs) for runs in groups} == {"a(float*)": 2, "b": 2, "c": 1}
    console = Console(file=io.StringIO(), width=120)
    module.print_kernels(result, console)
    text = console.file.getvalue()
    share = f"{100 * cycles(groups[0]) / cycles(result.run.kernels):.1f} %"
    assert f"{share} of the cycles" in text
    assert text.count("Speed of light") == text.count("Memory") == 3
    assert "Kernels by time" in text and "_Z1aPf" not in text


def cycles(runs):
    return sum(run.cycles for run in runs)


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


def test_warnings_name_kernels_that_ran_in_part(synthetic):
    result = synthetic.make_result()
    first, second = result.run.kernels
    first.ctas_done, first.stopped = 5, "enough"
    second.first_cta, second.ctas_done = 2, 6
    second.left_out = [LeftOut(1, 100, 10), LeftOut(2, 200, 20)]
    lines = module.warnings(result)
    assert "Kernel 1 (kernel_1): 5 of 8 CTAs, stopped: enough" in lines
    assert "Kernel 2 (kernel_2): 6 of 8 CTAs, from CTA 2 on, 3 left out" in lines


def test_warnings_say_what_is_uncertain(synthetic):
    lines = module.warnings(synthetic.make_result())
    assert lines == [
        "Unknown opcodes, classed by family: FROB.X (7)",
        "SMALL was never compared with hardware measurements.",
    ]
