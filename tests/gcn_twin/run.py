"""Operations applied to whole arrays: many of them in one kernel, without an instruction set.

Operand arrays have an element for each lane, as the types of an ``Arithmetic`` say: float32 and
float64, uint32 and uint64 for integers, bool for masks.
"""

import numpy as np
from llvmlite import ir

from lane_kernels import Block, Kernel, run
from lockstep.execution.lanes.builder import POINTER, WORD
from lockstep.execution.lanes.flow import counted
from lockstep.execution.lanes.scalars import SLOT_BYTES, Scalars
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED

LANES = 64
KERNEL_OPERATIONS = 40  # LLVM takes more than twice as long for a block of twice as many
ARRAYS = {F32: np.float32, F64: np.float64, I32: np.uint32, I64: np.uint64, PRED: bool}


class Arena:
    """Arrays one behind the other in one of bytes."""

    def __init__(self):
        self.parts, self.places, self.size = [], {}, 0

    def place(self, array):
        """Where an array is, from now on."""
        if id(array) not in self.places:
            self.places[id(array)] = self.size
            self.parts.append(array)
            self.size += -(-array.nbytes // 64) * 64
        return self.places[id(array)]

    def bytes(self):
        memory = np.zeros(self.size, np.uint8)
        for array in self.parts:
            start = self.places[id(array)]
            memory[start : start + array.nbytes] = np.ascontiguousarray(array).view(np.uint8)
        return memory


def _chunks(cases):
    names = list(cases)
    for first in range(0, len(names), KERNEL_OPERATIONS):
        yield {name: cases[name] for name in names[first : first + KERNEL_OPERATIONS]}


def on_lanes(cases, active, mode=None):
    """Results by name of ``(operation, operands)`` in the lanes that are active, 0 in others.

    Each is a tuple of arrays. ``mode``: a FloatMode, if not the usual one.
    """
    found = {}
    for chunk in _chunks(cases):
        found |= _on_lanes(chunk, active, mode)
    return found


def _on_lanes(cases, active, mode):
    inputs, outputs = Arena(), Arena()
    packed = {}

    def memory_of(array):
        if array.dtype != bool:
            return array
        return packed.setdefault(id(array), np.packbits(array, bitorder="little"))

    results = {
        name: [np.zeros(len(active), ARRAYS[kind]) for kind in operation.results]
        for name, (operation, _) in cases.items()
    }
    lanes = memory_of(active)
    plans = []
    for name, (operation, operands) in cases.items():
        sources = [inputs.place(memory_of(v)) for v in operands]
        targets = [outputs.place(memory_of(r)) for r in results[name]]
        plans.append((operation, sources, targets))
    mask_place = inputs.place(lanes)

    def block(lift):
        b = lift.b
        b.float_mode = mode
        warp = b.field("warp", "index")
        bases = [b.ir.inttoptr(lift.argument(k), POINTER) for k in range(2)]

        def pointer(base, start, kind):
            size = LANES // 8 if kind == PRED else LANES * kind.bytes
            offset = b.ir.add(b.ir.mul(warp, ir.Constant(WORD, size)), ir.Constant(WORD, start))
            return b.offset(bases[base], offset)

        with b.guarded(b.load_vector(pointer(0, mask_place, PRED), PRED)):
            for operation, sources, targets in plans:
                kinds = zip(sources, operation.sources, strict=True)
                values = [b.load_vector(pointer(0, at, kind), kind) for at, kind in kinds]
                found = operation(b, *values)
                found = found if isinstance(found, tuple) else (found,)
                for at, value, kind in zip(targets, found, operation.results, strict=True):
                    assert value.type == kind
                    b.store_vector(pointer(1, at, kind), value, b.active)

    kernel = Kernel(LANES, [Block(block)])
    memory = run(kernel, len(active), inputs.bytes(), outputs.bytes())[1]
    return {
        name: tuple(_unpacked(memory, outputs, memory_of(r), r) for r in results[name])
        for name in cases
    }


def _unpacked(memory, arena, packed, like):
    start = arena.places[id(packed)]
    part = memory[start : start + packed.nbytes]
    if like.dtype == bool:
        return np.unpackbits(part, bitorder="little").astype(bool)
    return part.view(like.dtype)


def on_scalars(cases):
    """Results by name of ``(operation, operands)`` on values that a wavefront holds once."""
    found = {}
    for chunk in _chunks(cases):
        found |= _on_scalars(chunk)
    return found


def _on_scalars(cases):
    """One wavefront goes through all elements, each in 64 bits."""
    inputs, outputs, wide = Arena(), Arena(), {}
    for _, operands in cases.values():
        for array in operands:
            wide.setdefault(id(array), array.astype(np.uint64))
    count = len(next(iter(wide.values())))
    results = {
        name: [np.zeros(count, np.uint64) for _ in operation.results]
        for name, (operation, _) in cases.items()
    }
    plans = [
        (
            operation,
            [inputs.place(wide[id(v)]) for v in operands],
            [outputs.place(r) for r in results[name]],
        )
        for name, (operation, operands) in cases.items()
    ]

    def block(lift):
        b, s = lift.b, Scalars(lift.b)
        bases = [b.ir.inttoptr(lift.argument(k), POINTER) for k in range(2)]
        with counted(b, ir.Constant(ir.IntType(32), count)) as k:
            step = b.ir.mul(b.ir.zext(k, WORD), ir.Constant(WORD, SLOT_BYTES))

            def pointer(base, start):
                return b.offset(bases[base], b.ir.add(step, ir.Constant(WORD, start)))

            for operation, sources, targets in plans:
                kinds = zip(sources, operation.sources, strict=True)
                found = operation(s, *(s.load(pointer(0, at), kind) for at, kind in kinds))
                found = found if isinstance(found, tuple) else (found,)
                for at, value, kind in zip(targets, found, operation.results, strict=True):
                    assert value.type == kind
                    s.store(pointer(1, at), value)

    memory = run(Kernel(LANES, [Block(block)]), LANES, inputs.bytes(), outputs.bytes())[1]
    return {
        name: tuple(
            _unpacked(memory, outputs, r, r).astype(ARRAYS[kind])
            for r, kind in zip(results[name], operation.results)
        )
        for name, (operation, _) in cases.items()
    }
