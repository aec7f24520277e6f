"""Random accesses, counted by the blocks that execute them and by a naive twin."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.execution.programs.profile import Profile
from lockstep.execution.programs.program import Recording
from ptx_twin.programs import kernel

KERNELS = Path(__file__).parents[3] / "examples" / "southern-islands" / "kernels"
THREADS, WARPS = 64 + 17, 3  # the last warp is not full
BYTES = 1 << 15  # of global memory that is accessed; shared and local have as much
VECTORS = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v2.u64", 32: "v4.u64"}
TARGETS = {1: "%a", 2: "%h", 4: "%a", 8: "%d", 16: "{%d, %d2}", 32: "{%d, %d2, %d3, %d4}"}
BUFFERS = f"""
.shared .align 64 .b8 near[{BYTES}];
"""
HEAD = f"""
    .local .align 64 .b8 own[{BYTES}];
    .reg .b16 %h;
    .reg .b32 %offset, %flags, %own, %near;
    .reg .b64 %table, %far, %place, %wide, %d2, %d3, %d4;
    ld.param.u64 %table, [k_table];
    mad.wide.u32 %table, %i, 8, %table;
    ld.param.u64 %far, [k_far];
    mov.u32 %near, near;
    mov.u32 %own, own;
"""
KINDS = ("ld", "st", "red")
SPACES = ("global", "shared", "local", "generic global", "generic shared", "generic local")


class Access:
    """One random access: the text, and what each thread does."""

    def __init__(self, rng, number):
        self.kind, self.space = str(rng.choice(KINDS)), str(rng.choice(SPACES))
        if self.kind == "red" and "local" in self.space:
            self.kind = "st"
        self.width = 4 if self.kind == "red" else int(rng.choice(list(VECTORS)))
        self.guarded, self.apart = (bool(rng.integers(2)) for _ in range(2))
        self.offsets = self._pattern(rng) % (BYTES // self.width) * self.width
        self.flags = np.ones(THREADS, bool) if rng.integers(2) else rng.random(THREADS) < 0.4
        self.number = number

    def _pattern(self, rng):
        """A stride, rows of 16 neighbours, anything far or near, or backwards."""
        lane = np.arange(THREADS)
        first = int(rng.integers(0, 40))
        rows = lane % 16 + (lane // 16 * rng.integers(0, 40))
        patterns = [lane * rng.integers(0, 5), rows, rows, rng.integers(0, 64, THREADS)]
        patterns += [lane, lane[::-1], rng.integers(0, 1 << 12, THREADS)]
        return first + patterns[rng.integers(len(patterns))]

    def text(self):
        """PTX; ``apart``: under a branch instead of a guard."""
        memory = self.space.split()[-1]
        first = {"global": "%far", "shared": "%near", "local": "%own"}[memory]
        lines = [
            f"ld.global.u32 %offset, [%table+{self.number * THREADS * 8}];",
            f"ld.global.u32 %flags, [%table+{self.number * THREADS * 8 + 4}];",
            "setp.ne.u32 %p, %flags, 0;",
            "cvt.u64.u32 %wide, %offset;",
            f"cvt.u64.u32 %place, {first};" if memory != "global" else f"mov.u64 %place, {first};",
            "add.u64 %place, %place, %wide;",
        ]
        if self.space.startswith("generic") and memory != "global":
            lines.append(f"cvta.{memory}.u64 %place, %place;")
        if self.apart:
            lines.append(f"@!%p bra AFTER{self.number};")
        space = "" if self.space.startswith("generic") else f".{memory}"
        target = TARGETS[self.width]
        operation = {
            "ld": f"ld{space}.{VECTORS[self.width]} {target}, [%place];",
            "st": f"st{space}.{VECTORS[self.width]} [%place], {target};",
            "red": f"red{space}.add.u32 [%place], %a;",
        }[self.kind]
        lines.append(f"@%p {operation}" if self.guarded else operation)
        return "\n".join([*lines, f"AFTER{self.number}:", ""])

    def takes_part(self):
        """The threads that access."""
        return self.flags if self.guarded or self.apart else np.ones(THREADS, bool)


def naive(accesses, grid):
    """The counters of all accesses, one set of touched sectors at a time."""
    counts = Counter()
    everyone = np.ones(THREADS, bool)
    for a in accesses:
        table = (a.number * THREADS + np.arange(THREADS)) * 8
        for word in (0, 4):
            count(counts, "global", "ld", 4, table + word, everyone, grid)
        count(counts, a.space.split()[-1], a.kind, a.width, a.offsets, a.takes_part(), grid)
    for cta in range(grid):  # each thread's number, at the kernel's end
        count(counts, "global", "st", 4, (cta * THREADS + np.arange(THREADS)) * 4, everyone, 1)
    return counts


def count(counts, memory, kind, width, offsets, taking_part, times):
    """What the warps of a CTA access at once, so many times."""
    for warp in range(WARPS):
        lanes = [k for k in range(32 * warp, min(32 * warp + 32, THREADS)) if taking_part[k]]
        if not lanes:
            continue
        counts[memory, kind, "requests"] += times
        counts[memory, kind, "threads"] += times * len(lanes)
        touched = {(int(offsets[k]) + byte, k % 32) for k in lanes for byte in range(width)}
        if memory == "global":
            sectors = {byte // 32 for byte, _ in touched}
        else:  # a thread's words lie 32 apart, those of neighbours side by side
            sectors = {(byte // 4 * 32 + lane) // 8 for byte, lane in touched}
        counts[memory, kind, "sectors"] += times * len(sectors)


def profile(accesses, grid, **options):
    """The profile of a kernel that does these accesses."""
    text = kernel(HEAD + "".join(a.text() for a in accesses), BUFFERS)
    more = ", .param .u64 k_table, .param .u64 k_far"
    text = text.replace(".param .u64 k_out", ".param .u64 k_out" + more)
    table = np.zeros((len(accesses), THREADS, 2), np.uint32)
    for row, a in zip(table, accesses):
        row[:, 0], row[:, 1] = a.offsets, a.flags
    with lockstep.Device("QV100", profile=True, **options) as device:
        out = device.zeros(grid * THREADS, np.uint32)
        far = device.zeros(BYTES, np.uint8)
        launch = device.load_ptx(text)["k"][grid, THREADS](out, device.array(table), far)
        return launch.profile


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24))
def test_accesses_are_those_of_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    accesses = [Access(rng, n) for n in range(int(rng.integers(1, 12)))]
    grid = int(rng.integers(1, 4))
    total, found = naive(accesses, grid), profile(accesses, grid)
    for kind in ("ld", "st"):
        for memory in ("global", "local", "shared"):
            name = f"{memory}_{kind}"
            expected = {
                f"smsp__inst_executed_op_{name}.sum": total[memory, kind, "requests"],
                f"sim__thread_inst_{name}.sum": total[memory, kind, "threads"],
            }
            if memory != "shared":
                sectors = f"l1tex__t_sectors_pipe_lsu_mem_{memory}_op_{kind}.sum"
                expected[sectors] = total[memory, kind, "sectors"]
            assert {key: found[key] for key in expected} == expected
    for memory in ("global", "shared"):
        assert found[f"sim__inst_{memory}_atomic.sum"] == total[memory, "red", "requests"]
        assert found[f"sim__thread_inst_{memory}_atomic.sum"] == total[memory, "red", "threads"]
    assert found["sim__l1_atomic_sectors.sum"] == total["global", "red", "sectors"]


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"at_issue": True}])
@pytest.mark.parametrize("seed", range(2))
def test_who_executes_counts_the_same_for_all(seed, options):
    """A run that is timed, from streams or at issue, has the profile of one that is not."""
    rng = np.random.default_rng(100 + seed)
    accesses = [Access(rng, n) for n in range(8)]
    assert profile(accesses, 2, timing=True, **options) == profile(accesses, 2)


COUNTED = """
    setp.lt.u32 %p, %i, 40;
    @%p add.u32 %a, %i, 1;
    @%p bra SKIP;
    mov.u32 %a, 3;
    mov.u32 %b, 3;
SKIP:
"""


def test_instructions_and_lanes():
    """Of 48 threads 40 take the branch: eight lanes of the second warp execute two more."""
    with lockstep.Device("QV100", profile=True) as device:
        found = device.load_ptx(kernel(COUNTED))["k"][1, 48](device.zeros(48, "u4")).profile
    around = 7 + 3 + 2  # before, COUNTED without what is skipped, after
    assert found["smsp__inst_executed.sum"] == 2 * around + 2
    assert found["smsp__thread_inst_executed.sum"] == 48 * around + 8 * 2
    assert found["smsp__thread_inst_executed_pred_on.sum"] == 48 * around + 8 * 2 - 2 * 8
    ratio = (48 * around + 16) / (2 * around + 2)
    assert found["smsp__thread_inst_executed_per_inst_executed.ratio"] == ratio


@pytest.mark.parametrize("timing", [False, True])
def test_exec_says_which_lanes_of_wavefronts_are_active(timing):
    """35 items of 40, in five wavefronts of eight, are below n.

    A scalar load is for one item. Seven other scalar instructions and the two vector ones before
    EXEC changes are for all items, the eight after that for those below n.
    """
    with lockstep.Device("HD7770", profile=True, timing=timing) as device:
        module = device.load_gcn(KERNELS / "vector_add.bin")
        arrays = [device.zeros(40) for _ in range(3)]
        launch = module["vector_add"][40, 8](*arrays, 35)
    found = launch.profile
    assert found["smsp__inst_executed.sum"] == 5 * 26
    items = 5 * 9 + 40 * (7 + 2) + 35 * 8
    assert found["smsp__thread_inst_executed.sum"] == items
    assert found["smsp__thread_inst_executed_pred_on.sum"] == items
    assert found["smsp__thread_inst_executed_per_inst_executed.ratio"] == items / (5 * 26)
    assert found["sim__thread_inst_global_ld.sum"] == 2 * 35
    if timing:
        assert launch.run.thread_instructions == items


def test_where_nothing_ran_ratios_are_undefined():
    with lockstep.Device("QV100") as device:
        program = device.load_ptx(kernel(""))["k"].executor(Recording.PROFILE).program
    found = Profile(program, 3).metrics()
    assert np.isnan(found.pop("smsp__thread_inst_executed_per_inst_executed.ratio"))
    assert found.pop("launch__grid_size") == 3
    assert set(found.values()) == {0}
