"""What a report says of an error in machine code: ``cubins/faults.cu``."""

import pytest

import lockstep
from cubin_files import FOLDER, cubins
from lockstep.execution.launches.faults import LaunchError

SOURCE = (FOLDER / "faults.cu").read_text().splitlines()
BUILDS = ["lines.sm_80", "lines.sm_90", "debug.sm_75"]


def line(text):
    """The place of a line of the source."""
    return "/faults.cu", 1 + next(i for i, each in enumerate(SOURCE) if text in each)


def failure(build, kernel, *arguments):
    """The error of a kernel that is given an array of 32 words and some numbers."""
    with lockstep.Device("QV100") as device:
        words = device.zeros(32, "u4")
        with pytest.raises(LaunchError) as raised:
            device.load_cubin(cubins("faults")[build])[kernel][1, 32](words, *arguments)
        return raised.value, words.pointer


@pytest.mark.parametrize("build", BUILDS)
def test_an_access_outside_all_allocations(build):
    error, start = failure(build, "outside", 1000)
    assert error.kind == "illegal_address" and error.address == start + 4000
    assert error.allocation == (start, 128), "not what lockstep itself has in device memory"
    assert error.cta == (0, 0, 0) and error.thread == (5, 0, 0)
    assert error.place.sources == (line("return p[i];"),)
    text = str(error)
    assert f"invalid global read of 4 bytes at {start + 4000:#x}" in text
    assert "3872 bytes behind the end of the nearest allocation of 128 bytes" in text
    assert f"pc {error.place.pc:#x}: {error.place.instruction}" in text
    assert error.place.instruction.startswith("LD") and "[R" in error.place.instruction


def test_a_function_in_a_section_of_its_own_is_named():
    error, _ = failure("debug.sm_75", "outside", 1000)
    assert error.place.function == "_Z4pickPKfi"
    assert str(error).endswith(" in pick(float const*, int) at /faults.cu:5")


@pytest.mark.parametrize("build", ["lines.sm_80", "lines.sm_90"])
def test_an_inlined_function_and_its_call(build):
    error, _ = failure(build, "inlined", 1 << 20)
    called, (name, number) = error.place.sources
    assert called == line("return 2 * p[i];")
    assert name == "/faults.cu" and line("doubled(p + n")[1] - number in (0, 1)
    assert ", inlined at /faults.cu:" in str(error)


@pytest.mark.parametrize("build", ["lines.sm_80", "lines.sm_90"])
def test_an_assertion_is_where_it_is_called(build, capsys):
    error, _ = failure(build, "asserted")
    assert error.kind == "assert" and error.thread == (3, 0, 0)
    assert error.place.instruction.startswith("CALL")
    assert error.place.sources[-1] == line("assert(threadIdx.x < 3)")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 29 and "thread: [31,0,0] Assertion `threadIdx.x < 3` failed" in said[-1]


@pytest.mark.parametrize("build", ["lines.sm_80", "lines.sm_90"])
def test_a_trap(build):
    error, _ = failure(build, "trapped")
    assert error.kind == "trap" and error.thread == (7, 0, 0)
    assert error.place.instruction == "BPT.TRAP 0x1"
    assert error.place.sources[0] in (line("threadIdx.x == 7"), line("__trap()"))


def test_without_a_line_table_there_is_the_instruction():
    error, _ = failure("sm_80", "outside", 1000)
    assert error.place.sources == () and str(error).endswith(error.place.instruction)
