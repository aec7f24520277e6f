"""What a machine is built of: networks, the shards on them, and the code that takes these along."""

from collections.abc import Callable
from functools import cache

from lockstep._jit import Context, Pointer, phase
from lockstep.engine.groups import MODULES, PARTITIONS, SMS, Group, Wire
from lockstep.gpus.spec import GPU
from lockstep.model import control, link, partition
from lockstep.model.cache import replacement, slice_hash
from lockstep.model.cache.prefetch import table
from lockstep.model.core import build as core_build
from lockstep.model.core.state import Policies, Sm
from lockstep.model.modules import router
from lockstep.model.modules import state as modules
from lockstep.model.modules.legs import credit_windows
from lockstep.model.sm import scheduler, sm

Phase = Callable[..., int] | Pointer

CREDIT_WINDOWS = 2  # until the credit of a request comes back: it waits for the window's end there


@cache
def _stand_ins() -> Policies:
    return Policies(
        scheduler.compile_scheduler(scheduler.first_ready),
        replacement.compile_victim(replacement.first_way),
        table.compile_l1(table.nothing_of_l1),
        slice_hash.compile_hash(slice_hash.first_slice),
    )


def compile_policies(user: dict) -> Policies:
    """Machine code of the user's policies for the SMs, and stand-ins for those not given."""
    changes = {}
    if "scheduler" in user:
        changes["scheduler"] = scheduler.compile_scheduler(user["scheduler"])
    if "l1_replacement" in user:
        changes["l1_victim"] = replacement.compile_victim(user["l1_replacement"])
    if "l1_prefetcher" in user:
        changes["l1_prefetcher"] = table.compile_l1(user["l1_prefetcher"])
    if "slice_hash" in user:
        changes["slice_hash"] = slice_hash.compile_hash(user["slice_hash"])
    return _stand_ins()._replace(**changes)


class Links(Context):
    """The networks: two, with a coherence protocol two more, and those between modules."""

    requests: link.Link
    replies: link.Link
    forwards: link.Link
    answers: link.Link
    between: modules.ModuleLinks


@cache
def _compiled(function: Callable[..., int], kinds: tuple) -> Phase:
    return phase(function, kinds, integers=5)


def build_memory_side(
    gpu: GPU, policies: dict, place: modules.MemoryPlace | None = None
) -> tuple[Links, partition.Memory]:
    """The networks of a GPU, and the partitions behind them; ``place``: as :func:`build_sms`."""
    latency, slices = gpu.interconnect.latency, gpu.l2.slices_per_channel
    sms, channels = gpu.sm.count, gpu.dram.channels
    up, down = gpu.interconnect.buffer, gpu.interconnect.reply_buffer
    absent = link.absent()
    of_protocol = absent, absent
    if is_coherent(gpu):
        of_protocol = (
            link.build(channels, sms, latency, down, slices),
            link.build(sms, channels, latency, up, 1, CREDIT_WINDOWS),
        )
    links = Links(
        link.build(sms, channels, latency, up, 1, credit_windows(gpu, CREDIT_WINDOWS)),
        link.build(channels, sms, latency, down, slices, credit_windows(gpu, 1)),
        *of_protocol,
        modules.build_ports(gpu) if place else modules.build_links(gpu),
    )
    memory = partition.build(
        gpu,
        links.requests,
        core_build.partition_hit_cycles(gpu),
        max(1, gpu.dram.latency - gpu.l2.latency),
        partition.compile_policies(policies),
        gate=modules.build_gates(gpu, links.between, place)[1],
    )
    return links, memory


def build_sms(
    gpu: GPU,
    memory: partition.Memory,
    links: Links,
    policies: dict,
    attributing: int = 0,
    place: modules.MemoryPlace | None = None,
) -> Sm:
    """The SMs, which share the partitions' slices by a hash; ``attributing``: as of its builder.

    ``place``: of the GPU's memory among those of others that its kernels may access.
    """
    policy = scheduler.policy_of(gpu, "scheduler" in policies)
    compiled, own = compile_policies(policies), control.build(gpu)
    gate = modules.build_gates(gpu, links.between, place)[0]
    user = set(policies)
    return core_build.build(gpu, memory.slices, own, compiled, user, policy, attributing, gate)


def is_coherent(gpu: GPU) -> bool:
    """Whether its L1s and L2 carry out a coherence protocol."""
    return gpu.coherence.table != "none"


def groups(
    links: Links, sms: Sm, memory: partition.Memory, routers: modules.Routers
) -> list[Group]:
    """The shards of a GPU: SMs or compute units, memory partitions, and modules if several."""
    cores = _compute_units(links, sms) if len(sms.cus) else _sms(links, sms)
    if memory.homes.spec[0].on:
        return [cores, _homes(links, memory)]
    behind = partition.LinkedPartitions(memory, links.requests, links.replies)
    partitions = Group(len(memory.next), partition.run_linked, behind)
    if not links.between.hops.spec[0].in_capacity:
        return [cores, partitions]
    crossing = router.LinkedRouters(routers, links.between)
    return [cores, partitions, Group(len(routers.routers), router.run_linked, crossing)]


def _sms(links: Links, sms: Sm) -> Group:
    on_links = sm.LinkedSms(sms, links.requests, links.replies)
    return Group(len(sms.sms), sm.run_linked, on_links)


def _compute_units(links: Links, sms: Sm) -> Group:
    from lockstep.model.cu import cu  # only where there are some: start-up time is felt

    on_links = cu.LinkedCus(sms, links.requests, links.replies, links.forwards, links.answers)
    starts = tuple(sorted(set(sms.cus["leader"].tolist())))
    return Group(len(sms.sms), cu.run_linked, on_links, starts)


def _homes(links: Links, memory: partition.Memory) -> Group:
    """Partitions that carry out a coherence protocol."""
    from lockstep.model import coherent_partition  # as above

    homes = coherent_partition.LinkedHomes(
        memory, links.requests, links.replies, links.forwards, links.answers
    )
    return Group(len(memory.next), coherent_partition.run_linked, homes)


def wires(links: Links) -> list[Wire]:
    """Which of those groups each network joins."""
    up, down = (SMS, PARTITIONS), (PARTITIONS, SMS)
    both = [Wire(links.requests, *up), Wire(links.replies, *down)]
    if links.forwards.spec[0].in_capacity:
        both += [Wire(links.forwards, *down), Wire(links.answers, *up)]
    between = links.between
    if between.hops.spec[0].in_capacity:
        both += [
            Wire(between.requests, SMS, MODULES),
            Wire(between.replies, PARTITIONS, MODULES),
            Wire(between.hops, MODULES, MODULES),
            Wire(between.to_partitions, MODULES, PARTITIONS),
            Wire(between.to_sms, MODULES, SMS),
        ]
    return both


def compiled(group: Group) -> Phase:
    """What takes a group's shards through a window, loaded or compiled once in a process."""
    return _compiled(group.run, (group.state.kind,))
