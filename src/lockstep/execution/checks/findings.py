"""What checks have found in all launches of a device, told as compute-sanitizer would."""

from collections.abc import Iterator

import msgspec

from lockstep.execution.checks.kinds import NAMES, Check, Hazard
from lockstep.execution.checks.record import DROPPED, FOUND
from lockstep.execution.launches.faults import CodePlace, access_problem, place_of
from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.scheduling.access import Fault
from lockstep.names import demangled

Index = tuple[int, int, int]
_RACES = {
    Hazard.READ_AFTER_WRITE: "read after write",
    Hazard.WRITE_AFTER_READ: "write after read",
    Hazard.WRITE_AFTER_WRITE: "write after write",
}


class Finding(msgspec.Struct):
    """One mistake, however often it was made.

    ``check``: memory, init or races; ``kind``: such as "illegal_address", "write_after_read".
    ``message`` says what was wrong the first time: ``place`` is the instruction, ``cta`` and
    ``thread`` are the indices of who executed it, ``other_...`` those of the access before it that
    it races with. ``kernel`` is empty, and all of these are None, if the host made it.
    """

    check: str
    kind: str
    kernel: str
    message: str
    place: CodePlace | None = None
    cta: Index | None = None
    thread: Index | None = None
    other_place: CodePlace | None = None
    other_cta: Index | None = None
    other_thread: Index | None = None
    address: int | None = None
    bytes: int = 0
    count: int = 1

    @property
    def key(self) -> tuple:
        """The same for the same mistake: by source lines, if they are known."""
        return self.check, self.kind, self.kernel, _line(self.place), _line(self.other_place)

    def __str__(self) -> str:
        text = f"check {self.check}: "
        if not self.kernel:
            return f"{text}{self.message}{_times(self.count)}"
        text += f"kernel {demangled(self.kernel)}: {self.message}: {self.place}"
        text += f" by {_who(self.cta, self.thread)}"
        if self.other_place is not None:
            text += f", after {self.other_place} by {_who(self.other_cta, self.other_thread)}"
        return text + _times(self.count)

    def document(self) -> dict:
        """For JSON."""
        out = {name: getattr(self, name) for name in ("check", "kind", "kernel", "message")}
        if self.kernel:
            out |= {"place": str(self.place), "block": self.cta, "thread": self.thread}
        if self.other_place is not None:
            out |= {"other_place": str(self.other_place), "other_block": self.other_cta}
            out["other_thread"] = self.other_thread
        return out | {"address": self.address, "bytes": self.bytes, "count": self.count}


def _line(place: CodePlace | None) -> tuple:
    if place is None:
        return ()
    return place.sources or (place.file, place.line, place.instruction, place.pc)


def _who(cta: Index | None, thread: Index | None) -> str:
    return f"thread {_index(thread)} of block {_index(cta)}"


def _index(index: Index | None) -> str:
    return f"({', '.join(map(str, index or ()))})"


def _times(count: int) -> str:
    return f"; {count} times" if count > 1 else ""


class Findings:
    """The findings of a device, in the order in which they were made first."""

    def __init__(self, checks: Check, memory: DeviceMemory):
        self.checks, self._memory = checks, memory
        self._all: dict[tuple, Finding] = {}
        self.dropped = 0  # that a launch had no room for
        self.leaks: list[tuple[int, int]] = []  # (address, bytes) that a program did not free

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def document(self) -> dict:
        """For JSON: nothing without checks."""
        if not self.checks:
            return {}
        document: dict = {"findings": [finding.document() for finding in self]}
        if Check.MEMORY in self.checks:
            document["leaks"] = [list(leak) for leak in self.leaks]
        return document

    def information(self) -> list[str]:
        """Lines about what is no mistake, or could not be seen."""
        lines = []
        if self.leaks and Check.MEMORY in self.checks:
            address, size = self.leaks[0]
            total = sum(length for _, length in self.leaks)
            what = f"{len(self.leaks)} allocations of {total} bytes together were never freed"
            first = f"the first has {size} bytes at {address:#x}"
            lines.append(f"check memory: {what}; {first} (no mistake by itself)")
        if self.dropped:
            lines.append(f"{self.dropped} mistakes are not listed: too many in one launch")
        return lines

    def summary(self) -> str:
        """The last line."""
        names = [name for name, check in NAMES.items() if check in self.checks and name != "all"]
        checks = f"check {', '.join(names)}"
        return f"{checks}: {len(self) or 'no'} finding{'s' * (len(self) != 1)}"

    def add(self, finding: Finding) -> None:
        """Take a finding, or count one that is known."""
        known = self._all.setdefault(finding.key, finding)
        if known is not finding:
            known.count += finding.count

    def add_host(self, kind: str, message: str, address: int, size: int = 0) -> None:
        """Take a mistake of the host."""
        if Check.MEMORY in self.checks:
            finding = Finding("memory", kind, "", message, address=address, bytes=size)
            self._all.setdefault(("memory", kind, message), finding)

    def take(self, resident: Resident) -> None:
        """Take what a launch has found."""
        checked = resident.machine.checked
        for row in checked.findings[: checked.found[FOUND]]:
            finding = self._of(resident, row)
            if finding is not None:
                self.add(finding)
        self.dropped += int(checked.found[DROPPED])
        checked.found[:] = 0

    def _of(self, resident: Resident, row) -> Finding | None:
        place = place_of(resident.program, resident.program.sites[int(row.site)][0])
        kind, size = int(row.kind), int(row.bytes)
        about = {"address": int(row.address), "bytes": size, "count": int(row.count)}
        about |= {"place": place, "cta": resident.cta_index(int(row.cta))}
        about["thread"] = _thread(resident, row.warp, row.lane)
        kernel = resident.program.name
        if kind < Hazard.UNWRITTEN_READ:
            message, _ = access_problem(resident, self._memory, place, row)
            return Finding("memory", Fault(kind).name.lower(), kernel, message, **about)
        if kind == Hazard.UNWRITTEN_READ:
            message = self._unwritten(row)
            return Finding("init", "unwritten_read", kernel, message, **about)
        about["other_place"] = place_of(resident.program, resident.program.sites[int(row.other)][0])
        about["other_cta"] = resident.cta_index(int(row.other_cta))
        about["other_thread"] = _thread(resident, row.other_warp, row.other_lane)
        where = f"{size} bytes at {int(row.address):#x} of shared memory"
        message = f"{_RACES[Hazard(kind)]} without order, {where}"
        return Finding("races", Hazard(kind).name.lower(), kernel, message, **about)

    def _unwritten(self, row) -> str:
        address, size = int(row.address), int(row.bytes)
        if row.other_cta >= 0:
            return f"read of {size} bytes at {address:#x} of shared memory, not all of them written"
        text = f"read of {size} bytes at {address:#x}, not all of them written"
        found = self._memory.find(address)
        if found is None:
            return text
        return f"{text}: byte {address - found[0]} of an allocation of {found[1]} bytes"


def _thread(resident: Resident, warp: int, lane: int) -> Index:
    return resident.thread_index(int(warp), int(lane))
