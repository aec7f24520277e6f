"""What the timing model is told of bulk copies without a tensor: the bytes of each lane's copy."""

import numpy as np
import pytest

import lockstep
from lockstep.device.arguments import pack
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Recording
from lockstep.isa.instruction import OpClass
from lockstep.workload.bulk_copies import OBJECT_SHIFT, TILE_BARRIER, TILE_MASK, TILE_WORDS
from ptx_twin import tensor as twin

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x], [%a], %n, [%b];"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%a], [%x], %n;"
REDUCE = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a], [%x], %n;"
EXPECT = "mbarrier.arrive.expect_tx.shared.b64 %state, [%b], %n;"
POLL = "mbarrier.try_wait.parity.shared.b64 %p, [%b], 0;"


def kernel(body):
    """Lane ``%i`` has ``%n`` = 16 * (i + 1) bytes at ``%a``, 1 KiB apart, and at ``%x``."""
    return f"""{HEAD}
.visible .entry k(.param .u64 memory)
{{
.reg .b64 %a, %o, %state; .reg .b32 %i, %n, %x, %b; .reg .pred %p, %q;
.shared .align 128 .b8 bytes[4096]; .shared .b64 unused; .shared .b64 object;
mov.u32 %i, %tid.x; mad.lo.u32 %n, %i, 16, 16; mov.u32 %x, bytes; mad.lo.u32 %x, %i, 512, %x;
mov.u32 %b, object; setp.eq.u32 %q, %i, 0;
ld.param.u64 %a, [memory]; mul.wide.u32 %o, %i, 1024; add.u64 %a, %a, %o;
@%q mbarrier.init.shared.b64 [%b], 1; bar.warp.sync -1;
{body}
ret;
}}
"""


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", limit_instructions=100_000) as device:
        yield device


def accesses(device, body, threads=4):
    """Class and words, or first address, of each bulk copy and wait; and the memory's address."""
    loaded = device.load_ptx(kernel(body))["k"]
    executor = loaded.executor(Recording.EVERYTHING)
    memory = device.zeros(8192, np.uint8)
    block = np.frombuffer(pack("k", loaded.parameters, (memory,)), np.uint8).copy()
    [cta] = executor.ctas(Geometry((1, 1, 1), (threads, 1, 1), 32), block)
    addresses, found = iter(cta.addresses.tolist()), []
    for static, count, mask in cta.runs.tolist():
        for record in executor.program.code[static : static + count]:
            if record["width"] == 0 or mask == 0:
                continue
            first, _, pool = next(addresses)
            op = OpClass(record["op"])
            if op in (OpClass.TILE_COPY, OpClass.TILE_STORE):
                assert (mask, count, first) == (TILE_MASK, 1, cta.pool[pool])
                found.append((op, cta.pool[pool : pool + TILE_WORDS].tolist()))
            elif op in (OpClass.OBJECT_WAIT, OpClass.BULK_COPY):
                found.append((op, first))
    return found, memory.pointer


@pytest.mark.parametrize("text", [STORE, REDUCE])
def test_each_lane_writes_its_own_bytes(device, text):
    found, start = accesses(device, text)
    assert [op for op, _ in found] == [OpClass.TILE_STORE] * 4
    rows = [list(twin.rows_of(words)) for _, words in found]
    assert rows == [[(start + 1024 * i, 16 * (i + 1))] for i in range(4)]
    assert all(words[TILE_BARRIER] == 0 for _, words in found)


@pytest.mark.parametrize(
    "text",
    [
        "mbarrier.inval.shared.b64 [%b];",
        "mbarrier.arrive.shared.b64 %state, [%b]; mbarrier.pending_count.b64 %n, %state;",
        "cp.async.mbarrier.arrive.shared.b64 [%b];",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];",
    ],
)
def test_what_follows_has_its_own_addresses(device, text):
    found, start = accesses(device, f"{text} mov.u32 %n, 16; {STORE}")
    rows = [list(twin.rows_of(words)) for _, words in found]
    assert rows == [[(start + 1024 * i, 16)] for i in range(4)]


def test_a_guard_leaves_lanes_out(device):
    found, start = accesses(device, f"@!%q {STORE}")
    rows = [list(twin.rows_of(words)) for _, words in found]
    assert rows == [[(start + 1024 * i, 16 * (i + 1))] for i in (1, 2, 3)]


def test_a_wait_needs_the_copies_before_its_end(device):
    """The first wait, of a phase that is not over, waits for nothing; the second for the copy."""
    body = f"@%q {EXPECT} {POLL} @%q {LOAD} {POLL}"
    found, start = accesses(device, body)
    (_, early), (op, words), (_, late) = found
    assert op == OpClass.TILE_COPY
    assert list(twin.rows_of(words)) == [(start, 16)]
    barrier = words[TILE_BARRIER] - 1
    assert (early, late) == (barrier, 1 << OBJECT_SHIFT | barrier)


def test_a_copy_from_cta_to_cta_has_the_address_of_its_target(device):
    far = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    found, _ = accesses(
        device, f"@%q {EXPECT} add.u32 %i, %x, 1024; @%q {far} [%x], [%i], %n, [%b];"
    )
    [(op, address)] = found
    assert op == OpClass.BULK_COPY
    assert address % 4096 == 0
