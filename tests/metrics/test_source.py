"""Tables of instructions and of source lines: what they add up to, and what follows from them."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.engine.attributed import InstructionCounts
from lockstep.errors import LockstepError
from lockstep.isa.instruction import OpClass
from lockstep.metrics import source
from lockstep.model.core.attribution import ATTRIBUTED
from lockstep.model.counters import Stall


def counts(**fields):
    """Counters of instructions: each field a list."""
    rows = np.zeros(len(next(iter(fields.values()))), ATTRIBUTED)
    for name, values in fields.items():
        if name.startswith("stall_"):
            rows["stalls"][:, Stall[name.removeprefix("stall_").upper()]] = values
        else:
            rows[name] = values
    return rows


@pytest.fixture
def run_of(synthetic):
    """Function from counters, places and a number to a launch of one kernel."""

    def make(rows, places, number=1, name="_Z4axpyi"):
        kernel = synthetic.kernel_run(np.random.default_rng(0), number, 0)
        kernel.name = name
        pcs, texts = [16 * k for k in range(len(rows))], [f"OP{k}" for k in range(len(rows))]
        ops, widths = [OpClass.LOAD] * len(rows), [4] * len(rows)
        kernel.source = InstructionCounts(pcs, texts, places, rows, ops, widths)
        return kernel

    return make


PLACES = [[("a.cu", 3)], [("b.h", 9), ("a.cu", 4), ("a.cu", 7)], [("a.cu", 3)], []]
ROWS = counts(
    warp_instructions=[10, 10, 20, 0],
    thread_instructions=[320, 160, 200, 0],
    warp_cycles=[40, 100, 20, 0],
    requests_global=[0, 10, 0, 0],
    l1_global_read_sectors=[0, 80, 0, 0],
    l1_global_read_hits=[0, 20, 0, 0],
    reply_sectors=[0, 60, 0, 0],
    l2_hit_sectors=[0, 45, 0, 0],
    replies=[0, 15, 0, 0],
    miss_latency=[0, 3000, 0, 0],
    shared_accesses=[0, 0, 20, 0],
    shared_wavefronts=[0, 0, 50, 0],
    stall_wait=[5, 0, 10, 0],
    stall_long_scoreboard=[0, 75, 10, 0],
)


def test_a_row_says_what_an_instruction_did(run_of):
    table = source.instructions([run_of(ROWS, PLACES)])
    assert list(table["kernel"]) == ["axpy(int)"] * 4
    assert list(table["pc"]) == [0, 16, 32, 48] and list(table["text"])[3] == "OP3"
    assert list(table["op"]) == ["load"] * 4 and list(table["width"]) == [4] * 4
    assert list(table["file"]) == ["a.cu", "b.h", "a.cu", ""]
    assert list(table["line"]) == [3, 9, 3, 0]
    assert list(table["inlined_at"]) == ["", "a.cu:4 < a.cu:7", "", ""]
    load = table.iloc[1]
    assert (load["threads_per_instruction"], load["cycles_per_issue"]) == (16, 10)
    assert (load["sectors"], load["sectors_per_request"]) == (80, 8)
    assert (load["l1_hit_rate"], load["l2_hit_rate"], load["latency"]) == (25, 75, 200)
    assert (load["stalls"], load["stall_share"], load["stall_reason"]) == (
        75, 75, "long_scoreboard",
    )  # fmt: skip
    assert table.iloc[2]["bank_conflicts"] == 30
    never = table.iloc[3]
    assert never["stall_reason"] == "" and np.isnan(never["threads_per_instruction"])
    assert np.isnan(never["l1_hit_rate"]) and np.isnan(never["sectors_per_request"])


def test_launches_of_a_kernel_are_summed_and_others_are_not(run_of):
    runs = [run_of(ROWS, PLACES), run_of(ROWS, PLACES, 2), run_of(ROWS[:1], PLACES[:1], 3, "k")]
    table = source.instructions(runs)
    assert list(table["launches"]) == [2, 2, 2, 2, 1]
    assert list(table["warp_instructions"]) == [20, 20, 40, 0, 10]
    assert list(table["stall_share"]) == [5, 75, 20, 0, 100], "of its own kernel"


def test_a_line_is_the_sum_of_its_instructions(run_of):
    table = source.instructions([run_of(ROWS, PLACES)])
    lines = source.lines(table)
    assert list(zip(lines["file"], lines["line"])) == [("a.cu", 3), ("b.h", 9)]
    first = lines.iloc[0]
    assert (first["instructions"], first["launches"]) == (2, 1)
    assert first["warp_instructions"] == 30 and first["stalls"] == 25
    assert first["threads_per_instruction"] == pytest.approx(520 / 30)
    assert first["stall_reason"] == "wait" and first["bank_conflicts"] == 30
    for name in ("stalls", "warp_instructions", "sectors", "warp_cycles"):
        assert lines[name].sum() == table[name].sum(), name


def test_no_lines_where_none_is_known(run_of):
    lines = source.lines(source.instructions([run_of(ROWS, [[], [], [], []])]))
    assert lines.empty
    assert source.instructions([]).empty and source.lines(source.instructions([])).empty


def test_a_run_that_was_not_asked_says_how_to_ask(synthetic):
    result = synthetic.make_result()
    assert not result.counts_instructions
    with pytest.raises(LockstepError, match="source=True"):
        _ = result.source


def test_ptx_names_the_lines_of_its_program():
    """PTX that was made from CUDA."""
    from lockstep import kernels

    with lockstep.Device("QV100", timing=True, source=True) as device:
        kernels.load("saxpy").run(device, 1024)
        result = device.result
    table, (kernel,) = result.source, result.run.kernels
    assert table["warp_instructions"].sum() == kernel.warp_instructions
    lines = result.source_lines
    (file,) = set(lines["file"])
    assert Path(file).name == "saxpy.cu" and Path(file).is_file(), "it lies beside the PTX"
    loads = table[table["text"].str.startswith("ld.global")]
    assert len(loads) and (loads["sectors_per_request"].dropna() == 4).all()
