"""The text of a kernel's thread blocks, from their streams."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.frontend.accelsim.addresses import (
    MODE_BULK_DELTAS,
    MODE_DELTAS,
    MODE_LIST,
    MODE_STRIDE,
)
from lockstep.frontend.accelsim.operands import operand_words, vector_registers
from lockstep.frontend.accelsim.statics import BULK_OPCODES
from lockstep.isa.instruction import THREADS_SHIFT, OpClass
from lockstep.isa.sass import traced_immediate
from lockstep.workload import Cta, Kernel
from lockstep.workload.bulk_copies import (
    OBJECT_SHIFT,
    TILE_AXIS,
    TILE_BARRIER,
    TILE_HEAD,
    TILE_WORDS,
)

_64_BITS = (1 << 64) - 1
_COUNTS = ("destinations", "sources")
_TILED = {OpClass.TILE_COPY: OpClass.BULK_COPY, OpClass.TILE_STORE: OpClass.BULK_STORE}
_AS_OTHERS = _TILED | {OpClass.OBJECT_WAIT: OpClass.ATOMIC}
_CACHE_BYTES = 1 << 26  # of templates; they are made anew when there are more


_Fill = Callable[[tuple[int, int, int], int, np.ndarray], str]
_Template = tuple[bytes, list[tuple[_Fill, bytes]]]


class NeedsNewerVersion(Exception):
    """The kernel has operands that the version of the trace format cannot express."""


class _Line(NamedTuple):
    """A static instruction as text, cut where its addresses go."""

    pc: int
    head: str
    tail: str
    empty: str  # what stands for the addresses when no lane is active
    fill: _Fill | None


class KernelText:
    """Formats blocks; what repeats is kept as templates: runs with holes for the addresses.

    ``leaves_out``: what the version cannot express is left out, in place of
    :class:`NeedsNewerVersion`.
    """

    def __init__(self, kernel: Kernel, version: int, leaves_out: bool = False):
        self._kernel, self._version, self._leaves_out = kernel, version, leaves_out
        self._statics: dict[int, _Line] = {}
        self._templates: dict[tuple[int, int, int], _Template] = {}
        self._size = 0

    def block(self, cta: Cta) -> Iterator[bytes]:
        """The section of one block, in pieces."""
        x, y, z = cta.index
        yield f"#BEGIN_TB\n\nthread block = {x},{y},{z}\n".encode()
        for number, warp in enumerate(cta.warps):
            yield f"\nwarp = {number}\ninsts = {warp['warp_instructions']}\n".encode()
            yield from self._warp(cta, warp)
        yield b"\n#END_TB\n\n"

    def _warp(self, cta: Cta, warp) -> Iterator[bytes]:
        first, count = int(warp["first_run"]), int(warp["runs"])
        start, stop = int(warp["first_address"]), int(warp["addresses"])
        entries = iter(cta.addresses[start : start + stop].tolist())
        for run in cta.runs[first : first + count].tolist():
            text, holes = self._templates.get(run) or self._template(*run)
            yield text
            for fill, text in holes:
                yield fill(next(entries), run[2], cta.pool).encode()
                yield text

    def _template(self, static: int, count: int, mask: int) -> _Template:
        """The text of a run; without active lanes there are no addresses to fill in."""
        pieces, fills = [""], []
        for index in range(static, static + count):
            line = self._static(index)
            lanes = mask & 1 if line.fill in (_tile, _tile_start) else mask
            pieces[-1] += f"{line.pc:04x} {lanes:08x} {line.head}"
            if line.fill and mask:
                fills.append(line.fill)
                pieces.append(line.tail)
            else:
                pieces[-1] += line.empty + line.tail
        first, *rest = (piece.encode() for piece in pieces)
        self._size += sum(map(len, pieces))
        if self._size > _CACHE_BYTES:
            self._templates.clear()
            self._size = 0
        template = self._templates[static, count, mask] = first, list(zip(fills, rest))
        return template

    def _static(self, index: int) -> _Line:
        if index not in self._statics:
            code = self._kernel.code
            record = code.instructions[index]
            self._statics[index] = self._line(record, code.texts[record["text"]])
        return self._statics[index]

    def _line(self, record, text: str) -> _Line:
        newer = self._version >= 6
        told = _TOLD.get(OpClass(record["op"])) if record["width"] > 0 else None
        if told:  # what a register held is written as an immediate
            record = record.copy()
            record["width"] = 0
        if not newer:
            seen = vector_registers(record)
            if not self._leaves_out and any(seen[n] < record[n] for n in _COUNTS):
                raise NeedsNewerVersion
            record = seen
        op = record["op"]
        tiled = op in _TILED
        if op in _AS_OTHERS:
            record = record.copy()
            record["op"] = _AS_OTHERS[op]
        words = operand_words(record, text, self._kernel.architecture)
        flag = " 0" if newer and "GMMA" in text else ""
        head = f"{words}{flag} {record['width']}"
        if tiled:
            if newer:
                end = f" 0 0 {MODE_BULK_DELTAS} 0x0 0"
                return _Line(record["pc"], head + " 0x0 0", " 0 0 NoVal\n", end, _tile)
            if not self._leaves_out:
                raise NeedsNewerVersion
            tail = f" {traced_immediate(record)} \n"
            return _Line(record["pc"], head, tail, f" {MODE_STRIDE} 0x0 0", _tile_start)
        if newer and text.partition(".")[0] in BULK_OPCODES:
            head += f" 0x0 0 {record['immediate']} 0"  # no barrier, no multicast, bytes, none lost
            return _Line(record["pc"], head, " 0 0 NoVal\n", f" {MODE_BULK_DELTAS} 0x0 0", _bulk)
        immediate = traced_immediate(record)
        if told:
            return _Line(record["pc"], head, " 0 NoVal\n" if newer else " \n", " 0", told)
        tail = f" {immediate} 0 NoVal\n" if newer else f" {immediate} \n"
        if record["width"] == 0:
            return _Line(record["pc"], head, tail, "", None)
        fill = _objects if op == OpClass.OBJECT_WAIT else _lanes
        return _Line(record["pc"], head, tail, f" {MODE_STRIDE} 0x0 0", fill)


def _lanes(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """Mode and addresses of one instruction, in the shortest way."""
    base, stride, first = entry
    lanes = mask.bit_count()
    if first < 0:
        lowest = mask & -mask
        if (mask + lowest) & mask == 0:
            return f" {MODE_STRIDE} 0x{base & _64_BITS:x} {stride}"
        return f" {MODE_DELTAS} 0x{base & _64_BITS:x}" + f" {stride}" * (lanes - 1)
    values = pool[first : first + lanes].tolist()
    steps = (_wrapped(b - a) for a, b in pairwise(values))
    deltas = f" {MODE_DELTAS} 0x{values[0] & _64_BITS:x}" + "".join(f" {d}" for d in steps)
    listed = f" {MODE_LIST}" + "".join(f" 0x{value & _64_BITS:x}" for value in values)
    return min(deltas, listed, key=len)


def _slept(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """For how many nanoseconds a warp sleeps."""
    return f" {entry[0]}"


def _named(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """The threads that a barrier waits for, or its number: there is room for one of both."""
    threads, number = divmod(entry[0], 1 << THREADS_SHIFT)
    if threads and number:
        raise WorkloadError(
            f"barrier {number} of {threads} threads has no form in an Accel-Sim trace, "
            "which keeps a number or a count: write a .lst file"
        )
    return f" {threads or number}"


def _bulk(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """Mode, address and number of transfers of a bulk copy."""
    base, stride, first = entry
    if stride or first >= 0:
        raise WorkloadError("a bulk copy has one address, not one for each lane")
    return f" {MODE_BULK_DELTAS} 0x{base & _64_BITS:x} 1"


def _objects(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """Mode and addresses of barrier objects, without how many copies they wait for."""
    base, stride, first = entry
    low = (1 << OBJECT_SHIFT) - 1
    if first < 0:
        return _lanes((base & low, stride, first), mask, pool)
    return _lanes((0, 0, 0), mask, pool[first : first + mask.bit_count()] & low)


def _tile(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """Bytes, those outside, mode, address and number of transfers: as if rows were adjacent.

    Where im2col leaves the images is not told apart.
    """
    words = _words(entry, pool).tolist()
    axes = [words[k : k + TILE_AXIS] for k in range(TILE_HEAD, TILE_BARRIER, TILE_AXIS)]
    first = words[0] + sum(max(axis[0], axis[0] % axis[3]) * axis[5] for axis in axes)
    rows = asked = words[2]
    boxes = [range(low, high + 1, step) for _, low, high, step, _, _ in axes]
    if prod(map(len, boxes)) == rows:
        inside = (sum(0 <= at <= axis[4] for at in box) for box, axis in zip(boxes, axes))
        rows = prod(inside)
    row = words[1] * words[3]
    size, outside = rows * row, (asked - rows) * row
    return f" {size} {outside} {MODE_BULK_DELTAS} 0x{first & _64_BITS:x} 1"


def _tile_start(entry: tuple[int, int, int], mask: int, pool: np.ndarray) -> str:
    """Mode and address of the first row."""
    words = _words(entry, pool)
    axes = words[TILE_HEAD:TILE_BARRIER].reshape(-1, TILE_AXIS)
    first = int(words[0] + (axes[:, 0] * axes[:, -1]).sum())
    return f" {MODE_STRIDE} 0x{first & _64_BITS:x} 0"


def _words(entry: tuple[int, int, int], pool: np.ndarray) -> np.ndarray:
    base, stride, first = entry
    if first < 0:
        return base + stride * np.arange(TILE_WORDS)
    return pool[first : first + TILE_WORDS]


def _wrapped(difference: int) -> int:
    """A difference of addresses modulo 2**64, as int64."""
    return (difference + (1 << 63) & _64_BITS) - (1 << 63)


_TOLD: dict[OpClass, _Fill] = {
    OpClass.SLEEP: _slept,
    OpClass.BARRIER: _named,
    OpClass.ARRIVE: _named,
}
