"""The table of lines on a terminal."""

import io

import numpy as np
import pytest
from rich.console import Console

from lockstep.engine.attributed import InstructionCounts
from lockstep.model.core.attribution import ATTRIBUTED
from lockstep.model.counters import Stall
from lockstep.report.source import LINES_SHOWN, print_source


@pytest.fixture
def shown(synthetic):
    """Function from places and stalls to the words of each line that is printed."""

    def make(places, stalls, kernels=1, width=200):
        result = synthetic.make_result(kernels=kernels)
        for run in result.run.kernels:
            rows = np.zeros(len(places), ATTRIBUTED)
            rows["warp_instructions"], rows["thread_instructions"] = 1000, 16000
            rows["stalls"][:, Stall.BARRIER] = stalls
            texts = [f"OP{k}" for k in range(len(places))]
            run.source = InstructionCounts(
                [16 * k for k in range(len(places))],
                texts,
                places,
                rows,
                [0] * len(places),
                [0] * len(places),
            )
        written = io.StringIO()
        print_source(result, Console(file=written, width=width))
        return [line.split() for line in written.getvalue().splitlines() if line.strip()]

    return make


def test_lines_come_in_the_order_of_their_stalls(shown, tmp_path):
    file = tmp_path / "k.cu"
    file.write_text("first\n  second += [1];\n")
    title, _, *rows, rest = shown([[(str(file), 1)], [(str(file), 2)], []], [10, 85, 5])
    assert " ".join(title) == "Source lines with most stalls"
    assert [row[:3] for row in rows] == [["k.cu:2", "second", "+="], ["k.cu:1", "first", "10.0"]]
    assert rows[0][4:10] == ["85.0", "%", "barrier", "100.0", "%", "1,000"]
    assert " ".join(rest) == "Instructions without a known line: 5.0 % of the stalls."


def test_instructions_stand_where_no_line_is_known(shown):
    title, _, first, second = shown([[], []], [1, 3])
    assert " ".join(title) == "Instructions with most stalls"
    assert (first[:3], second[:3]) == (["0x0010", "OP1", "75.0"], ["0x0000", "OP0", "25.0"])


def test_a_line_of_a_file_that_is_not_here_is_its_number(shown):
    _, _, row = shown([[("/nowhere/a\x1b.cu", 7)]], [1])
    assert row[:2] == ["a?.cu:7", "100.0"]


def test_no_more_lines_than_fit_a_screen(shown):
    places = [[("a.cu", k + 1)] for k in range(3 * LINES_SHOWN)]
    _, _, *rows = shown(places, [1] * len(places))
    assert [row[0] for row in rows] == [f"a.cu:{k + 1}" for k in range(LINES_SHOWN)]


def test_kernels_are_named_where_there_are_several(shown):
    _, _, *rows = shown([[("a.cu", 1)]], [4], kernels=2)
    assert [row[:3] for row in rows] == [["a.cu:1", f"kernel_{k}", "50.0"] for k in (1, 2)]


def test_a_run_that_waited_for_nothing_says_so(shown):
    assert [" ".join(row) for row in shown([[]], [0])] == [
        "Source: no scheduler-cycle was lost at an instruction."
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_terminal_keeps_lines_and_stalls(shown, width):
    _, heading, row = shown([[("a.cu", 1)]], [4], width=width)
    assert row[:3] == ["a.cu:1", "100.0", "%"] and "stalls" in heading
