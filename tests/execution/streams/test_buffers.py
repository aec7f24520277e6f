"""Streams of CTAs grow, but not without end, and are taken several at a time."""

import struct
from collections import Counter

import numpy as np
import pytest

import lockstep
from lockstep.execution.launches import launch, resident
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Recording
from lockstep.execution.scheduling.looks import POLLS
from lockstep.execution.streams import buffers as stream_buffers
from lockstep.kernels import load
from ptx_twin.programs import kernel

LOOP = """
    mov.u32 %a, 0;
    and.b32 %b, %n, 31;
AGAIN:
    ld.global.u32 %c, [%at];
    add.u32 %a, %a, 1;
    setp.lt.u32 %p, %a, %b;
    @%p bra AGAIN;
"""  # as often as the thread's number says: what threads execute differs

WAIT_FOR_THE_LAST = """
    setp.eq.u32 %p, %n, 191;
    @%p bra DONE;
WAIT:
    ld.acquire.gpu.global.u32 %c, [%out+764];
    setp.eq.u32 %q, %c, 0;
    @%q bra WAIT;
DONE:
    mov.u32 %a, 1;
"""

FAULT_LATER = """
    mov.u32 %a, 1;
    setp.lt.u32 %p, %n, 2500;
    @%p bra DONE;
    ld.global.u32 %a, [%out+1073741824];
DONE:
"""


@pytest.fixture
def ctas(monkeypatch):
    """Function from a body, see ``ptx_twin.programs.kernel``, to its CTAs and its error.

    ``most``: how many are taken at once. ``words``: of a new buffer.
    """

    def ctas(body, grid, block, most=64, words=1 << 16):
        monkeypatch.setattr(resident, "MOST_ENDED", most)
        monkeypatch.setattr(launch, "MOST_ENDED", most)
        monkeypatch.setattr(stream_buffers, "FIRST_STREAM_WORDS", words)
        made, error = [], None
        with lockstep.Device("QV100") as device:
            out = device.zeros(1 << 13, np.uint32)
            k = device.load_ptx(kernel(body))["k"]
            geometry = Geometry((grid, 1, 1), (block, 1, 1), 32, places=8)
            executor = k.executor(Recording.EVERYTHING)
            try:
                for cta in executor.ctas(
                    geometry, k.block(struct.pack("q", out.pointer), geometry)
                ):
                    made.append(cta)
            except lockstep.LockstepError as problem:
                error = str(problem)
        return made, error

    return ctas


def parts(cta, base):
    """What a CTA says, its addresses from ``base`` on."""
    addresses, pool = cta.addresses.copy(), cta.pool - base
    addresses["first"] -= base
    return cta.index, *(a.tolist() for a in (cta.warps, cta.runs, addresses, pool))


def assert_same(found, expected):
    base = [min(c.addresses["first"].min() for c in some) for some in (found, expected)]
    assert [parts(c, base[0]) for c in found] == [parts(c, base[1]) for c in expected]


@pytest.mark.parametrize(("most", "words"), [(64, 1 << 16), (64, 256), (7, 1 << 10), (3, 5000)])
@pytest.mark.parametrize("body", [LOOP, WAIT_FOR_THE_LAST])
def test_ctas_are_the_same_however_many_are_taken_at_once(ctas, body, most, words):
    """One waits for the last one: then several run in turn, each in a place of its own."""
    grid = 150 if body is LOOP else 6
    expected, _ = ctas(body, grid, 32, most=1)
    found, error = ctas(body, grid, 32, most, words)
    assert error is None and [c.index[0] for c in found] == list(range(grid))
    assert_same(found, expected)


COUNTED = WAIT_FOR_THE_LAST.replace("setp.eq.u32 %q", "add.u32 %a, %a, 1; setp.eq.u32 %q")
WRITES = WAIT_FOR_THE_LAST.replace("setp.eq.u32 %q", "st.global.u32 [%out], %c; setp.eq.u32 %q")
DIVERGED = WAIT_FOR_THE_LAST.replace("setp.eq.u32 %p, %n, 191", "setp.ne.u32 %p, %n, 3")


def most_turns(cta):
    """How often a warp of a CTA executes what it executes most often."""
    times = Counter()
    for w, warp in enumerate(cta.warps):
        for run in cta.runs[warp["first_run"] : warp["first_run"] + warp["runs"]]:
            times.update((w, run["static"] + k) for k in range(run["count"]))
    return max(times.values())


@pytest.mark.parametrize(
    ("body", "few"),
    [(WAIT_FOR_THE_LAST, True), (COUNTED, False), (WRITES, False), (DIVERGED, True)],
    ids=["looks", "counts how often", "writes", "one of a warp"],
)
def test_of_looks_in_vain_one_is_told_and_the_one_behind_them(ctas, body, few):
    """The CTA that is waited for runs last; the others look POLLS times in each of their turns."""
    found, error = ctas(body, 6, 32)
    assert error is None
    turns = [most_turns(cta) for cta in found[:-1]]
    assert max(turns) == 2 if few else min(turns) > POLLS, turns


@pytest.mark.parametrize("most", [1, 2, 64])
def test_ctas_before_a_fault_are_served(ctas, most):
    found, error = ctas(FAULT_LATER, 100, 64, most)
    assert "CTA (39, 0, 0)" in error
    assert [c.index[0] for c in found] == list(range(39))


def test_a_stream_without_end_is_an_error_of_its_launch(monkeypatch):
    monkeypatch.setattr(stream_buffers, "MOST_STREAM_WORDS", 8)
    monkeypatch.setattr(stream_buffers, "FIRST_STREAM_WORDS", 64)
    with lockstep.Device("QV100", timing=True) as device:
        module = device.load_ptx(load("saxpy").ptx)
        x, y = device.array(np.ones(1024, np.float32)), device.zeros(1024)
        launch = module["saxpy"][1, 256](1024, 2.0, x, y)
        with pytest.raises(lockstep.LockstepError, match="executes without end"):
            launch.wait()


def test_streams_without_end_of_many_ctas_leave_the_host_its_memory(ctas, monkeypatch):
    monkeypatch.setattr(stream_buffers, "memory_bytes", lambda: 1 << 22)
    made, error = ctas(WAIT_FOR_THE_LAST.replace("764", "0"), 6, 32, words=64)
    assert made == []
    assert "the streams of 6 CTAs that run take" in error and "this host has 4194304" in error


def test_ctas_have_half_of_the_memory_of_the_host(ctas, monkeypatch):
    monkeypatch.setattr(stream_buffers, "memory_bytes", lambda: 2 * 8 * 64 * 8)
    assert ctas(LOOP, 1, 32, words=64)[1] is not None
    monkeypatch.setattr(stream_buffers, "memory_bytes", lambda: None)
    assert ctas(LOOP, 1, 32, words=64)[1] is None
