"""Memory that kernels allocate: their heap, and buffers for the parameters of what they launch."""

from lockstep.execution.launches.resident import Resident
from lockstep.execution.memory.device_memory import DeviceMemory, DeviceMemoryError

HEAP_BYTES = 8 << 20  # CUDA's default of cudaLimitMallocHeapSize (CUDA C++ programming guide)
_CHUNK = 1 << 16  # bytes of buffers that are allocated at a time
_SMALLEST = 256  # bytes of a buffer


class Heap:
    """What the kernels of a device allocate, up to ``bytes``."""

    def __init__(self, memory: DeviceMemory, size: int = HEAP_BYTES):
        self.bytes, self._memory = size, memory
        self._sizes: dict[int, int] = {}  # by address
        self._used = 0

    def allocate(self, size: int, resident: Resident) -> int:
        """Address of memory that a launch may access at once; 0 for no bytes, or if it is full."""
        if size == 0 or self._used + size > self.bytes:
            return 0
        try:
            address = self._memory.allocate(size, unwritten=True)
        except DeviceMemoryError:
            return 0
        self._sizes[address] = size
        self._used += size
        resident.follow(self._memory)
        return address

    def free(self, address: int, resident: Resident) -> bool:
        """Give memory back; false if it is not from here."""
        if address not in self._sizes:
            return False
        self._used -= self._sizes.pop(address)
        self._memory.free(address)
        resident.follow(self._memory)
        return True


class ParameterBuffers:
    """Buffers that kernels fill with parameters; they are free again when they have been read."""

    def __init__(self, memory: DeviceMemory):
        self._memory = memory
        self._free: dict[int, list[int]] = {}  # by their bytes

    def take(self, size: int, resident: Resident) -> int:
        """Address of at least ``size`` bytes. Raises :class:`DeviceMemoryError`."""
        size = _rounded(size)
        free = self._free.setdefault(size, [])
        if not free:
            count = max(_CHUNK // size, 1)
            first = self._memory.allocate(count * size, hidden=True)
            free += [first + k * size for k in reversed(range(count))]
            resident.follow(self._memory)
        return free.pop()

    def give_back(self, address: int, size: int) -> None:
        """It was read; ``size``: as it was taken."""
        self._free[_rounded(size)].append(address)


def _rounded(size: int) -> int:
    return max(_SMALLEST, 1 << (size - 1).bit_length()) if size else _SMALLEST
