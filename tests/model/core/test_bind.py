"""From static code to what an SM executes, and what a CTA occupies."""

import numpy as np
import pytest

import lockstep
from lockstep.builder import KernelBuilder
from lockstep.errors import WorkloadError
from lockstep.gpus.units import Operation, operations
from lockstep.isa.instruction import (
    CONSTANT_BANK,
    CONSTANT_BANKS,
    MAX_DESTINATIONS,
    MAX_SOURCES,
    PREDICATES,
    REGISTER_COUNT,
    OpClass,
    blank,
)
from lockstep.model.core import bind
from lockstep.model.core.state import FIXED, LONG, MAX_CHECKS, MAX_READS, SHORT
from lockstep.model.sm.operands import BANK_MASK, kept_as, slot_of

pytestmark = pytest.mark.plain


def bound(gpu, *lines, control=False, **bits):
    """The records of some instructions."""
    k = KernelBuilder("bind", grid=1, block=32, architecture=80)
    for text in lines:
        k(text, address=0 if "[" in text and "c[" not in text else None, **bits)
    return bind.issue_records(k._code.instructions, gpu, control)


@pytest.mark.parametrize(
    ("product", "registers"),
    [
        ("HGMMA.64x64x16.F32 R24, gdesc[UR4], R24", 32),
        ("HGMMA.64x64x16.F32 R24, R88, gdesc[UR4], R24", 32 + 4),
        ("HGMMA.64x128x16.F16 R24, gdesc[UR4], R24", 32),
        ("HGMMA.64x64x16.F32 R24, gdesc[UR4], RZ", 0),
    ],
)
def test_a_product_of_a_warpgroup_reads_what_lanes_hold(tiny, product, registers):
    """Accumulators, if it adds to any, and a fragment of A; descriptors are in shared memory."""
    [record] = bound(tiny(), product)
    assert record["immediate"] == registers and record["reads"] == 0


def test_unit_latency_and_interval_come_from_the_gpu(tiny):
    gpu = tiny()
    records = bound(gpu, "FFMA R1, R2, R3, R4", "DADD R2, R4, R6", "BRA 0x10", "HMMA.16816.F32 "
                    "R4, R8, R12, R4")  # fmt: skip
    for record, op in zip(records, (OpClass.FP32, OpClass.FP64, OpClass.BRANCH, OpClass.HMMA)):
        assert record["op"] == op
        assert tuple(record[list(Operation._fields)]) == operations(gpu)[op]
    assert records["branch"].tolist() == [0, 0, 1, 0]


def test_instances_of_units_lie_one_after_the_other(tiny):
    gpu = tiny(**{"sm.units.fp32.count": 3})
    table = bind.unit_table(gpu)
    names = [unit.name for unit in gpu.sm.units]
    assert table[names.index("fp32"), 1] == 0 and table[names.index("shuffle"), 1] == 1
    assert np.diff(table[:, 0]).tolist() == [unit.count for unit in gpu.sm.units[:-1]]


def test_what_the_first_unit_alone_executes(tiny):
    gpu = tiny(**{"sm.units.fp32.count": 3, "sm.units.fp32.instances.IMAD": 1})
    ffma, multiply, wide = bound(
        gpu, "FFMA R1, R2, R3, R4", "IMAD R1, R2, R3, R4", "IMAD.WIDE R2, R4, R5, R6"
    )
    assert (ffma["instances"], multiply["instances"], wide["instances"]) == (3, 1, 1)
    assert ffma["unit"] == multiply["unit"] == wide["unit"]


def test_operands_that_are_checked_and_read(tiny):
    ffma, predicate, hmma, store = bound(
        tiny(), "FFMA R1, R2, R3, R2", "ISETP.NE.AND P0, PT, R5, R6, PT",
        "HMMA.16816.F32 R4, R8, R12, R4", "STG.E.128 [R2], R4",
    )  # fmt: skip
    assert ffma["check"][: ffma["checks"]].tolist() == [r | 1 << 16 for r in (1, 2, 3, 2)]
    assert [r & 0xFFFF for r in ffma["read"][: ffma["reads"]]] == [2, 3, 2]
    assert [r >> 16 & 0xFF for r in ffma["read"][: ffma["reads"]]] == [0, 1, 0], "banks"
    assert predicate["reads"] == 2 and predicate["check"][0] == 256 | 1 << 16
    assert hmma["check"][0] == 4 | 4 << 16 and hmma["destinations"] == 1
    assert hmma["reads"] == MAX_READS, "ten registers, of which as many are modelled"
    assert [r & 0xFFFF for r in store["read"][: store["reads"]]] == [2, 3, 4, 5, 6, 7]
    assert MAX_CHECKS == MAX_DESTINATIONS + MAX_SOURCES


def test_what_goes_through_the_memory_pipeline(tiny):
    lines = {
        "LDG.E R1, [R2]": 1, "LDS R1, [R2]": 1, "STL [R2], R1": 1, "LDGSTS.E [R1], [R2]": 1,
        "RED.E.ADD [R2], R1": 1, "LDC R1, c[0x0][R2]": 0, "MOV R1, R2": 0, "MEMBAR.SC.GPU": 0,
    }  # fmt: skip
    assert bound(tiny(), *lines)["memory"].tolist() == list(lines.values())


def test_who_produces_a_result(tiny):
    lines = {
        "FFMA R1, R2, R3, R4": FIXED, "MUFU.RCP R1, R2": SHORT, "S2R R1, SR_TID.X": SHORT,
        "LDC R1, c[0x0][R2]": SHORT, "SHFL.IDX PT, R1, R2, R3, 0x1f": SHORT,
    }  # fmt: skip
    assert bound(tiny(), *lines)["result"].tolist() == list(lines.values())
    texture = bound(tiny(), "TEX.SCR.LL RZ, R4, R2, R2, 0x0, 0x58, 2D, 0x1")
    assert texture["result"][0] == LONG


def test_a_load_without_addresses_takes_the_hit_latency(tiny):
    gpu = tiny()
    code = KernelBuilder("bare", grid=1, block=32)
    code("LDG.E R1, [R2]", address=0)
    records = code._code.instructions.copy()
    records["width"] = 0
    (bare,) = bind.issue_records(records, gpu, False)
    assert (bare["memory"], bare["latency"], bare["result"]) == (0, gpu.l1.latency, SHORT)
    (constant,) = bound(gpu, "LDC R1, c[0x0][R2]")
    assert constant["latency"] == gpu.constant.latency


def test_control_bits_count_only_if_they_are_used(tiny):
    bits = {"stall": 5, "yields": 1, "write_barrier": 2, "read_barrier": 3, "wait": (0, 4)}
    (used,) = bound(tiny(), "LDG.E R1, [R2]", control=True, **bits)
    assert (used["stall"], used["yields"], used["wait_mask"]) == (5, 1, 0b10001)
    assert (used["write_barrier"], used["read_barrier"]) == (2, 3)
    (unused,) = bound(tiny(), "LDG.E R1, [R2]", control=False, **bits)
    assert (unused["stall"], unused["yields"], unused["wait_mask"], unused["reuse"]) == (
        0,
        0,
        0,
        -1,
    )
    assert (unused["write_barrier"], unused["read_barrier"]) == (7, 7)


def test_code_lines_follow_the_program_counter(tiny):
    gpu = tiny(sm__front_end__line_bytes=64)
    assert bound(gpu, *["NOP"] * 9)["line"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2]


def kernel(**sizes):
    return KernelBuilder("needs", **{"grid": 1, "block": 64} | sizes).kernel()


def test_needs_are_rounded_up_to_what_is_allocated(tiny):
    gpu = tiny(**{"sm.register_granularity": 512, "shared.granularity": 1024})
    needs = bind.cta_needs(kernel(registers=33, shared_bytes=1025), gpu)
    assert needs == {"warps": 2, "registers": 2 * (16384 // 10), "shared": 2048}  # 10 of 1536
    assert bind.cta_needs(kernel(registers=0), gpu) == {"warps": 2, "registers": 1024, "shared": 0}
    reserved = tiny(**{"shared.reserved_per_cta": 1024})
    assert bind.cta_needs(kernel(), reserved)["shared"] == 1024


@pytest.mark.parametrize(
    "sizes, expected",
    [
        ({"block": 32}, (16, "warps")),
        ({"block": 32, "registers": 255}, (8, "registers")),
        ({"block": 32, "shared_bytes": 49152}, (2, "shared memory")),
        ({"block": 512, "registers": 128}, (1, "warps")),
    ],
)
def test_occupancy_and_what_limits_it(tiny, sizes, expected):
    assert bind.occupancy(kernel(**sizes), tiny()) == expected


@pytest.mark.parametrize(
    ("registers", "block", "ctas"),
    [(104, 32, 16), (88, 64, 10), (88, 96, 6), (144, 224, 1), (255, 32, 8), (64, 128, 8)],
)  # of CUDA's cuda_occupancy.h: four files of 16,384 registers
def test_warps_find_their_registers_in_the_file_of_their_sub_core(registers, block, ctas):
    gpu = lockstep.gpu("A100")
    sizes = kernel(block=block, registers=registers)
    assert bind.ctas_by_limit(sizes, gpu)["registers"] == ctas
    assert bind.occupancy(sizes, gpu) == (ctas, "registers")


def test_a_warp_of_64_threads_is_one_that_needs_twice_the_registers(tiny):
    wide = tiny(**{"sm.warp_size": 64, "sm.register_granularity": 512})
    needs = bind.cta_needs(kernel(block=65, registers=33, warp_size=64), wide)
    assert needs == {"warps": 2, "registers": 2 * (16384 // 6), "shared": 0}  # 6 of 2560


@pytest.mark.parametrize("sizes", [(32, 64), (64, 32)])
def test_a_kernel_runs_on_a_gpu_with_warps_of_its_size_alone(tiny, sizes):
    own, other = sizes
    narrow = kernel(warp_size=own)
    assert bind.occupancy(narrow, tiny(sm__warp_size=own))[1] == "warps"
    with pytest.raises(WorkloadError) as error:
        bind.occupancy(narrow, tiny(sm__warp_size=other))
    assert str(error.value) == (
        f"kernel 1 (needs): warps of {own} threads; those of QV100 have {other}"
    )


@pytest.mark.parametrize(("size", "arrivals"), [(32, [0, 2, 32]), (64, [0, 1, 16])])
def test_a_barrier_counts_warps(tiny, size, arrivals):
    k = KernelBuilder("barriers", grid=1, block=1024, warp_size=size)
    for text in ("BAR.SYNC 0x0", "BAR.SYNC 0x1, 0x40", "BAR.ARV 0x2, 0x400"):
        k(text)
    gpu = tiny(sm__warp_size=size)
    records = bind.issue_records(k._code.instructions, gpu, False)
    assert records["arrivals"].tolist() == arrivals
    assert set(records["rows"].tolist()) == {size}


def test_occupancy_by_cta_slots(tiny):
    assert bind.occupancy(kernel(), tiny(sm__ctas=3)) == (3, "CTAs")


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({"block": 1024}, "one CTA needs 32 warps, an SM of QV100 has 16"),
        (
            {"block": 512, "registers": 256},
            "one CTA needs 131072 registers, an SM of QV100 has 65536",
        ),
        ({"shared_bytes": 98305}, "one CTA needs 98560 shared memory, an SM of QV100 has 98304"),
    ],
)
def test_a_cta_that_cannot_fit_is_an_error(tiny, sizes, message):
    with pytest.raises(WorkloadError, match=message):
        bind.occupancy(kernel(**sizes), tiny())


@pytest.mark.parametrize("shared, carveout", [(0, 0), (1, 8192), (6144, 98304), (600, 16384)])
def test_the_l1_is_what_the_smallest_sufficient_carveout_leaves(tiny, shared, carveout):
    gpu = tiny()
    ctas = bind.occupancy(kernel(shared_bytes=shared, block=32), gpu)[0]
    assert ctas * shared <= carveout
    ways = bind.l1_ways(kernel(shared_bytes=shared, block=32), gpu)
    assert ways == (gpu.l1.bytes - carveout) // (gpu.l1.sets * gpu.l1.line_bytes)


def test_a_separate_l1_keeps_its_size(tiny):
    gpu = tiny(l1__carveouts=())
    assert bind.l1_ways(kernel(shared_bytes=90000), gpu) == 131072 // (4 * 128)


def test_control_bits_are_used_where_all_instructions_have_them(tiny):
    k = KernelBuilder("known", grid=1, block=32)
    k("NOP", stall=1)
    k("EXIT", stall=1)
    known, unknown = k.kernel(), kernel()
    assert bind.uses_control(known, tiny())
    assert not bind.uses_control(unknown, tiny())
    assert not bind.uses_control(known, tiny(sm__scheduler__dependence="scoreboard"))
    with pytest.raises(WorkloadError, match=r"kernel 1 \(needs\)"):
        bind.uses_control(unknown, tiny(sm__scheduler__dependence="control"))


def by_opcode(gpu, *lines, control=False, **bits):
    """Records of instructions whose opcodes the model is told."""
    k = KernelBuilder("opcodes", grid=1, block=32)
    for text in lines:
        k(text, **bits)
    code = k._code
    return bind.issue_records(code.instructions, gpu, control, texts=code.texts)


def test_an_opcode_goes_before_its_class_and_a_longer_name_before_a_shorter_one(tiny):
    gpu = tiny(
        **{
            "sm.units.fp32.operations.IMAD_HI": 9,
            "sm.units.fp32.operations.IMAD_HI_U32": 11,
            "sm.units.fp32.intervals.IMAD_HI_U32": 5,
        }
    )
    lines = "IMAD R1, R2, R3, R4", "IMAD.HI R1, R2, R3, R4", "IMAD.HI.U32 R1, R2, R3, R4"
    plain, high, unsigned = by_opcode(gpu, *lines)
    assert (high["latency"], unsigned["latency"], unsigned["interval"]) == (9, 11, 5)
    assert plain["latency"] == bound(gpu, lines[0])["latency"][0]
    assert (bound(gpu, *lines)["latency"][1:] == bound(tiny(), *lines)["latency"][1:]).all()


def test_a_warp_waits_longer_than_its_stall_count_for_some_opcodes(tiny):
    gpu = tiny(**{"sm.holds.IMAD_HI": 3})
    lines = "IMAD.HI.U32 R1, R2, R3, R4", "IMAD R1, R2, R3, R4"
    stalls = by_opcode(gpu, *lines, control=True, stall=6)["stall"]
    assert stalls[:2].tolist() == [9, 6]
    assert by_opcode(gpu, *lines)["stall"].tolist()[:2] == [0, 0], "without control bits it is none"


def test_branches_redirect_by_opcode(tiny):
    gpu = tiny(**{"sm.front_end.redirect": 7, "sm.front_end.redirects.RET": 30})
    records = by_opcode(gpu, "RET.REL.NODEC R2 0x0", "BRA 0x0")
    assert records["redirect"][:2].tolist() == [30, 7]


def test_a_unit_with_a_queue_leaves_time_to_wait(tiny):
    gpu = tiny(**{"sm.unit_queues.sfu": 3})
    records = bound(gpu, "MUFU.RCP R1, R2", "FFMA R1, R2, R3, R4", "BRA 0x0")
    assert records["slack"][:3].tolist() == [3 * records["interval"][0], 0, 0]


def test_a_class_has_a_queue_of_its_own(tiny):
    """MUFU and a conversion share a unit."""
    gpu = tiny(**{"sm.unit_queues.sfu": 3, "sm.unit_queues.CONVERT": 1})
    records = bound(gpu, "MUFU.RCP R1, R2", "F2I R1, R2")
    assert records["unit"][0] == records["unit"][1]
    assert records["slack"][:2].tolist() == [3 * records["interval"][0], records["interval"][1]]


def slots(record):
    return [slot_of(int(r)) for r in record["read"][: record["reads"]]]


def test_operands_are_kept_by_place_or_by_slot(tiny):
    """A uniform register or a constant takes a slot, but no register is read for it."""
    lines = "IMAD R1, R2, UR4, R6", "FFMA R1, R2, c[0x0][0x160], R6", "FFMA R1, R2, R4, R6"
    assert [slots(r) for r in bound(tiny(), *lines)] == [[0, 1], [0, 1], [0, 1, 2]]
    gpu = tiny(**{"sm.operands.slots": True})
    assert [slots(r) for r in bound(gpu, *lines)] == [[0, 2], [0, 2], [0, 1, 2]]
    (pairs,) = bound(gpu, "DFMA R2, R4, R6, R8")
    assert slots(pairs) == [0, 0, 1, 1, 2, 2]
    assert slots(bound(tiny(), "DFMA R2, R4, R6, R8")[0]) == [0, 1, 2, 3, 4, 5]


def test_the_largest_values_of_an_instruction_fit_into_its_record(tiny):
    """A field too narrow would wrap around and say nothing."""
    gpu = tiny(**{"sm.operands.slots": True, "sm.operands.banks": 64})
    code = blank(2)
    code["op"], code["pc"], code["immediate"] = OpClass.FP32, 1 << 40, 1 << 40
    code["constant"] = CONSTANT_BANKS * CONSTANT_BANK - 1
    code["sources"], code["source"][:, 0] = 1, PREDICATES - MAX_READS
    code["source_count"][:, 0] = MAX_READS
    code["source"][1, 0], code["source_count"][1, 0] = 0, REGISTER_COUNT
    code["stall"], code["threads"], code["width"] = 15, 1024, 64
    records = bind.issue_records(code, gpu, control=True)
    for name in ("pc", "immediate", "constant", "stall", "width"):
        assert records[name].tolist() == code[name].tolist(), name
    assert records["line"][0] == (1 << 40) // gpu.sm.front_end.line_bytes
    assert records["arrivals"].tolist() == [32, 32]
    assert records["check"][1, 0] == REGISTER_COUNT << 16
    reads = [int(r) for r in records["read"][0]]
    assert [r & 0xFFFF for r in reads] == list(range(PREDICATES - MAX_READS, PREDICATES))
    assert [r >> 16 & BANK_MASK for r in reads] == list(range(64 - MAX_READS, 64))
    assert {slot_of(r) for r in reads} == {0}
    assert {kept_as(5, r) for r in reads} == {5 << 16 | PREDICATES - MAX_READS}, "one operand"


def test_a_register_that_is_named_twice_is_read_once_by_slots(tiny):
    text = "FFMA R1, R2, R2, R4"
    assert bound(tiny(), text)["reads"][0] == 3
    assert bound(tiny(**{"sm.operands.slots": True}), text)["reads"][0] == 2


def test_fences_take_the_round_trip_of_their_scope(tiny):
    gpu = tiny(**{"sm.fence_round_trip": 600, "sm.system_fence_round_trip": 1200})
    records = by_opcode(gpu, "MEMBAR.SC.GPU", "MEMBAR.SC.SYS", "MEMBAR.ALL.CTA")
    assert records["immediate"][:3].tolist() == [600, 1200, 0]
    assert by_opcode(tiny(), "MEMBAR.SC.SYS")["immediate"][0] == 0
