"""What is said of launches that read a clock: once, where it means nothing, and what to add."""

import re

import numpy as np
import pytest

import lockstep
from cubin_files import FOLDER

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry reads(.param .u64 out, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p, %r1, 0;
    @%p bra END;
    CLOCK
END:
    ret;
}
.visible .entry plain(.param .u64 out, .param .u32 n) { ret; }
"""
CLOCK64 = "mov.u64 %rd2, %clock64; st.global.u64 [%rd1], %rd2;"
LINE = (
    r"lockstep: kernel (\w+), pc 0x\w+: .+: clocks count executed instructions in this run, "
    r"no time; add --at-issue, with timing, or Device\(timing=True, at_issue=True\)"
)


@pytest.fixture
def said(capfd):
    """Function that runs kernels of PTX with how many turns each; the kernels of what was said."""

    def said(clock, *launches, **options):
        with lockstep.Device("QV100", **options) as device:
            module, out = device.load_ptx(PTX.replace("CLOCK", clock)), device.zeros(2, np.int64)
            for name, n in launches or [("reads", 1)]:
                module[name][1, 32](out, np.uint32(n))
        return names(capfd)

    return said


def names(capfd):
    lines = [line for line in capfd.readouterr().err.splitlines() if "clocks" in line]
    return [re.fullmatch(LINE, line)[1] for line in lines]


@pytest.mark.parametrize(
    ("clock", "kind", "register"),
    [
        ("%clock", "u32", "%r2"),
        ("%clock_hi", "u32", "%r2"),
        ("%clock64", "u64", "%rd2"),
        ("%globaltimer", "u64", "%rd2"),
        ("%globaltimer_lo", "u32", "%r2"),
        ("%globaltimer_hi", "u32", "%r2"),
    ],
)
def test_every_clock_of_ptx_is_named(said, clock, kind, register):
    text = f"mov.{kind} {register}, {clock}; st.global.{kind} [%rd1], {register};"
    assert said(text) == ["reads"]


def test_it_is_said_once_on_a_device(said):
    assert said(CLOCK64, ("plain", 1), ("reads", 1), ("reads", 2)) == ["reads"]
    assert said(CLOCK64) == ["reads"]


@pytest.mark.parametrize(
    ("clock", "launch"),
    [
        (CLOCK64, ("plain", 1)),  # another kernel of the module
        (CLOCK64, ("reads", 0)),  # the instruction is not executed
        ("mov.u64 %rd2, %clock64;", ("reads", 1)),  # nobody uses what it reads
        ("mov.u32 %r2, %laneid; st.global.u32 [%rd1], %r2;", ("reads", 1)),
    ],
)
def test_nothing_is_said_where_no_clock_matters(said, clock, launch):
    assert said(clock, launch) == []


def test_nothing_is_said_where_clocks_have_a_meaning(said):
    assert said(CLOCK64, timing=True, at_issue=True) == []
    assert said(CLOCK64, timing=True) == ["reads"]


@pytest.mark.parametrize(
    ("kernel", "arguments", "expected"),
    [
        ("timeout", (np.uint64(50),), ["timeout"]),  # %globaltimer
        ("handshake", (), ["handshake"]),  # clock64()
        ("apart", None, []),
    ],
)
def test_machine_code(capfd, kernel, arguments, expected):
    with lockstep.Device("A100") as device:
        out = device.zeros(64, np.int64)
        given = {"handshake": (out, device.zeros(2, "i4"), device.zeros(2, "i8"))}
        arguments = given.get(kernel, (*(arguments or ()), out))
        grid = 2 if kernel == "handshake" else 1
        threads = 64 if kernel == "apart" else 1
        device.load_cubin(FOLDER / "time.sm_80.cubin")[kernel][grid, threads](*arguments)
    assert names(capfd) == expected
