"""Kernels executed at issue, with a source that tells what a trace holds."""

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep import engine
from lockstep.builder import KernelBuilder, program
from lockstep.engine.rings import ring_length, rings
from lockstep.isa.instruction import NAMED_BARRIERS, OpClass
from lockstep.workload import Workload
from lockstep.workload.at_issue import STEP_RUNS, Answer, Ask

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


def blocks(kernel, cta, warp):
    """Pieces of a warp's stream that begin at accesses and end with barriers.

    Runs, and an address record or None.
    """
    accesses = kernel.code.instructions["width"] > 0
    barriers = kernel.code.instructions["op"] == OpClass.BARRIER
    records = iter(cta.addresses[warp["first_address"] :][: warp["addresses"]])
    for static, count, mask in cta.runs[warp["first_run"] :][: warp["runs"]].tolist():
        while count:
            n = 1
            while n < count and not accesses[static + n] and not barriers[static + n - 1]:
                n += 1
            yield (static, n, mask), next(records) if accesses[static] and mask else None
            static, count = static + n, count - n


class Replay:
    """Answers from the streams that a kernel has; ``fails``: when that many blocks have run."""

    context = 0

    def __init__(self, kernel, exchange, fails=None, waits=0):
        self.kernel, self.exchange, self.fails = kernel, exchange, fails
        self.ctas = list(kernel.ctas())
        self.started, self.next, self.orders = [], {}, []
        self.waits, self.held = waits, {}
        self.executed, self.closed = 0, False
        self.warp_instructions = self.thread_instructions = 0
        self._keep = FUNCTION(self.answer)
        self.function = ctypes.cast(self._keep, ctypes.c_void_p).value

    def failed(self):
        return self.fails is not None and self.executed >= self.fails

    def close(self):
        self.closed = True

    def answer(self, *_):
        step = self.exchange.step[0]
        if self.failed():
            return Answer.ENDED
        if step["ask"] == Ask.START:
            return self.start(step)
        warp = int(step["place"]), int(step["warp"])
        return self.look(step, warp) if step["ask"] == Ask.LOOK else self.execute(step, warp)

    def start(self, step):
        step["place"] = len(self.started)
        width, height, _ = self.kernel.grid
        linear = {c.index[0] + width * (c.index[1] + height * c.index[2]): c for c in self.ctas}
        cta = linear[int(step["cta"])]
        for w, warp in enumerate(cta.warps):
            self.next[len(self.started), w] = cta, blocks(self.kernel, cta, warp), None
        self.started.append((int(step["cta"]), int(step["sm"])))
        return Answer.READY

    def look(self, step, warp):
        if self.held.setdefault(warp, self.waits):
            self.held[warp] -= 1
            return Answer.WAITS
        del self.held[warp]
        cta, rest, _ = self.next[warp]
        block = next(rest, None)
        if block is None:
            return Answer.ENDED
        self.next[warp] = cta, rest, block
        step["static"], _, step["mask"] = block[0]
        return Answer.READY

    def execute(self, step, warp):
        self.executed += 1
        self.orders.append((int(step["cycle"]), self.started[warp[0]][1]))
        cta, _, (run, record) = self.next[warp]
        self.exchange.runs[0] = run
        step["runs"], step["addresses"] = 1, record is not None
        last = self.kernel.code.instructions[run[0] + run[1] - 1]
        arrives = last["op"] == OpClass.BARRIER and run[2] != 0
        step["comes"] = last["immediate"] % NAMED_BARRIERS if arrives else -1
        lanes = (run[2] & (1 << 64) - 1).bit_count()
        self.warp_instructions += run[1]
        self.thread_instructions += run[1] * lanes
        if record is not None:
            self.exchange.addresses[0] = record
            if record["pool"] >= 0:
                self.exchange.pool[:lanes] = cta.pool[record["pool"] :][:lanes]
                self.exchange.addresses["pool"] = 0
        return Answer.READY


def at_issue(workload, **options):
    """The same with sources; and the list of these, when it has run."""
    sources = []

    def connect(kernel):
        def source(exchange):
            sources.append(Replay(kernel, exchange, **options))
            return sources[-1]

        return source

    for kernel in workload.kernels:
        kernel.source = connect(kernel)
    return workload, sources


@pytest.mark.long
@settings(max_examples=60)
@given(st.data())
def test_a_source_that_repeats_a_trace_gives_its_very_counters(programs, raw, data):
    workload, gpu, _ = data.draw(programs.runs())
    options = {"threads": data.draw(st.sampled_from([1, 3])), "cta_events": True}
    expected = raw(engine.run(workload, gpu, **options))
    workload, sources = at_issue(workload)
    assert raw(engine.run(workload, gpu, **options)) == expected
    assert all(source.closed for source in sources)


def test_blocks_are_executed_when_they_issue(mixed, small):
    gpu = small()
    workload, sources = at_issue(program(mixed()))
    run = engine.run(workload, gpu, threads=3)
    orders = sources[0].orders
    assert run.stopped == "" and run.threads == 3
    assert {sm for _, sm in orders} == set(range(gpu.sm.count))
    assert min(cycle for cycle, _ in orders) >= gpu.launch.overhead
    for s in range(gpu.sm.count):
        cycles = [cycle for cycle, sm in orders if sm == s]
        assert cycles == sorted(cycles)
    latest = 0
    for cycle, _ in orders:
        assert cycle > latest - gpu.interconnect.latency, "SMs differ by less than a window"
        latest = max(latest, cycle)


def test_a_kernel_whose_source_fails_ends_early(mixed, small):
    plain = engine.run(program(mixed("a"), mixed("b")), small())
    workload = program(mixed("a"), mixed("b"))
    first, sources = at_issue(Workload("first", workload.commands[:1]), fails=100)
    run = engine.run(Workload("both", first.commands + workload.commands[1:]), small())
    assert [k.complete for k in run.kernels] == [False, True]
    assert run.stopped == "" and sources[0].closed
    assert 0 < run.kernels[0].warp_instructions < plain.kernels[0].warp_instructions
    assert run.kernels[0].cycles < plain.kernels[0].cycles
    assert run.kernels[1].warp_instructions == plain.kernels[1].warp_instructions


def test_a_warp_that_the_source_holds_back_asks_again(mixed, small):
    plain = engine.run(program(mixed(grid=1, block=32)), small()).kernels[0]
    workload, _ = at_issue(program(mixed(grid=1, block=32)), waits=2)
    held = engine.run(workload, small()).kernels[0]
    assert held.complete and held.cycles > plain.cycles
    for name in ("warp_instructions", "thread_instructions"):
        assert getattr(held, name) == getattr(plain, name)
        assert held.sm[name].sum() == plain.sm[name].sum()


def test_rings_have_room_for_every_access_that_can_wait(mixed, small):
    gpu = small(sm__memory__queue=2)
    assert ring_length(gpu) == 3
    kernel = mixed(grid=(2, 3), block=96).kernel()
    made = list(rings(kernel, Replay(kernel, None), 3))
    assert [c.index for c in made] == [(x, y, 0) for y in range(3) for x in range(2)]
    assert len(made[0].runs) == 3 * STEP_RUNS and len(made[0].pool) == 3 * 3 * 32
    assert made[0].warps["first_address"].tolist() == [0, 3, 6]
    wide = mixed(grid=1, block=192, warp_size=64).kernel()
    assert len(next(rings(wide, Replay(wide, None), 3)).pool) == 3 * 3 * 64


def test_constant_loads_take_no_room_from_accesses_that_wait(small, raw):
    gpu = small(sm__memory__address_interval=32)
    k = KernelBuilder("waiting", grid=1, block=32)
    for n in range(2 * gpu.sm.memory.queue):
        k(f"LDG.E R{2 + n}, [R40]", address=(1 << 32) + 4096 * n)
        k(f"LDC R{64 + n}, c[0x0][R41]", address=64 * n)
    expected = raw(engine.run(k.workload(), gpu))
    workload, _ = at_issue(k.workload())
    assert raw(engine.run(workload, gpu)) == expected
