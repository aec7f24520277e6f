"""Import of gpgpusim.config and trace.config, on configurations in their documented syntax."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import InputError
from lockstep.frontend.accelsim.config import load, read
from lockstep.gpus import library

VOLTA = """\
# an imaginary Volta
-gpgpu_ptx_sim_mode 0          # has no effect here
-gpgpu_compute_capability_major 7
-gpgpu_compute_capability_minor 0
-gpgpu_kernel_launch_latency 4000
-gpgpu_TB_launch_latency 0
-gpgpu_n_clusters 20
-gpgpu_n_cores_per_cluster 2
-gpgpu_n_mem 24
-gpgpu_n_sub_partition_per_mchannel 3
-gpgpu_clock_domains 1000.0:900:800.5:500
-gpgpu_shader_registers 32768
-gpgpu_shader_core_pipeline 1024:32
-gpgpu_shader_cta 16
-gpgpu_num_sp_units 4 -gpgpu_num_sfu_units 4
-gpgpu_num_dp_units 4
-gpgpu_num_int_units 4
-gpgpu_num_tensor_core_units 4
-gpgpu_sub_core_model 1
-gpgpu_num_sched_per_core 4
-gpgpu_scheduler lrr
-gpgpu_max_insn_issue_per_warp 1
-gpgpu_operand_collector_num_units_gen 8
-gpgpu_num_reg_banks 16
-gpgpu_coalesce_arch 70
-gpgpu_adaptive_cache_config 1
-gpgpu_shmem_option 0,8,64
-gpgpu_unified_l1d_size 96
-gpgpu_l1_banks 2
-gpgpu_cache:dl1  S:4:128:64,L:T:m:L:P,A:256:6,12:0,32
-gpgpu_l1_latency 20
-gpgpu_gmem_skip_L1D 1
-gpgpu_flush_l1_cache 1
-gpgpu_flush_l2_cache 1
-gpgpu_shmem_size 65536
-gpgpu_smem_latency 22
-gpgpu_cache:dl2 S:48:128:12,F:B:m:W:X,A:100:5,32:0,64
-gpgpu_dram_partition_queues 40:41:42:43
-gpgpu_memory_partition_indexing 1
-gpgpu_cache:il1 N:32:128:4,L:R:f:N:L,S:2:48,4
-gpgpu_const_cache:l1 N:16:64:8,L:R:f:N:L,S:2:64,4
-icnt_flit_size 72
-icnt_in_buffer_limit 512
-gpgpu_l2_rop_latency 160
-dram_latency 100
-gpgpu_dram_scheduler 0
-gpgpu_frfcfs_dram_sched_queue_size 48
-gpgpu_n_mem_per_ctrlr 2
-gpgpu_dram_buswidth 8
-gpgpu_dram_burst_length 2
-dram_data_command_freq_ratio 2
-gpgpu_mem_addr_mapping dramid@9;00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCSSSSSS
-gpgpu_dram_timing_opt "nbk=8:CCD=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:
                        CL=13:WL=2:CDLR=3:WR=10:nbkgrp=2:CCDL=2:RTPL=3"
-dram_dual_bus_interface 1
-dram_bnk_indexing_policy 1
-dram_seperate_write_queue_enable 1
-dram_write_queue_size 64:48:16
-gpgpu_scheduler gto
"""

TRACE = """\
-trace_opcode_latency_initiation_int 2,2
-trace_opcode_latency_initiation_sp 3,2
-trace_opcode_latency_initiation_dp 8,4
-trace_opcode_latency_initiation_sfu 20,8
-trace_opcode_latency_initiation_tensor 2,2
#<enabled>,<num_units>,<max_latency>,<ID_OC_SPEC>,<OC_EX_SPEC>,<NAME>
-specialized_unit_1 1,4,4,4,4,BRA
-trace_opcode_latency_initiation_spec_op_1 4,4
-specialized_unit_2 1,4,200,4,4,TEX
-trace_opcode_latency_initiation_spec_op_2 200,4
-specialized_unit_3 1,4,8,4,4,TENSOR
-trace_opcode_latency_initiation_spec_op_3 8,4
-specialized_unit_4 0,4,4,4,4,UDP
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="MY_VOLTA/gpgpusim.config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def volta(write):
    return read(write(VOLTA), write(TRACE, "trace.config"))


def test_the_chip(volta):
    gpu, warnings, _ = volta
    assert warnings == ()
    assert (gpu.name, gpu.architectures, gpu.validated) == ("MY_VOLTA", (70,), ())
    launch = gpu.launch
    assert (launch.overhead, launch.flush_l1, launch.l2) == (4000, True, "flush")
    assert (gpu.sm.count, gpu.sm.warps, gpu.sm.ctas, gpu.sm.registers) == (40, 32, 16, 32768)
    clocks = (gpu.clock_mhz, gpu.interconnect.clock_mhz, gpu.l2.clock_mhz, gpu.dram.clock_mhz)
    assert clocks == (1000.0, 900.0, 800.5, 500.0)
    assert gpu.sm.scheduler.policy == "gto"  # the last one wins
    assert gpu.sm.scheduler.dependence == "scoreboard"
    operands = gpu.sm.operands
    assert (operands.style, operands.banks, operands.collectors) == ("collectors", 4, 2)


def test_l1_and_shared_memory(volta):
    gpu, *_ = volta
    l1 = gpu.l1
    assert (l1.bytes, l1.carveouts, gpu.shared.bytes) == (98304, (0, 8192, 65536), 65536)
    assert (l1.sets, l1.line_bytes, l1.sector_bytes, l1.hash) == (4, 128, 32, "ipoly")
    assert (l1.mshr_entries, l1.mshr_merges, l1.miss_queue) == (256, 6, 12)
    assert (l1.protocol, l1.allocate, l1.cache_global) == ("write_through", "miss", False)
    assert (l1.banks, l1.bytes_per_cycle) == (2, 64)


def test_l2_and_crossbar(volta):
    gpu, *_ = volta
    l2 = gpu.l2
    assert (l2.slices_per_channel, l2.sets, l2.ways) == (3, 48, 12)
    assert (l2.replacement, l2.set_hash, l2.slice_hash) == ("fifo", "xor", "xor")
    assert (l2.protocol, l2.queue, l2.bytes_per_cycle) == ("write_fetch", 40, 64)
    assert (l2.mshr_entries, l2.mshr_merges, l2.interleave_bytes) == (100, 5, 512)
    assert (gpu.interconnect.flit_bytes, gpu.interconnect.buffer) == (64, 21)


def test_dram(volta):
    dram = volta[0].dram
    assert (dram.standard, dram.channels, dram.bus_bytes, dram.scheduler) == (
        "HBM2",
        24,
        16,
        "fcfs",
    )
    assert (dram.banks, dram.bank_groups, dram.row_bytes, dram.bank_hash) == (8, 2, 2048, "xor")
    assert dram.timing == {
        "nCCD": 1, "nRRD": 3, "nRCD": 12, "nRAS": 28, "nRP": 12, "nRC": 40, "nCL": 13,
        "nCWL": 2, "nCDLR": 3, "nWR": 10, "nCCDL": 2, "nRTPL": 3,
    }  # fmt: skip
    assert (dram.read_queue, dram.write_queue, dram.dual_command_bus) == (48, 64, True)
    assert (dram.drain_high, dram.drain_low, dram.refresh) == (0.75, 0.25, False)


def test_latencies_are_those_of_a_dependent_probe(volta):
    gpu, *_ = volta
    assert gpu.l1.latency == 20 + 4
    assert gpu.shared.latency == 22 + 5
    assert gpu.l2.latency == 160 + 20 + 16
    assert gpu.dram.latency == gpu.l2.latency + 100 + (12 + 13 + 1) * 1000 // 500
    latencies = {op: n for unit in gpu.sm.units for op, n in unit.operations.items()}
    assert (latencies["FP32"], latencies["INT32"], latencies["FP64"]) == (8, 7, 13)
    assert (latencies["SFU"], latencies["HMMA"], latencies["TEXTURE"]) == (25, 13, 205)
    assert latencies["BRANCH"] == 4


def test_units_are_divided_among_the_sub_cores(volta):
    units = {unit.name: unit for unit in volta[0].sm.units}
    assert set(units) == {"sp", "int", "dp", "sfu", "bra", "tex", "tensor"}
    assert all((unit.count, unit.scope) == (1, "subcore") for unit in units.values())
    assert units["sp"].intervals == {"FP32": 2, "FP16": 1}
    assert "SHUFFLE" in units["int"].operations
    assert units["tensor"].intervals["DMMA"] == 4


def test_instruction_and_constant_caches(write):
    gpu, *_ = read(write(VOLTA))
    assert (gpu.sm.front_end.l0_bytes, gpu.sm.front_end.l0_ways) == (32 * 128 * 4, 4)
    assert (gpu.sm.front_end.l1_bytes, gpu.sm.front_end.stream_buffer) == (0, 0)
    assert (gpu.constant.bytes, gpu.constant.ways) == (16 * 64 * 8, 8)
    assert gpu.constant.operand_bytes == 0
    gpu, *_ = read(write(VOLTA + "-gpgpu_perfect_inst_const_cache 1\n"))
    assert gpu.sm.front_end.l0_bytes == gpu.constant.bytes == 0


def test_without_trace_config_the_ptx_latencies_count(write):
    text = VOLTA + "-ptx_opcode_latency_fp 6,13,4,5,39\n-ptx_opcode_initiation_fp 3,2,2,2,4\n"
    units = {unit.name: unit for unit in read(write(text))[0].sm.units}
    assert (units["sp"].operations["FP32"], units["sp"].intervals["FP32"]) == (11, 3)
    assert (units["tensor"].operations["HMMA"], units["tensor"].intervals["HMMA"]) == (69, 64)


def test_a_kepler_shares_its_units_and_runs_integers_on_them(write):
    text = (
        "-gpgpu_compute_capability_major 3 -gpgpu_compute_capability_minor 5\n"
        "-gpgpu_num_sp_units 6 -gpgpu_num_sfu_units 2 -gpgpu_coalesce_arch 35\n"
        "-gpgpu_cache:dl1 N:4:128:32,L:L:s:N:H,A:256:8,16:0,32\n"
        "-gpgpu_cache:dl2 N:32:128:16,L:B:m:L:P,A:256:64,16:0,32\n"
        "-gpgpu_dram_timing_opt 8:2:8:16:37:16:52:16:6:7:16:4:4:3\n"
        "-gpgpu_dram_burst_length 8 -dram_data_command_freq_ratio 4 -gpgpu_dram_buswidth 4\n"
    )
    gpu, warnings, _ = read(write(text))
    units = {unit.name: unit for unit in gpu.sm.units}
    assert (units["sp"].count, units["sp"].scope) == (6, "sm")
    assert {"INT32", "FP32"} <= set(units["sp"].operations)
    assert {"FP64", "SFU"} == set(units["sfu"].operations)
    assert (gpu.l1.sector_bytes, gpu.l1.bytes, gpu.l1.carveouts) == (128, 4 * 128 * 32, ())
    assert (gpu.l1.protocol, gpu.l1.allocate) == ("write_evict", "fill")
    assert (gpu.sm.memory.coalescer, gpu.dram.standard) == ("line", "GDDR5")
    assert (gpu.dram.banks, gpu.dram.timing["nRTPL"]) == (8, 3)
    assert not warnings


def test_what_has_no_counterpart_is_a_warning_with_file_and_line(write):
    text = VOLTA + (
        "-gpgpu_shiny_new_thing 3\n-gpgpu_scheduler two_level_active:6:0:1\n"
        "-gpgpu_memory_partition_indexing 4\n-specialized_unit_1 1,4,4,4,4,DPX\n"
    )
    path = write(text)
    gpu, warnings, _ = read(path)
    base = library.gpu("QV100")
    assert gpu.sm.scheduler.policy == base.sm.scheduler.policy
    assert gpu.l2.slice_hash == base.l2.slice_hash
    lines = len(VOLTA.splitlines())
    places = sorted(int(w.partition(", line ")[2].partition(":")[0]) - lines for w in warnings)
    assert places == [1, 2, 3, 4]
    assert all(w.startswith(str(path)) for w in warnings)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-gpgpu_n_mem x", "-gpgpu_n_mem x: expected a whole number"),
        ("-gpgpu_n_mem -3", "-gpgpu_n_mem -3: expected a whole number"),
        ("-gpgpu_n_mem", "-gpgpu_n_mem : expected a whole number"),
        ("-gpgpu_n_mem 0", "-gpgpu_n_mem: dram.channels = 0: expected an integer from 1"),
        ("-gpgpu_n_clusters 5000", "-gpgpu_n_clusters: sm.count = 10000: expected an integer"),
        ("-gpgpu_clock_domains 1:2:3", "-gpgpu_clock_domains 1:2:3: expected four clocks"),
        ("-gpgpu_clock_domains 1:2:nan:3", "expected four clocks"),
        ("-gpgpu_shader_core_pipeline 2048:64", "expected 32 threads a warp"),
        ("-gpgpu_shader_core_pipeline 2048", "expected 2 whole numbers separated by ':'"),
        ("-gpgpu_cache:dl1 S:4:128:64", "expected <N|S>:<sets>"),
        ("-gpgpu_cache:dl1 S:0:128:64,L:T:m:L:L,A:512:8,16:0,32", "l1.sets = 0: expected"),
        ("-gpgpu_mem_addr_mapping dramid@x;RRBB", "expected dramid@<bit>"),
        ("-gpgpu_dram_timing_opt nbk=x", "expected key=number"),
        ("-gpgpu_dram_timing_opt", "expected key=number"),
        ("-dram_write_queue_size 64:48", "expected 3 whole numbers"),
        ("-specialized_unit_1 1,4", "expected <enabled>,<units>"),
        ("-trace_opcode_latency_initiation_sp 4", "expected 2 whole numbers separated by ','"),
        ("-trace_opcode_latency_initiation_sp 4096,2", "operations.FP32 = 4101: expected an"),
        ("-gpgpu_n_mem \x1b", "-gpgpu_n_mem '\\x1b': expected a whole number"),
        ('-x "1', "a quote is opened and not closed"),
    ],
)
def test_a_malformed_option_is_refused_with_its_line(write, line, message):
    with pytest.raises(InputError) as error:
        read(write(VOLTA + line + "\n"))
    assert error.value.where == f"line {len(VOLTA.splitlines()) + 1}"
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<<<<<< HEAD\n", "line 1: '<<<<<<<': expected an option"),
        (b"-a \xff", "byte 3: expected UTF-8 text"),
        ("#" * (1 << 21), "larger than"),
        ("-gpgpu_shmem_size 200000\n", "shared.bytes = 200000: expected at most the largest"),
    ],
)
def test_a_file_that_cannot_be_a_configuration_is_one_line(write, text, message):
    with pytest.raises(InputError) as error:
        read(write(text))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.config")
    with pytest.raises(InputError):
        read(tmp_path)


def test_an_empty_file_is_the_library_gpu_of_accelsims_defaults(write):
    gpu, warnings, _ = read(write("", "empty.config"))
    assert (gpu.name, gpu.sm.count, warnings) == ("empty", 80, ())


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(VOLTA) - 1), st.text(max_size=4), st.integers(0, 30))
def test_a_damaged_configuration_loads_or_is_one_line(
    tmp_path_factory, position, replacement, removed
):
    path: Path = tmp_path_factory.getbasetemp() / "damaged.config"
    text = VOLTA[:position] + replacement + VOLTA[position + removed :]
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        gpu, warnings, _ = read(path)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert gpu.sm.count >= 1 and isinstance(warnings, tuple)


@pytest.fixture
def trees(tmp_path):
    """The two trees of Accel-Sim with one GPU: the folders of its two files."""
    root = tmp_path / "accel-sim"
    folders = root / "gpu-simulator/gpgpu-sim/configs/tested-cfgs/MY_VOLTA"
    others = root / "gpu-simulator/configs/tested-cfgs/MY_VOLTA"
    for folder, name, text in (
        (folders, "gpgpusim.config", VOLTA),
        (others, "trace.config", TRACE),
    ):
        folder.mkdir(parents=True)
        (folder / name).write_text(text)
    return folders, others


def test_either_file_or_folder_of_the_two_trees_stands_for_both(trees, volta):
    first, second = trees
    names = (first, second, first / "gpgpusim.config", second / "trace.config")
    for name in names:
        imported = load(name)
        assert imported.gpu == volta.gpu, name
        assert not any("no trace.config" in warning for warning in imported.warnings)
    assert imported.sources["sm.count"] == "-gpgpu_n_clusters, gpgpusim.config, line 7"
    assert imported.sources["launch.cta_interval"] == "as QV100"


def test_a_configuration_without_its_other_half(trees):
    first, second = trees
    (second / "trace.config").unlink()
    assert "no trace.config beside it" in load(first).warnings[0]
    (first / "gpgpusim.config").unlink()
    for name in (first, second, second / "trace.config"):
        with pytest.raises(InputError, match=r"without gpgpusim\.config, here and in .*MY_VOLTA"):
            load(name)
