"""The host's calls, its streams and copies in time, on a small GPU."""

from dataclasses import replace

import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine import Session, run
from lockstep.engine.host.costs import Costs
from lockstep.errors import LockstepError, WorkloadError
from lockstep.host_calls import (
    Direction,
    HostCall,
    MemoryCopy,
    OpenStream,
    RecordEvent,
    Synchronize,
    WaitEvent,
)
from lockstep.metrics.host import parts
from lockstep.workload import Workload

BUFFER, PAGE = 0x7F0000000000, 4096
CALLS = {"register": 1, "allocate": 20, "free": 30, "copy": 400, "launch": 500, "query": 6}


@pytest.fixture(scope="module")
def timed(small):
    """Function from overrides of the host to a small GPU whose host takes time."""
    costs = {f"host__call_ns__{kind}": ns for kind, ns in CALLS.items()}
    costs |= {"host__call_ns__synchronize": 70, "host__copy": "timed", "host__outstanding": 1}

    def make(**changes):
        return small(**costs | {f"host__{name}": value for name, value in changes.items()})

    return make


@pytest.fixture(scope="module")
def kernel():
    """Function that makes a kernel; all of them do the same."""
    k = KernelBuilder("k", grid=16, block=96)
    with k.loop(20):
        k("LDG.E R4, [R2]", address=k.coalesced(BUFFER, step=1 << 14))
        k("FFMA R8, R4, R5, R8")
    k("EXIT")
    made = k.workload().kernels[0]
    return lambda number=1, stream=0: replace(made, id=number, stream=stream)


def simulated(gpu, *commands, **options):
    return run(Workload("w", commands), gpu, **options)


def page_time(gpu, size=PAGE):
    costs = Costs(gpu)
    return 2 * costs.latency + costs.on_link(size) + costs.in_l2(size)


@pytest.mark.parametrize("direction", [Direction.TO_DEVICE, Direction.TO_HOST])
def test_an_idle_copy_takes_a_round_trip_a_page_to_the_cycle(timed, direction):
    gpu = timed()
    copy = MemoryCopy(BUFFER, 5 * PAGE, direction)
    whole = simulated(gpu, copy)
    time = CALLS["copy"] * 1000 + 5 * page_time(gpu)
    cycles = Costs(gpu).clock.cycle(time)
    assert (whole.cycles, whole.host.end) == (cycles, time)
    early = simulated(gpu, copy, limit_cycles=cycles - 3 * gpu.interconnect.latency)
    assert early.stopped and not early.host.copies
    assert not simulated(gpu, copy, limit_cycles=cycles + 1).stopped


def test_a_kernel_behind_a_copy_begins_in_the_cycle_after_it(timed, kernel):
    gpu = timed()
    costs = Costs(gpu)
    whole = simulated(gpu, MemoryCopy(BUFFER, 3 * PAGE), kernel())
    launched = (CALLS["copy"] + CALLS["launch"]) * 1000 + 3 * page_time(gpu) + costs.latency
    assert whole.kernels[0].launched == costs.clock.cycle(launched)
    back = simulated(gpu, kernel(), MemoryCopy(BUFFER, PAGE, Direction.TO_HOST))
    assert back.host.copies[0].start == costs.clock.time(back.kernels[0].end)


def test_pages_bring_their_lines_to_the_l2(timed, small, kernel):
    at_once = simulated(small(), MemoryCopy(BUFFER, 1 << 20), kernel())
    in_time = simulated(timed(), MemoryCopy(BUFFER, 1 << 20), kernel())
    assert at_once.partition["copy_sectors"].sum() == in_time.partition["copy_sectors"].sum()
    misses = [int(r.partition["l2_fills"].sum()) for r in (at_once, in_time)]
    assert misses[0] == misses[1]
    read = simulated(timed(), MemoryCopy(BUFFER, 1 << 20, Direction.TO_HOST), kernel())
    assert read.partition["copy_sectors"].sum() == 0


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("threads", [1, 2])
def test_copies_and_kernels_of_two_streams_overlap(timed, kernel, raw, threads, ranks):
    gpu = timed(outstanding=8)
    commands = (
        MemoryCopy(BUFFER, 64 * PAGE, stream=1, blocking=False),
        kernel(1, stream=2),
        kernel(2, stream=1),
        MemoryCopy(BUFFER, 4 * PAGE, Direction.TO_HOST, stream=2, blocking=False),
        Synchronize(),
    )
    whole = simulated(gpu, *commands, threads=threads, ranks=ranks)
    clock = Costs(gpu).clock
    copy = next(c for c in whole.host.copies if c.direction is Direction.TO_DEVICE)
    other, behind = whole.kernels
    assert copy.start < clock.time(other.start) and clock.time(other.end) < copy.end
    assert behind.launched == clock.cycle(copy.end)
    expected = simulated(gpu, *commands)
    assert raw(whole) == raw(expected) and whole.host == expected.host


def test_streams_wait_for_the_default_one_and_it_for_them(timed, kernel):
    def ends(*streams, opened=()):
        commands = [OpenStream(stream) for stream in opened]
        commands += [kernel(n, stream) for n, stream in enumerate(streams, 1)]
        found = {k.id: k for k in simulated(timed(), *commands).kernels}
        return [found[n] for n in sorted(found)]

    first, second, third = ends(1, 0, 2)
    assert second.launched >= first.end and third.launched >= second.end
    first, second = ends(1, 2)
    assert second.launched < first.end
    first, second, third = ends(1, 0, 2, opened=(1, 2))
    assert second.launched < first.end and third.launched < second.end
    first, second = ends(1, 1)
    assert second.launched >= first.end


def test_a_stream_waits_for_an_event_of_another(timed, kernel):
    gpu = timed()
    whole = simulated(
        gpu, kernel(1, stream=1), RecordEvent(7, 1), WaitEvent(7, 2), kernel(2, stream=2)
    )
    first, second = sorted(whole.kernels, key=lambda k: k.id)
    assert second.launched >= first.end
    assert whole.host.events == {7: Costs(gpu).clock.time(first.end)}
    with pytest.raises(WorkloadError, match="event 3 was not recorded"):
        simulated(gpu, WaitEvent(3, 2))


def test_the_host_waits_where_it_must(timed, kernel):
    gpu = timed()
    whole = simulated(
        gpu,
        HostCall("allocate", "cudaMalloc", picoseconds=5),
        kernel(stream=1),
        HostCall("query"),
        Synchronize(1),
        MemoryCopy(BUFFER, PAGE, stream=1, blocking=False),
        HostCall("free"),
    )
    calls, costs = whole.host.calls, Costs(gpu)
    assert [c.kind for c in calls] == ["allocate", "launch", "query", "synchronize", "copy", "free"]
    assert [c.busy - c.start for c in calls] == [20005, 500000, 6000, 70000, 400000, 30000]
    assert calls[3].end == costs.clock.time(whole.kernels[0].end) + costs.latency
    assert [c.start for c in calls] == [0, *(c.end for c in calls[:-1])]
    assert [c.end == c.busy for c in calls] == [True, True, True, False, True, True]
    assert whole.host.copies[0].end > calls[-1].start


def test_parts_of_the_time_are_all_of_it(timed, kernel):
    """One thing after the other: each part is known, and their sum is the time of the run."""
    gpu = timed()
    whole = simulated(
        gpu,
        HostCall("allocate"),
        MemoryCopy(BUFFER, 4 * PAGE),
        kernel(),
        MemoryCopy(BUFFER, 2 * PAGE, Direction.TO_HOST),
    )
    clock, one = Costs(gpu).clock, whole.kernels[0]
    found = parts(whole, gpu)
    assert sum(found.values()) == whole.host.end
    assert found["copies to the device"] == 4 * page_time(gpu)
    assert found["kernels"] == clock.time(one.end) - clock.time(one.start)
    assert found["copies to the host"] == 2 * page_time(gpu)
    hidden = 1000 * CALLS["copy"]  # of the time that the launch is on the link
    assert 0 <= found["nothing"] - (Costs(gpu).latency - hidden) < 1000, "less than a cycle"
    assert whole.cycles == clock.cycle(whole.host.end)


def test_coherent_memory_is_accessed_line_by_line(timed):
    gpu = timed(memory="coherent")
    whole = simulated(gpu, MemoryCopy(BUFFER, 10 * 128, blocking=False))
    line = page_time(gpu, 128)
    assert whole.host.copies[0].pages == 10
    assert whole.host.calls[0].end == CALLS["copy"] * 1000 + 10 * line
    assert whole.partition["copy_sectors"].sum() == 40


def test_a_fill_and_a_copy_on_the_device_take_the_memory(timed):
    gpu = timed()
    fill = MemoryCopy(BUFFER, 1 << 20, Direction.FILL)
    copy = MemoryCopy(BUFFER, 1 << 20, Direction.ON_DEVICE)
    first, second = simulated(gpu, fill, copy).host.copies
    assert first.end - first.start == Costs(gpu).in_dram(1 << 20) > 0
    assert second.end - second.start == Costs(gpu).in_dram(2 << 20)


@pytest.mark.parametrize("ranks", [1, 2])
def test_data_move_in_the_order_of_the_streams(timed, kernel, ranks):
    done = []

    def copy(name, **options):
        return MemoryCopy(BUFFER, PAGE, perform=lambda: done.append(name), **options)

    simulated(
        timed(),
        copy("last", stream=1, blocking=False),
        kernel(1, stream=2),
        copy("behind the kernel", stream=2, blocking=False),
        copy("nothing", stream=3, blocking=False, direction=Direction.TO_HOST),
        ranks=ranks,
    )
    assert sorted(done) == ["behind the kernel", "last", "nothing"]
    assert done.index("last") < done.index("behind the kernel")


def test_a_session_goes_on_where_the_host_is(timed, kernel):
    gpu = timed()
    session = Session(gpu)
    session.run([MemoryCopy(BUFFER, PAGE)])
    session.run([kernel()])
    session.run([])
    session.close()
    result = session.result()
    assert (
        result.kernels[0].launched
        == simulated(gpu, MemoryCopy(BUFFER, PAGE), kernel()).kernels[0].launched
    )
    assert len(result.host.calls) == 2


def test_no_checkpoint_of_a_host_that_takes_time(timed, kernel):
    session = Session(timed())
    with pytest.raises(LockstepError, match=r"set host\.copy=instant"):
        session.run([kernel()], keep=object())
    session.close()
