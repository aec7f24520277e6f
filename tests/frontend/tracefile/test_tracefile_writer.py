"""Writing: all or nothing, chunk by chunk, and only what obeys the rules of a workload."""

import resource

import numpy as np
import pytest

from lockstep.errors import InputError, WorkloadError
from lockstep.frontend import tracefile
from lockstep.frontend.tracefile import build, columns
from lockstep.isa.instruction import blank
from lockstep.workload import ADDRESS, RUN, WARP, Code, Cta, Kernel, Workload


def workload(*ctas, code=None):
    """One kernel of blocks of two warps."""
    if code is None:
        records = blank(4)
        records["width"] = [0, 4, 8, 0]
        code = Code(records, ["X"])
    kernel = Kernel(7, "k", (8, 2, 1), (64, 1, 1), 8, 0, code, lambda: iter(ctas))
    return Workload("w", [kernel])


def cta(index=(0, 0, 0)):
    """Two warps of one run with two address records each, the second one a list."""
    warps = np.array([(0, 1, 0, 2, 4, 12), (1, 1, 2, 2, 4, 12)], WARP)
    runs = np.array([(0, 4, 7)] * 2, RUN)
    addresses = np.array([(100, 4, -1), (5, 0, 0), (200, 4, -1), (6, 0, 3)], ADDRESS)
    return Cta(index, warps, runs, addresses, np.array([5, 9, 1, 6, 0, 2]))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, WorkloadError, ZeroDivisionError])
def test_an_interrupted_write_leaves_what_was_there(stop, tmp_path):
    path = tmp_path / "t.lst"
    path.write_text("before")
    broken = workload()

    def ctas():
        yield cta()
        raise stop

    broken.kernels[0].ctas = ctas
    with pytest.raises(stop):
        tracefile.write(broken, path)
    assert [p.name for p in tmp_path.iterdir()] == ["t.lst"]
    assert path.read_text() == "before"


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/t\.lst: cannot write: "):
        tracefile.write(workload(), tmp_path / "file" / "t.lst")


def test_nothing_but_commands_is_a_workload_too(tmp_path):
    tracefile.write(Workload("", []), tmp_path / "t.lst")
    assert tracefile.load(tmp_path / "t.lst").commands == []
    tracefile.write(workload(), tmp_path / "t.lst")
    (kernel,) = tracefile.load(tmp_path / "t.lst").kernels
    assert list(kernel.ctas()) == []


def wrong_warps():
    made = cta()
    made.warps = made.warps[:1]
    return made


def wrong(table, place, name, value):
    def make():
        made = cta()
        getattr(made, table)[name][place] = value
        return made

    return make


def wrong_pool():
    made = cta()
    made.pool = made.pool[:5]
    return made


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cta((8, 0, 0)), "outside the grid"),
        (lambda: cta((0, 0, -1)), "outside the grid"),
        (wrong_warps, "1 warps; the block has 2"),
        (wrong("warps", 1, "first_run", 2), "run records outside"),
        (wrong("warps", 1, "runs", -1), "run records outside"),
        (wrong("warps", 0, "first_address", -1), "address records outside"),
        (wrong("warps", 0, "addresses", 1 << 62), "address records outside"),
        (wrong("warps", 1, "addresses", 1), "states 1 addresses; its runs make 2"),
        (wrong("warps", 1, "warp_instructions", 5), "states 5 warp_instructions"),
        (wrong("warps", 0, "thread_instructions", 0), "states 0 thread_instructions"),
        (wrong("runs", 0, "count", 5), "the code has 4"),
        (wrong("addresses", 1, "pool", 4), "address list outside its pool"),
        (wrong("addresses", 1, "first", 4), "not beginning at its first address"),
        (wrong_pool, "address list outside its pool"),
    ],
)
def test_what_breaks_the_rules_is_refused(make, message, tmp_path):
    with pytest.raises(WorkloadError, match=rf"kernel 7, CTA \(.*{message}"):
        tracefile.write(workload(cta((1, 0, 0)), make()), tmp_path / "t.lst")
    assert not list(tmp_path.iterdir())


def test_chunks_are_closed_when_they_are_full(monkeypatch, tmp_path):
    path = tmp_path / "t.lst"
    ctas = [cta((x, y, 0)) for y in range(2) for x in range(8)]
    for name, value, expected in (("TARGET", 1, 16), ("MOST_CTAS", 3, 6), ("TARGET", 1000, 2)):
        with monkeypatch.context() as patch:
            patch.setattr(build, name, value)
            tracefile.write(workload(*ctas), path)
        (kernel,) = tracefile.load(path).kernels
        assert len(kernel.ctas._chunks) == expected
        assert [c.index for c in kernel.ctas()] == [c.index for c in ctas]


def test_lists_that_share_their_pool_may_become_too_large(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "bounded", lambda count, dtype: columns.bounded(count << 25, dtype))
    with pytest.raises(WorkloadError, match=r"a CTA is too large: .* expected at most"):
        tracefile.write(workload(cta()), tmp_path / "t.lst")


def test_memory_does_not_grow_with_the_trace(tmp_path):
    records = np.zeros(1 << 15, ADDRESS)
    records["pool"] = -1
    records["first"] = np.arange(len(records)) * 128
    code = Code(blank(1), ["X"])
    code.instructions["width"] = 4
    runs = np.full(len(records), np.array((0, 1, 1), RUN))
    n = len(records)
    warps = np.array([(0, n, 0, n, n, n), (0, 0, 0, 0, 0, 0)], WARP)
    ctas = [
        Cta((x, y, 0), warps, runs, records, records["first"][:0]) for y in (0, 1) for x in range(8)
    ]

    def peak(times):
        big = workload(code=code)
        big.kernels[0].ctas = lambda: (c for _ in range(times) for c in ctas)
        tracefile.write(big, tmp_path / "t.lst")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    few = peak(2)
    assert peak(10) - few < 30 << 10  # KiB; the streams themselves grow by 64 MiB
