"""Parts of warps that wait for others, in programs executed while they are simulated."""

import numpy as np
import pytest

import lockstep

HEADER = ".version 7.0\n.target sm_70\n.address_size 64\n"

# Even and odd threads reach different barriers of the same number, then add what the others wrote.
APART = """
.visible .entry apart(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 own[512];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, own;
    add.u32 %r4, %r3, %r2;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra EVEN;
    st.shared.u32 [%r4], %r1;
    barrier.sync 0;
    bra BOTH;
EVEN:
    add.u32 %r6, %r1, 1000;
    st.shared.u32 [%r4], %r6;
    barrier.sync 0;
BOTH:
    xor.b32 %r7, %r4, 4;
    ld.shared.u32 %r8, [%r7];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""

# The first two warps meet at barrier 1 and tell when; the others take long to come to no barrier.
PAIR = """
.visible .entry pair(.param .u64 times)
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [times];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 64;
    mov.u32 %r2, 300;
    @%p1 bra LONG;
    bar.sync 1, 64;
    bra DONE;
LONG:
    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra LONG;
DONE:
    mov.u64 %rd2, %clock64;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u64 [%rd4], %rd2;
    ret;
}
"""

# The second warp comes to the barrier in two halves, the later one long after the first warp.
HALVES = """
.visible .entry halves(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r6, 0;
    setp.lt.u32 %p1, %r1, 48;
    @!%p1 bra LONG;
    barrier.sync 0;
    add.u32 %r6, %r6, 1;
    bra BOTH;
LONG:
    mov.u32 %r5, 300;
TURN:
    add.u32 %r6, %r6, %r5;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra TURN;
    barrier.sync 0;
BOTH:
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
"""

# The second warp comes to the barrier in three parts, the last of which may end instead; then each
# thread takes what its counterpart from the other end wrote.
PARTS = """
.visible .entry parts(.param .u64 out, .param .u32 ends)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 own[256];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [ends];
    setp.ne.u32 %p3, %r5, 0;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, own;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    setp.ge.u32 %p1, %r1, 56;
    setp.ge.u32 %p2, %r1, 48;
    @%p1 bra LAST;
    @%p2 bra SECOND;
    barrier.sync 0;
    bra BOTH;
SECOND:
    barrier.sync 0;
    bra BOTH;
LAST:
    @%p3 ret;
    barrier.sync 0;
BOTH:
    xor.b32 %r6, %r4, 252;
    ld.shared.u32 %r7, [%r6];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    barrier.sync 0;
    ret;
}
"""

# Eight threads of a warp wait for all of it: while the others wait for all of it elsewhere, or at
# the barrier of the block.
ALONE = """
.visible .entry alone(.param .u64 out, .param .u32 elsewhere)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r6, [elsewhere];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    setp.ge.u32 %p1, %r2, 8;
    setp.ne.u32 %p2, %r6, 0;
    mov.u32 %r3, 1;
    @%p1 bra OTHERS;
    bar.warp.sync 0xffffffff;
    mov.u32 %r3, 2;
    bra MEET;
OTHERS:
    @!%p2 bra MEET;
    bar.warp.sync 0xffffffff;
    mov.u32 %r3, 3;
MEET:
    barrier.sync 0;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


@pytest.fixture
def live(small_gpu):
    """A device that executes what it simulates as it issues."""
    with lockstep.Device(small_gpu, timing=True, at_issue=True) as device:
        yield device


def test_lanes_at_different_barriers_meet(live):
    out = live.zeros(128, "u4")
    live.load_ptx(HEADER + APART)["apart"][1, 128](out)
    own = np.arange(128) + np.where(np.arange(128) % 2 == 0, 1000, 0)
    np.testing.assert_array_equal(out.numpy(), own[np.arange(128) ^ 1])


@pytest.mark.parametrize("ends", [0, 1])
def test_a_warp_arrives_when_its_last_part_has_come_or_ended(live, ends):
    out = live.zeros(64, "i4")
    launch = live.load_ptx(HEADER + PARTS)["parts"][1, 64](out, ends)
    threads = np.arange(64)
    np.testing.assert_array_equal(out.numpy(), np.where(ends & (threads >= 56), 0, 63 - threads))
    assert launch.timed().complete


def test_a_barrier_of_some_warps_waits_for_no_others(live):
    times = live.zeros(128, "u8")
    launch = live.load_ptx(HEADER + PAIR)["pair"][1, 128](times)
    first, second, *others = times.numpy().reshape(4, 32)[:, 0].tolist()
    assert abs(first - second) < 10
    assert min(others) > max(first, second) + 300
    assert launch.timed().complete


@pytest.mark.parametrize("elsewhere", [0, 1])
def test_lanes_go_on_without_those_who_cannot_come(live, elsewhere):
    out = live.zeros(64, "u4")
    live.load_ptx(HEADER + ALONE)["alone"][1, 64](out, elsewhere)
    np.testing.assert_array_equal(
        out.numpy(), np.where(np.arange(64) % 32 < 8, 2, 3 if elsewhere else 1)
    )


@pytest.mark.parametrize(
    "name, text, waits", [("apart", APART, -15), ("pair", PAIR, 0), ("halves", HALVES, -11)]
)
def test_a_trace_has_no_word_for_halves_of_a_warp(live, tmp_path, name, text, waits):
    """There each part of a warp waits until all warps have come; here it arrives once, with all."""
    out = live.zeros(128, "u8")
    with live.record(tmp_path / "run.lst"):
        launch = live.load_ptx(HEADER + text)[name][1, 64 if text is HALVES else 128](out)
    again = lockstep.simulate(tmp_path / "run.lst", live.gpu)
    assert launch.timed().complete
    assert live.result.cycles - again.cycles == waits
