"""Throughputs on QV100 against what a V100 or a TITAN V reaches; see lockstep.validation.probes."""

import pytest

import lockstep
from lockstep.validation import probes

QV100 = lockstep.gpu("QV100")
QUARTER = lockstep.gpu("QV100", ["sm.count=20", "dram.channels=8"])  # per channel, it is the same


# TITAN V microbenchmark, operations a clock and SM: 126.9 / 2, 126.9 / 2, 249.3 / 4, 63.9 / 2, 16.
@pytest.mark.parametrize(
    ("name", "lanes"),
    [("FFMA", 63.4), ("IADD3", 63.4), ("HFMA2", 62.3), ("DFMA", 32.0), ("MUFU", 16.0)],
)
def test_a_full_sm_computes_as_many_lanes_a_cycle_as_measured(name, lanes):
    assert probes.arithmetic_rate(name).rate(QV100) == pytest.approx(lanes, rel=0.05)


def fraction(probe, gpu=QV100):
    return probe.rate(gpu) / probes.peak(probe, gpu)


# TITAN V microbenchmark: 126.48 and 127.93 of 128 bytes a clock and SM.
@pytest.mark.parametrize(("width", "measured"), [(4, 0.988), (8, 0.999)])
def test_shared_memory_bandwidth(width, measured):
    found = fraction(probes.shared_rate(QV100, width))
    assert found == pytest.approx(measured, rel=0.05)


# TITAN V microbenchmark: 122.76 of 128 bytes a clock and SM for doubles. Other loops around loads
# reach less: 113.9 for 64-bit vectors, the same load instruction, and 116.4 for 128 bits.
def test_l1_bandwidth():
    assert fraction(probes.l1_rate(QV100, 8)) == pytest.approx(122.76 / 128, rel=0.05)


# TITAN V microbenchmark: 99.71 of 128 bytes a clock and SM.
def test_bandwidth_of_loads_from_the_l1_and_from_shared_memory_in_turn():
    assert fraction(probes.l1_shared_rate(QV100)) == pytest.approx(99.71 / 128, rel=0.05)


# TITAN V microbenchmark: 78.35 bytes a clock and SM; its loop costs some of what the loads alone
# reach, which is a sixth of a load a cycle and sub-core.
def test_l1_bandwidth_of_32_bit_loads_is_that_of_address_generation():
    found = fraction(probes.l1_rate(QV100, 4))
    assert found == pytest.approx(4 / 6, rel=0.01)
    assert found == pytest.approx(78.35 / 128, rel=0.1)


# TITAN V microbenchmark: 1365.42 of 1536 bytes a clock.
def test_l2_bandwidth():
    assert fraction(probes.l2_rate(QV100)) == pytest.approx(1365.42 / 1536, rel=0.05)


# RRZE gpu-benches, V100: 13,873 GB/s at 1380 MHz, doubles.
def test_l1_bandwidth_of_a_v100():
    measured = 13873.4 / (80 * 128 * 1.38)
    assert fraction(probes.l1_rate(QV100, 8)) == pytest.approx(measured, rel=0.02)


# RRZE gpu-benches, V100, of 898 GB/s.
@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "gpu", "measured"),
    [
        ("dram_init_rate", QUARTER, 897),
        ("dram_read_rate", QV100, 867),
        ("dram_scale_rate", QUARTER, 809),
        ("dram_triad_rate", QUARTER, 788),
    ],
)
def test_dram_bandwidth(make, gpu, measured):
    found = fraction(getattr(probes, make)(gpu), gpu)
    assert found == pytest.approx(measured / 898, rel=0.05)
    assert found <= 1


# RRZE gpu-benches, A100 80 GB: 1776 of 1935 GB/s. With four clocks between columns of a bank
# group, as in Accel-Sim's SM80_A100, reads reach 79 % of the peak.
def test_dram_read_bandwidth_of_an_a100():
    quarter = lockstep.gpu("A100", ["sm.count=27", "dram.channels=10"])
    found = fraction(probes.dram_read_rate(quarter), quarter)
    assert found == pytest.approx(1776 / 1935, rel=0.08)
