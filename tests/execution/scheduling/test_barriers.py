"""Barriers of CTAs, clusters and warps, whoever comes when."""

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel


def test_numbered_barriers_count_the_threads_that_they_expect(run):
    """Two pairs of warps synchronise by themselves; the later pair's flags arrive late."""
    body = """
    shr.u32 %b, %i, 6;
    add.u32 %b, %b, 3;
    mad.wide.u32 %d, %i, 4, %out;
    add.u32 %c, %i, 1;
    st.volatile.global.u32 [%d+4096], %c;
    barrier.sync %b, 64;
    xor.b32 %c, %i, 32;
    mad.wide.u32 %d, %c, 4, %out;
    ld.volatile.global.u32 %a, [%d+4096];
"""
    out = run(body, 1, 128)
    np.testing.assert_array_equal(out[:128], (np.arange(128) ^ 32) + 1)


def test_lanes_of_one_warp_may_wait_at_different_barriers(run):
    """Lanes 0-15 of both warps meet at one barrier, the others at another one."""
    body = """
    shr.u32 %b, %lane, 4;
    add.u32 %b, %b, 1;
    mad.wide.u32 %d, %i, 4, %out;
    st.volatile.global.u32 [%d+4096], %i;
    barrier.sync %b, 32;
    xor.b32 %c, %i, 32;
    mad.wide.u32 %d, %c, 4, %out;
    ld.volatile.global.u32 %a, [%d+4096];
"""
    np.testing.assert_array_equal(run(body, 1, 64)[:64], np.arange(64) ^ 32)


def test_producers_arrive_and_only_consumers_wait(run):
    """Warp 0 fills a slot five times and never waits for the readers' work, only for room."""
    body = """
    .shared .align 4 .b32 slot;
    mov.u32 %a, 0;
    mov.u32 %b, 0;
    setp.lt.u32 %p, %i, 32;
    @%p bra PRODUCE;
CONSUME:
    bar.sync 1, 96;
    ld.volatile.shared.u32 %c, [slot];
    add.u32 %a, %a, %c;
    bar.arrive 2, 96;
    add.u32 %b, %b, 1;
    setp.lt.u32 %q, %b, 5;
    @%q bra CONSUME;
    bra DONE;
PRODUCE:
    add.u32 %c, %b, 10;
    st.volatile.shared.u32 [slot], %c;
    bar.arrive 1, 96;
    bar.sync 2, 96;
    add.u32 %b, %b, 1;
    setp.lt.u32 %q, %b, 5;
    @%q bra PRODUCE;
DONE:
"""
    out = run(body, 1, 96)
    assert (out[32:96] == 10 + 11 + 12 + 13 + 14).all() and (out[:32] == 0).all()


def test_reductions_over_a_barrier(run):
    body = """
    setp.lt.u32 %p, %i, 37;
    bar.red.popc.u32 %a, 0, %p;
    bar.red.and.pred %q, 0, !%p;
    selp.u32 %b, 1000, 0, %q;
    add.u32 %a, %a, %b;
    barrier.red.or.aligned.pred %q, 5, 96, %p;
    selp.u32 %b, 5000, 0, %q;
    add.u32 %a, %a, %b;
    setp.lt.u32 %p, %i, 999;
    barrier.red.and.pred %q, 6, %p;
    selp.u32 %b, 70000, 0, %q;
    add.u32 %a, %a, %b;
"""
    assert (run(body, 1, 96)[:96] == 37 + 0 + 5000 + 70000).all()


def test_a_reduction_over_lanes_that_come_apart(run):
    """Each half of a warp comes to the barrier on a path of its own."""
    body = """
    setp.lt.u32 %p, %lane, 16;
    @%p bra LOW;
    bar.red.popc.u32 %a, 0, %p;
    bra DONE;
LOW:
    bar.red.popc.u32 %a, 0, %p;
DONE:
"""
    assert (run(body, 1, 64)[:64] == 32).all()


def test_the_last_warp_may_be_partial_and_threads_may_have_ended(run):
    body = """
    mov.u32 %a, 1;
    st.global.u32 [%at], %a;
    setp.gt.u32 %p, %i, 40;
    @%p exit;
    barrier.sync 0, 64;
    bar.sync 0;
    mov.u32 %a, 2;
"""
    assert run(body, 1, 45)[:45].tolist() == [2] * 41 + [1] * 4


def test_a_warp_that_ends_is_waited_for_no_longer(run):
    body = """
    setp.lt.u32 %p, %i, 32;
    @%p exit;
    bar.sync 0;
    mov.u32 %a, 2;
"""
    assert run(body, 2, 96)[:96].tolist() == [0] * 32 + [2] * 64


def test_a_barrier_that_is_not_for_all_lanes(run):
    """The guard keeps lanes from it; they do not wait."""
    body = """
    setp.lt.u32 %p, %i, 32;
    @%p bar.sync 3, 32;
    mov.u32 %a, 6;
"""
    assert (run(body, 1, 64)[:64] == 6).all()


def test_barriers_of_a_cluster(run):
    body = """
    mad.wide.u32 %d, %i, 4, %out;
    st.volatile.global.u32 [%d+4096], %i;
    barrier.cluster.arrive.release;
    add.u32 %b, %i, 5;
    barrier.cluster.wait.acquire;
    xor.b32 %c, %i, 63;
    mad.wide.u32 %d, %c, 4, %out;
    ld.volatile.global.u32 %a, [%d+4096];
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    sub.u32 %a, %a, %b;
"""
    lane = np.arange(64)
    expected = ((lane ^ 63) - lane - 5).astype(np.uint32)
    np.testing.assert_array_equal(run(body, 2, 64)[:64], expected)


def test_lanes_wait_at_a_warps_barrier_on_different_paths(run):
    """The condition of each half is written by the other one before the barrier."""
    body = """
    mad.wide.u32 %d, %i, 4, %out;
    setp.lt.u32 %p, %i, 16;
    @%p bra LOW;
    st.volatile.global.u32 [%d+4096], %i;
    bar.warp.sync 0xffffffff;
    bra MET;
LOW:
    st.volatile.global.u32 [%d+4096], %i;
    bar.warp.sync 0xffffffff;
MET:
    xor.b32 %c, %i, 16;
    mad.wide.u32 %d, %c, 4, %out;
    ld.volatile.global.u32 %a, [%d+4096];
"""
    np.testing.assert_array_equal(run(body)[:32], np.arange(32) ^ 16)


def test_a_part_of_a_warp_that_is_complete_runs_while_the_rest_polls(run):
    """Lanes 0-15 meet twice before they set the flag that the others poll."""
    body = """
    mov.u32 %b, 0xffff;
    setp.lt.u32 %p, %i, 16;
    @!%p bra WAIT;
    setp.lt.u32 %q, %i, 8;
    @%q bra MEET;
    mov.u32 %c, 1;
MEET:
    bar.warp.sync %b;
    shfl.sync.idx.b32 %c, %i, 3, 31, %b;
    setp.eq.u32 %q, %i, 0;
    @%q st.volatile.global.u32 [%out+4096], %c;
    bra DONE;
WAIT:
    ld.volatile.global.u32 %c, [%out+4096];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
DONE:
    mov.u32 %a, %c;
"""
    assert (run(body)[:32] == 3).all()


def test_groups_with_masks_of_their_own_meet_at_one_instruction(run):
    """Quarters of a warp arrive one after the other; each shuffles when it is complete."""
    body = """
    shr.u32 %b, %i, 3;
    shl.b32 %c, %b, 3;
    mov.u32 %w, 255;
    shl.b32 %w, %w, %c;
    mov.u32 %c, 0;
DELAY:
    add.u32 %c, %c, 1;
    setp.lt.u32 %p, %c, %i;
    @%p bra DELAY;
    shfl.sync.bfly.b32 %a, %i, 7, 0x181f, %w;
"""
    np.testing.assert_array_equal(run(body)[:32], np.arange(32) ^ 7)


def test_a_shuffle_waits_for_lanes_that_a_barrier_holds_up(run):
    """Lanes 0-15 of both warps meet at a barrier of their own before they join the others."""
    body = """
    setp.lt.u32 %p, %lane, 16;
    @!%p bra JOIN;
    barrier.sync 1, 32;
JOIN:
    shfl.sync.bfly.b32 %a, %i, 31, 31, 0xffffffff;
"""
    np.testing.assert_array_equal(run(body, 1, 64)[:64], np.arange(64) ^ 31)


def test_lanes_that_wait_for_each_other_in_vain_go_on(run):
    """Half of the warp is at a vote of all, the other half at a barrier of the whole CTA."""
    body = """
    setp.lt.u32 %p, %lane, 16;
    mov.u32 %a, 8;
    @%p bra VOTE;
    bar.sync 0;
    bra DONE;
VOTE:
    vote.sync.ballot.b32 %a, %p, 0xffffffff;
    bar.sync 0;
DONE:
"""
    assert run(body, 1, 64)[:64].tolist() == ([0xFFFF] * 16 + [8] * 16) * 2


def test_lanes_that_end_are_waited_for_no_longer_at_a_shuffle(run):
    body = """
    mov.u32 %a, 1;
    st.global.u32 [%at], %a;
    setp.lt.u32 %p, %i, 4;
    mov.u32 %b, 0;
    @%p bra ENDS;
    vote.sync.ballot.b32 %a, 1, 0xffffffff;
    bra DONE;
ENDS:
    add.u32 %b, %b, 1;
    setp.lt.u32 %q, %b, 50;
    @%q bra ENDS;
    exit;
DONE:
""".replace("vote.sync.ballot.b32 %a, 1,", "setp.eq.u32 %q, %i, %i; vote.sync.ballot.b32 %a, %q,")
    assert run(body)[:32].tolist() == [1] * 4 + [0xFFFFFFF0] * 28


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("setp.eq.u32 %p, %w, 64; @%p bar.sync 2, 96;", r"warp 0, warp 1 wait at barrier 2 of 96"),
        (
            "setp.lt.u32 %p, %i, 40; @%p barrier.sync 1; @!%p barrier.sync 4;",
            r"warp 1 \(8 threads\) wait at barrier 1, .*warp 1 \(24 threads\) waits at barrier 4",
        ),
        (
            "setp.lt.u32 %p, %i, 32; @%p exit; bar.sync 0, 64;",
            r"warp 1 waits at barrier 0 of 64 threads, .*; 1 of 2 warps have ended",
        ),
    ],
)
def test_a_deadlock_says_who_waits_where(device, body, message):
    text = kernel(body)
    out = device.array(np.zeros(2048, np.uint32))
    with pytest.raises(lockstep.LaunchError, match=message) as caught:
        device.load_ptx(text)["k"][1, 64](out)
    assert caught.value.kind == "deadlock"
    line = text[: text.index("bar")].count("\n") + 1
    assert f"<ptx>:{line}" in str(caught.value)
    assert "CTA (0, 0, 0)" in str(caught.value)


def test_all_threads_of_the_largest_block_may_be_counted(run):
    """Each reads what the thread at the other end of the block wrote before the barrier."""
    body = """
    mad.wide.u32 %d, %i, 4, %out;
    st.volatile.global.u32 [%d+4096], %i;
    bar.sync 1, 1024;
    xor.b32 %c, %i, 1023;
    mad.wide.u32 %d, %c, 4, %out;
    ld.volatile.global.u32 %a, [%d+4096];
"""
    np.testing.assert_array_equal(run(body, 1, 1024)[:1024], np.arange(1024) ^ 1023)


@pytest.mark.parametrize("operands", ["16", "1, 1056"])
def test_numbers_that_no_barrier_has_are_refused(device, operands):
    with pytest.raises(lockstep.InputError, match="out of range"):
        device.load_ptx(kernel(f"bar.sync {operands};"))
