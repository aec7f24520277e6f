"""Kernel slots: code, CTAs as they are read, and what is wrong with them."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine import run
from lockstep.engine.kernels import FETCH_SPACING, KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.record import totals
from lockstep.engine.streams import Streams
from lockstep.errors import EndOfKernel, WorkloadError
from lockstep.isa.instruction import OpClass
from lockstep.workload import Code, Workload

A = 0x7F0000000000


@pytest.fixture
def table(small):
    machine = Machine(small(), 1, {})
    machine.close()
    return KernelTable(Streams(machine.sm, machine.dispatcher, machine.own_sms), machine.gpu)


def kernel(name="kernel", grid=3, lines=("FFMA R1, R2, R3, R4",), **sizes):
    k = KernelBuilder(name, grid=grid, block=64, **sizes)
    for text in lines:
        k(text)
    return k.kernel()


def test_a_slot_says_what_its_kernel_needs(table):
    running = table.start(kernel(grid=(2, 3), registers=40, shared_bytes=1000, shared_base=16), 7)
    state = table.streams.sm.kernels[running.slot]
    assert (running.launched, running.ready) == (7, 7 + table.gpu.launch.overhead)
    assert (state.active, state.cluster, state.warps) == (1, 1, 2)
    assert (state.shared_base, state.control, state.register_rows) == (16, 0, 5)
    grid = table.dispatcher.grids[running.slot]
    dealt = 16384 // 12  # so many warps find 1,280 registers in a sub-core
    assert (grid.warps, grid.registers, grid.shared) == (2, 2 * dealt, 1024)
    assert (grid.cluster, grid.ctas, grid.more, grid.queued, grid.executed) == (1, 6, 0, 6, 0)
    assert table.started(running) == -1 and not table.storing(running)


def test_slots_are_taken_and_freed(table):
    first, second = table.start(kernel(), 0), table.start(kernel("other"), 0)
    assert (first.slot, second.slot, table.free_slot()) == (0, 1, 2)
    table.finish(first)
    assert table.free_slot() == 0 and not table.streams.sm.kernels[0].active
    for _ in range(3):
        table.start(kernel(), 0)
    assert table.free_slot() is None


def test_kernels_of_one_name_share_their_code_lines(table):
    slots = [table.start(kernel(name), 0).slot for name in ("a", "b", "a")]
    base = table.streams.sm.kernels["fetch_base"]
    assert [base[s] for s in slots] == [0, FETCH_SPACING, 0]


def test_code_of_kernels_lies_one_after_the_other(table):
    a = table.start(kernel("a", lines=["MOV R1, R2"] * 300), 0)
    b = table.start(kernel("b", lines=["DADD R2, R4, R6"] * 5), 0)
    sm = table.streams.sm
    first, second = (int(sm.kernels[r.slot].code) for r in (a, b))
    assert (sm.code[first : first + 300].op == OpClass.MOVE).all()
    assert (sm.code[second : second + 5].op == OpClass.FP64).all()
    assert sm.code[second + 5].op == OpClass.EXIT


def test_only_so_many_ctas_are_read_ahead(table):
    read = []
    k = kernel(grid=5000)
    made = k.ctas

    def noted():
        for cta in made():
            read.append(cta.index[0])
            yield cta

    running = table.start(replace(k, ctas=noted), 0)
    room = table.dispatcher.pending.shape[1]
    assert len(read) == room
    table.feed(running)
    assert len(read) == room, "the ring is full"
    table.dispatcher.progress[running.slot].taken += 3
    table.feed(running)
    assert read == list(range(room + 3))


def growing(control=False):
    """A kernel whose code becomes known with its CTAs, as a trace reader's does."""
    whole = KernelBuilder("growing", grid=4, block=32)
    bits = {"stall": 2} if control else {}
    for n in range(8):
        with whole.lanes(lambda at, n=n: (at.cta >= n // 2) & (at.lane >= 0)):
            whole("MOV R1, R2", **bits)
    whole("EXIT", **bits)
    k = whole.kernel()
    records, code, made = k.code.instructions.copy(), Code(texts=k.code.texts), k.ctas

    def ctas():
        for cta in made():
            need = max(int((cta.runs["static"] + cta.runs["count"]).max()), len(code))
            if need > len(code):
                code.extend(records[len(code) : need])
            yield cta

    code.extend(records[:2])
    return replace(k, code=code, ctas=ctas), k


@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("interval", [1.0, 200.0])
def test_code_may_grow_while_ctas_are_read(small, control, interval):
    gpu = small(launch__cta_interval=interval)
    part, whole = growing(control)
    results = [run(Workload("w", [k]), gpu).kernels[0] for k in (part, whole)]
    assert results[0].dependence == ("control" if control else "scoreboard")
    assert results[0].warp_instructions == results[1].warp_instructions
    assert (totals(results[0].sm)["issued"] == totals(results[1].sm)["issued"]).all()


def test_unknown_opcodes_are_counted_by_their_text(small):
    k = KernelBuilder("unknown", grid=3, block=64)
    k("MOV R1, R2")
    with k.loop(5):
        k("NOP")
    kernel = k.kernel()
    kernel.code.instructions["op"][1] = OpClass.UNKNOWN
    result = run(Workload("w", [kernel]), small()).kernels[0]
    assert result.unknown == {"NOP": 3 * 2 * 5}


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("FNEW.X", True),  # classed by its family
        ("ZNEW", True),  # which has none
        ("unknown", True),  # bits that the decoder does not know
        ("UIADD3", False),  # of another generation
        ("add.f32", False),  # of PTX
    ],
)
def test_an_opcode_in_no_table_is_counted_whatever_its_class(small, text, counted):
    k = KernelBuilder("unknown", grid=1, block=64, architecture=70)
    k("FADD R1, R2, R3")
    kernel = k.kernel()
    kernel.code.texts[kernel.code.instructions["text"][0]] = text
    result = run(Workload("w", [kernel]), small()).kernels[0]
    assert result.unknown == ({text: 2} if counted else {})


def test_unknown_opcodes_of_more_ctas_than_are_read_at_once(small):
    k = KernelBuilder("unknown", grid=100, block=32)
    k("ZNEW R1, R2")
    gpu = small(launch__cta_interval=1.0)
    for grid in range(1, 140, 3):
        k.grid = (grid, 1, 1)
        assert run(k.workload(), gpu).kernels[0].unknown == {"ZNEW": grid}


def spoiled(change):
    k = kernel(grid=3)
    made = k.ctas
    return Workload("spoiled", [replace(k, ctas=lambda: change(list(made())))])


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda ctas: iter(ctas[:2]), r"kernel 1 \(kernel\): 2 CTAs; its grid has 3"),
        (lambda ctas: iter([*ctas, ctas[0]]), "CTA 0,0,0 appears twice"),
        (
            lambda ctas: iter([msgspec.structs.replace(ctas[0], warps=ctas[0].warps[:1])]),
            "CTA 0,0,0: 1 warps; expected 2",
        ),
    ],
)
def test_what_is_wrong_with_the_ctas_of_a_kernel(small, change, message):
    with pytest.raises(WorkloadError, match=message):
        run(spoiled(change), small())


def test_ctas_may_come_in_any_order(small):
    result = run(spoiled(lambda ctas: reversed(ctas)), small(), cta_events=True)
    assert result.stopped == ""
    assert np.sort(result.cta_events, order="start")["cta"].tolist() == [2, 1, 0]


def test_ctas_of_a_cluster_wait_for_each_other_whatever_the_order_they_are_read_in(table):
    launched = kernel(grid=(4, 2), cluster=(2, 2))
    ctas = list(launched.ctas())
    launched.ctas = lambda: iter(ctas[::-1])
    running = table.start(launched, 0)
    queued = int(table.streams.queued[running.slot])
    order = table.dispatcher.pending[running.slot]["cta"][:queued].tolist()
    assert order == [2, 3, 6, 7, 0, 1, 4, 5]
    assert not running.clusters


def test_a_kernel_that_ends_early_leaves_out_incomplete_clusters(table):
    launched = kernel(grid=4, cluster=2)
    ctas = list(launched.ctas())

    def broken():
        yield from ctas[:3]
        raise EndOfKernel

    launched.ctas = broken
    running = table.start(launched, 0)
    assert running.failed and running.seen == {0, 1}
    assert int(table.streams.queued[running.slot]) == 2


def test_a_queue_has_room_for_all_clusters_that_one_cta_after_another_completes(table):
    """CTAs come column by column: many clusters are open when the first is complete."""
    launched = kernel(grid=(64, 4), cluster=(2, 4))
    ctas = sorted(launched.ctas(), key=lambda cta: (cta.index[1], cta.index[0]))
    launched.ctas = lambda: iter(ctas)
    running = table.start(launched, 0)
    room = table.dispatcher.pending.shape[1]
    taken = []
    while len(taken) < 256:
        waiting = table.streams.waiting(running.slot)
        assert 0 < waiting <= room
        first = len(taken)
        entries = table.dispatcher.pending[running.slot]["cta"]
        taken += [int(entries[n % room]) for n in range(first, first + waiting)]
        table.streams.taken[running.slot] = len(taken)
        table.feed(running)
    assert taken == [64 * y + 2 * c + x for c in range(32) for y in range(4) for x in range(2)]
