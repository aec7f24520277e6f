"""Single-warp latencies on QV100, pinned from both sides; see lockstep.validation.probes.

A probe measures a slope over chain length and contains the named instruction alone: no address
arithmetic, no loop counter, no branch. A parameter of the specification is therefore met exactly.
"""

import pytest

import lockstep
from lockstep.validation import probes

QV100 = lockstep.gpu("QV100")


# TITAN V microbenchmark (GPU_Microbenchmark): 4.13, 4.35, 6.18, 8.08, and 21.15 for a square root.
@pytest.mark.parametrize(
    ("name", "cycles"), [("FFMA", 4), ("IADD3", 4), ("HFMA2", 6), ("DFMA", 8), ("MUFU", 21)]
)
def test_dependent_arithmetic_issues_after_its_latency(name, cycles):
    assert probes.arithmetic_latency(name).cycles_each(QV100) == pytest.approx(cycles)


# Contains: LDS.U R2, [R2]. 19 without conflicts: Jia 2018. Each further pass
# over the banks takes a cycle, as the shared bandwidth of 128 bytes a cycle says.
@pytest.mark.parametrize("ways", [1, 2, 4, 8, 16, 32])
def test_a_dependent_shared_load_waits_one_cycle_for_each_way_of_a_conflict(ways):
    expected = QV100.shared.latency + ways - 1
    assert QV100.shared.latency in (19, 20)
    assert probes.shared_latency(ways).cycles_each(QV100) == pytest.approx(expected)


# Contains: LDG.E.64.SYS R2, [R2] of one thread, which hits in the L1. V100: 27.9 to 28.4.
def test_an_l1_hit():
    assert probes.l1_latency().cycles_each(QV100) == pytest.approx(28)


# Contains: the same load; each meets a line for the first time, which a host copy left in the L2.
# V100: 212.1 by a pointer chase; TITAN V: 213.7 after a host copy.
def test_an_l2_hit():
    assert probes.l2_latency().cycles_each(QV100) == pytest.approx(212, abs=0.5)


# Contains: LDG.E.64.STRONG.GPU R2, [R2] of one thread, a load that goes past the L1.
def test_a_load_past_the_l1_takes_as_long_as_an_l2_hit():
    assert probes.l2_bypass_latency().cycles_each(QV100) == pytest.approx(212, abs=0.5)


# Contains: LDG.E.64.SYS R2, [R2] of one thread to cold lines all over 120 MiB: mostly closed rows,
# some that an earlier load left open at another place, some banks that are being refreshed.
# V100: 425.0 at 16 MiB, 429.9 at 64 MiB.
def test_a_load_from_dram():
    found = probes.dram_latency().cycles_each(QV100)
    assert 425 <= found <= 425 * 1.02


def test_without_refresh_a_closed_row_takes_what_the_specification_says():
    gpu = lockstep.gpu("QV100", ["dram.refresh=false"])
    rows = [
        probes.BUFFER + (1 << 20) * i for i in range(576)
    ]  # each bank is met for the first time
    chase = probes._chase("rows", "LDG.E.64.SYS", rows, 0, (8, 40))
    assert chase.cycles_each(gpu) == pytest.approx(gpu.dram.latency, abs=2)


# Contains: BAR.SYNC 0x0. Eight warps share four schedulers, so the second of each issues a cycle
# later, and the barrier opens for all a cycle later.
@pytest.mark.parametrize(("warps", "later"), [(1, 0), (8, 1)])
def test_a_barrier_opens_after_its_latency(warps, later):
    expected = QV100.sm.barrier_latency + later
    assert probes.barrier_latency(warps).cycles_each(QV100) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameter", "make", "value"),
    [
        ("sm.units.fp32.operations.FP32", "FFMA", 7),
        ("sm.units.sfu.operations.SFU", "MUFU", 30),
    ],
)
def test_a_probe_follows_the_specification(parameter, make, value):
    gpu = lockstep.gpu("QV100", [f"{parameter}={value}"])
    assert probes.arithmetic_latency(make).cycles_each(gpu) == pytest.approx(value)


@pytest.mark.parametrize(("parameter", "value"), [("l1.latency", 40), ("l2.latency", 300)])
def test_a_chase_follows_the_specification(parameter, value):
    gpu = lockstep.gpu("QV100", [f"{parameter}={value}", "dram.latency=600"])
    probe = probes.l1_latency() if parameter == "l1.latency" else probes.l2_latency()
    assert probe.cycles_each(gpu) == pytest.approx(value, abs=0.5)


# RRZE gpu-benches, A100 80 GB and GH200; mgpusim's chase through 512 MiB on an H100 PCIe, whose
# loads go to both sides of the L2.
@pytest.mark.parametrize(
    ("gpu", "make", "measured", "tolerance"),
    [
        ("A100", "l1_latency", 33.1, 0.01),
        ("A100", "l2_latency", 205.6, 0.01),
        ("A100", "dram_latency", 547.1, 0.02),
        ("H100", "l1_latency", 32.1, 0.01),
        ("H100", "dram_latency", 849.98, 0.02),
    ],
)
def test_levels_of_newer_gpus(gpu, make, measured, tolerance):
    found = getattr(probes, make)().cycles_each(lockstep.gpu(gpu))
    assert found == pytest.approx(measured, rel=tolerance)
