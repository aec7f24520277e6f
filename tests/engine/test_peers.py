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


def over(on_link, latency):
    """Cycles from port to port of a message that takes so many picoseconds of an idle link."""
    return -(-(on_link + latency) // 1000)


@pytest.mark.parametrize(("access", "sent", "comes"), [(LOAD, 0, 32), (ATOMIC, 32, 32)])
def test_an_idle_access_takes_links_and_the_other_crossbar_more(access, sent, comes):
    """There and back: the link, with a header, and the crossbar of the GPU that has the line."""
    with make() as system:
        crossbar = system[0].gpu.interconnect.latency
        own, other = took(system, access, 0), took(system, access, 1)
        there, back = (over(40 * (16 + size), 500_000) for size in (sent, comes))
        assert other - own == there + back + 2 * crossbar
        assert system.result.peer_accesses == 0


def test_a_switch_is_passed_as_soon_as_the_first_bytes_are_there():
    with make(**NVSWITCH | HEADERS) as system:
        more = took(system, LOAD, 1) - took(system, LOAD, 0)
        links = sum(over(20 * (16 + size), 1_100_000) for size in (0, 32))
        assert more == links + 2 * system[0].gpu.interconnect.latency


def test_over_pcie_a_request_takes_the_links_to_the_host():
    changes = ("host.link_bandwidth=20", "host.link_latency=700000")
    with make(changes=changes, **PCIE) as system:
        more = took(system, LOAD, 1) - took(system, LOAD, 0)
        links = sum(over(50 * size, 1_400_000) for size in (0, 32))
        assert more == links + 2 * system[0].gpu.interconnect.latency
        busy = {link["link"]: link["packets"] for link in system.result.links if link["packets"]}
        assert busy["GPU 0 > host"] == busy["GPU 1 > host"] == 1


class Streamed:
    """A kernel of GPU 0 that goes through an array of a GPU, every thread 4 words a step."""

    def __init__(self, access, place=1, ctas=16, steps=8, threads=256, system=None):
        with system or make() as system:
            system.enable_peers()
            n = ctas * threads
            out = system[0].empty(n, np.uint32)
            self.size = 16 * n * steps
            there = system[place].array(np.arange(self.size // 4, dtype=np.uint32))
            kernel = system[0].load_ptx(PTX.format(access=access))["stream"]
            launch = kernel[ctas, threads](out, there, np.uint32(steps))
            self.values, self.left = out.numpy(), there.numpy()
            self.result, self.run = system.result, launch.run
        self.rate = self.size / self.run.cycles  # GB/s at 1 GHz
        (self.metrics,) = self.result.gpus[0].metrics

    @property
    def links(self):
        """Of links that carried anything between GPUs: bytes and packets."""
        return {
            link["link"]: (link["bytes"], link["packets"])
            for link in self.result.links
            if link["packets"] and "host" not in link["link"]
        }


PAYLOAD = 25 * 128 / 144  # GB/s of NVLINK in lines of 128 bytes with a header each


def test_loads_come_at_the_payload_rate_of_the_link():
    done = Streamed(LOADS, steps=16)
    assert 0.93 * PAYLOAD < done.rate < PAYLOAD
    lines = done.size // 128
    assert done.links == {"GPU 0 > GPU 1": (0, lines), "GPU 1 > GPU 0": (done.size, lines)}
    names = ("requests.sum", "load_bytes.sum", "store_bytes.sum", "atomic_bytes.sum")
    counted = [done.metrics[f"sim__peer_{name}"] for name in names]
    assert counted == [lines, done.size, 0, 0]
    words = np.arange(done.size // 4, dtype=np.uint32).reshape(-1, len(done.values))
    assert np.array_equal(done.values, words.sum(0, dtype=np.uint32) + 1)


@pytest.mark.parametrize(("access", "what"), [(STORES, "store"), (REDUCTIONS, "atomic")])
def test_stores_and_reductions_go_at_that_rate_and_are_acknowledged(access, what):
    done = Streamed(access)
    assert 0.9 * PAYLOAD < done.rate < PAYLOAD
    lines = done.size // 128
    assert done.links == {"GPU 0 > GPU 1": (done.size, lines), "GPU 1 > GPU 0": (0, lines)}
    assert done.metrics[f"sim__peer_{what}_bytes.sum"] == done.size
    before = np.arange(done.size // 4, dtype=np.uint32)
    assert np.array_equal(done.left, before + 1 if what == "atomic" else np.ones_like(before))


def test_two_sms_share_the_link():
    slow = NVLINK | HEADERS | {"bandwidth": 4.0}
    one, two = (Streamed(LOADS, ctas=n, threads=1024, system=make(**slow)) for n in (1, 2))
    assert one.run.cycles * 1.9 < two.run.cycles < one.run.cycles * 2
    assert two.rate > 0.9 * 4 * 128 / 144


def test_a_line_of_another_gpu_is_kept_in_the_l1_and_not_in_the_own_l2():
    twice = "ld.global.{}.u32 %r2, [%rd2]; bar.sync 0; ld.global.{}.u32 %r7, [%rd2];"
    for kind, requests in (("ca", 1), ("cg", 2)):
        access = twice.format(kind, kind).replace("bar", "add.u32 %r2, %r2, 1; bar")
        with make() as system:
            took(system, access, 1)
            result = system.result
            assert result.gpus[0].metrics[0]["sim__peer_requests.sum"] == requests
            assert result.gpus[1].run.partition["l2_read_sectors"].sum() == requests


def test_a_copy_on_the_same_link_and_loads_have_their_turns():
    """None of them waits until the other one is done."""

    def run(copies):
        with make() as system:
            system.enable_peers()
            n = 16 * 256
            out = system[0].empty(n, np.uint32)
            there, more = system[1].empty(32 * n, np.uint32), system[1].empty(16 * n, np.uint32)
            kernel = system[0].load_ptx(PTX.format(access=LOADS))["stream"]
            launch = kernel[16, 256](out, there, np.uint32(8))
            if copies:
                own = system[0].empty(16 * n, np.uint32)
                own.copy_from(more, system[1].stream(blocking=False))
            result = system.result
        return launch.run.cycles, [copy.end - copy.start for copy in result.host.peers]

    alone, _ = run(copies=False)
    together, (copy,) = run(copies=True)
    on_link = 16 * 16 * 256 * 4 * 40 * 272 // 256  # picoseconds
    assert alone + 0.7 * on_link / 1000 < together < alone + 1.1 * on_link / 1000
    assert 1.4 * on_link < copy < 2.3 * on_link, "every other turn, once the loads have begun"


def program(threads):
    """Kernels of three GPUs that read, write and update each other's memory, and copies."""
    with make(3, threads=threads) as system:
        system.enable_peers()
        n = 8 * 128
        arrays = [device.array(np.arange(16 * n, dtype=np.uint32)) for device in system]
        out = [device.empty(n, np.uint32) for device in system]
        for k, access in enumerate((LOADS, STORES, REDUCTIONS)):
            device, right = system[k], arrays[(k + 1) % 3]
            kernel = device.load_ptx(PTX.format(access=access))["stream"]
            kernel[8, 128](out[k], right, np.uint32(4))
            arrays[k].copy_from(right, device.stream(blocking=False))
        return system.result.hash


def test_the_result_does_not_depend_on_threads():
    assert len({program(threads) for threads in (1, 2, 3)}) == 1


def test_who_accesses_no_other_memory_takes_as_long_as_alone():
    with lockstep.Device(small_system(1, CLOCKS, **PCIE).gpus[0], timing=True) as device:
        n = 16 * 256
        out, there = device.empty(n, np.uint32), device.array(np.arange(32 * n, dtype=np.uint32))
        kernel = device.load_ptx(PTX.format(access=LOADS))["stream"]
        alone = kernel[16, 256](out, there, np.uint32(8))
        device.synchronize()
    assert Streamed(LOADS, place=0).run.cycles == alone.run.cycles


def test_gpus_of_several_modules_have_accesses_without_time_of_their_own():
    with make(changes=("modules.count=2",)) as system:
        took(system, LOAD, 1)
        result = system.result
        assert result.peer_accesses == 1
        assert not any(each["packets"] for each in result.links if "host" not in each["link"])
