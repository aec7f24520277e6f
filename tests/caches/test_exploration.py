"""Rows and columns of what was explored, and that it is the same however the accesses come."""

import numpy as np
import pytest

from lockstep import api, kernels
from lockstep.builder import KernelBuilder, program
from lockstep.caches import CachePoint, Exploration, Sweep, grid, l1_of, l2_of, own
from lockstep.caches.plots import by_size_and_ways, short
from lockstep.caches.points import fitting, left_out
from lockstep.device import Device
from lockstep.errors import WorkloadError
from lockstep.gpus import library

A = 1 << 30


@pytest.fixture(scope="module")
def gpu():
    return library.replace(library.gpu("QV100"), **{"sm.count": 4})


def sweeping(times=2, name="k", lines=40, grid=1):
    """A kernel whose CTAs read the same lines again and again, and write one."""
    k = KernelBuilder(name, grid=grid, block=32)
    for _ in range(times):
        for line in range(lines):
            k("LDG.E R4, [R2]", address=lambda at, line=line: A + 128 * line + 4 * at.lane)
    k("STG.E [R2], R4", address=k.broadcast(A))
    k("RED.E.ADD [R2], R4", address=k.broadcast(A + 128))
    k("EXIT")
    return k


def explored(gpu, workload, *sweeps, **options):
    exploration = Exploration(gpu, *sweeps, **options)
    exploration.explore(workload)
    return exploration


def test_a_cache_that_holds_everything_misses_once(gpu):
    points = tuple(CachePoint(128 * n, n) for n in (39, 40, 64))
    done = explored(gpu, sweeping().workload(), Sweep(points))
    table = done.table().set_index("l1_ways")
    assert done.launches == 1
    assert table["l1_reads"].tolist() == [80] * 3
    assert table["l1_read_misses"].tolist() == [80, 40, 40]
    assert table["l1_miss_rate"].tolist() == [1, 0.5, 0.5]
    assert table["l1_write_misses"].tolist() == [1, 0, 0]  # 39 ways have lost the first line
    assert table["l1_atomics"].tolist() == [1] * 3 and "l1_atomic_misses" not in table


def test_an_l2_gets_what_an_l1_misses(gpu):
    l1 = tuple(CachePoint(128 * n, n, 128, sectored) for n in (39, 40) for sectored in (0, 1))
    l2 = (CachePoint(4096, 32), CachePoint(128 * 64, 64), CachePoint(32 * 1024, 64, 64, True))
    table = explored(gpu, sweeping(grid=6).workload(), Sweep(l1, l2)).table()
    assert len(table) == 12
    names = table.columns.tolist()
    assert [n.partition("_")[0] for n in names] == sorted(n.partition("_")[0] for n in names)
    assert {"l1_miss_rate", "l2_bytes", "l2_miss_rate"} <= set(names)
    whole = table[table["l2_sectored"] == 0]
    lines = np.where(whole["l1_sectored"], whole["l1_read_misses"] / 4, whole["l1_read_misses"])
    np.testing.assert_array_equal(whole["l2_reads"], lines)
    parts = table[table["l2_sectored"] == 1]
    np.testing.assert_array_equal(
        parts["l2_reads"],
        np.where(parts["l1_sectored"], parts["l1_read_misses"], 4 * parts["l1_read_misses"]),
    )
    for kind in ("writes", "atomics"):
        np.testing.assert_array_equal(table[f"l2_{kind}"], 6)
    accesses = table["l2_reads"] + table["l2_writes"] + table["l2_atomics"]
    misses = sum(table[f"l2_{kind}_misses"] for kind in ("read", "write", "atomic"))
    np.testing.assert_array_equal(table["l2_miss_rate"], misses / accesses)
    large = table[table["l2_bytes"] == 128 * 64]
    assert large["l2_read_misses"].tolist() == [40] * 4  # all SMs share it


@pytest.mark.long
def test_many_caches_at_once_are_each_alone(gpu):
    l1 = grid((4096, 8192, 6144), (1, 2, 4, 16), (32, 64, 128))
    l2 = grid((16384, 65536), (4, 8))
    workload = program(sweeping(3, "a", 70, 9), sweeping(2, "b", 30, 5))
    both = explored(gpu, workload, Sweep(l1), Sweep(l1[:3], l2), order="gto")
    alone = [explored(gpu, workload, Sweep((point,)), order="gto").table() for point in l1]
    assert both.table(0).to_dict("records") == [row for t in alone for row in t.to_dict("records")]
    rows = both.table(1).to_dict("records")
    found = [
        explored(gpu, workload, Sweep((a,), (b,)), order="gto").table().to_dict("records")[0]
        for a in l1[:3]
        for b in l2
    ]
    assert rows == found
    assert both.launches == 2


def test_launches_begin_with_an_empty_l1_where_the_gpu_has_it_so(gpu):
    point = Sweep((CachePoint(8192, 64),), (CachePoint(16384, 128),))
    workload = program(sweeping(1, "a"), sweeping(1, "b"))
    for flush, misses in ((True, 80), (False, 41)):  # the atomic has taken a line along
        here = library.replace(gpu, **{"launch.flush_l1": flush})
        (row,) = explored(here, workload, point).table().to_dict("records")
        assert (row["l1_read_misses"], row["l2_read_misses"]) == (misses, 40)
    here = library.replace(gpu, **{"launch.l2": "flush"})
    assert explored(here, workload, point).table()["l2_read_misses"].tolist() == [80]


def test_sums_do_not_depend_on_what_comes_first(gpu):
    """Rates are shares of sums, of all launches."""
    table = explored(gpu, sweeping(2, grid=50).workload(), Sweep(grid((8192,), (1, 2, 4)))).table()
    assert (table["l1_reads"] == 4000).all() and (table["l1_writes"] == 50).all()
    np.testing.assert_array_equal(
        table["l1_miss_rate"], table["l1_read_misses"] / table["l1_reads"]
    )


@pytest.mark.parametrize(("name", "size"), [("lu", 48), ("bfs", 200), ("texture", 24)])
def test_a_trace_has_the_table_of_its_device(name, size, tmp_path, gpu):
    sweep = Sweep(grid((4096, 16384), (1, 4), sectored=True), (l2_of(gpu),))
    told = []
    watcher = Exploration(gpu, sweep, told=lambda *each: told.append(each))
    with Device(gpu) as device, device.record(tmp_path / "t.lst"):
        device.watch(watcher)
        kernels.load(name).run(device, size, 1)
    other = explored(gpu, api.load(tmp_path / "t.lst"), sweep)
    assert watcher.table().equals(other.table())
    assert watcher.launches == other.launches == len(told) and told[-1][0] == len(told)


def test_a_gpu_itself_without_sweeps(gpu):
    table = explored(gpu, sweeping().workload()).table()
    (l1,), (l2,) = own(gpu).l1, own(gpu).l2
    assert table["l1_bytes"].tolist() == [l1.bytes] and table["l2_bytes"].tolist() == [l2.bytes]
    assert l2.bytes == 6 << 20 and l1 == l1_of(gpu) and l1.sectored


def test_nothing_read_is_no_rate(gpu):
    k = KernelBuilder("k", grid=1, block=32)
    k("EXIT")
    done = explored(gpu, k.workload())
    assert np.isnan(done.table()[["l1_miss_rate", "l2_miss_rate"]]).all(axis=None)
    assert done.launches == 1
    assert len(Exploration(gpu).table()) == 1


def test_local_memory_is_each_places_own(gpu):
    """CTAs of an SM have the same local addresses, and none the lines of another."""
    k = KernelBuilder("k", grid=8, block=64)
    with k.loop(2):
        k("LDL R4, [R2]", address=k.broadcast(64))
    k("BAR.SYNC 0x0")
    k("EXIT")
    point = CachePoint(1 << 16, 8)
    (row,) = explored(gpu, k.workload(), Sweep((point,))).table().to_dict("records")
    assert (row["l1_reads"], row["l1_read_misses"]) == (32, 16)


def test_what_cannot_be_explored(gpu):
    large = KernelBuilder("large", grid=1, block=32, shared_bytes=1 << 20)
    large("EXIT")
    with pytest.raises(WorkloadError, match="one CTA needs"):
        explored(gpu, large.workload())
    for point, words in [
        (CachePoint(1000, 4), "no multiple of ways times line"),
        (CachePoint(4096, 0), "1 to 16384 ways"),
        (CachePoint(4096, 4, 256), "lines have 32, 64, 128 bytes"),
        (CachePoint(1 << 40, 1), "at most 4194304 sets"),
        (CachePoint(8192, 4, slices=3), "3 slices do not divide its sets"),
    ]:
        with pytest.raises(WorkloadError, match=words):
            Exploration(gpu, Sweep((point,)))
        with pytest.raises(WorkloadError, match=words):
            fitting([point, point])


def test_those_that_can_be_built_and_those_that_cannot():
    points = [CachePoint(n, 3, 64) for n in (64, 192, 200, 384, 192)]
    assert [p.bytes for p in fitting(points)] == [192, 384]
    assert left_out(points) == (
        "2 of 4: no cache of 64 bytes has 3 ways with lines of 64 bytes: it is no multiple of "
        "ways times line"
    )
    assert left_out(fitting(points)) == ""
    with pytest.raises(WorkloadError, match="no caches to look at"):
        fitting([])


def test_a_l2_of_another_size_keeps_slices_that_divide_it(gpu):
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    assert l2_of(gpu).slices == slices == l2_of(gpu, 3 << 20).slices
    assert l2_of(gpu, 40 * 16 * 128, 16).slices == 1 and l2_of(gpu, 1 << 20, 16).slices == slices
    assert not l2_of(gpu, whole=True).sectored and l2_of(gpu).sectored
    assert l1_of(gpu, 16384, 4, 32) == CachePoint(16384, 4, 32, False, gpu.l1.hash)


def test_what_a_picture_shows(gpu):
    table = explored(
        gpu, sweeping().workload(), Sweep(grid((4096, 8192, 384), (1, 3, 32), (128, 64)))
    ).table()
    parts = by_size_and_ways(table, "l1")
    assert list(parts) == [64, 128]
    rates = parts[128]
    assert rates.index.tolist() == [384, 4096, 8192] and rates.columns.tolist() == [1, 3, 32]
    assert np.isfinite(rates.to_numpy()).tolist() == [[1, 1, 0], [1, 0, 1], [1, 0, 1]]
    for _, row in table[table["l1_line"] == 128].iterrows():
        assert rates.loc[row["l1_bytes"], row["l1_ways"]] == row["l1_miss_rate"]


def test_a_picture(gpu, tmp_path):
    pytest.importorskip("matplotlib")
    from lockstep.caches.plots import heat_map
    from lockstep.report.pictures import write_plot

    table = explored(
        gpu, sweeping().workload(), Sweep(grid((4096, 384), (1, 3), (128, 64)))
    ).table()
    figure = heat_map(table, "l1")
    assert [axes.get_title() for axes in figure.axes] == ["lines of 64 B", "lines of 128 B"]
    write_plot(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_sizes_are_short():
    assert [short(n) for n in (1000, 1024, 24 << 10, 6 << 20, 1536 << 10)] == [
        "1000", "1K", "24K", "6M", "1536K",
    ]  # fmt: skip


@pytest.mark.long
def test_a_launch_of_many_ctas_needs_the_memory_of_few(gpu):
    sizes = []
    for ctas in (1000, 3000):
        done = explored(gpu, sweeping(1, grid=ctas, lines=4).workload(), Sweep(grid((8192,), (4,))))
        sizes.append({name: len(array) for name, array in done._order._arrays.items()})
    assert sizes[0] == sizes[1]
