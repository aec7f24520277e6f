"""What CTAs that are left out leave in the L2: against plain Python over their streams."""

import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine import Session
from lockstep.engine.stop import Skip
from lockstep.isa.instruction import OpClass, Space

A = 0x7F0000000000
SECTOR = 32


def all_but_the_last(kernel, cycle, counters):
    """A rule, asked before the first dispatch."""
    return False if counters.skipped else Skip(counters.ctas - 1)


def expected(kernel):
    """(read or written, written) sectors of all CTAs but the last."""
    touched, written = set(), set()
    code = kernel.code.instructions
    for cta in list(kernel.ctas())[:-1]:
        for warp in cta.warps:
            address = int(warp["first_address"])
            first = int(warp["first_run"])
            for run in cta.runs[first : first + int(warp["runs"])]:
                lanes = int(run["mask"]).bit_count()
                for k in range(int(run["count"])):
                    instruction = code[int(run["static"]) + k]
                    if instruction["width"] <= 0 or not lanes:
                        continue
                    record = cta.addresses[address]
                    address += 1
                    if instruction["space"] not in (Space.GLOBAL, Space.GENERIC):
                        continue
                    for lane in range(lanes):
                        at = int(record["first"]) + lane * int(record["stride"])
                        if record["pool"] >= 0:
                            at = int(cta.pool[int(record["pool"]) + lane])
                        last = at + int(instruction["width"]) - 1
                        sectors = range(at // SECTOR, last // SECTOR + 1)
                        touched.update(sectors)
                        if instruction["op"] in (OpClass.STORE, OpClass.REDUCTION, OpClass.ATOMIC):
                            written.update(sectors)
    return touched, written


def held(session):
    """(valid, dirty) sectors that the L2 holds."""
    arrays = session._simulation.machine.arrays()
    ways = arrays["memory.l2.tags.held"].view(np.ndarray)
    return (sum(int(m).bit_count() for m in ways[name]) for name in ("valid", "dirty"))


def left(gpu, workload):
    """The session after all CTAs but the last passed, and what was recorded."""
    session = Session(gpu, stop=all_but_the_last, stop_interval=50, limit_cycles=110)
    session.run([*workload.commands])
    return session, session.finished[0]


def test_all_sectors_are_there_and_those_written_are_dirty(small, mixed):
    gpu, workload = small(launch__overhead=5000), mixed(grid=40).workload()
    session, k = left(gpu, workload)
    touched, written = expected(workload.kernels[0])
    valid, dirty = held(session)
    session.close()
    assert (valid, dirty) == (len(touched), len(written))
    assert k.skipped == 39 and int(k.partition["dram_writes"].sum()) == 0, "nothing is counted"
    stored = {s for s in written if s >= (A + (1 << 21)) // SECTOR}  # ``mixed`` loads none of these
    assert stored
    assert sum(each.sectors for each in k.left_out) == len(touched - stored)


@pytest.mark.long
@pytest.mark.parametrize("size", [4, 8, 16])
def test_lines_that_overflow_are_owed_to_the_memory(small, size):
    """Four times the L2 is written: three quarters of the sectors went, and were dirty."""
    gpu = small(launch__overhead=5000)
    k = KernelBuilder("stores", grid=4000, block=256)
    op = {4: "STG.E", 8: "STG.E.64", 16: "STG.E.128"}[size]
    k(f"{op} [R2], R4", address=k.coalesced(A, size))
    k("EXIT")
    workload = k.workload()
    session, run = left(gpu, workload)
    valid, dirty = held(session)
    session.close()
    written = 3999 * 256 * size // SECTOR
    assert valid == dirty <= written
    assert sum(each.sectors for each in run.left_out) == written - dirty
    if size == 16:
        assert dirty < written, "it overflows"
