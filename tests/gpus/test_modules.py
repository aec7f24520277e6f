"""Modules of a GPU: shapes that cannot be are refused in one line."""

import pytest

from lockstep import api
from lockstep.errors import SpecError
from lockstep.gpus import library

REFUSED = [
    ("modules.count=3", "sm.count = 80: expected a multiple of modules.count = 3"),
    ("modules.count=5", "dram.channels = 32: expected a multiple of modules.count = 5"),
    ("modules.count=16 modules.topology=full", "modules.count = 16: expected at most 8"),
    ("modules.hop_latency=0", "modules.hop_latency = 0: expected at least 1"),
    ("modules.hop_latency=0 modules.topology=mesh", "because modules.topology is mesh"),
    ("interconnect.latency=2", "interconnect.latency = 2: expected at least 3"),
    ("l2.sides=2", "l2.sides = 2: expected 1, because modules.count is 4"),
    ("l2.neighbours=3", "l2.neighbours = 3: expected a divisor of the SMs of a module, 20"),
    ("interconnect.buffer=1000", "expected at most 8388608, or its state needs gigabytes"),
    ("modules.pages=first_touch modules.page_bytes=5000", "5000: expected a power of two"),
    (
        "modules.pages=first_touch l2.interleave_bytes=12288",
        "page_bytes = 65536: expected a multiple of l2.interleave_bytes = 12288",
    ),
    (
        "modules.pages=first_touch l2.prefetcher=stream",
        "l2.prefetcher = stream: expected none, because modules.pages is first_touch",
    ),
    (
        "modules.pages=first_touch host.copy=timed host.memory=migrating",
        "host.memory = migrating: expected discrete or coherent",
    ),
    ("modules.topology=star", "modules.topology"),
    ("modules.ctas=random", "modules.ctas"),
]


@pytest.mark.parametrize(("changes", "why"), REFUSED)
def test_shapes_that_cannot_be_are_refused(changes, why):
    with pytest.raises(SpecError) as raised:
        api.gpu("QV100", ["modules.count=4", *changes.split()])
    assert why in str(raised.value)


def test_amd_gpus_have_one_module():
    with pytest.raises(SpecError, match=r"core = cu: expected sm, because modules\.count is 2"):
        api.gpu("HD7970", ["modules.count=2"])


def test_of_one_module_nothing_else_matters():
    changes = ["modules.hop_latency=0", "modules.pages=first_touch", "l2.prefetcher=stream"]
    assert api.gpu("QV100", changes).modules.count == 1


def test_the_mcm_gpu_is_that_of_the_paper():
    gpu = library.gpu("MCM_256")
    assert (gpu.modules.count, gpu.sm.count, gpu.clock_mhz) == (4, 256, 1000)
    assert (gpu.modules.topology, gpu.modules.bandwidth, gpu.modules.hop_latency) == (
        "ring",
        768,
        32,
    )
    slices, l2 = gpu.dram.channels * gpu.l2.slices_per_channel, gpu.l2
    assert slices * l2.sets * l2.ways * l2.line_bytes == 16 << 20
    dram = gpu.dram
    bandwidth = dram.channels * dram.bus_bytes * dram.beats_per_clock * dram.clock_mhz * 1e6
    assert bandwidth == 3.072e12
