"""The initial state, and latencies as a user measures them."""

import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.gpus import library
from lockstep.model import free_list
from lockstep.model.core import build
from lockstep.model.core.tile import STATE_WORDS
from lockstep.workload import MemoryCopy

pytestmark = pytest.mark.plain
A = 0x7F0000000000


@pytest.mark.parametrize("name", library.names())
def test_every_gpu_of_the_library_can_be_built(idle_sms, name):
    gpu = library.replace(
        library.gpu(name), **{"sm.count": 2, "dram.channels": 2, "l2.sides": 1, "modules.count": 1}
    )
    c = idle_sms(gpu)
    assert len(c.sms) == 2 and c.warps.shape == (2, gpu.sm.warps)
    assert not c.l1.tags.lines.any()
    assert build.partition_hit_cycles(gpu) >= 1


@pytest.mark.parametrize(
    ("size", "lanes", "expected"),
    [
        (32, 32, [129, 33 * 32, STATE_WORDS, 32, 128]),
        (64, 32, [257, 33 * 32, 64, 64, 256]),
        (64, 64, [257, 65 * 32, 64, 64, 256]),
    ],
)
def test_what_lanes_fill_is_as_large_as_a_warp(tiny, idle_sms, size, lanes, expected):
    c = idle_sms(tiny(sm__warp_size=size, shared__pass_lanes=lanes))
    words = (c.transactions.shape[1], c.scratch.shape[1], c.bulk_places.shape[2])
    assert [*words, len(c.step_pool), c.spec[0].bulk_lines] == expected
    assert STATE_WORDS < 64


def test_all_records_are_free(tiny, idle_sms):
    gpu = tiny(sm__count=2, sm__memory__outstanding=5)
    c = idle_sms(gpu)
    for s in range(2):
        chain, a = [], int(c.sms[s].free_access)
        while a < 5:
            chain.append(a)
            a = int(free_list.after(c.accesses[s, a].next, a))
        assert chain == list(range(5))
    assert (c.l1.caches.free_entry == 0).all() and (c.l1.entries.next == 0).all()
    assert not np.any(c.warps.active) and not np.any(c.kernels.active)


@pytest.mark.parametrize("name", ["QV100", "RTX2060", "RTX3070", "A100", "H100", "TITANX"])
def test_latencies_are_those_of_the_specification(watch, name):
    """A chain of loads by one warp, as a microbenchmark would do it."""
    gpu = library.replace(
        library.gpu(name),
        **{"sm.count": 1, "launch.overhead": 0, "sm.front_end.l0_bytes": 0, "l2.sides": 1},
        **{"modules.count": 1},
    )
    k = KernelBuilder(
        "chase", grid=1, block=32, shared_bytes=256, architecture=gpu.architectures[0]
    )
    k("LDG.E R2, [R2]", address=A)
    k("LDG.E R2, [R2]", address=A)
    k("LDS R2, [R2]", address=0)
    k("MOV R3, R2")
    seen = watch(k.workload(MemoryCopy(A, 128)), gpu)
    l2, l1, shared = np.diff(seen.of(0)[:4])
    assert l2 == gpu.l2.latency
    assert l1 == (gpu.l1.latency if gpu.l1.cache_global else gpu.l2.latency)
    assert shared == gpu.shared.latency
