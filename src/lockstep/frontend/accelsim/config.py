"""``gpgpusim.config`` and ``trace.config`` as a GPU of ours.

What the files do not say comes from the library's GPU of the nearest architecture. Accel-Sim's
latencies are delays of pipeline stages; ours are what a dependent instruction sees. The constants
below are the difference, measured with single-warp probes on its QV100 configuration, so that an
imported GPU behaves as Accel-Sim does, not as the hardware.
"""

import math
import os
import re
from pathlib import Path
from typing import NamedTuple

from lockstep.errors import InputError, SpecError
from lockstep.frontend.accelsim import config_files
from lockstep.frontend.accelsim.config_draft import Draft
from lockstep.frontend.accelsim.config_memory import dram, instructions, memory, shared_and_l1
from lockstep.frontend.accelsim.config_options import Option, Options
from lockstep.frontend.accelsim.config_units import units
from lockstep.gpus import fields, library
from lockstep.gpus.check import check
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import WARP_SIZE

L1_STAGES = 4  # L1 hit: 24 cycles where -gpgpu_l1_latency is 20
SHARED_STAGES = 5  # LDS: 25 cycles where -gpgpu_smem_latency is 20
L2_STAGES = 16  # L2 hit after an L1 miss: 196 where L1 and -gpgpu_l2_rop_latency are 20 and 160

NO_TRACE_FILE = (
    "no trace.config beside it or in the other tree of Accel-Sim, so latencies of machine code are "
    "those of PTX operations"
)

SIMPLE = {
    "gpgpu_kernel_launch_latency": "launch.overhead",
    "gpgpu_max_concurrent_kernel": "launch.concurrent_kernels",
    "gpgpu_num_sched_per_core": "sm.subcores",
    "gpgpu_shader_cta": "sm.ctas",
    "gpgpu_shader_registers": "sm.registers",
    "gpgpu_max_insn_issue_per_warp": "sm.scheduler.issue_width",
    "gpgpu_shmem_size": "shared.bytes",
    "gpgpu_shmem_num_banks": "shared.banks",
    "gpgpu_l1_banks": "l1.banks",
    "gpgpu_n_mem": "dram.channels",
    "gpgpu_n_sub_partition_per_mchannel": "l2.slices_per_channel",
    "gpgpu_dram_burst_length": "dram.burst_length",
    "dram_data_command_freq_ratio": "dram.beats_per_clock",
}
SCHEDULERS = {"gto": "gto", "lrr": "lrr", "old": "oldest"}
IRRELEVANT = re.compile(
    r"gpgpu_(ptx_|stack_|heap_|runtime_|occupancy_|registers_per_block|shmem_(size(Default|_Pref)"
    r"|per_block|limited|warp_parts)|simd_model|memlatency|cache:dl1Pref|clock_gated|pipeline_"
    r"|simple_dram_clock|operand_collector_num_(in|out)|dual_issue|perf_sim_memcpy|mem_address_mask"
    r"|ignore_resources|inst_fetch_throughput|n_cluster_ejection|dram_return_queue"
    r"|reg_file_port|enable_specialized|l1_cache_write_ratio|tensor_core_avail)|ptx_|save_|enable_ptx|visualizer"
    r"|power_|accelwattch|gpuwattch|trace_|network_mode|inter_config|icnt_(subnets|arbiter|out_buffer)"
    r"|smem_|liveness|keep|steady"
)
"""Options without effect on timing here, and those whose one sensible value is what we do."""


class Imported(NamedTuple):
    """A GPU from a configuration.

    ``warnings`` are one line for each option without counterpart, ``sources`` say of each
    parameter which option it is from.
    """

    gpu: GPU
    warnings: tuple[str, ...]
    sources: dict[str, str]


def load(path: str | os.PathLike) -> Imported:
    """The GPU of a configuration that one of its files or their folder names."""
    gpu_file, trace_file = config_files.find(Path(path))
    imported = read(gpu_file, trace_file)
    if trace_file is not None:
        return imported
    return imported._replace(warnings=(f"{gpu_file}: {NO_TRACE_FILE}", *imported.warnings))


def read(
    gpgpusim_config: str | os.PathLike, trace_config: str | os.PathLike | None = None
) -> Imported:
    """The GPU that exactly these files describe.

    Raises :class:`InputError` with file and line for what cannot be understood.
    """
    path = Path(gpgpusim_config)
    options = Options(path, *([] if trace_config is None else [Path(trace_config)]))
    draft = Draft(options, _base(options))
    name = path.parent.name if path.name == config_files.GPU_FILE else path.stem
    try:
        for part in (_chip, _sm, shared_and_l1, instructions, memory, dram, _latencies):
            part(draft)
        gpu = check(fields.build(name or path.stem, draft.values))
    except SpecError as error:
        raise InputError(path, "", str(error)) from None
    for option in options.unused():
        if not IRRELEVANT.match(option.name):
            draft.warn(option, f"{option.shown} has no counterpart")
    return Imported(gpu, tuple(draft.warnings), draft.sources)


def _base(options: Options) -> GPU:
    """The library's GPU of one chip and the nearest lower architecture, else the oldest."""
    version = 10 * options.integer("gpgpu_compute_capability_major", 7)
    version += options.integer("gpgpu_compute_capability_minor", 0)
    known = [library.gpu(name) for name in library.names()]
    known = [gpu for gpu in known if gpu.architectures and gpu.modules.count == 1]
    lower = [gpu for gpu in known if min(gpu.architectures) <= version]
    if not lower:
        return min(known, key=lambda gpu: min(gpu.architectures))
    return max(lower, key=lambda gpu: max(a for a in gpu.architectures if a <= version))


def _chip(draft: Draft) -> None:
    options = draft.options
    for name, path in SIMPLE.items():
        if option := options.get(name):
            draft.set(path, option.integer(), option)
    draft.set("description", "imported from a configuration of Accel-Sim")
    draft.set("validated", [])
    major = options.integer("gpgpu_compute_capability_major", 7)
    minor = options.integer("gpgpu_compute_capability_minor", 0)
    draft.set("architectures", [10 * major + minor], options.get("gpgpu_compute_capability_major"))
    if option := options.get("gpgpu_n_clusters"):
        cores = options.integer("gpgpu_n_cores_per_cluster", 1)
        draft.set("sm.count", option.integer() * cores, option)
    if option := options.get("gpgpu_clock_domains"):
        for path, clock in zip(
            ("clock_mhz", "interconnect.clock_mhz", "l2.clock_mhz", "dram.clock_mhz"),
            _clocks(option),
            strict=True,
        ):
            draft.set(path, clock, option)
    draft.set("launch.flush_l1", options.flag("gpgpu_flush_l1_cache", False))
    draft.set("launch.l2", "flush" if options.flag("gpgpu_flush_l2_cache", False) else "kept")
    if (option := options.get("gpgpu_TB_launch_latency")) and option.integer():
        draft.warn(option, "has no counterpart")


def _clocks(option: Option) -> list[float]:
    try:
        clocks = [float(part) for part in option.value.split(":")]
    except ValueError:
        clocks = []
    if len(clocks) != 4 or not all(math.isfinite(clock) for clock in clocks):
        option.fail("four clocks in MHz: core, crossbar, L2, DRAM")
    return clocks


def _sm(draft: Draft) -> None:
    options = draft.options
    if option := options.get("gpgpu_shader_core_pipeline"):
        threads, warp = option.integers(":", (2,))
        if warp != WARP_SIZE:
            option.fail(f"{WARP_SIZE} threads a warp")
        draft.set("sm.warps", threads // warp, option)
    if option := options.get("gpgpu_scheduler"):
        draft.choose("sm.scheduler.policy", SCHEDULERS, option.value, option)
    draft.set("sm.scheduler.dependence", "scoreboard")
    subcores = draft.values["sm.subcores"]
    shared = subcores if options.flag("gpgpu_sub_core_model", False) else 1
    draft.set("sm.operands.style", "collectors")
    if option := options.get("gpgpu_num_reg_banks"):
        draft.set("sm.operands.banks", max(1, option.integer() // subcores), option)
    option = options.get(
        "gpgpu_operand_collector_num_units_gen", "gpgpu_operand_collector_num_units_sp"
    )
    if option:
        draft.set("sm.operands.collectors", max(1, option.integer() // subcores), option)
    if option := options.get("gpgpu_coalesce_arch"):
        lines = option.integer() < 40  # before Maxwell, 32 threads into lines
        draft.set("sm.memory.coalescer", "line" if lines else "sector", option)
    table, warnings = units(options, shared)
    draft.values = {k: v for k, v in draft.values.items() if not k.startswith("sm.units.")}
    for path, (value, option) in table.items():
        draft.set(path, value, option)
    for option, message in warnings:
        draft.warn(option, message)


def _latencies(draft: Draft) -> None:
    options, values = draft.options, draft.values
    l1 = options.integer("gpgpu_l1_latency", 1) + L1_STAGES
    shared = options.get("gpgpu_smem_latency", "smem_latency")
    rop, access = options.get("gpgpu_l2_rop_latency"), options.get("dram_latency")
    draft.set("l1.latency", l1, options.get("gpgpu_l1_latency"))
    if shared:
        draft.set("shared.latency", shared.integer() + SHARED_STAGES, shared)
    l2 = l1 - L1_STAGES + L2_STAGES + (rop.integer() if rop else 120)
    draft.set("l2.latency", l2, rop)
    draft.set("sm.front_end.l1_latency", min(l2, 4096))
    draft.set("sm.front_end.l2_latency", l2)
    crossing = min(draft.base.interconnect.latency, max(1, (l2 - l1 - 1) // 2))
    draft.set("interconnect.latency", crossing)
    commands = values["dram.timing.nRCD"] + values["dram.timing.nCL"] if _has_timing(values) else 24
    burst = values["dram.burst_length"] / values["dram.beats_per_clock"]
    clocks = (commands + burst) * values["clock_mhz"] / values["dram.clock_mhz"]
    extra = max(1, round(clocks) + (access.integer() if access else 100))
    draft.set("dram.latency", l2 + extra, access)


def _has_timing(values: dict[str, object]) -> bool:
    return "dram.timing.nRCD" in values and "dram.timing.nCL" in values
