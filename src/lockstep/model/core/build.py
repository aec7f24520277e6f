"""From a GPU specification to the initial state of all SMs."""

import itertools
from typing import Any

from lockstep._jit import Records
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import NAMED_BARRIERS, REGISTER_COUNT
from lockstep.model import witness
from lockstep.model.cache import l1_state, line_cache, line_misses
from lockstep.model.clock import NEVER
from lockstep.model.coherence import l1_state as coherent_l1
from lockstep.model.control import Control
from lockstep.model.core import attribution, paging, release_state, state, tile, vmu_state
from lockstep.model.core.bind import unit_table
from lockstep.model.core.coalescer import most_lines
from lockstep.model.core.state import Policies, Sm
from lockstep.model.counters import SM_COUNTERS
from lockstep.model.memory import header_time
from lockstep.model.modules import state as modules
from lockstep.model.modules.pages import Owners
from lockstep.model.modules.state import Gate
from lockstep.model.records import copy_fields, full, records, zeros
from lockstep.workload.at_issue import STEP, STEP_RUNS
from lockstep.workload.bulk_copies import OBJECTS
from lockstep.workload.streams import ADDRESS, RUN, WARP

CODE = 256  # records of the arena of code; it grows
FILL_CYCLES = 4  # of an L2 access, these come after the reply: write-back and wake-up


def partition_hit_cycles(gpu: GPU) -> int:
    """Core cycles from a request's arrival at its partition to the reply, for an idle L2 hit.

    What ``l2.latency`` leaves after the SM's memory pipeline, the L1 lookup, and both ways.
    """
    inside = gpu.sm.memory.address_interval + 2 + FILL_CYCLES
    return max(1, gpu.l2.latency - inside - 2 * gpu.interconnect.latency)


def most_waiters(gpu: GPU) -> int:
    """Requests to an L1 that wait for data at a time, at most."""
    return gpu.sm.memory.outstanding * most_lines(gpu)


def most_bulk_lines(gpu: GPU) -> int:
    """Lines of one bulk copy that are under way at most: those of any other access at least."""
    return max(most_lines(gpu), gpu.sm.memory.bulk_lines)


def sm_spec(gpu: GPU, policy: int, attributes: bool = False) -> Records:
    """The scalar parameters of the SMs; ``policy``: the number of the scheduler's.

    ``attributes``: whether they count events by instruction.
    """
    spec = records(1, state.SPEC)
    s, f, o, m = spec[0], gpu.sm.front_end, gpu.sm.operands, gpu.sm.memory
    copy_fields(s, gpu.sm, gpu.sm.scheduler, f, o, m)
    s.sms, s.drain, s.lines = gpu.sm.count, gpu.launch.drain, most_lines(gpu)
    s.policy, s.attributes = policy, attributes
    s.ideal_coalescing, s.ideal_banks = gpu.ideal.coalescing, gpu.ideal.banks
    s.ideal_local = gpu.ideal.local
    s.l1i_latency, s.l2i_latency = f.l1_latency, f.l2_latency
    s.collectors_style = o.style == "collectors"
    s.accesses = m.outstanding
    s.whole_lines = m.coalescer == "line"
    s.shared_banks, s.shared_bank_bytes = banks, size = gpu.shared.banks, gpu.shared.bank_bytes
    s.bank_mask = banks - 1 if banks & (banks - 1) == 0 else -1
    s.bank_shift = size.bit_length() - 1 if size & (size - 1) == 0 else -1
    s.pass_lanes = gpu.shared.pass_lanes
    s.shared_cycles = max(0, gpu.shared.latency - m.address_interval - 1)
    s.shared_pass, s.wide_passes = gpu.shared.pass_latency, gpu.shared.wide_passes
    s.remote_cycles = max(0, gpu.shared.remote_latency - m.address_interval - 1)
    s.remote_interval = gpu.shared.remote_interval
    s.lone_cluster_latency = gpu.sm.lone_cluster_barrier_latency or gpu.sm.barrier_latency
    line = gpu.l1.line_bytes * state.SUBCYCLES
    s.bulk_load_interval = max(1, round(line / m.bulk_load_bytes))
    s.bulk_store_interval = max(1, round(line / m.bulk_store_bytes))
    s.bulk_lines = most_bulk_lines(gpu)
    k = gpu.constant
    s.constant_line, s.first_constants = k.line_bytes, _first_constants(gpu)
    s.operand_miss, s.operand_hold = k.operand_miss_latency, k.operand_hold
    s.constant_latency, s.constant_miss = k.latency, max(k.latency, k.miss_latency)
    s.texture_cycles = max(0, _texture_latency(gpu) - gpu.l1.latency)
    ratio = gpu.clock_mhz / gpu.interconnect.clock_mhz
    s.port_step = max(1, round(state.SUBCYCLES * ratio))
    s.reply_header = header_time(gpu, s.port_step)
    port = gpu.interconnect
    s.atomic_sector = round(state.SUBCYCLES * port.atomic_sector_interval)
    s.atomic_word = round(state.SUBCYCLES * port.atomic_word_interval)
    s.atomic_result = round(state.SUBCYCLES * port.atomic_result_interval)
    s.fill_cycles = FILL_CYCLES
    s.nack_retry, s.nack_spread = gpu.l2.nack_retry, gpu.l2.nack_spread
    s.overtakes = gpu.interconnect.order == "partition"
    s.slices_per_channel = gpu.l2.slices_per_channel
    s.warp_interval = round(state.THOUSAND * gpu.launch.warp_interval)
    copy_fields(s, gpu.cu)
    s.line_pieces = f.line_bytes // gpu.cu.fetch_bytes if gpu.core == "cu" else 1
    s.lds_latency = gpu.shared.latency
    s.waitcnt_zero = gpu.cu.waitcnt == "zero"
    return spec


def _first_constants(gpu: GPU) -> int:
    """Cycles from a launch's first CTA on an SM until that has bank 0, which an empty L2 lacks."""
    latency = gpu.constant.first_latency
    if latency and gpu.launch.l2 == "flush":
        latency += max(0, gpu.dram.latency - gpu.l2.latency)
    return latency


def _texture_latency(gpu: GPU) -> int:
    latencies = [u.operations["TEXTURE"] for u in gpu.sm.units if "TEXTURE" in u.operations]
    return latencies[0] if latencies else gpu.l1.latency


def build_l1s(gpu: GPU, policies: l1_state.Choices) -> l1_state.L1State:
    """Empty L1s."""
    memory = gpu.sm.memory
    refusable = memory.outstanding * most_bulk_lines(gpu)
    owner = l1_state.Owner(
        hit_cycles=max(1, gpu.l1.latency - memory.address_interval - 1),
        flit_bytes=gpu.interconnect.flit_bytes,
        waiters=most_waiters(gpu),
        refusable=refusable if gpu.l2.mshr_full == "nack" else -1,
        scoped=gpu.coherence.scoped,
    )
    return l1_state.build(gpu.l1, gpu.sm.count, owner, policies, gpu.coherence.table != "none")


def build(
    gpu: GPU,
    slices: Owners,
    control: Control,
    policies: Policies,
    user: set[str],
    policy: int,
    attributing: int = 0,
    gate: Gate | None = None,
) -> Sm:
    """The SMs of a GPU, idle.

    ``user`` names the policies that the user gave; ``policy`` is the number of the scheduler's.
    ``attributing``: threads of the host that count events by instruction; 0 = nobody does.
    ``gate``: to other modules, of a GPU with more than one.
    """
    spec = sm_spec(gpu, policy, attributing > 0)
    s = spec[0]
    n, b = gpu.sm.count, gpu.sm.subcores
    slots = gpu.launch.concurrent_kernels
    of_l1 = "l1_replacement" in user, "l1_prefetcher" in user
    sm = Sm(
        spec=spec,
        sms=records(n, state.SM_STATE),
        subcores=records((n, b), state.SUBCORE),
        warps=records((n, gpu.sm.warps), state.WARP_STATE),
        looks=records((n, gpu.sm.warps), state.LOOK),
        order=zeros((n, b, gpu.sm.warps)),
        ready=zeros((n, gpu.sm.warps, REGISTER_COUNT)),
        **_compute_units(gpu),
        ctas=records((n, gpu.sm.ctas), state.CTA_STATE),
        barriers=records((n, gpu.sm.ctas, NAMED_BARRIERS), state.BARRIER),
        objects=zeros((n, gpu.sm.ctas, OBJECTS)),
        **_units(gpu, s),
        **_line_caches(gpu),
        parameters=zeros((n, slots)),
        streams=zeros((n, b, max(1, s.stream_buffer))),
        **_memory_pipelines(gpu, s),
        left=zeros((n, slots)),
        candidates=records(n * b * gpu.sm.warps, state.CANDIDATE),
        kernels=records(slots, state.KERNEL),
        code=records(CODE, state.ISSUE),
        **_streams(gpu.sm.warp_size),
        coherent=coherent_l1.build(gpu, most_waiters(gpu)),
        vmu=vmu_state.build(gpu),
        l1=build_l1s(gpu, l1_state.Choices(policies.l1_victim, policies.l1_prefetcher, *of_l1)),
        slices=slices,
        gate=gate or modules.build_gates(gpu, modules.build_links(gpu))[0],
        policies=policies,
        control=control,
        paging=paging.build(gpu),
        releases=release_state.build(n, gpu.sm.warps),
        counters=records(n, SM_COUNTERS),
        attribution=attribution.build(attributing, n, b, gpu.sm.warps, CODE),
        witness=witness.build(n),
    )
    _empty(sm)
    return sm


def _compute_units(gpu: GPU) -> dict[str, Any]:
    """What SMs have only if they are compute units."""
    cus = gpu.sm.count if gpu.core == "cu" else 0
    made = records(cus, state.CU_STATE)
    if cus:
        made["leader"], made["no_credit"] = leaders(gpu), -1
    return {
        "fetches": zeros((cus, gpu.sm.subcores)),
        "lines": line_misses.build(cus, gpu.cu.mshr_entries, gpu.l1),
        "waits": records((cus, gpu.sm.warps), state.WAITS),
        "cus": made,
    }


def _units(gpu: GPU, s: Any) -> dict[str, Any]:
    """Units that execute, and ports of the registers; ``s``: the record of :func:`sm_spec`."""
    n, b = gpu.sm.count, gpu.sm.subcores
    return {
        "units": zeros((n, b + 1, sum(unit.count for unit in gpu.sm.units))),
        "unit_table": unit_table(gpu),
        "register_ports": zeros((n, b, s.banks + s.collectors)),
        "write_ports": records((n, b, s.banks), state.WRITE_PORT),
        "results": records((n, b, state.RESULTS), state.RESULT),
        "reuse": full((n, b, 4), -1),
    }


def _line_caches(gpu: GPU) -> dict[str, Any]:
    """Empty caches of instructions and constants, of SMs and of sub-cores."""
    sms, parts = gpu.sm.count, gpu.sm.count * gpu.sm.subcores
    f, k = gpu.sm.front_end, gpu.constant
    return {
        "l0i": line_cache.build(parts, f.l0_bytes, f.l0_ways, f.line_bytes),
        "l1i": line_cache.build(sms, f.l1_bytes, f.l1_ways, f.line_bytes),
        "constants": line_cache.build(sms, k.bytes, k.ways, k.line_bytes),
        "operand_constants": line_cache.build(parts, k.operand_bytes, k.operand_ways, k.line_bytes),
    }


def _memory_pipelines(gpu: GPU, s: Any) -> dict[str, Any]:
    """No accesses under way; ``s`` as of :func:`_units`."""
    n, b = gpu.sm.count, gpu.sm.subcores
    return {
        "accesses": records((n, s.accesses), state.ACCESS),
        "queues": zeros((n, b, s.queue)),
        "bulk_places": zeros((n, s.accesses, max(tile.STATE_WORDS, s.warp_size))),
        "transactions": records((n, s.lines + 1), state.TRANSACTION),
        "scratch": zeros((n, s.shared_banks * (1 + s.pass_lanes))),
        "done": records((n, 2 * s.accesses + 2 * gpu.sm.warps + 64), state.DONE),
        "n_done": zeros(n),
    }


def _streams(warp_size: int) -> dict[str, Any]:
    """Arenas for the streams of CTAs, which grow, and the exchange with what executes at issue."""
    return {
        "warp_streams": records(1 << 10, WARP),
        "runs": records(1 << 12, RUN),
        "addresses": records(1 << 12, ADDRESS),
        "pool": zeros(1 << 12),
        "step": records(1, STEP),
        "step_runs": records(STEP_RUNS, RUN),
        "step_addresses": records(1, ADDRESS),
        "step_pool": zeros(warp_size),
    }


def leaders(gpu: GPU) -> list[int]:
    """Of each CU, the first of the neighbours with which it shares caches."""
    found: list[int] = []
    for size in itertools.cycle(gpu.cu.neighbours or (1,)):
        found += [len(found)] * min(size, gpu.sm.count - len(found))
        if len(found) == gpu.sm.count:
            break
    return found


def _empty(sm: Sm) -> None:
    """What is not zero where nothing has happened yet."""
    sm.sms["memory_next"] = NEVER
    sm.sms["current"] = sm.sms["blocked"] = sm.sms["no_credit"] = -1
    sm.sms["bulk_first"] = -1
    sm.subcores["next"] = sm.subcores["result_next"] = NEVER
    sm.subcores["last"] = sm.subcores["turn"] = -1
