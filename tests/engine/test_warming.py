"""What a warmed kernel leaves behind is what a simulated one leaves, and nothing else moves."""

import numpy as np
import pytest

import lockstep
from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, run
from lockstep.errors import EndOfKernel, WorkloadError
from lockstep.model.cache.tags import NO_LINE
from lockstep.workload import MemoryCopy, Workload
from lockstep.workload.warm import L2_RUN, LAUNCHED, Warming, WarmSet

A = 0x7F0000000000
CUTS = [(1, 1), (1, 3), (2, 1), (4, 1)]  # ranks, and threads of each


def after(gpu, *commands):
    """The arrays of the machine after some commands, by name."""
    session = Session(gpu)
    try:
        session.run(list(commands))
        arrays = session.ranks.simulations[0].machine.arrays()
        return {name: array.view(np.ndarray).copy() for name, array in arrays.items()}
    finally:
        session.close()


def kernels(*made):
    """Kernels that builders make, with their ids."""
    return program(*made).kernels


def lines(arrays, cache):
    """The lines of each row of a cache, whatever way they are in."""
    return [sorted(row[row != 0] ^ NO_LINE) for row in arrays[f"{cache}.lines"]]


def sectors(arrays):
    """What the L2 knows of each line that it holds: valid, dirty and partial sectors."""
    held = arrays["memory.l2.tags.held"].reshape(arrays["memory.l2.tags.lines"].shape)
    known = held[["valid", "dirty", "partial"]]
    rows = arrays["memory.l2.tags.lines"]
    return {
        (row, int(rows[row, way]) ^ NO_LINE): known[row, way].tolist()
        for row, way in zip(*np.nonzero(rows))
    }


def in_order(arrays):
    """The lines of each row of the L2, the one that goes first in front."""
    rows = zip(arrays["memory.l2.tags.lines"], arrays["memory.l2.tags.keys"])
    return [[int(line) ^ NO_LINE for line in row[np.argsort(keys)] if line] for row, keys in rows]


@pytest.mark.parametrize("protocol", ["write_validate", "write_fetch"])
def test_caches_hold_what_a_simulation_leaves_in_them(small, mixed, protocol):
    gpu = small(l2__protocol=protocol)
    one, two = kernels(mixed(), mixed("other", grid=6))
    copy = MemoryCopy(A, 1 << 16)
    simulated, warmed = after(gpu, copy, one, two), after(gpu, copy, Warming(one), Warming(two))
    assert sectors(simulated) == sectors(warmed)
    assert any(dirty for _, dirty, _ in sectors(warmed).values())
    for cache in ("sm.l1i", "sm.constants"):
        assert lines(simulated, cache) == lines(warmed, cache)
    assert sum(map(len, lines(warmed, "sm.l1i"))) > 0


def one_by_one(accesses, different):
    """A warp reads and writes random lines; each access waits for the one before."""
    k = KernelBuilder("one_by_one", grid=1, block=32)
    draw = np.random.default_rng(7)
    for line in draw.integers(0, different, accesses).tolist():
        where = k.broadcast(A + 128 * line)
        k("STG.E [R2], R2" if draw.random() < 0.3 else "LDG.E.STRONG.SYS R2, [R2]", address=where)
        k("MEMBAR.SC.GPU")
    k("EXIT")
    return k


@pytest.mark.parametrize("replacement", ["lru", "fifo"])
def test_lines_go_in_the_order_in_which_they_would(small, replacement):
    gpu = small(l2__sets=4, l2__ways=4, l2__replacement=replacement, dram__channels=1, sm__count=1)
    (kernel,) = kernels(one_by_one(accesses=200, different=64))
    simulated, warmed = after(gpu, kernel), after(gpu, Warming(kernel))
    assert sectors(simulated) == sectors(warmed)
    assert len(sectors(simulated)) < 40, "lines have had to go"
    assert in_order(simulated) == in_order(warmed)


def test_instructions_are_in_the_caches_of_the_sms_that_ctas_ran_on(small, mixed):
    gpu = small(sm__count=4)
    three, two = kernels(mixed("three", grid=3), mixed("two", grid=2))
    simulated, warmed = after(gpu, three, two), after(gpu, Warming(three), Warming(two))
    assert lines(simulated, "sm.l1i") == lines(warmed, "sm.l1i")
    for arrays in (simulated, warmed):
        assert arrays["dispatcher.state"]["next_place"] == 1, "5 CTAs on 4 SMs"
    sets = len(warmed["sm.l1i.lines"]) // 4
    held = [sum(map(len, lines(warmed, "sm.l1i")[s * sets : (s + 1) * sets])) for s in range(4)]
    assert held[0] > held[1] == held[2] == held[3] > 0, "SM 0 has run both"


def test_nothing_runs_on_and_nothing_is_counted(small, mixed):
    gpu = small()
    (kernel,) = kernels(mixed(grid=100))
    arrays = after(gpu, Warming(kernel))
    for path in ("sm.counters", "memory.counters"):
        assert not arrays[path].view(np.int64).any()
    for path, field in (("sm.ctas", "active"), ("sm.warps", "active"), ("sm.kernels", "active")):
        assert not arrays[path][field].any()
    for field in ("ctas", "warps", "registers", "shared"):
        assert not arrays["dispatcher.slots"][field].any()
    for cache in ("l1i", "l0i", "constants", "operand_constants"):
        ways = arrays[f"sm.{cache}.lines"].shape[1]
        assert (arrays[f"sm.{cache}.keys"] >> 21).max(initial=0) <= ways + 2, "used by cycle 0"
    assert not arrays["links.requests.ports"]["count"].any()


def test_clusters_are_warmed_and_their_places_are_free(small):
    k = KernelBuilder("k", grid=24, block=64, cluster=4, architecture=90, shared_base=1 << 40)
    k("LDG.E R4, [R2]", address=k.coalesced(A))
    k("UCGABAR_ARV")
    k("UCGABAR_WAIT")
    k("STG.E [R2], R4", address=k.coalesced(A + (1 << 20)))
    k("EXIT")
    gpu = small(sm__ctas=2)
    (kernel,) = kernels(k)
    simulated, warmed = after(gpu, kernel), after(gpu, Warming(kernel))
    assert sectors(simulated) == sectors(warmed)
    assert not warmed["dispatcher.clusters"]["ctas"].any()


@pytest.mark.long
@pytest.mark.parametrize("flush", [True, False])
def test_ranks_and_threads_change_nothing(small, mixed, raw, flush):
    gpu = small(sm__count=5, dram__channels=3, launch__flush_l1=flush, l1__replacement="random")
    made = kernels(mixed("a", grid=40), mixed("b", grid=60), mixed("c", grid=9), mixed("d"))
    workload = Workload("w", [MemoryCopy(A, 1 << 16), *made])
    warm = {made[1].id, made[2].id}
    found = [raw(run(workload, gpu, ranks=r, threads=t, warm=warm)) for r, t in CUTS]
    assert all(each == found[0] for each in found)
    assert [k[0] for k in found[0]["kernels"]] == [made[0].id, made[3].id]


def reads(name):
    """Eight CTAs that read 256 KiB, a piece after the other."""
    k = KernelBuilder(name, grid=8, block=64)
    for piece in range(64):
        k("LDG.E R4, [R2]", address=k.coalesced(A + (piece << 12)))
        k("FADD R5, R4, R5")
    k("EXIT")
    return k


def test_kernels_of_a_workload_are_warmed_by_their_ids(small):
    workload = program(reads("a"), reads("b"), reads("c"))
    first, second, third = (k.id for k in workload.kernels)
    gpu = small()
    full = lockstep.simulate(workload, gpu).kernels.cycles.tolist()
    warm = lockstep.simulate(workload, gpu, warm=[first, second]).kernels
    cold = lockstep.simulate(workload, gpu, kernels=[third]).kernels
    assert warm.id.tolist() == cold.id.tolist() == [third]
    assert abs(warm.cycles[0] / full[2] - 1) < 0.01 < cold.cycles[0] / full[2] - 1.2
    left_out = lockstep.simulate(workload, gpu, kernels=[third], warm=[second])
    assert left_out.kernels.id.tolist() == [third]


def test_what_cannot_be_warmed_is_refused(small, mixed):
    workload = program(mixed("a"), mixed("b"))
    with pytest.raises(WorkloadError, match="no kernel 9 in"):
        lockstep.simulate(workload, small(), warm=[9])
    with pytest.raises(WorkloadError, match="cannot be simulated and warmed: choose one"):
        lockstep.simulate(workload, small(), kernels=[1], warm=[1])


def test_a_kernel_that_its_front_end_ends_leaves_what_it_did(small, mixed):
    gpu = small()
    (kernel,) = kernels(mixed(grid=24))
    read = kernel.ctas

    def some():
        for number, cta in enumerate(read()):
            if number == 5:
                raise EndOfKernel
            yield cta

    kernel.ctas = some
    warmed = after(gpu, Warming(kernel))
    assert sectors(after(gpu, kernel)) == sectors(warmed)
    assert not warmed["sm.kernels"]["active"].any()


def content_of(arrays):
    """What an L2 holds, in an order that keeps that of each row."""
    keys, rows = arrays["memory.l2.tags.keys"], arrays["memory.l2.tags.lines"]
    held = arrays["memory.l2.tags.held"].reshape(rows.shape)
    places = sorted((keys[at], at) for at in zip(*np.nonzero(rows)))
    runs = [
        (int(rows[at]) ^ NO_LINE, 1, int(held[at]["valid"]), int(held[at]["dirty"]))
        for _, at in places
    ]
    return np.array(runs, L2_RUN)


def launched(*launches):
    return np.array(list(launches), LAUNCHED)


def test_a_warm_set_is_all_that_the_l2_holds(small, mixed):
    gpu = small()
    one, two = kernels(mixed(), mixed("other", grid=6))
    simulated = after(gpu, MemoryCopy(A, 1 << 16), one)
    warm = WarmSet(content_of(simulated), launched((0, 1)))
    assert len(warm.runs) > 500
    for before in ([], [Warming(two), MemoryCopy(1 << 33, 1 << 20)]):
        held = after(gpu, *before, warm)
        assert sectors(held) == sectors(simulated)
    assert in_order(held) == in_order(simulated)


@pytest.mark.parametrize("gpcs", [(), (1, 2)])
def test_sms_have_the_code_of_launches_that_were_placed_on_them(small, mixed, gpcs):
    """The last kernel is warmed behind others, then behind a warm set that says what they were."""
    gpu = small(sm__count=4, sm__gpcs=gpcs)
    five, three, other, again = kernels(
        mixed("same", grid=5), mixed("other", grid=3), mixed("more", grid=2), mixed("same", grid=1)
    )
    nothing = np.zeros(0, L2_RUN)
    launches = launched((3, 5), (4, 3), (9, 2), (3, 1))
    ran = after(gpu, Warming(five), Warming(three), Warming(other), Warming(again))
    told = after(gpu, WarmSet(nothing, launches), Warming(again))
    assert told["dispatcher.state"]["next_place"] == ran["dispatcher.state"]["next_place"]
    last = again.code.instructions["pc"].max() // gpu.sm.front_end.line_bytes
    mine, theirs = (
        [[line for line in row if 0 <= line <= last] for row in lines(arrays, "sm.l1i")]
        for arrays in (told, ran)
    )
    assert mine == theirs and sum(map(len, mine)) == 4 * (last + 1), "five CTAs are on all SMs"
    if gpcs:
        return
    two = after(gpu, WarmSet(nothing, launched((3, 2), (4, 3), (3, 1))), Warming(again))
    held = [line for row in lines(two, "sm.l1i") for line in row if 0 <= line <= last]
    assert len(held) == 2 * (last + 1), "two CTAs, and a third on the SM of one"
    assert two["dispatcher.state"]["next_place"] == (2 + 3 + 1) % 4


def test_a_kernel_that_did_not_run_before_finds_no_code(small, mixed):
    gpu = small(sm__count=2)
    (kernel,) = kernels(mixed(grid=1))
    nothing = np.zeros(0, L2_RUN)
    cold, first = (
        lockstep.simulate(Workload("cold", [kernel]), gpu),
        WarmSet(nothing, launched((0, 1))),
    )
    for before in ([], [first, kernel]):
        commands = [*before, first, kernel]
        last = lockstep.simulate(Workload("p", commands, points="{}"), gpu).run.kernels[-1]
        assert last.sm["l0i_misses"].sum() == cold.run.kernels[0].sm["l0i_misses"].sum() > 0
    again = [WarmSet(nothing, launched((0, 2), (0, 1))), kernel]
    warm = lockstep.simulate(Workload("p", again, points="{}"), gpu).run.kernels[0]
    assert warm.sm["l0i_misses"].sum() < last.sm["l0i_misses"].sum()


@pytest.mark.parametrize(("ranks", "threads"), CUTS)
def test_warm_sets_are_the_same_on_any_threads_and_ranks(small, mixed, ranks, threads):
    gpu = small()
    one, two = kernels(mixed(), mixed("other", grid=6))
    runs = content_of(after(gpu, two))
    warm = [WarmSet(runs, launched((0, 3), (1, 6), (0, 2))), WarmSet(runs, launched((1, 6)))]
    workload = Workload("points", [warm[0], one, warm[1], two], points="{}")
    result = lockstep.simulate(workload, gpu, threads=threads, ranks=ranks)
    assert result.hash == lockstep.simulate(workload, gpu).hash
    plain = lockstep.simulate(Workload("plain", [one, two]), gpu)
    assert plain.hash != result.hash


def test_a_warm_set_that_is_not_alone_adds_to_what_is_there(small, mixed):
    gpu = small()
    (one,) = kernels(mixed())
    before = after(gpu, MemoryCopy(A, 1 << 16), one)
    first = max(line for _, line in sectors(before)) + 1000
    runs = np.array([(first, 3, 15, 0), (first + 3, 1, 1, 3)], L2_RUN)
    warm = WarmSet(runs, launched((0, 1), (1, 4)), there=1, alone=False)
    arrays = after(gpu, MemoryCopy(A, 1 << 16), one, warm)
    held, known = sectors(arrays), sectors(before)
    added = {line: masks for (_, line), masks in held.items() if line >= first}
    assert [added[first + k] for k in range(4)] == [(15, 0, 0)] * 3 + [(1, 3, 2)]
    assert {place: masks for place, masks in held.items() if place[1] < first} == known
    assert lines(arrays, "sm.l1i") == lines(before, "sm.l1i")


def test_what_is_whole_in_the_l2_stays_whole_when_a_part_is_written(small):
    gpu = small()
    line = A // 128
    parts = np.array([(line, 1, 0, 15), (line + 4, 1, 0, 15)], L2_RUN)
    warm = WarmSet(parts, launched((0, 1)), alone=False)
    held = {
        line: masks for (_, line), masks in sectors(after(gpu, MemoryCopy(A, 128), warm)).items()
    }
    assert held == {line: (15, 15, 0), line + 4: (0, 15, 15)}


def test_sms_are_counted_from_those_of_the_last_simulated_launch(small, mixed):
    gpu = small(sm__count=4)
    three, again = kernels(mixed("three", grid=3), mixed("again", grid=1))
    nothing = np.zeros(0, L2_RUN)
    launches = launched((0, 3), (1, 2), (2, 1))
    warm = WarmSet(nothing, launches, there=1, alone=False)
    arrays = after(gpu, three, warm, Warming(again))
    assert arrays["dispatcher.state"]["next_place"] == (3 + 2 + 1) % 4


def test_constants_of_a_warm_set_are_in_the_caches_of_all_sms(small, mixed):
    gpu = small(sm__count=3)
    (kernel,) = kernels(mixed(grid=1))
    nothing, address = np.zeros(0, L2_RUN), 1 << 34
    warm = [
        WarmSet(nothing, launched((0, 1)), constants=np.array(held, np.int64))
        for held in ([], [address, address + 32])
    ]
    cold, told = (after(gpu, each, Warming(kernel)) for each in warm)
    line = address // gpu.constant.line_bytes
    rows = [row for row in lines(told, "sm.constants") if line in row]
    assert len(rows) == 3 and not any(line in row for row in lines(cold, "sm.constants"))
