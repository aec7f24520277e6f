"""What ended a launch early, told as compute-sanitizer would: who, where, and what is near."""

from collections import Counter

import msgspec
import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.programs.program import Program
from lockstep.execution.scheduling.access import Fault
from lockstep.execution.scheduling.groups import AT_BARRIER
from lockstep.execution.scheduling.machine import CLUSTER, WARPGROUP, Stop
from lockstep.execution.state import MOST_LANES, RANK_MASK, TAG_SHIFT, Window
from lockstep.names import demangled

MOST_PLACES = 8  # that a message lists
_SPACES = {
    Fault.ILLEGAL_ADDRESS: "global",
    Fault.SHARED_OUT_OF_BOUNDS: "shared",
    Fault.LOCAL_OUT_OF_BOUNDS: "local",
    Fault.PARAMETER_OUT_OF_BOUNDS: "parameter",
}
_WINDOWS = {
    Window.GLOBAL: "global",
    Window.SHARED: "shared",
    Window.CLUSTER: "shared",
    Window.LOCAL: "local",
    Window.PARAMETER: "parameter",
    Window.BUFFER: "buffer",
}
_READS = ("ld", "ldg", "lds", "ldl", "ldc", "ldu", "ldsm", "ldmatrix", "tex", "suld")
_WRITES = ("st", "stg", "sts", "stl", "stsm", "stmatrix", "sust")
_MESSAGES = {
    Fault.TRAP: "trap",
    Fault.STACK_OVERFLOW: "stack overflow: recursive calls are nested too deep",
    Fault.BAD_TARGET: "branch or call to an address that is no target",
}


class CodePlace(msgspec.Struct, frozen=True):
    """An instruction of a program and where it comes from."""

    instruction: str
    pc: int  # byte offset in the kernel's code, as the timing model counts
    file: str = ""  # of PTX, and its line
    line: int = 0
    sources: tuple[tuple[str, int], ...] = ()  # file and line that it was made from
    function: str = ""  # of machine code that is not in the kernel itself

    def __str__(self) -> str:
        text = self.instruction
        if self.function:
            text += f" in {demangled(self.function)}"
        made = ", inlined at ".join(f"{file}:{line}" for file, line in self.sources)
        if self.file:
            return f"{text} at {self.file}:{self.line}" + (f" ({made})" if made else "")
        return f"{text} at {made}" if made else text


def place_of(program: Program, index: int) -> CodePlace:
    """The place of a static instruction."""
    record, origin = program.code[index], program.origins[index]
    pc, sources = int(record["pc"]), origin.sources
    if origin.text:
        outside = "" if origin.function == program.name else origin.function
        return CodePlace(origin.text, pc, sources=sources, function=outside)
    return CodePlace(program.texts[record["text"]], pc, program.file, origin.line, sources)


class LaunchError(LockstepError):
    """A launch could not go on. Other launches are not concerned.

    ``kind`` says why: the name of a fault ("illegal_address", "trap", "assert" ...), "deadlock" or
    "limit". ``kernel`` is its name. Where one thread is to blame, ``cta`` and ``thread`` are its
    indices and ``place`` the instruction; of an access, ``address`` is its address or offset and
    ``allocation`` the nearest one, (address, bytes).
    """

    def __init__(
        self,
        kind: str,
        kernel: str,
        message: str,
        *,
        cta: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
        place: CodePlace | None = None,
        address: int | None = None,
        allocation: tuple[int, int] | None = None,
    ):
        self.kind, self.kernel, self.message = kind, kernel, message
        self.cta, self.thread, self.place = cta, thread, place
        self.address, self.allocation = address, allocation
        text = f"kernel {kernel}: {message}"
        if thread is not None:
            text += f"; thread {thread} of CTA {cta}"
        if place is not None:
            text += f", pc {place.pc:#x}: {place}"
        super().__init__(text)

    def __reduce__(self):
        """Rebuild from the parts, so that the error survives pickling."""
        rest = ("cta", "thread", "place", "address", "allocation")
        parts = {name: getattr(self, name) for name in rest}
        return _rebuild, (self.kind, self.kernel, self.message, parts)


def _rebuild(kind: str, kernel: str, message: str, parts: dict) -> LaunchError:
    return LaunchError(kind, kernel, message, **parts)


def describe_problem(resident: Resident, memory: DeviceMemory, stop: Stop) -> LaunchError:
    """The error for a launch that stopped with a fault or deadlock, or at its limit."""
    name = resident.program.name
    if stop == Stop.DEADLOCK:
        return LaunchError("deadlock", name, f"deadlock: {_waiting(resident)}")
    if stop != Stop.FAULT:
        message = f"stopped after {resident.executed} warp instructions, its limit"
        return LaunchError("limit", name, f"{message}; it ran {hottest_places(resident)}")
    fault = resident.machine.fault[0]
    kind, site = Fault(fault.kind), int(fault.site)
    program, w, lane = resident.program, int(fault.warp), int(fault.lane)
    index = int(fault.instruction) if fault.instruction >= 0 else program.sites[site][0]
    place = place_of(program, index)
    about: dict = {}
    if fault.instruction >= 0:
        message = _MESSAGES.get(kind, place.instruction)
    else:
        message, about = access_problem(resident, memory, place, fault)
    return thread_error(resident, kind.name.lower(), message, w, lane, place, **about)


def thread_error(
    resident: Resident,
    kind: str,
    message: str,
    w: int,
    lane: int,
    place: CodePlace | None = None,
    **about,
) -> LaunchError:
    """The error for which one thread is to blame."""
    cta = resident.cta_index(int(resident.machine.ctas[w // resident.geometry.warps].linear))
    thread = resident.thread_index(w, lane)
    name = resident.program.name
    return LaunchError(kind, name, message, cta=cta, thread=thread, place=place, **about)


def access_problem(
    resident: Resident, memory: DeviceMemory, place: CodePlace, fault: np.record
) -> tuple[str, dict]:
    """What was wrong with an access, and its address and nearest allocation.

    ``fault``: a FAULT or FINDING record.
    """
    kind, address, size = Fault(fault.kind), int(fault.address), int(fault.bytes)
    if kind == Fault.BAD_TEXTURE:
        return f"no texture or surface has the handle {address:#x}", {"address": address}
    if kind == Fault.BAD_TENSOR_MAP:
        return f"no fitting tensor map at {address:#x}", {"address": address}
    if kind == Fault.SURFACE_OUT_OF_BOUNDS:
        return "access outside the surface", {}
    window = Window(resident.program.sites[int(fault.site)][1])
    space = _SPACES.get(kind, _WINDOWS[window])
    what = f"{space} {_verb(place.instruction)} of {size} bytes at {address & (1 << 64) - 1:#x}"
    about: dict = {"address": address}
    if kind == Fault.MISALIGNED:
        return f"misaligned {what}", about
    if kind == Fault.BUFFER_OUT_OF_BOUNDS:
        limit = "M0" if place.instruction.startswith("ds_") else "its descriptor"
        return f"invalid {what}, beyond what {limit} says", about
    launch = resident.machine.launch[0]
    if space == "shared" and launch.cluster_ctas > 1 and launch.tag:
        rank, ctas = address >> TAG_SHIFT & RANK_MASK, int(launch.cluster_ctas)
        whose = f"the {int(launch.shared_bytes)} bytes of CTA {rank} of the cluster"
        return f"invalid {what}, " + (
            f"beyond {whose}" if rank < ctas else f"of CTA {rank} of a cluster of {ctas}"
        ), about
    if space != "global":
        limits = {
            "shared": launch.shared_bytes,
            "local": launch.local_bytes,
            "parameter": launch.parameter_bytes,
        }
        return f"invalid {what}, beyond its {int(limits[space])} bytes", about
    about["allocation"] = memory.freed(address) or memory.nearest(address)
    return f"invalid {what}, {memory.distance(address, size)}", about


def _verb(instruction: str) -> str:
    """What an access does, by its PTX opcode or its machine instruction in full."""
    name = next(word for word in instruction.split() if not word.startswith("@"))
    opcode, *words = name.lower().split(".")
    words += opcode.split("_")
    if opcode in ("atom", "red", "atomg", "atoms") or "atomic" in words:
        return "atomic"
    if opcode in _READS or not {"load", "read"}.isdisjoint(words):
        return "read"
    return "write" if opcode in _WRITES or not {"store", "write"}.isdisjoint(words) else "access"


def hottest_places(resident: Resident) -> str:
    """Where a launch spends its time now: the blocks at which a running CTA's warps are."""
    machine, program = resident.machine, resident.program
    running = int(machine.running[0].warp) // resident.geometry.warps
    for place in (running, *range(int(machine.running[0].places))):
        places = _blocks_of(resident, place)
        if places:
            break
    else:
        return "between CTAs"
    common = (place_of(program, k) for k, _ in places.most_common(MOST_PLACES))
    listed = [f"pc {place.pc:#x}: {place}" for place in common]
    return f"CTA {resident.cta_index(int(machine.ctas[place].linear))} at {'; '.join(listed)}"


def _blocks_of(resident: Resident, place: int) -> Counter:
    """The first instructions of the blocks at which the warps of a CTA are that can go on."""
    machine, warps = resident.machine, resident.geometry.warps
    blocks: Counter = Counter()
    if machine.ctas[place].linear >= 0:
        for w in range(place * warps, (place + 1) * warps):
            for g in range(int(machine.warps[w].groups)):
                if machine.group_state[w, g] < AT_BARRIER:
                    blocks[int(machine.blocks[machine.group_block[w, g]].first)] += 1
    return blocks


_SHARED_BARRIERS = {CLUSTER: "the cluster's barrier", WARPGROUP: "the warpgroup's barrier"}


def _waiting(resident: Resident) -> str:
    """Who waits where, in the CTA that cannot go on."""
    machine, program = resident.machine, resident.program
    warps, place = resident.geometry.warps, int(machine.running[0].place)
    waiting: dict[tuple[int, int], list[str]] = {}
    for w in range(place * warps, (place + 1) * warps):
        alive = int(machine.warps[w].alive)
        for g in range(int(machine.warps[w].groups)):
            number = int(machine.group_state[w, g]) - AT_BARRIER
            index = int(machine.blocks[machine.group_block[w, g]].first) - 1
            lanes = int(machine.group_lanes[w, g])
            who = f"warp {w % warps}" + ("" if lanes == alive else f" ({_count(lanes)} threads)")
            waiting.setdefault((number, index), []).append(who)
    ended = sum(
        int(machine.warps[w].groups) == 0 for w in range(place * warps, (place + 1) * warps)
    )
    parts = []
    for (number, index), who in sorted(waiting.items())[:MOST_PLACES]:
        barrier = _SHARED_BARRIERS.get(min(number, WARPGROUP), f"barrier {number}")
        expected = int(machine.barriers[place, number].expected) if number != CLUSTER else 0
        threads = f" of {expected} threads" if expected else ""
        parts.append(f"{_join(who)} at {barrier}{threads}, {place_of(program, index)}")
    if ended:
        parts.append(f"{ended} of {warps} warps have ended")
    cta = resident.cta_index(int(machine.ctas[place].linear))
    return f"in CTA {cta} nobody can go on: {'; '.join(parts)}"


def _count(lanes: int) -> int:
    return (lanes & (1 << MOST_LANES) - 1).bit_count()


def _join(names: list[str]) -> str:
    more = len(names) - MOST_PLACES
    text = ", ".join(names[:MOST_PLACES]) + (f" and {more} more" if more > 0 else "")
    return f"{text} wait" if len(names) > 1 else f"{text} waits"
