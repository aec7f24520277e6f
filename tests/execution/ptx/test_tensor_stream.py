"""What the timing model is told of tensor copies: the very bytes that they read or write."""

import struct
from collections import Counter

import numpy as np
import pytest

from lockstep.device.arguments import pack
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Recording
from lockstep.isa.instruction import OpClass
from lockstep.workload.bulk_copies import OBJECT_SHIFT, TILE_BARRIER, TILE_MASK, TILE_WORDS
from ptx_twin import tensor as twin
from ptx_twin import tensor_programs as programs

CASES = 12


def copies(device, text, made, case, place=0):
    """Class and words of each bulk copy of a launch."""
    kernel = device.load_ptx(text)["k"]
    executor = kernel.executor(Recording.EVERYTHING)
    at = struct.pack("<5i", *case.at, *[0] * (5 - len(case.at)))
    offsets = struct.pack("<3H", *case.offsets, *[0] * (3 - len(case.offsets)))
    buffer = device.zeros(programs.SHARED, np.uint8)
    arguments = (made, buffer, at, offsets, place, twin.tile_bytes(case))
    block = np.frombuffer(pack("k", kernel.parameters, arguments), np.uint8).copy()
    [cta] = executor.ctas(Geometry((1, 1, 1), (32, 1, 1), 32), block)
    addresses = iter(cta.addresses.tolist())
    for static, count, mask in cta.runs.tolist():
        for record in executor.program.code[static : static + count]:
            if record["width"] == 0 or mask == 0:
                continue
            first, _, pool = next(addresses)
            if record["op"] in (OpClass.TILE_COPY, OpClass.TILE_STORE):
                assert (mask, count, first) == (TILE_MASK, 1, cta.pool[pool])
                yield OpClass(record["op"]), cta.pool[pool : pool + TILE_WORDS].tolist()
    assert not list(addresses)


def bytes_of(rows):
    return Counter(a + k for a, size in rows for k in range(size))


@pytest.mark.long
@pytest.mark.parametrize("axes, unrolls", programs.COPIES)
def test_the_rows_of_a_tile(device, axes, unrolls):
    rng = np.random.default_rng(7 * axes + unrolls)
    form = programs.LOAD
    form = form.replace("global.", "global.im2col.") if unrolls else form
    text = programs.kernel(programs.load_body(axes, form))
    for _ in range(CASES):
        case = twin.random_case(rng, axes, unrolls, programs.SHARED)
        array = device.zeros(case.bytes, np.uint8)
        [(op, words)] = copies(device, text, programs.map_of(device, case, array), case)
        assert op == OpClass.TILE_COPY
        read = [(array.pointer + s, case.unit) for _, s in twin.units(case, 0) if s is not None]
        assert bytes_of(twin.rows_of(words)) == bytes_of(read), case


def test_a_store_and_a_reduction(device):
    case = programs.matrix(at=(28, 3))
    for form in ("cp.async.bulk", "cp.reduce.async.bulk"):
        add = ".add" * ("reduce" in form)
        form = f"{form}.tensor.{{}}.global.shared::cta{add}.bulk_group"
        array = device.zeros(1024, np.uint32)
        made = programs.map_of(device, case, array)
        text = programs.kernel(programs.store_body(2, form))
        [(op, words)] = copies(device, text, made, case)
        assert op == OpClass.TILE_STORE
        start = array.pointer + 3 * 128 + 28 * 4
        assert list(twin.rows_of(words)) == [(start + 128 * k, 16) for k in range(5)]


def test_each_lane_copies_by_itself(device):
    """Three lanes execute it, two of them under its guard."""
    case = programs.matrix()
    made = programs.map_of(device, case, device.zeros(1 << 14, np.uint32))
    copy = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%v0, %v1}], [%s];"
    body = f"setp.gt.u32 %p, %v0, 0; @%p {copy} setp.lt.u32 %p, %v0, 99; @!%p {copy}"
    text = programs.kernel("").replace(
        "@!%q bra Z;",
        "mov.u32 %v0, %tid.x; mov.u32 %v1, 0; setp.gt.u32 %p, %v0, 2; @%p bra Z;" + body,
    )
    found = [words for _, words in copies(device, text, made, case)]
    assert [words[1] for words in found] == [32, 32]
    assert found[1][0] - found[0][0] == 4


def test_the_barrier_of_a_copy_and_what_waits_for_it(device):
    """The first wait, of a phase that is not over, waits for nothing; the second for the copy."""
    case = programs.matrix()
    made = programs.map_of(device, case, device.zeros(1 << 14, np.uint32))
    poll = "mbarrier.try_wait.parity.shared.b64 %p, [%b], 0;"
    body = programs.load_body(2).replace("cp.async", f"{poll}\ncp.async")
    kernel = device.load_ptx(programs.kernel(body))["k"]
    executor = kernel.executor(Recording.EVERYTHING)
    at, offsets = struct.pack("<5i", *[0] * 5), bytes(6)
    arguments = (made, device.zeros(programs.SHARED, np.uint8), at, offsets, 0, 256)
    block = np.frombuffer(pack("k", kernel.parameters, arguments), np.uint8).copy()
    [cta] = executor.ctas(Geometry((1, 1, 1), (32, 1, 1), 32), block)
    code, addresses = executor.program.code, iter(cta.addresses.tolist())
    waits, barriers = [], []
    for static, count, mask in cta.runs.tolist():
        for record in code[static : static + count]:
            if record["width"] and mask:
                first, _, pool = next(addresses)
                if record["op"] == OpClass.OBJECT_WAIT:
                    waits.append(first)
                elif record["op"] == OpClass.TILE_COPY:
                    barriers.append(cta.pool[pool + TILE_BARRIER] - 1)
    [barrier] = barriers
    assert waits == [barrier, 1 << OBJECT_SHIFT | barrier]
