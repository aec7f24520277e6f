"""L1s by streams beside those of the model, which has time."""

import pytest

from caches.test_passes import GATHER
from lockstep import api
from lockstep.caches import CachePoint, Exploration, Sweep
from lockstep.metrics import facts
from small_gpu import small

__all__ = ["small"]

GEMM = GATHER.with_name("gemm.lst")


def counted(gpu, trace) -> tuple[int, int, int]:
    """Sectors that loads read in the model; of these, misses, and those that merged with one."""
    result = api.simulate(trace, gpu)
    (kernel,) = result.run.kernels
    sm = facts.of_kernel(kernel, gpu).sm
    reads, hits, pending = (
        getattr(sm, f"l1_global_read_{what}") for what in ("sectors", "hits", "pending")
    )
    return reads, reads - hits - pending, pending


def own(small, size: int, ways: int, **changes):
    """A GPU with an L1 of its own, LRU, with sets of the low bits of lines."""
    return small(
        l1__carveouts=(),
        l1__bytes=size,
        l1__sets=size // ways // 128,
        l1__hash="linear",
        l1__replacement="lru",
        **changes,
    )


def fast(gpu, size: int, ways: int, trace) -> tuple[int, int]:
    """The same without time: sectors that are read, and misses."""
    exploration = Exploration(gpu, Sweep((CachePoint(size, ways, sectored=True),)))
    exploration.explore(api.load(trace))
    row = exploration.table().iloc[0]
    return row.l1_reads, row.l1_read_misses


@pytest.mark.parametrize(("size", "ways"), [(2048, 4), (4096, 2), (1 << 16, 16)])
def test_misses_are_near_those_of_the_model_and_what_merged_with_them(small, size, ways):
    gpu = own(small, size, ways)
    reads, missed, pending = counted(gpu, GATHER)
    looked, misses = fast(gpu, size, ways, GATHER)
    assert looked == reads
    slack = reads // 500  # warps come in another order
    assert missed - slack <= misses <= missed + pending + slack


def test_first_uses_miss_in_both_if_all_ctas_begin_at_once(small):
    gpu = own(small, 1 << 16, 16, sm__count=8)
    reads, missed, pending = counted(gpu, GEMM)
    assert pending > 0
    assert fast(gpu, 1 << 16, 16, GEMM) == (reads, missed)
    assert missed < reads
