"""The builder's language: what it accepts, what it refuses, and what comes out."""

import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.errors import LockstepError, WorkloadError
from lockstep.isa.instruction import NO_BARRIER, NO_CONTROL, OpClass
from lockstep.workload import Kernel, MemoryCopy

BASE = 0x7F0000000000


def test_ten_lines_make_a_workload():
    k = KernelBuilder("saxpy", grid=512, block=256, registers=16, architecture=70)
    k("S2R R0, SR_TID.X")
    with k.loop(60):
        k("LDG.E R4, [R2]", address=k.coalesced(BASE, step=4 * 512 * 256))
        k("FFMA R8, R4, R2, R3")
    k("STG.E [R6], R8", address=k.coalesced(BASE))
    kernel = k.workload().kernels[0]
    assert (kernel.name, kernel.grid, kernel.block) == ("saxpy", (512, 1, 1), (256, 1, 1))
    assert (kernel.registers, kernel.architecture, kernel.n_ctas) == (16, 70, 512)
    cta = next(kernel.ctas())
    assert cta.warps["warp_instructions"].tolist() == [1 + 60 * 2 + 2] * 8


def test_exit_is_appended_once():
    k = KernelBuilder("short", 1, 32)
    k("NOP")
    assert k.kernel().code.texts == ["NOP", "EXIT"]
    assert len(k.kernel().code) == 2


def test_a_kernel_does_not_change_when_the_builder_goes_on():
    k = KernelBuilder("grows", 1, 32)
    k("EXIT")
    first = k.kernel()
    k("NOP")
    k("EXIT")
    assert next(first.ctas()).warps["warp_instructions"].tolist() == [1]
    assert next(k.kernel().ctas()).warps["warp_instructions"].tolist() == [3]


@pytest.mark.parametrize(("architecture", "step"), [(61, 8), (70, 16), (90, 16)])
def test_pcs_follow_the_instruction_size(architecture, step):
    k = KernelBuilder("pcs", 1, 32, architecture=architecture)
    k("NOP")
    k("NOP")
    assert k.kernel().code.instructions["pc"].tolist() == [0, step, 2 * step]


def test_the_last_warp_may_be_partial():
    k = KernelBuilder("partial", 1, (10, 4))
    runs = next(k.kernel().ctas()).runs
    assert runs["mask"].tolist() == [0xFFFFFFFF, 0xFF]


def test_predication_issues_and_divergence_skips():
    k = KernelBuilder("masks", 1, 32)
    k("FADD R1, R2, R3", mask=0)
    with k.lanes(0):
        k("FADD R1, R2, R3")
    with k.otherwise():
        k("FMUL R1, R2, R3")
    runs = next(k.kernel().ctas()).runs
    assert runs.tolist() == [(0, 1, 0), (2, 2, 0xFFFFFFFF)]


def test_a_block_mask_looks_at_the_loops_it_stands_in():
    k = KernelBuilder("depth", 1, 32)
    with k.loop(3), k.lanes(lambda at: at.i == 1), k.loop(2):
        k("FADD R1, R2, R3")
    assert next(k.kernel().ctas()).warps["warp_instructions"].tolist() == [3]


def test_the_innermost_loop_of_an_instruction_is_the_one_it_stands_in():
    k = KernelBuilder("after", 1, 32)
    with k.loop(2):
        k("LDG.E R1, [R2]", address=lambda at: BASE + 64 * at.i)
        with k.loop(3):
            k("NOP")
    assert next(k.kernel().ctas()).addresses["first"].tolist() == [BASE, BASE + 64]


def test_control_bits_by_keyword_and_by_prefix():
    k = KernelBuilder("control", 1, 32)
    k("LDG.E R4, [R2]", address=BASE, stall=2, write_barrier=1)
    k("B0-----:R-:W3:-:S05 FADD R1, R2, R3", wait=(1, 4), yields=1)
    k("NOP")
    code = k.kernel().code.instructions
    fields = ("stall", "yields", "write_barrier", "read_barrier", "wait_mask")
    assert [code[0][f] for f in fields] == [2, 0, 1, NO_BARRIER, 0]
    assert [code[1][f] for f in fields] == [5, 1, 3, NO_BARRIER, 0b10011]
    assert code[2]["stall"] == NO_CONTROL


def test_constants_may_have_addresses():
    k = KernelBuilder("constant", 1, 32)
    k("LDC R1, c[0x0][R2]", address=k.broadcast(64))
    k("LDC R1, c[0x0][0x160]")
    kernel = k.kernel()
    assert kernel.code.instructions["width"].tolist() == [4, 0, 0]
    assert next(kernel.ctas()).addresses["first"].tolist() == [64]


def test_barriers_and_shared_memory():
    k = KernelBuilder("shared", 1, 64, shared_bytes=256)
    k("STS [R0], R1", address=lambda at: 4 * at.thread)
    k("BAR.SYNC 0x1")
    kernel = k.kernel()
    assert kernel.shared_bytes == 256
    assert kernel.code.instructions["op"][1] == OpClass.BARRIER
    assert kernel.code.instructions["immediate"][1] == 1


def test_a_program_numbers_its_kernels_and_keeps_the_order():
    a, b = KernelBuilder("a", 1, 32), KernelBuilder("b", 1, 32, stream=3)
    copy = MemoryCopy(BASE, 4096)
    workload = program(copy, a, b, copy, a, name="both")
    assert [type(c) for c in workload.commands] == [MemoryCopy, Kernel, Kernel, MemoryCopy, Kernel]
    assert [(k.id, k.name, k.stream) for k in workload.kernels] == [
        (1, "a", 0),
        (2, "b", 3),
        (3, "a", 0),
    ]
    again = program(workload, b)
    assert [k.id for k in again.kernels] == [1, 2, 3, 4]
    assert [k.id for k in workload.kernels] == [1, 2, 3]


def test_one_kernel_may_follow_its_copies():
    commands = KernelBuilder("a", 1, 32).workload(MemoryCopy(BASE, 64)).commands
    assert [type(c) for c in commands] == [MemoryCopy, Kernel]


@pytest.mark.parametrize(
    ("text", "arguments", "problem"),
    [
        ("LDG.E R4, [R2]", {}, "address="),
        ("FADD R1, R2, R3", {"address": BASE}, "no memory"),
        ("FADD R1, R2, R3", {"mask": 1 << 32}, "32 bits"),
        ("FADD R1, R2, R3", {"mask": -1}, "32 bits"),
        ("FADD R1, R2, R3", {"stall": 16}, "stall count"),
        ("FADD R1, R2, R3", {"wait": (6,)}, "barriers 0 to 5"),
        ("FADD R1, R2, R3", {"stalls": 1}, "stalls"),
        ("FADD R1, R2, R3", {"write_barrier": 6}, "write_barrier"),
        ("what is this", {}, "as SASS"),
        ("FADD R1, R300, R3", {}, "R300"),
    ],
)
def test_mistakes_in_an_instruction_are_refused(text, arguments, problem):
    with pytest.raises(LockstepError, match=problem):
        KernelBuilder("wrong", 1, 32)(text, **arguments)


@pytest.mark.parametrize("mask", [1 << 64, -1])
def test_a_mask_of_a_wide_warp_has_64_bits(mask):
    k = KernelBuilder("wrong", 1, 64, warp_size=64)
    with pytest.raises(LockstepError, match=f"^mask {mask:#x}; expected 64 bits$"):
        k("FADD R1, R2, R3", mask=mask)
    with pytest.raises(LockstepError, match="a barrier of 96 threads; expected a multiple of 64"):
        k("BAR.SYNC 0x1, 0x60")


@pytest.mark.parametrize("size", [0, 16, 48, 128, "64", None])
def test_a_warp_has_32_or_64_threads(size):
    with pytest.raises(LockstepError, match=f"^warp_size {size!r}; expected 32 or 64$"):
        KernelBuilder("wrong", 1, 64, warp_size=size)


@pytest.mark.parametrize(
    "shape",
    [dict(grid=0), dict(grid=(1, 2, 3, 4)), dict(block=1025), dict(block=(32, -1)), dict(grid=1.5)],
)
def test_impossible_extents_are_refused(shape):
    with pytest.raises(LockstepError):
        KernelBuilder("wrong", **(dict(grid=1, block=32) | shape))


@pytest.mark.parametrize(
    ("need", "value"),
    [
        ("registers", -1),
        ("registers", 257),
        ("registers", 2.5),
        ("shared_bytes", -1),
        ("shared_bytes", 1 << 31),
        ("architecture", -70),
        ("stream", -1),
        ("local_base", 1 << 63),
    ],
)
def test_what_a_kernel_needs_is_a_number_in_its_range(need, value):
    with pytest.raises(LockstepError, match=f"{need} {value}; expected an integer from 0 to"):
        KernelBuilder("k", grid=1, block=32, **{need: value})


@pytest.mark.parametrize("name", ["k\udc80", 7, None])
def test_a_name_is_text_that_can_be_written(name):
    with pytest.raises(WorkloadError, match="expected text without lone surrogates"):
        KernelBuilder(name, grid=1, block=32)
    with pytest.raises(WorkloadError, match="expected text without lone surrogates"):
        program(KernelBuilder("kérnel", grid=1, block=32), name=name)


def test_mistakes_in_structure_are_refused():
    k = KernelBuilder("wrong", 1, 32)
    with pytest.raises(LockstepError, match="loop count"), k.loop(-1):
        pass
    with pytest.raises(LockstepError, match="without a lanes"), k.otherwise():
        pass


def test_negative_addresses_are_refused():
    k = KernelBuilder("wrong", 1, 32)
    k("LDG.E R4, [R2]", address=lambda at: at.lane - 1)
    with pytest.raises(LockstepError, match="negative address"):
        next(k.kernel().ctas())
