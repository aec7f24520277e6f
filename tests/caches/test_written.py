"""Accesses made of what blocks wrote: the same as those made of the records of CTAs."""

import numpy as np
import pytest

from lockstep import kernels
from lockstep.caches import Exploration
from lockstep.caches.accesses import BARRIER
from lockstep.caches.coalescer import Coalescer
from lockstep.caches.written import WrittenCoalescer
from lockstep.device import Device
from lockstep.execution.streams.written import in_grid_order

THREADS = 2048
PROGRAMS = {
    "gemm_tiled": 48,
    "spmv": 300,
    "bfs": 500,
    "needle": 33,
    "kmeans": 600,
    "half_dot": 20_000,
}

LOCAL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry spills(.param .u64 out) {
  .local .align 16 .b8 mine[64];
  .reg .u32 %r<6>; .reg .u64 %rd<8>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 3;
  mul.wide.u32 %rd2, %r2, 16;
  mov.u64 %rd3, mine;
  add.u64 %rd4, %rd3, %rd2;
  st.local.v4.u32 [%rd4], {%r1, %r2, %r1, %r2};
  setp.lt.u32 %p, %r1, 40;
  bar.sync 0;
  @%p ld.local.u32 %r3, [%rd4+4];
  mul.wide.u32 %rd5, %r1, 200;
  add.u64 %rd6, %rd1, %rd5;
  @%p st.global.u32 [%rd6], %r3;
  cvta.local.u64 %rd7, %rd4;
  ld.u32 %r4, [%rd7];
  @!%p st.global.u32 [%rd6], %r4;
  ret;
}
"""


def stepped(batch, k):
    """The steps of each warp of a CTA, without those that touch nothing and wait for nobody."""
    made = []
    for begin, end in zip(batch.first[k], batch.first[k, 1:]):
        steps = []
        for first, count, *what in np.asarray(batch.steps[begin:end]).tolist():
            if count or what[1] >= BARRIER:
                steps.append((*what, np.asarray(batch.lines[first : first + count]).tolist()))
        made.append(steps)
    return made


class Reader:
    """Keeps the steps of all CTAs, of records."""

    reads = True

    def __init__(self):
        self.seen = []

    def launched(self, launch):
        self.writer = None

    def read(self, kernel, cta):
        self.seen.append(stepped(Coalescer(kernel, THREADS).batch([cta]), 0))

    def ended(self, launch):
        pass


class WrittenReader(Reader):
    """... of what blocks wrote."""

    def read_written(self, kernel, ctas):
        if self.writer is None:
            self.writer = WrittenCoalescer(ctas.program)
            self.writer.begin(kernel, THREADS)
        batch = self.writer.batch(ctas)
        self.seen += [stepped(batch, k) for k in range(len(ctas.ends))]

    def read(self, kernel, cta):
        raise AssertionError("streams are read")


def seen_by(watcher, run):
    with Device("QV100") as device:
        device.watch(watcher)
        run(device)
        device.synchronize()
    return watcher.seen


def same(run):
    expected = seen_by(Reader(), run)
    assert seen_by(WrittenReader(), run) == expected
    return expected


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_the_same_steps(name):
    expected = same(lambda device: kernels.load(name).run(device, PROGRAMS[name]))
    assert sum(len(warp) for cta in expected for warp in cta) > 80


def test_local_memory_guards_and_generic_addresses():
    def run(device):
        out = device.empty((64 * 50,), np.uint32)
        device.load_ptx(LOCAL)["spills"][3, 64](out)

    expected = same(run)
    assert len(expected) == 3
    sites = [[step[0] for step in warp] for warp in expected[0]]
    assert len(sites[0]) < len(sites[1])  # of the second warp both sides store


def test_machine_code_of_wavefronts_and_of_warps(repository):
    kernels_of = repository / "examples/southern-islands/kernels"
    rng = np.random.default_rng(3)

    def run(device):
        matrix = device.array(rng.random((48, 32), np.float32))
        out = device.zeros((32, 48), np.float32)
        module = device.load_gcn(kernels_of / "transpose.bin")
        module["transpose"][(32, 48), (16, 16)](out, matrix, 32, 48)
        sums = device.zeros(5, np.uint32)
        values = device.array(np.arange(5 * 256, dtype=np.uint32))
        device.load_gcn(kernels_of / "reduce.bin")["reduce"][5 * 256, 256](values, sums)
        cubin = device.load_cubin(repository / "tests/device/cubins/recorded.sm_80.cubin")
        words = device.array(np.ones(96, np.float32))
        cubin["add"][3, 32](words, words, words, 90)

    expected = same(run)
    assert len(expected) == 6 + 5 + 3 and all(any(cta) for cta in expected)


def test_tables_are_the_same():
    class Records(Exploration):
        read_written = None

    gpu = Device("QV100").gpu
    tables = []
    for kind in (Exploration, Records):
        exploration = kind(gpu)
        with Device(gpu) as device:
            device.watch(exploration)
            kernels.load("spmv").run(device, 700)
            kernels.load("gemm_tiled").run(device, 40)
            kernels.load("spmv").run(device, 300)
        tables.append(exploration.table())
    assert tables[0].equals(tables[1])


def test_ctas_that_end_early_wait_for_those_before_them():
    words = np.arange(100)
    taken = [
        ([0, 1], [], words, [10, 30]),
        ([3, 6], [], words, [5, 7]),
        ([2], [], words[50:], [4]),
        ([4, 5], [], words[60:], [1, 3]),
        ([7], [], words, [2]),
    ]
    found = []
    for ctas in in_grid_order(None, taken):
        found += [ctas.words[a:b].tolist() for a, b in zip([0, *ctas.ends], ctas.ends)]
    ranges = [(0, 10), (10, 30), (50, 54), (0, 5), (60, 61), (61, 63), (5, 7), (0, 2)]
    assert found == [list(range(*each)) for each in ranges]
