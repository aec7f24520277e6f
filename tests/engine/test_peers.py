"""Accesses of kernels to another GPU's memory: from crossbar to crossbar, over the links between.

GPUs have clocks of 1 GHz here, so that a cycle is a thousand picoseconds.
"""

import numpy as np
import pytest

import lockstep
from gpu_systems import NVLINK, NVSWITCH, PCIE, small_system

CLOCKS = ("clock_mhz=1000", "l2.clock_mhz=1000", "interconnect.clock_mhz=1000")
HEADERS = {"payload_bytes": 256, "header_bytes": 16}
LINK = 25  # GB/s of NVLINK
PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry once(.param .u64 out, .param .u64 there)
{{
    .reg .b32 %r<12>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [there]; mov.u64 %rd4, 4;
    mov.u32 %r5, 1; mov.u32 %r2, 0;
    {access}
    add.u32 %r2, %r2, 0;
    st.global.u32 [%rd1], %r2;
    ret;
}}
.visible .entry stream(.param .u64 out, .param .u64 there, .param .u32 steps)
{{
    .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [there]; ld.param.u32 %r6, [steps];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd3, %r1, 4;
    mul.lo.u32 %r4, %r4, %r2; mul.wide.u32 %rd4, %r4, 4;
    add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; mov.u32 %r5, 1;
LOOP:
    {access}
    sub.u32 %r6, %r6, 1;
    setp.ne.u32 %p1, %r6, 0; @%p1 bra LOOP;
    st.global.u32 [%rd1], %r5;
    ret;
}}
"""
LOAD, ATOMIC = "ld.global.cg.u32 %r2, [%rd2];", "atom.global.add.u32 %r2, [%rd2], %r5;"
LOADS = "".join(f"ld.global.cg.u32 %r{7 + k}, [%rd2]; add.u64 %rd2, %rd2, %rd4;" for k in range(4))
LOADS += "".join(f"add.u32 %r5, %r5, %r{7 + k};" for k in range(4))
STORES = "st.global.u32 [%rd2], %r5; add.u64 %rd2, %rd2, %rd4;" * 4
REDUCTIONS = "red.global.add.u32 [%rd2], %r5; add.u64 %rd2, %rd2, %rd4;" * 4


def make(count=2, changes=(), threads=1, **fabric):
    """A system of small GPUs whose clock ticks once a nanosecond."""
    system = small_system(count, (*CLOCKS, *changes), **(fabric or NVLINK | HEADERS))
    return lockstep.System(system, timing=True, threads=threads)


def took(system, access, place):
    """Cycles of a kernel of GPU 0 with one access to the memory of a GPU."""
    system.enable_peers()
    out, there = system[0].empty(1, np.uint32), system[place].array(np.arange(32, dtype=np.uint32))
    launch = system[0].load_ptx(PTX.format(access=access))["once"][1, 1](out, there)
    system.synchronize()
    return launch.run.cycles


def over(size, gb_per_s=LINK):
    """Cycles from port to port of a message with so many bytes, which finds a link idle."""
    return -(-(-(-1000 * (size + 16) // gb_per_s) + 500_000) // 1000)


@pytest.mark.parametrize(("access", "sent", "comes"), [(LOAD, 0, 32), (ATOMIC, 32, 32)])
def test_an_idle_access_takes_links_and_the_other_crossbar_more(access, sent, comes):
    """There and back: the link, and the crossbar of the GPU that has the line."""
    with make() as system:
        crossbar = system[0].gpu.interconnect.latency
        own, other = took(system, access, 0), took(system, access, 1)
        assert other - own == over(sent) + over(comes) + 2 * crossbar
        assert system.result.peer_accesses == 0


class Streamed:
    """A kernel of GPU 0 that goes through an array of a GPU, every thread 4 words a step."""

    def __init__(self, access, place=1, ctas=32, steps=8, threads=256, system=None):
        with system or make() as system:
            system.enable_peers()
            n = ctas * threads
            self.out = system[0].empty(n, np.uint32)
            self.size = 16 * n * steps
            there = system[place].array(np.arange(self.size // 4, dtype=np.uint32))
            kernel = system[0].load_ptx(PTX.format(access=access))["stream"]
            launch = kernel[ctas, threads](self.out, there, np.uint32(steps))
            self.values, self.left = self.out.numpy(), there.numpy()
            self.result, self.run = system.result, launch.run
            self.rate = self.size / launch.run.cycles  # GB/s at 1 GHz

    @property
    def links(self):
        """Of links that carried anything between GPUs: bytes and packets."""
        return {
            link["link"]: (link["bytes"], link["packets"])
            for link in self.result.links
            if link["packets"] and "host" not in link["link"]
        }


def test_loads_come_at_the_payload_rate_of_the_link():
    done = Streamed(LOADS)
    assert 0.95 * LINK * 128 / 144 < done.rate < LINK * 128 / 144
    lines = done.size // 128
    assert done.links == {"GPU 0 > GPU 1": (0, lines), "GPU 1 > GPU 0": (done.size, lines)}
