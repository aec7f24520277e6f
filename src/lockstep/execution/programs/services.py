"""What kernels ask the host for: functions without code, or whose code here is not executed.

The names are those by which compilers call them; their numbers are their places in ``SERVICES``.
"""

import struct
from itertools import accumulate
from typing import NamedTuple

# An argument or result as it is passed: the format of :mod:`struct` of its bytes. What holds a
# 64-bit number begins with an even register.
WORD, POINTER = "<I", "<Q"
DIM3, EXTENT, PITCHED = "<3I", "<3Q", "<4Q"  # dim3, cudaExtent, cudaPitchedPtr


_FIRST, _BEHIND = 4, 16  # registers of arguments


class Home(NamedTuple):
    """Where machine code puts an argument: from a register on, or so many bytes up the stack."""

    register: int | None
    offset: int = 0


class Service(NamedTuple):
    """How a service is called."""

    arguments: tuple[str, ...] = ()
    result: str = ""

    @property
    def places(self) -> list[int]:
        """Of the scratch words of a lane, the first one of each argument."""
        return [0, *accumulate(scratch_words(form) for form in self.arguments)][:-1]

    @property
    def homes(self) -> list[Home]:
        """Where machine code puts each argument: on the stack if it does not fit into registers.

        Those behind it may be in registers again (seen in code that nvcc 13 makes).
        """
        homes, register, offset = [], _FIRST, 0
        for form in self.arguments:
            size, even = struct.calcsize(form), form[-1] == "Q"
            first = register + register % 2 * even
            if first + size // 4 <= _BEHIND:
                homes.append(Home(first))
                register = first + size // 4
            else:
                offset += offset % 8 * even
                homes.append(Home(None, offset))
                offset += size
        return homes


def scratch_words(form: str) -> int:
    """How many 64-bit words an argument takes."""
    return -(-struct.calcsize(form) // 8)


_TO, _FROM, _STREAM, _EVENT = POINTER, POINTER, POINTER, POINTER  # 64-bit numbers, all of them
_SIZE, _PITCH, _FUNCTION = POINTER, POINTER, POINTER
_OF_CUDA: dict[str, Service] = {
    "GetParameterBuffer": Service((_SIZE, _SIZE), POINTER),
    "GetParameterBufferV2": Service((_FUNCTION, DIM3, DIM3, WORD), POINTER),
    "LaunchDevice": Service((_FUNCTION, POINTER, DIM3, DIM3, WORD, _STREAM), WORD),
    "LaunchDeviceV2": Service((POINTER, _STREAM), WORD),
    "StreamCreateWithFlags": Service((_TO, WORD), WORD),
    "StreamDestroy": Service((_STREAM,), WORD),
    "StreamWaitEvent": Service((_STREAM, _EVENT, WORD), WORD),
    "EventCreateWithFlags": Service((_TO, WORD), WORD),
    "EventRecord": Service((_EVENT, _STREAM), WORD),
    "EventDestroy": Service((_EVENT,), WORD),
    "MemcpyAsync": Service((_TO, _FROM, _SIZE, WORD, _STREAM), WORD),
    "Memcpy2DAsync": Service((_TO, _PITCH, _FROM, _PITCH, _SIZE, _SIZE, WORD, _STREAM), WORD),
    "Memcpy3DAsync": Service((_FROM, _STREAM), WORD),
    "MemsetAsync": Service((_TO, WORD, _SIZE, _STREAM), WORD),
    "Memset2DAsync": Service((_TO, _PITCH, WORD, _SIZE, _SIZE, _STREAM), WORD),
    "Memset3DAsync": Service((PITCHED, WORD, EXTENT, _STREAM), WORD),
    "Malloc": Service((_TO, _SIZE), WORD),
    "Free": Service((POINTER,), WORD),
    "GetErrorName": Service((WORD,), POINTER),
    "GetErrorString": Service((WORD,), POINTER),
    "GetLastError": Service((), WORD),
    "PeekAtLastError": Service((), WORD),
    "GetDevice": Service((_TO,), WORD),
    "GetDeviceCount": Service((_TO,), WORD),
    "DeviceGetAttribute": Service((_TO, WORD, WORD), WORD),
    "DeviceGetLimit": Service((_TO, WORD), WORD),
    "DeviceGetCacheConfig": Service((_TO,), WORD),
    "DeviceGetSharedMemConfig": Service((_TO,), WORD),
    "RuntimeGetVersion": Service((_TO,), WORD),
    "FuncGetAttributes": Service((_TO, _FUNCTION), WORD),
    "OccupancyMaxActiveBlocksPerMultiprocessor": Service((_TO, _FUNCTION, WORD, _SIZE), WORD),
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags": Service(
        (_TO, _FUNCTION, WORD, _SIZE, WORD), WORD
    ),
}
# Of these there is another form, for programs with a default stream per thread.
_PER_THREAD = (
    "LaunchDevice", "LaunchDeviceV2", "StreamWaitEvent", "EventRecord", "MemcpyAsync",
    "Memcpy2DAsync", "Memcpy3DAsync", "MemsetAsync", "Memset2DAsync", "Memset3DAsync",
)  # fmt: skip

CUDA, PER_THREAD = "__cudaCDP2", "_ptsz"  # what the names of CUDA's functions begin and end with
TABLE: dict[str, Service] = {
    "vprintf": Service((POINTER, POINTER), WORD),
    "malloc": Service((_SIZE,), POINTER),
    "free": Service((POINTER,)),
    "__assertfail": Service((POINTER, POINTER, WORD, POINTER, _SIZE)),
    "cudaGraphSetConditional": Service((POINTER, WORD)),
    **{CUDA + name: service for name, service in _OF_CUDA.items()},
    **{CUDA + name + PER_THREAD: _OF_CUDA[name] for name in _PER_THREAD},
}
SERVICES = tuple(TABLE)
GRAPHS = ("cudaGraph", "cudaGetCurrentGraph")
"""How functions begin by which kernels launch and change graphs; one of them is a service."""


def of_graphs(name: str) -> str:
    """Why such a function is refused."""
    return (
        f"it calls {name}: graphs are launched and changed by the host alone here, not by kernels; "
        "launch the graph from the host, or its kernels from this one"
    )


_QUEUE = ("LaunchDevice", "Memcpy", "Memset")  # what is done when the grid has ended
QUEUES = frozenset(
    number
    for number, name in enumerate(SERVICES)
    if name.removeprefix(CUDA).startswith(_QUEUE) and name.startswith(CUDA)
)
"""Numbers of the services that leave something to be done after the grid."""
