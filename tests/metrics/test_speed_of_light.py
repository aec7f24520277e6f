"""No unit does more than it can, in whole runs and in parts of them."""

import pytest

import lockstep

EXAMPLE = "examples/gather.lst"


def speeds(result):
    """The speed-of-light metrics of all kernels that did anything."""
    found = {n: v for m in result.metrics for n, v in m.items() if n.startswith("sim__sol_")}
    assert len(found) > 8
    return found


@pytest.mark.long
@pytest.mark.parametrize("limit", [None, 400, 1500])
@pytest.mark.parametrize(
    "overrides",
    [
        ["l1.bytes_per_cycle=1"],
        ["l1.bytes_per_cycle=40"],
        ["l2.clock_mhz=1", "interconnect.clock_mhz=1", "dram.clock_mhz=1"],
    ],
)
def test_nothing_is_faster_than_light(repository, overrides, limit):
    gpu = lockstep.gpu("QV100", ["sm.count=4", *overrides])
    result = lockstep.simulate(repository / EXAMPLE, gpu, limit_instructions=limit)
    assert all(not value > 100 for value in speeds(result).values())


def test_nothing_is_faster_than_light_in_a_short_interval(repository):
    gpu = lockstep.gpu("QV100", ["sm.count=4", "launch.overhead=10"])
    series = lockstep.simulate(repository / "examples/gemm.lst", gpu, interval=50).series
    percentages = series[[name for name in series.columns if name.endswith(".pct")]]
    assert len(percentages) > 500
    assert not (percentages > 100 + 1e-9).any(axis=None)


def test_an_l1_that_reads_single_sectors_is_near_its_limit(repository):
    gpu = lockstep.gpu("QV100", ["sm.count=4", "l1.bytes_per_cycle=1"])
    whole = lockstep.gpu("QV100", ["sm.count=4", "l1.bytes_per_cycle=32"])
    narrow, same = (speeds(lockstep.simulate(repository / EXAMPLE, g)) for g in (gpu, whole))
    assert narrow["sim__sol_l1.pct"] == same["sim__sol_l1.pct"] > 1
