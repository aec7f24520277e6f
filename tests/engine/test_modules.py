"""GPUs of several modules: whole runs."""

import itertools

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.engine import Session, run
from lockstep.errors import WorkloadError
from lockstep.gpus import library
from lockstep.workload import Workload

A = 0x7F0000000000
CUTS = [(1, 1), (1, 2), (1, 4), (2, 1), (4, 1), (3, 2)]  # ranks and threads of each
PAGE = 1 << 16


@pytest.fixture(scope="module")
def gpu(small):
    """Function from overrides to a GPU of eight SMs on four modules."""
    base = {"sm__count": 8, "dram__channels": 4, "modules__count": 4, "launch__l2": "flush"}
    return lambda **changes: small(**base | changes)


@pytest.mark.long
@pytest.mark.parametrize("topology", ["ring", "mesh", "full"])
@pytest.mark.parametrize(
    ("ctas", "pages"),
    list(itertools.product(["round_robin", "contiguous"], ["interleaved", "first_touch"])),
)
def test_threads_and_ranks_change_nothing(gpu, mixed, raw, topology, ctas, pages):
    made = gpu(
        modules__topology=topology, modules__ctas=ctas, modules__pages=pages,
        modules__bandwidth=60.0, modules__hop_latency=9,
    )  # fmt: skip
    work = program(mixed("a", grid=18, stream=1), mixed("b", grid=9, stream=2), mixed("c", grid=9))
    results = [raw(run(work, made, ranks=r, threads=t, cta_events=True)) for r, t in CUTS]
    assert all(result == results[0] for result in results[1:])
    assert results[0]["stopped"] == ""


def load():
    """One load of one sector by the first CTA."""
    k = KernelBuilder("load", grid=1, block=32)
    k("LDG.E R4, [R2]", address=k.broadcast(A))
    k("IADD R5, R4, R4")
    k("EXIT")
    return k.workload()


@pytest.mark.long
@pytest.mark.parametrize(
    ("topology", "modules", "hops"),
    [
        ("ring", 4, [0, 1, 2, 1]),
        ("ring", 8, [0, 1, 2, 3, 4, 3, 2, 1]),
        ("mesh", 4, [0, 1, 1, 2]),
        ("mesh", 8, [0, 1, 2, 3, 1, 2, 3, 4]),
        ("full", 4, [0, 1, 1, 1]),
    ],
)
@pytest.mark.parametrize("hop", [1, 25, 70])
def test_a_load_is_longer_by_its_hops_there_and_back(small, topology, modules, hops, hop):
    def cycles(home, count):
        made = small(
            sm__count=8, dram__channels=8, modules__count=count, modules__topology=topology,
            modules__hop_latency=hop, modules__bandwidth=0.0, l2__slices_per_channel=1,
            clock_mhz=1000.0, interconnect__clock_mhz=1000.0, l2__clock_mhz=1000.0,
            dram__clock_mhz=1000.0,
        )  # fmt: skip
        per_module = 8 // modules
        owner = {"slice_hash": _always(home * per_module)}
        return run(load(), made, policies=owner).cycles

    near = cycles(0, 1)
    found = [cycles(home, modules) for home in range(modules)]
    assert found == [near + 2 * hop * n for n in hops]


def _always(number):
    """A slice hash that has everything in one slice."""
    namespace = {}
    source = f"def hash_{number}(line_address, slices):\n    return {number}\n"
    exec(source, namespace)
    return namespace[f"hash_{number}"]


def test_a_stream_from_another_module_is_as_fast_as_the_link(gpu):
    def run_of(loads):
        made = gpu(
            modules__count=2, modules__bandwidth=20.0, modules__header_bytes=16, clock_mhz=1000.0
        )
        k = KernelBuilder("stream", grid=4, block=1024)  # on the SMs of the first module
        for n in range(loads):
            k("LDG.E R4, [R2]", address=k.coalesced(A + (n << 20)))
        k("EXIT")
        return run(k.workload(), made, policies={"slice_hash": far})

    few, many = run_of(60), run_of(120)
    carried = [int(each.modules["bytes"][1, 0]) for each in (few, many)]
    lines = 4 * 32 * 60  # CTAs, warps, loads
    assert carried[1] - carried[0] >= lines * 128, "sectors, and headers"
    rate = (carried[1] - carried[0]) / (many.cycles - few.cycles)
    assert rate == pytest.approx(20.0, rel=0.01)


def far(line_address, slices):
    """Everything is on the second of two modules, over its slices."""
    return slices // 2 + (line_address >> 8) % (slices // 2)


def test_modules_without_limit_and_distance_are_one_chip(small, mixed):
    # With credits for all: those that are short come back as windows end, of which there are more.
    def cycles(count):
        changes = {
            "sm__count": 8, "dram__channels": 4, "modules__count": count, "launch__l2": "flush",
            "modules__topology": "full", "modules__hop_latency": 0, "modules__bandwidth": 0.0,
            "interconnect__buffer": 256, "interconnect__reply_buffer": 256,
        }  # fmt: skip
        return run(mixed(grid=64).workload(), small(**changes)).cycles

    assert cycles(4) == pytest.approx(cycles(1), rel=0.01)


def test_contiguous_parts_of_a_grid_run_on_their_modules(gpu):
    k = KernelBuilder("parts", grid=(37, 3), block=64)
    for _ in range(20):
        k("FFMA R4, R4, R4, R4")
    k("EXIT")
    done = run(k.workload(), gpu(modules__ctas="contiguous"), cta_events=True).cta_events
    n = 37 * 3
    assert sorted(done["cta"].tolist()) == list(range(n))
    for event in done:
        assert event["sm"] // 2 == event["cta"] * 4 // n
    for module in range(4):  # each module in the order of its part
        mine = np.sort(done[done["cta"] * 4 // n == module], order=["start", "cta"])
        assert mine["cta"].tolist() == sorted(mine["cta"].tolist())


def test_one_slow_part_does_not_hold_up_the_others(gpu):
    k = KernelBuilder("uneven", grid=400, block=1024)
    with k.lanes(lambda at: at.cta < 100), k.loop(40):
        k("FFMA R4, R4, R4, R4")
    k("EXIT")
    done = run(k.workload(), gpu(modules__ctas="contiguous"), cta_events=True).cta_events
    slow, fast = done[done["cta"] < 100], done[done["cta"] >= 100]
    assert fast["end"].max() < slow["end"].max() / 2


def test_grids_that_cannot_be_parted_are_refused(gpu):
    k = KernelBuilder("k", grid=8, block=32, cluster=4, architecture=90)
    k("EXIT")
    with pytest.raises(WorkloadError, match=r"clusters of \(4, 1, 1\) CTAs: modules\.ctas of"):
        run(k.workload(), gpu(modules__ctas="contiguous"))


def homes_of(workload, made):
    """Homes of pages by number, and which SM ran which CTA."""
    session = Session(made, threads=1, cta_events=True)
    session.run(workload.commands)
    homes = session.ranks.simulations[0].machine.memory.slices.pages.homes
    events = session.result().cta_events
    session.close()
    return homes, {int(e["cta"]): int(e["sm"]) for e in events}


@pytest.mark.parametrize("ctas", ["round_robin", "contiguous"])
def test_pages_of_one_cta_are_at_home_where_it_runs(gpu, ctas):
    k = KernelBuilder("own", grid=24, block=32)
    k("LDG.E R4, [R2]", address=_own_page)
    k("STG.E [R2], R4", address=_own_page)
    k("EXIT")
    made = gpu(modules__pages="first_touch", modules__ctas=ctas)
    homes, where = homes_of(k.workload(), made)
    mask = len(homes) - 1
    found = {cta: int(homes[(A // PAGE + cta) & mask]) - 1 for cta in where}
    assert found == {cta: sm // 2 for cta, sm in where.items()}
    assert np.count_nonzero(homes) == 24


def _own_page(at):
    """Each CTA has a page."""
    return A + at.cta * PAGE + 4 * at.lane


def test_a_page_that_all_share_is_at_home_where_it_is_touched_first(gpu):
    k = KernelBuilder("late", grid=8, block=32)
    with k.lanes(lambda at: at.cta != 5):  # all but one wait
        for _ in range(60):
            k("FFMA R4, R4, R4, R4")
    k("LDG.E R4, [R2]", address=k.broadcast(A))
    k("EXIT")
    homes, where = homes_of(k.workload(), gpu(modules__pages="first_touch"))
    assert homes[(A // PAGE) & (len(homes) - 1)] - 1 == where[5] // 2


def test_requests_for_pages_of_the_own_module_cross_no_link(gpu):
    k = KernelBuilder("own", grid=24, block=32)
    k("LDG.E R4, [R2]", address=_own_page)
    k("EXIT")
    done = run(k.workload(), gpu(modules__pages="first_touch"))
    assert not done.modules["bytes"].any() and done.sm["noc_requests"].sum() > 0
    across = run(k.workload(), gpu())
    assert across.modules["requests"].sum() > 0


def test_a_run_of_one_module_counts_nothing(small, mixed):
    done = run(mixed().workload(), small())
    assert len(done.modules) == 1 and not done.modules.view(np.int64).any()
    assert library.gpu("QV100").modules.count == 1


def test_a_home_outlives_the_kernel_that_touched_it(gpu):
    def touch(name, at):
        k = KernelBuilder(name, grid=1, block=32)
        k("LDG.E R4, [R2]", address=k.broadcast(at))
        k("EXIT")
        return k

    two = program(touch("first", A), touch("second", A))
    made = gpu(modules__pages="first_touch")
    homes, _ = homes_of(Workload("w", list(two.commands)), made)
    assert np.count_nonzero(homes) == 1


@pytest.mark.long
@pytest.mark.parametrize(("ranks", "threads"), CUTS)
def test_samples_of_links_add_up_to_what_they_carried(gpu, mixed, ranks, threads):
    made = gpu(modules__bandwidth=60.0)
    work = program(mixed("a", grid=40), mixed("b"))
    found = run(work, made, ranks=ranks, threads=threads, interval=200)
    assert len(found.module_samples) == len(found.samples) > 3
    assert np.array_equal(found.module_samples[-1], found.modules)
    carried = found.module_samples["bytes"].sum(axis=(1, 2))
    assert carried[0] < carried[-1] and (np.diff(carried) >= 0).all()
    once = run(work, made, interval=200)
    assert np.array_equal(once.module_samples, found.module_samples)


def test_one_chip_has_no_samples_of_links(small, mixed):
    assert run(program(mixed("a")), small(), interval=200).module_samples.size == 0
