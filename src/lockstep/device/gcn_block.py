"""How OpenCL kernels of Southern Islands find their arguments: the block of a launch.

The ABI is that of AMD's CAL compiler: scalar registers hold descriptors of buffers, or addresses
of tables of these; constant buffer 0 holds the shape of the launch, constant buffer 1 the
arguments. All of them lie in one block, whose addresses are in the parameters' window.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from lockstep.errors import WorkloadError
from lockstep.execution.gcn.source import USER_BYTES
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.state import PARAMETER_WINDOW
from lockstep.isa.gcn.container import Kernel, UserElement

SHAPE, ARGUMENTS = 0, 1  # numbers of constant buffers
CONSTANT_STRIDE = 16  # bytes of a record of constant memory
_ENTRY = {"constants": 16, "uavs": 32, "resources": 32}  # bytes of an entry of a table
_LANE_WORD = 0x27FAC  # word 3 of a descriptor: x y z w, 32-bit float channels
_SHAPE_BYTES = 128
_ALL = 0xFFFFFFFF


class Element(IntEnum):
    """What user registers hold, by the class that a kernel's program information gives it."""

    SAMPLER = 1
    CONSTANT_BUFFER = 2  # the descriptor of one
    UAV = 4  # the descriptor of one
    RESOURCES = 17  # the address of the table of images
    CONSTANT_BUFFERS = 20  # the address of the table of constant buffers
    UAVS = 23  # the address of the table of UAVs


def descriptor(base: int, size: int, stride: int = 0) -> bytes:
    """That of a buffer of ``size`` bytes from an address on."""
    records = min(size // stride if stride else size, _ALL)
    return struct.pack("<QII", base | stride << 48, records, _LANE_WORD)


def shape_of(geometry: Geometry) -> bytes:
    """Constant buffer 0: sizes of the launch, the group and the grid; offsets are 0.

    Dimensions are counted up to the last one with more than one work-item.
    """
    block = bytearray(_SHAPE_BYTES)
    sizes = [g * b for g, b in zip(geometry.grid, geometry.block)]
    dimensions = max((axis for axis, size in enumerate(sizes, 1) if size > 1), default=1)
    struct.pack_into("<4I", block, 0, *sizes, dimensions)
    struct.pack_into("<3I", block, 16, *geometry.block)
    struct.pack_into("<3I", block, 32, *geometry.grid)
    struct.pack_into("<4f", block, 80, 0.0, 0.5, 1.0, 2.0)
    return bytes(block)


class Block:
    """The block of a launch while it is put together."""

    def __init__(self) -> None:
        self._bytes = bytearray(USER_BYTES)

    def add(self, content: bytes) -> int:
        """Put something behind what is there; its address."""
        self._bytes += bytes(-len(self._bytes) % 64)
        place = len(self._bytes)
        self._bytes += content
        return PARAMETER_WINDOW + place

    def table(self, kind: str, entries: Mapping[int, bytes]) -> int:
        """A table of descriptors by number; its address."""
        size = _ENTRY[kind]
        content = bytearray(size * (max(entries, default=0) + 1))
        for number, entry in entries.items():
            content[number * size : number * size + len(entry)] = entry
        return self.add(bytes(content))

    def registers(self, first: int, content: bytes) -> None:
        """What user registers hold, from a number on."""
        self._bytes[4 * first : 4 * first + len(content)] = content

    def finished(self) -> bytes:
        """All of it."""
        return bytes(self._bytes)


@dataclass
class DescriptorTables:
    """Descriptors by number."""

    constants: dict[int, bytes]
    uavs: dict[int, bytes] = field(default_factory=dict)
    resources: dict[int, bytes] = field(default_factory=dict)
    samplers: dict[int, bytes] = field(default_factory=dict)


def block_of(kernel: Kernel, shape: bytes, arguments: bytes, known: DescriptorTables) -> bytes:
    """The block of a launch, from constant buffers 0 and 1 and descriptors."""
    block = Block()
    buffers = dict(known.constants)
    for number, content in ((SHAPE, shape), (ARGUMENTS, arguments)):
        padded = content + bytes(-len(content) % CONSTANT_STRIDE)
        buffers[number] = descriptor(block.add(padded), len(padded), CONSTANT_STRIDE)
    tables: dict[int, tuple[str, Mapping[int, bytes]]] = {
        Element.CONSTANT_BUFFERS: ("constants", buffers),
        Element.UAVS: ("uavs", known.uavs),
        Element.RESOURCES: ("resources", known.resources),
    }
    single: dict[int, Mapping[int, bytes]] = {
        Element.CONSTANT_BUFFER: buffers,
        Element.UAV: known.uavs,
        Element.SAMPLER: known.samplers,
    }
    for element in kernel.user_elements:
        if element.kind in tables:
            address = block.table(*tables[element.kind])
            block.registers(element.first, struct.pack("<Q", address))
        elif element.kind in single:
            block.registers(element.first, _entry(kernel, element, single[element.kind]))
        else:
            raise WorkloadError(
                f"kernel {kernel.name}: its user registers hold an element of class "
                f"{element.kind}; known are {_known()}"
            )
    return block.finished()


def _entry(kernel: Kernel, element: UserElement, entries: Mapping[int, bytes]) -> bytes:
    if element.slot not in entries:
        kind = Element(element.kind).name.lower().replace("_", " ")
        raise WorkloadError(f"kernel {kernel.name}: no argument is its {kind} {element.slot}")
    return entries[element.slot][: 4 * element.count]


def _known() -> str:
    names: Iterable[str] = (f"{e.value} ({e.name.lower()})" for e in Element)
    return ", ".join(names)
