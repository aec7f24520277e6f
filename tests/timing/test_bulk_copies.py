"""Bulk copies without a tensor take the lines of their bytes, and who waits for them waits."""

import numpy as np
import pytest

import lockstep

SECTOR, LINE = 32, 128
LINE_INTERVAL = 2  # cycles: 128 bytes at sm.memory.bulk_load_bytes, 64 a cycle
TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 size)
{{
.reg .b64 %a, %state; .reg .b32 %n; .reg .pred %p;
.shared .align 128 .b8 bytes[32768]; .shared .b64 object;
ld.param.u64 %a, [memory]; ld.param.u32 %n, [size];
mbarrier.init.shared.b64 [object], 1;
{body}
ret;
}}
"""
LOAD = """mbarrier.arrive.expect_tx.shared.b64 %state, [object], %n;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [bytes], [%a], %n, [object];"""
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p, [object], 0; @!%p bra W;"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%a], [bytes], %n;"


def launch(device, body, size, offset=0):
    """The launch that copies ``size`` bytes, after two that leave caches warm."""
    memory = device.zeros(65536, np.uint8)
    kernel = device.load_ptx(TEXT.format(body=body))["k"]
    launches = [kernel[1, 1](memory.pointer + offset, size) for _ in range(3)]
    device.synchronize()  # the memory must live until then
    return launches[-1]


@pytest.mark.parametrize("offset, size", [(0, 16), (16, 16), (0, 4096), (112, 4000), (16, 32768)])
@pytest.mark.parametrize("body, other", [(LOAD, "store"), (STORE, "load")])
def test_sectors(offset, size, body, other):
    with lockstep.Device("H100", timing=True) as device:
        metrics = launch(device, body, size, offset).metrics
    touched = (offset + size - 1) // SECTOR - offset // SECTOR + 1
    own = {"store": "load", "load": "store"}[other]
    assert metrics[f"sim__bulk_{own}_sectors.sum"] == touched
    assert metrics[f"sim__bulk_{other}_sectors.sum"] == 0


@pytest.mark.parametrize("options", [{}, {"at_issue": True}])
def test_a_wait_lasts_until_the_bytes_are_there(options):
    """Without it, the CTA ends as late: its end waits for all that it has begun."""
    use = "ld.shared.u32 %n, [bytes]; mov.u32 %n, %clock; st.global.u32 [%a], %n;"
    with lockstep.Device("H100", timing=True, **options) as device:
        waits = {n: launch(device, LOAD + WAIT + use, n).cycles for n in (4096, 8192)}
        goes_on = launch(device, LOAD + use, 4096).cycles
        latency = device.gpu.l2.latency
    assert 32 * LINE_INTERVAL <= waits[8192] - waits[4096] <= 32 * 8
    assert waits[4096] - goes_on > latency / 2  # the store began after the copy, not beside it


@pytest.mark.parametrize("options", [{}, {"at_issue": True}])
def test_a_recorded_run_takes_the_same_cycles(tmp_path, options):
    with lockstep.Device("H100", timing=True, **options) as device:
        with device.record(tmp_path / "run.lst"):
            launch(device, LOAD + WAIT, 8192)
        live = device.result
    again = lockstep.simulate(tmp_path / "run.lst", "H100")
    assert (again.cycles, again.hash) == (live.cycles, live.hash)
