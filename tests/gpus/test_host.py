"""The host beside a GPU: the preset of the SST-GPU report, and kinds of calls."""

from typing import get_args

import pytest

from lockstep.errors import SpecError
from lockstep.gpus import library
from lockstep.gpus.host import CallCosts
from lockstep.host_calls import CallKind


def test_every_kind_of_call_has_a_cost():
    assert CallCosts.__struct_fields__ == get_args(CallKind)


def test_only_the_preset_of_the_report_has_a_host_that_takes_time():
    timed = [name for name in library.names() if library.gpu(name).host.copy == "timed"]
    assert timed == ["SST_VOLTA"]


def test_the_preset_is_listing_1_of_the_report():
    gpu = library.gpu("SST_VOLTA")
    assert (gpu.sm.count, gpu.clock_mhz) == (80, 1200)
    assert gpu.dram.channels * gpu.l2.slices_per_channel == 32
    assert gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes == 192 << 10
    assert (gpu.host.link_latency, gpu.host.link_bandwidth, gpu.host.page_bytes) == (
        23840,
        16,
        4096,
    )
    assert gpu.host.outstanding == 1
    assert gpu.interconnect.latency == round(750e-12 * 1200e6)
    assert gpu.dram.bus_bytes * gpu.dram.beats_per_clock * gpu.dram.clock_mhz == 32000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"host.copy": "timed", "coherence.protocol": "nmoesi"},
            "expected coherence.protocol = none",
        ),
        ({"host.copy": "timed", "host.memory": "migrating"}, "expected core = sm"),
    ],
)
def test_what_compute_units_cannot_have(changes, message):
    with pytest.raises(SpecError, match=message):
        library.replace(library.gpu("CANDEL"), **changes)
