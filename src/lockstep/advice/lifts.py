"""The limits of a GPU that can be lifted: each is a change of its parameters.

Where a parameter takes the limit away, it does; for what no parameter says there is the group
``ideal`` (``gpus/ideal.py``). A lifted limit leaves all others as they are.
"""

from collections.abc import Callable
from typing import NamedTuple

from lockstep.errors import LockstepError, unknown
from lockstep.gpus import library
from lockstep.gpus.spec import GPU

MUCH_SHARED = 1 << 21  # bytes: more than any warps of an SM ask for
LARGER_L1, LARGER_L2 = 16, 8  # times: what the tags of the whole GPU still fit into a host's memory
Changes = dict[str, object]


class Lift(NamedTuple):
    """A limit: what is different without it, and the parameters that make it so."""

    name: str
    meaning: str
    changes: Callable[[GPU], Changes]

    def of(self, gpu: GPU) -> GPU:
        """The GPU without the limit, under the same name."""
        return library.replace(gpu, **self.changes(gpu))


def _always(**changes: object) -> Callable[[GPU], Changes]:
    table = {name.replace("__", "."): value for name, value in changes.items()}
    return lambda gpu: table


def _shared_memory(gpu: GPU) -> Changes:
    """Room for all CTAs; the L1 has what the largest share of shared memory leaves of it."""
    changes: Changes = {"shared.bytes": MUCH_SHARED}
    if gpu.l1.carveouts:
        left = gpu.l1.bytes - max(gpu.l1.carveouts)
        changes |= {"l1.carveouts": (MUCH_SHARED,), "l1.bytes": MUCH_SHARED + left}
    return changes


def _l1_capacity(gpu: GPU) -> Changes:
    """More sets, so that no more ways are looked through; shared memory takes what it took."""
    larger = (gpu.l1.bytes - max(gpu.l1.carveouts, default=0)) * LARGER_L1
    return {
        "l1.bytes": larger + max(gpu.l1.carveouts, default=0),
        "l1.sets": gpu.l1.sets * LARGER_L1,
    }


def _units(gpu: GPU) -> Changes:
    """Every unit starts an instruction in each cycle."""
    changes: Changes = {}
    for unit in gpu.sm.units:
        changes[f"sm.units.{unit.name}.lanes"] = min(64, gpu.sm.warp_size)
        changes[f"sm.units.{unit.name}.intervals"] = {}
    return changes


def _memory_latency(gpu: GPU) -> Changes:
    """The L2 and the DRAM answer as soon as the crossbar lets them."""
    l2 = gpu.l1.latency + 2 * gpu.interconnect.latency + 1
    none = dict.fromkeys(("l2.far_latency", "l2.far_fill_latency", "l2.atomic_latency"), 0)
    return {"l2.latency": l2, "dram.latency": l2 + 1, **none}


_WIDE = {
    "l2__sector_interval": 1 / 64,
    "l2__request_interval": 0.0,
    "l2__merge_interval": 0.0,
    "interconnect__flit_bytes": 512,
    "interconnect__reply_header_bytes": 0,
}
LIFTS = (
    Lift(
        "coalescing",
        "no load or store asks for more sectors than its bytes fill",
        _always(ideal__coalescing=True),
    ),
    Lift("shared_banks", "shared memory has no bank conflicts", _always(ideal__banks=True)),
    Lift("local_memory", "local memory costs an issue alone", _always(ideal__local=True)),
    Lift(
        "registers", "an SM has registers for all its warps", _always(sm__registers=1 << 20)
    ),
    Lift("shared_memory", "an SM has shared memory for all its warps", _shared_memory),
    Lift("cta_slots", "an SM holds as many CTAs as it has warps for", _always(sm__ctas=128)),
    Lift(
        "instruction_cache",
        "no instruction cache ever misses",
        _always(sm__front_end__l0_bytes=0, sm__front_end__l1_bytes=0),
    ),
    Lift(
        "constant_cache",
        "no constant cache ever misses",
        _always(constant__bytes=0, constant__operand_bytes=0, constant__first_latency=0),
    ),
    Lift("register_banks", "64 register banks a sub-core", _always(sm__operands__banks=64)),
    Lift("units", "every unit starts an instruction a cycle", _units),
    Lift(
        "atomics",
        "a slice of the L2 and its port take 16 atomic operations on a word in a cycle",
        _always(
            **_WIDE,
            l2__atomic_interval=0.0625,
            l2__atomic_sector_interval=0.0,
            interconnect__atomic_sector_interval=0.0,
            interconnect__atomic_word_interval=0.0,
            interconnect__atomic_result_interval=0.0,
        ),
    ),
    Lift("l1_capacity", f"L1s of {LARGER_L1} times the size", _l1_capacity),
    Lift(
        "l2_capacity",
        f"an L2 of {LARGER_L2} times the size",
        lambda gpu: {"l2.sets": gpu.l2.sets * LARGER_L2},
    ),
    Lift(
        "cache_bandwidth",
        "slices of the L2 and the crossbar move what is asked for in a cycle",
        _always(**_WIDE),
    ),
    Lift("memory_latency", "L2 and DRAM answer as soon as the crossbar lets them", _memory_latency),
    Lift(
        "dram_bandwidth",
        "DRAM without banks and buses: each access takes its latency",
        _always(dram__scheduler="fixed"),
    ),
    Lift(
        "launch",
        "launches take no time, and all CTAs start at once",
        _always(
            launch__overhead=0, launch__drain=0, launch__refill=0, launch__warp_interval=0.0,
            launch__cta_interval=0.01, launch__first_interval=0.0,
        ),
    ),
)  # fmt: skip
NAMES = tuple(lift.name for lift in LIFTS)


def lift(name: str) -> Lift:
    """The limit of a name; raises :class:`LockstepError` with the nearest known ones."""
    found = next((each for each in LIFTS if each.name == name), None)
    if found is None:
        raise LockstepError(f"{unknown('limit', name, NAMES)} (known: {', '.join(NAMES)})")
    return found
