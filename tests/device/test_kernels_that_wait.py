"""Kernels that wait for other CTAs are executed at issue: how often they look depends on time."""

import numpy as np
import pytest

import lockstep
from lockstep.execution.programs.program import Recording
from lockstep.kernels import load

HEADER = ".version 8.6\n.target sm_80\n.address_size 64\n"
FIRST = """mov.u32 %c, %ctaid.x; setp.ne.u32 %p, %c, 0; @%p bra WAIT;
mov.u32 %i, 0;
WORK: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 3000; @%q bra WORK;
st.release.gpu.global.u32 [%flag], %i; bra END;"""
LOAD = "WAIT: ld.acquire.gpu.global.u32 %x, [%flag]; setp.eq.u32 %q, %x, 0; @%q bra WAIT;"
ADDED = "WAIT: atom.global.{}32 %x, [%flag], {}; setp.eq.u32 %q, %x, 0; @%q bra WAIT;"
SLEEPY = """WAIT: atom.global.cas.b32 %x, [%flag], 1, 2; setp.ne.u32 %q, %x, 0; @%q bra NOW;
nanosleep.u32 100; bra WAIT; NOW: mov.u32 %x, 5;"""
LOCK = "WAIT: atom.global.cas.b32 %x, [%flag], 1, 2; setp.eq.u32 %q, %x, 0; @%q bra WAIT;"
WALK = """mov.u32 %i, 0;
WAIT: ld.volatile.global.u32 %x, [%flag]; add.u64 %flag, %flag, 4; add.u32 %i, %i, 1;
setp.lt.u32 %q, %i, 8; @%q bra WAIT;"""
COUNT = """mov.u32 %i, 0;
WAIT: ld.volatile.global.u32 %x, [%flag]; st.global.u32 [%out], %x; add.u32 %i, %i, 1;
setp.lt.u32 %q, %i, 8; @%q bra WAIT;"""


def kernel(body):
    return f"""{HEADER}
.visible .entry k(.param .u64 flags, .param .u64 outs)
{{
.reg .b64 %flag, %out; .reg .b32 %i, %x, %c; .reg .pred %p, %q;
ld.param.u64 %flag, [flags]; ld.param.u64 %out, [outs];
{body}
st.global.u32 [%out], %x;
END: ret;
}}
"""


def awaits_others(body):
    with lockstep.Device("A100") as device:
        executor = device.load_ptx(kernel(body))["k"].executor(Recording.EVERYTHING)
        return executor.program.awaits_others


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (FIRST + LOAD, True),
        (FIRST + LOCK, False),
        (FIRST + SLEEPY, True),
        (FIRST + ADDED.format("add.u", 0), True),
        (FIRST + ADDED.format("add.u", 1), False),
        (FIRST + ADDED.format("exch.b", 0), False),
        (WALK, False),
        (COUNT, False),
        ("ld.global.u32 %x, [%flag];", False),
    ],
    ids=[
        "a load",
        "a lock",
        "one with sleeps",
        "zero is added",
        "one is added",
        "zero is put",
        "another place each time",
        "it writes",
        "no loop",
    ],
)
def test_a_loop_that_only_looks_at_one_place_waits(body, expected):
    assert awaits_others(body) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("grid_barrier", True), ("spin_lock", False), ("saxpy", False)]
)
def test_built_in_kernels_that_wait(name, expected):
    with lockstep.Device("A100") as device:
        module = device.load_ptx(load(name).ptx)
        executor = module[name].executor(Recording.EVERYTHING)
        assert executor.program.awaits_others == expected


def took(**options):
    with lockstep.Device("A100", timing=True, **options) as device:
        flag, out = device.zeros(1, np.uint32), device.zeros(1, np.uint32)
        launch = device.load_ptx(kernel(FIRST + LOAD))["k"][2, 32](flag, out)
        assert out.numpy()[0] == 3000
        return launch.cycles, launch.metrics["sm__inst_executed.sum"]


def test_it_takes_as_long_as_at_issue():
    """The second CTA looks until the first one has counted, some 27,000 cycles later."""
    assert took() == took(at_issue=True)
    cycles, instructions = took()
    looks = (instructions - 3 * 3000) / 3
    assert 3000 * 4 < cycles < 3000 * 20
    assert cycles / 500 < looks < cycles / 200, "one look takes an access to the L2"
