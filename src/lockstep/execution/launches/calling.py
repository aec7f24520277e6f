"""A call of a service by one thread: its arguments, and the memory that they name."""

import ctypes
import struct

from lockstep.execution.launches.faults import place_of, thread_error
from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.programs.services import Home, Service, scratch_words
from lockstep.execution.state import LOCAL_WINDOW, WINDOW_BYTES, return_word

CHUNK = 256  # bytes of a string that are read at a time


class ServiceCall:
    """One thread's call of a service."""

    def __init__(self, memory: DeviceMemory, resident: Resident, w: int, lane: int):
        self.memory, self.resident, self.w, self.lane = memory, resident, w, lane

    @property
    def cta(self) -> tuple[int, int, int]:
        """%ctaid of the thread."""
        place = self.w // self.resident.geometry.warps
        return self.resident.cta_index(int(self.resident.machine.ctas[place].linear))

    @property
    def thread(self) -> tuple[int, int, int]:
        """%tid of the thread."""
        return self.resident.thread_index(self.w, self.lane)

    def argument(self, k: int) -> int:
        """The kth argument, without a sign."""
        return self._word(k * self.resident.geometry.lanes) & (1 << 64) - 1

    def values(self, service: Service) -> list[int | tuple[int, ...]]:
        """All arguments, without signs; structures are tuples of their members."""
        found: list[int | tuple[int, ...]] = []
        homes = service.homes if self._in_machine_code else [Home(0)] * len(service.arguments)
        for form, place, home in zip(service.arguments, service.places, homes):
            words = [self.argument(place + k) for k in range(scratch_words(form))]
            content = struct.pack(f"<{len(words)}Q", *words)[: struct.calcsize(form)]
            if home.register is None:
                content = self.read(LOCAL_WINDOW + words[0], struct.calcsize(form))
            members = struct.unpack(form, content)
            found.append(members[0] if len(members) == 1 else members)
        return found

    @property
    def _in_machine_code(self) -> bool:
        return self.resident.program.targets is not None

    def _word(self, first: int) -> int:
        """The thread's of the scratch words of all lanes from one on."""
        return int(self.resident.machine.scratch[self.w, first + self.lane])

    def read(self, address: int, size: int) -> bytes:
        """Bytes at a generic address of the thread."""
        host, room = self._find(address)
        if room < size:
            raise self._out_of_reach(address)
        return ctypes.string_at(host, size)

    def write(self, address: int, content: bytes) -> None:
        """Write bytes at a generic address of the thread."""
        host, room = self._find(address, "write")
        if room < len(content):
            raise self._out_of_reach(address, "write")
        ctypes.memmove(host, content, len(content))
        if not LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
            self.memory.written(host, len(content))

    def text(self, address: int) -> bytes:
        """The string at a generic address of the thread."""
        host, room = self._find(address)
        content = b""
        while room and b"\0" not in content:
            step = min(room, CHUNK)
            content += ctypes.string_at(host, step)
            host, room = host + step, room - step
        return content.partition(b"\0")[0]

    def _find(self, address: int, verb: str = "read") -> tuple[int, int]:
        """Where an address is in this process, and how many bytes may be read there."""
        found = self.resident.host_address(self.w, self.lane, address)
        if found is None:
            allocation = self.memory.find(address)
            if allocation is None:
                raise self._out_of_reach(address, verb)
            found = address, sum(allocation) - address
        return found

    def _out_of_reach(self, address: int, verb: str = "read") -> Exception:
        message = f"the host cannot {verb} {address:#x}"
        return self.error("illegal_address", message, address=address)

    def error(self, kind: str, message: str, **about) -> Exception:
        """The error for what the thread asked for."""
        place = place_of(self.resident.program, self.instruction())
        return thread_error(self.resident, kind, message, self.w, self.lane, place, **about)

    def instruction(self) -> int:
        """Static index of the call; machine code tells only where it will return to."""
        machine, program = self.resident.machine, self.resident.program
        if not self._in_machine_code:
            return int(machine.warps[self.w].host_instruction)
        from lockstep.isa.sass.encoding.instruction import BYTES

        pc = self._word(return_word(self.resident.geometry.lanes))
        return int(program.blocks["first"][program.targets[pc // BYTES]]) - 1
