import math
import re

import numpy as np
import pytest

from lockstep.engine.attributed import InstructionCounts
from lockstep.gpus import library
from lockstep.isa.instruction import OpClass
from lockstep.metrics import facts, registry
from lockstep.model.core.attribution import ATTRIBUTED, NOT_SELECTED
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS, Stall


@pytest.fixture
def kernel(synthetic):
    """A kernel of 1000 running cycles on the small GPU, whose counters the test fills."""
    run = synthetic.make_run(kernels=1)
    k = run.kernels[0]
    k.launched, k.start, k.end, k.running = 0, 100, 1100, 1000
    k.sm = np.zeros(synthetic.SMS, SM_COUNTERS)
    k.partition = np.zeros(synthetic.CHANNELS, PARTITION_COUNTERS)
    return k


@pytest.fixture
def evaluate(synthetic, kernel):
    gpu = synthetic.small_gpu()
    table = registry.columns(gpu)
    return lambda: registry.evaluate(table, facts.of_kernel(kernel, gpu))


def test_names_are_unique_and_well_formed(synthetic):
    names = [c.name for c in registry.columns(synthetic.small_gpu())]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[a-z0-9]+__[a-z0-9_]+(\.[a-z_]+)*", name), name


def test_entries_have_a_unit_and_a_sentence():
    for metric in registry.REGISTRY:
        assert metric.unit
        assert metric.meaning.endswith("."), metric.name
        assert ("{}" in metric.name) == (metric.each is not None), metric.name


def test_without_counts_nothing_fails_and_nothing_is_infinite(kernel, evaluate):
    kernel.end, kernel.start, kernel.running = kernel.launched, kernel.launched, 0
    values = evaluate()
    assert not any(math.isinf(v) for v in values.values())
    assert math.isnan(values["sim__l1_hit_rate.pct"])
    assert math.isnan(values["sim__ipc"])
    assert math.isnan(values["sim__sol_dram.pct"])
    assert values["sm__inst_executed.sum"] == 0


def test_what_limits_occupancy_is_a_number_for_each_limit(kernel, evaluate):
    kernel.limits = {"CTAs": 16, "warps": 8, "registers": 5}
    values = evaluate()
    limits = [values[f"launch__occupancy_limit_{n}"] for n in ("blocks", "warps", "registers")]
    assert limits == [16, 8, 5]
    assert math.isnan(values["launch__occupancy_limit_shared_mem"]), "it needs none"


def test_throughput_is_the_nearest_limit(kernel, evaluate):
    kernel.sm["shared_wavefronts"] = 700
    kernel.sm["warp_instructions"] = 500
    values = evaluate()
    assert values["sim__memory_throughput.pct"] == values["sim__sol_shared.pct"] == 70
    assert values["sim__compute_throughput.pct"] == values["sim__sol_issue.pct"] == 25


def test_states_of_warps_are_of_an_instruction(kernel, evaluate):
    without = evaluate()
    for name in ("sim__warp_cycles_barrier_per_inst.ratio", "sim__flops_fp32.sum"):
        assert math.isnan(without[name]), name
    counts = np.zeros(2, ATTRIBUTED)
    counts["states"][:, Stall.BARRIER], counts["states"][:, NOT_SELECTED] = [30, 10], [5, 0]
    kernel.source = InstructionCounts([0, 16], ["BAR", "FFMA"], [[], []], counts, [0, 1], [0, 0])
    kernel.warp_instructions = 10
    values = evaluate()
    assert values["sim__warp_cycles_barrier_per_inst.ratio"] == 4
    assert values["sim__warp_cycles_not_selected_per_inst.ratio"] == 0.5
    counts["thread_instructions"] = [0, 64]
    assert evaluate()["sim__flops_fp32.sum"] == 128


def test_instructions_and_ipc(kernel, evaluate):
    kernel.sm["warp_instructions"] = 250  # on each of 4 SMs
    kernel.sm["thread_instructions"] = 250 * 16
    kernel.sm["active_cycles"] = 500
    kernel.sm["issued"][:, OpClass.FP32] = 200
    values = evaluate()
    assert values["gpc__cycles_elapsed.max"] == 1100
    assert values["gpu__time_duration.sum"] == pytest.approx(1100)  # ns at 1 GHz
    assert values["sim__ipc"] == 1.0
    assert values["sm__inst_executed.sum.per_cycle_elapsed"] == pytest.approx(1000 / 1100)
    assert values["sm__inst_executed.avg.per_cycle_active"] == 0.5
    assert values["sim__lanes_used.pct"] == 50.0
    assert values["sim__inst_issued_fp32.sum"] == 800
    assert values["sim__sm_active.pct"] == 50.0


def test_occupancy(kernel, evaluate):
    kernel.sm["active_cycles"] = 500
    kernel.sm["warp_cycles"] = 500 * 4
    values = evaluate()
    assert values["sm__warps_active.avg.pct_of_peak_sustained_active"] == 25.0  # 4 of 16 warps
    assert values["sm__maximum_warps_per_active_cycle_pct"] == 50.0  # 4 CTAs of 2 warps
    assert values["launch__waves_per_multiprocessor"] == 0.5  # 8 CTAs, room for 16


def test_a_warp_may_have_64_threads(synthetic, kernel):
    gpu = library.replace(synthetic.small_gpu(), **{"sm.warp_size": 64})
    kernel.sm["warp_instructions"], kernel.sm["thread_instructions"] = 250, 250 * 16
    kernel.block, kernel.ctas_per_sm = (65, 1, 1), 4
    values = registry.evaluate(registry.columns(gpu), facts.of_kernel(kernel, gpu))
    assert values["sim__lanes_used.pct"] == 25.0
    assert values["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"] == 16.0
    assert values["sm__maximum_warps_per_active_cycle_pct"] == 50.0  # 4 CTAs of 2 warps


def test_scheduler_states_sum_to_a_hundred(kernel, evaluate):
    kernel.sm["stalls"] = np.arange(len(Stall)) + 1
    values = evaluate()
    states = [v for name, v in values.items() if name.startswith("sim__scheduler_")]
    assert len(states) == len(Stall)
    assert sum(states) == pytest.approx(100)
    total = sum(range(1, len(Stall) + 1))
    assert values["sim__scheduler_barrier.pct"] == pytest.approx(100 * (Stall.BARRIER + 1) / total)
    assert values["sim__issue_slots_idle.pct"] == pytest.approx(100 - 100 / total)


def test_l1_hit_rates_by_space_and_direction(kernel, evaluate):
    kernel.sm["requests_global"] = 2
    kernel.sm["transactions"] = 6
    kernel.sm["l1_global_read_sectors"] = 8
    kernel.sm["l1_global_read_hits"] = 2
    kernel.sm["l1_global_read_pending"] = 3
    kernel.sm["l1_global_write_sectors"] = 4
    kernel.sm["l1_local_read_sectors"] = 4
    kernel.sm["l1_local_read_hits"] = 4
    values = evaluate()
    assert values["sim__l1_global_load_hit_rate.pct"] == 25.0
    assert values["sim__l1_global_store_hit_rate.pct"] == 0.0
    assert values["sim__l1_local_load_hit_rate.pct"] == 100.0
    assert math.isnan(values["sim__l1_local_store_hit_rate.pct"])
    assert values["sim__l1_sectors.sum"] == 4 * 16
    assert values["sim__l1_hit_rate.pct"] == 37.5
    assert values["sim__transactions_per_request.ratio"] == 3.0
    assert values["sim__sectors_per_request.ratio"] == 8.0


def test_bulk_copies_are_no_accesses_of_the_l1(kernel, evaluate):
    kernel.sm["bulk_read_sectors"], kernel.sm["bulk_write_sectors"] = 5, 3
    values = evaluate()
    assert values["sim__bulk_load_sectors.sum"] == 5 * values["sim__bulk_store_sectors.sum"] / 3 > 0
    assert values["sim__l1_sectors.sum"] == 0


def test_a_compute_unit_issues_to_each_of_its_units_in_a_cycle(synthetic, kernel):
    gpu = library.replace(library.gpu("HD7770"), **{"sm.count": synthetic.SMS})
    kernel.sm["warp_instructions"][0] = 5 * 1000 * synthetic.SMS
    values = registry.evaluate(registry.columns(gpu), facts.of_kernel(kernel, gpu))
    assert values["sim__sol_issue.pct"] == 100


def test_l2_and_dram(kernel, evaluate):
    kernel.partition["l2_read_sectors"] = 80
    kernel.partition["l2_read_hits"] = 20
    kernel.partition["l2_write_sectors"] = 20
    kernel.partition["l2_write_hits"] = 20
    kernel.partition["dram_read_bytes"] = 11_000  # of 2 channels, in 1.1 µs: 20 GB/s
    kernel.partition["dram_row_hits"] = 3
    kernel.partition["dram_row_conflicts"] = 1
    kernel.partition["dram_bus_busy"] = 10
    kernel.partition["dram_clocks"] = 100
    values = evaluate()
    assert values["sim__l2_read_hit_rate.pct"] == 25.0
    assert values["sim__l2_hit_rate.pct"] == 40.0
    assert values["dram__bytes.sum.per_second"] == pytest.approx(20e9)
    assert values["dram__bytes.sum.pct_of_peak_sustained_elapsed"] == pytest.approx(31.25)
    assert values["sim__sol_dram.pct"] == pytest.approx(34.375)  # launch overhead left out
    assert values["sim__dram_row_hit_rate.pct"] == 75.0
    assert values["sim__dram_bus_busy.pct"] == 10.0
    assert values["dram__sectors_read.sum"] == 22_000 // 32


def test_speed_of_light_of_the_units(kernel, evaluate):
    kernel.sm["warp_instructions"] = 500
    kernel.sm["memory_instructions"] = 250
    kernel.sm["requests_global"] = 50
    kernel.sm["shared_wavefronts"] = 400
    kernel.sm["l1_global_read_sectors"] = 1000
    kernel.sm["noc_request_flits"] = 100
    kernel.sm["noc_reply_flits"] = 250
    kernel.partition["l2_busy"] = 200
    kernel.sm["issued"][:, OpClass.SFU] = 50
    values = evaluate()
    assert values["sim__sol_issue.pct"] == 25.0  # 500 of 2 schedulers x 1000 cycles
    assert values["sim__sol_lsu.pct"] == 55.0  # 4 or 6 cycles each on 2 sub-cores
    assert values["sim__sol_shared.pct"] == 40.0
    assert values["sim__sol_l1.pct"] == 25.0  # 32 of 128 bytes a cycle
    assert values["sim__sol_crossbar.pct"] == 50.0  # 1000 flits, 4 ports x 500 clocks
    assert values["sim__sol_l2.pct"] == 20.0  # 400 of 4 slices x 500 clocks
    assert values["sim__sol_unit_sfu.pct"] == 40.0  # 8 cycles each on 4 lanes


def test_ports_that_have_more_to_do_than_time_are_busy_all_the_time(kernel, evaluate):
    kernel.partition["l2_busy"] = 2000 + 1
    kernel.sm["noc_request_flits"] = 2000 + 1
    kernel.partition["dram_read_bytes"] = 1 << 40
    kernel.partition["dram_bus_busy"], kernel.partition["dram_clocks"] = 1001, 1000
    kernel.sm["shared_wavefronts"] = kernel.sm["memory_instructions"] = 1000 + 1
    kernel.sm["l1_global_read_sectors"] = 4000 + 1
    kernel.sm["issued"][:, OpClass.SFU] = 125 + 1
    values = evaluate()
    ports = ("l2", "crossbar", "dram", "shared", "lsu", "l1", "unit_sfu")
    assert {values[f"sim__sol_{name}.pct"] for name in ports} == {100.0}
    assert values["sim__dram_bus_busy.pct"] == 100.0
    assert values["dram__bytes.sum.pct_of_peak_sustained_elapsed"] == 100.0


def test_units_execute_what_falls_back_on_them(kernel, evaluate):
    # No unit names INT32 or UNKNOWN: they run as FP32, in 2 cycles each on 2 x 1000.
    kernel.sm["issued"][:, OpClass.FP32] = 100
    kernel.sm["issued"][:, OpClass.INT32] = 200
    kernel.sm["issued"][:, OpClass.UNKNOWN] = 300
    kernel.sm["issued"][:, OpClass.BRANCH] = 400  # needs no unit
    values = evaluate()
    assert values["sim__sol_unit_fp32.pct"] == 60.0
    assert values["sim__sol_unit_sfu.pct"] == 0.0


def test_what_belongs_to_a_kernel_is_left_out_of_totals(synthetic):
    run, gpu = synthetic.make_run(), synthetic.small_gpu()
    values = registry.evaluate(registry.columns(gpu), facts.of_run(run, gpu))
    assert "sim__ipc" in values
    assert "launch__registers_per_thread" not in values


@pytest.mark.parametrize(("level", "side"), [("l1", "sm"), ("l2", "partition")])
def test_prefetches(kernel, evaluate, level, side):
    values = evaluate()
    assert math.isnan(values[f"sim__{level}_prefetch_accuracy.pct"])
    counters = getattr(kernel, side)
    fates = {"es": 100, "_useful": 40, "_late": 10, "_useless": 30, "_redundant": 7, "_dropped": 9}
    for name, n in fates.items():
        counters[f"{level}_prefetch{name}"][:2] = n
    values = evaluate()
    for name, n in fates.items():
        assert values[f"sim__{level}_prefetch{name}.sum"] == 2 * n
    assert values[f"sim__{level}_prefetch_accuracy.pct"] == 50.0
