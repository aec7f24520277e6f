"""Forward progress and convergence: whatever waits ends if the thread that it waits for can run."""

import os
import subprocess
import sys

import numpy as np
import pytest

import lockstep
from lockstep.gpus import library
from lockstep.kernels import load
from ptx_twin.programs import kernel

LOCK = """
AGAIN:
    atom.global.cas.b32 %a, [%out+4096], 0, 1;
    setp.ne.u32 %p, %a, 0;
    @%p bra AGAIN;
    ld.volatile.global.u32 %c, [%out+4100];
    add.u32 %c, %c, 1;
    st.volatile.global.u32 [%out+4100], %c;
    membar.gl;
    atom.global.exch.b32 %a, [%out+4096], 0;
"""


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 5), (1, 128), (12, 64)])
def test_a_lock_is_taken_by_every_thread(run, grid, block):
    out = run(LOCK, grid, block)
    assert out[1025] == grid * block and out[1024] == 0


def test_a_thread_that_comes_first_may_wait_for_a_later_one_of_its_warp(run):
    """Each lane waits for the next higher one, the highest for nobody."""
    body = """
    add.u32 %b, %i, 1;
    setp.eq.u32 %p, %b, 32;
    @%p bra GO;
    mad.wide.u32 %d, %b, 4, %out;
WAIT:
    ld.volatile.global.u32 %c, [%d];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
GO:
    mov.u32 %a, 1;
    st.volatile.global.u32 [%at], %a;
"""
    assert run(body)[:32].tolist() == [1] * 32


@pytest.mark.parametrize("order", ["first", "last"])
def test_ctas_that_are_resident_together_may_wait_for_each_other(run, order):
    leader = {"first": 0, "last": 39}[order]
    body = f"""
    mov.u32 %b, %ctaid.x;
    setp.eq.u32 %p, %b, {leader};
    @%p bra LEAD;
WAIT:
    ld.acquire.gpu.global.u32 %c, [%out+4096];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
    bra DONE;
LEAD:
    st.release.gpu.global.u32 [%out+4096], 5;
DONE:
    ld.volatile.global.u32 %a, [%out+4096];
"""
    assert (run(body, 40, 32)[:1024] == 5).all()


def test_a_loop_that_does_not_look_like_polling_lets_others_run(run):
    """The flag is read by a plain load, and by way of local memory."""
    body = """
    .local .align 4 .b32 kept;
    setp.eq.u32 %p, %i, 31;
    @%p bra LAST;
WAIT:
    ld.global.u32 %c, [%out+4096];
    st.local.u32 [kept], %c;
    ld.local.u32 %c, [kept];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
    bra DONE;
LAST:
    mov.u32 %c, 9;
    st.global.u32 [%out+4096], %c;
DONE:
    mov.u32 %a, %c;
"""
    assert (run(body)[:32] == 9).all()


def test_loops_with_two_entries_are_executed_right(run):
    """Odd lanes enter the loop in its middle; each lane goes round as often as its number says."""
    body = """
    mov.u32 %a, 0;
    mov.u32 %b, 0;
    and.b32 %c, %i, 1;
    setp.eq.u32 %p, %c, 1;
    @%p bra MIDDLE;
TOP:
    add.u32 %a, %a, 100;
MIDDLE:
    add.u32 %a, %a, 1;
    add.u32 %b, %b, 1;
    setp.le.u32 %q, %b, %i;
    @%q bra TOP;
"""
    expected = [(i + 1) + 100 * (i + 1 - i % 2) for i in range(32)]
    assert run(body)[:32].tolist() == expected


def test_lanes_meet_again_behind_a_branch_and_behind_a_loop(run):
    body = """
    mov.u32 %b, 0;
    and.b32 %c, %i, 3;
    setp.eq.u32 %p, %c, 0;
    @%p bra JOIN;
LOOP:
    add.u32 %b, %b, 1;
    setp.lt.u32 %q, %b, %c;
    @%q bra LOOP;
JOIN:
    activemask.b32 %a;
"""
    assert (run(body)[:32] == 0xFFFFFFFF).all()


def test_a_jump_table_sends_each_lane_to_its_label(run):
    body = """
TABLE: .branchtargets ONE, TWO, THREE;
    rem.u32 %b, %i, 3;
    brx.idx %b, TABLE;
ONE:
    mov.u32 %a, 10;
    bra DONE;
TWO:
    mov.u32 %a, 20;
THREE:
    add.u32 %a, %i, 1000;
DONE:
"""
    expected = [10 if i % 3 == 0 else i + 1000 for i in range(32)]
    assert run(body)[:32].tolist() == expected


def test_exit_ends_some_threads_and_the_others_go_on(run):
    body = """
    setp.lt.u32 %p, %i, 20;
    mov.u32 %a, 4;
    st.global.u32 [%at], %a;
    @%p exit;
    bar.sync 0;
    activemask.b32 %a;
"""
    out = run(body, 1, 64)
    assert out[:20].tolist() == [4] * 20
    assert set(out[20:32]) == {0xFFF00000} and set(out[32:64]) == {0xFFFFFFFF}


def test_the_clock_and_the_timer_advance_within_a_block_and_over_a_loop(run):
    body = """
    mov.u32 %b, %clock;
    mov.u32 %c, %clock;
    sub.u32 %a, %c, %b;
    mov.u64 %d, %globaltimer;
WAIT:
    nanosleep.u32 20;
    mov.u64 %s, %globaltimer;
    sub.u64 %s, %s, %d;
    setp.lt.u64 %p, %s, 500;
    @%p bra WAIT;
"""
    assert (run(body)[:32] == 1).all()


def test_results_without_compilation_are_the_same():
    """A lock, a barrier of all CTAs, shuffles, a fault."""
    script = """
import lockstep, numpy as np
from lockstep.kernels import load
device = lockstep.Device("QV100")
for name, size in (("saxpy", 40), ("spin_lock", 40), ("grid_barrier", 200), ("reduce_shuffle", 40)):
    for check in load(name).run(device, size):
        check.verify()
kernel = device.load_ptx(load("saxpy").ptx)["saxpy"]
x = device.array(np.zeros(3, np.float32))
try:
    kernel[1, 32](32, 1.0, x, x)
except lockstep.LaunchError as error:
    print(error.kind, error.thread)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    out = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True, text=True, env=environment, timeout=120,
    )  # fmt: skip
    assert out.stdout == "illegal_address (3, 0, 0)\n", out.stderr


def test_launches_of_one_kernel_may_overlap_in_time():
    """Two streams of a timed device execute the same kernel at the same time."""
    with lockstep.Device(
        library.replace(lockstep.gpu("QV100"), **{"sm.count": 2}), timing=True
    ) as device:
        module = device.load_ptx(load("saxpy").ptx)
        arrays = [device.array(np.ones(4096, np.float32)) for _ in range(2)]
        for array, stream in zip(arrays, (device.stream(), device.stream()), strict=True):
            module["saxpy"][16, 256, 0, stream](4096, 2.0, array, array)
        for array in arrays:
            np.testing.assert_array_equal(array.numpy(), np.full(4096, 3.0))


def test_more_ctas_than_the_gpu_holds_do_not_wait_for_each_other_in_vain():
    """All but the last CTA wait for it; only 8 are resident."""
    small = library.replace(lockstep.gpu("QV100"), **{"sm.count": 1, "sm.ctas": 8})
    body = """
    mov.u32 %b, %ctaid.x;
    setp.eq.u32 %p, %b, 8;
    @%p bra LAST;
WAIT:
    ld.acquire.gpu.global.u32 %c, [%out+4096];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
LAST:
    st.release.gpu.global.u32 [%out+4096], 1;
"""
    device = lockstep.Device(small, limit_instructions=100_000)
    out = device.array(np.zeros(2048, np.uint32))
    k = device.load_ptx(kernel(body))["k"]
    with pytest.raises(lockstep.LaunchError, match="warp instructions, its limit") as caught:
        k[9, 32](out)
    assert caught.value.kind == "limit"
