"""What is counted from streams is what was counted while the program was executed."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep import kernels
from lockstep.device import Device
from lockstep.errors import LockstepError
from lockstep.execution.streams.accesses import _rows, requests_of
from lockstep.model.core import tile
from lockstep.sampling import Profiler, TraceProfiler
from lockstep.sampling.features import PROFILE
from lockstep.sampling.table import MEMORY
from lockstep.workload import Workload
from lockstep.workload.bulk_copies import TILE_WORDS

L2 = 1 << 16
SIZES = {"saxpy": 3000, "transpose_naive": 40, "histogram_global": 2000, "bfs": 200, "lu": 48}
SIZES |= {"string_search": 500, "merge_sort": 512, "texture": 24, "hash_table": 100}
PREDICATED = ("smsp__thread_inst_executed.sum", "smsp__thread_inst_executed_per_inst_executed")


@pytest.fixture(scope="module", params=SIZES)
def both(request, tmp_path_factory):
    """Tables of a program and of its trace."""
    path = tmp_path_factory.mktemp("trace") / "t.lst"
    with Device("QV100", profile=True) as device, device.record(path):
        profiler = Profiler(device, 3, l2_bytes=L2)
        kernels.load(request.param).run(device, SIZES[request.param], 1)
    reader = TraceProfiler(lockstep.load(path), 3, l2_bytes=L2)
    reader.read()
    return profiler.table(), reader.table()


def test_the_counters_are_those_of_the_run(both):
    run, trace = both
    assert len(run) == len(trace)
    for name in PROFILE:
        if not name.startswith(PREDICATED):
            np.testing.assert_array_equal(run.column(name), trace.column(name), name)


def test_the_sectors_are_those_of_the_run(both):
    run, trace = both
    assert run.level == trace.level == 3
    for name in MEMORY:
        np.testing.assert_array_equal(run.column(name), trace.column(name), name)
    total = run.column("sectors_read") + run.column("sectors_written")
    assert (run.column("new_sectors") <= total).all() and run.column("new_sectors")[0] > 0


def test_what_a_launch_leaves_in_the_l2_is_not_new():
    with Device("QV100", profile=True) as device:
        profiler = Profiler(device, 3)
        module, x, y = _axpy(device)
        for _ in range(2):
            module["axpy"][8, 128](1000, 2.0, x, y)
        module["axpy"][8, 128](992, 2.0, x.pointer + 32, y)
    frame = profiler.table().frame
    assert frame["sectors_read"].tolist() == [250, 250, 248]
    assert frame["sectors_written"].tolist() == [125, 125, 124]
    assert frame["new_sectors"].tolist() == [250, 0, 0]


def _axpy(device):
    module = device.load_ptx(Path(__file__).with_name("kernels.ptx"))
    return module, device.zeros(1000), device.zeros(1000)


def test_a_trace_has_no_blocks():
    workload = Workload("w", [])
    with pytest.raises(LockstepError, match="level 2; expected one of 0, 1, 3"):
        TraceProfiler(workload, 2)


def test_each_request_has_its_sectors():
    with Device("QV100", profile=True) as device:
        seen = []

        class Reader:
            reads = True

            def launched(self, launch):
                pass

            def read(self, kernel, cta):
                seen.append(requests_of(kernel, [cta, cta]))

            def ended(self, launch):
                pass

        device.watch(Reader())
        kernels.load("transpose_naive").run(device, 40, 1)
    for found in seen:
        here = found.memory == 0
        assert (np.diff(found.owner) >= 0).all()
        np.testing.assert_array_equal(
            np.bincount(found.owner, minlength=len(here))[here], found.sectors[here]
        )
        half = len(found.static) // 2
        np.testing.assert_array_equal(found.sectors[:half], found.sectors[half:])


@pytest.mark.parametrize("seed", range(40))
def test_the_rows_of_a_tile_are_those_of_the_model(seed):
    rng = np.random.default_rng(seed)
    words = np.zeros(TILE_WORDS, np.int64)
    counts = rng.integers(1, 5, 4)
    words[:5] = 4096, rng.choice([0, 16, 48, 64]) if seed else 0, counts.prod(), 2, 1 << 20
    for k in range(4):
        low, step = rng.integers(-2, 3), rng.integers(1, 3)
        high = low + step * (counts[k] - 1)
        first = low + step * rng.integers(counts[k])
        words[5 + 6 * k : 11 + 6 * k] = first, low, high, step, rng.integers(0, 6), 64 << 2 * k
    low, high = _rows(words)
    found = {s for a, b in zip(low.tolist(), high.tolist()) for s in range(a, b + 1)}
    assert found == _walked(words)


def _walked(words):
    """The sectors that the model goes through."""
    place = np.zeros(tile.STATE_WORDS, np.int64)
    place[: len(words)] = words
    sectors, more = set(), tile.begin(place)
    while more:
        at, size = tile.address(place), place[tile.BYTES]
        sectors |= set(range(at >> 5, ((at + size - 1) >> 5) + 1))
        tile.step(place)
        more = tile.seek(place)
    return sectors
