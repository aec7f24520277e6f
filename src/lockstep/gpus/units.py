"""Which execution unit an operation class runs on, how long it takes, how often it can start."""

from typing import NamedTuple, TypeVar

from lockstep.gpus.sm import ExecutionUnit
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import OpClass

Value = TypeVar("Value")
NO_UNIT = -1

FALLBACK = {
    OpClass.UNKNOWN: OpClass.INT32,
    OpClass.FP16: OpClass.FP32,
    OpClass.FP64: OpClass.FP32,
    OpClass.INT32: OpClass.FP32,
    OpClass.IMAD: OpClass.INT32,
    OpClass.IMAD_WIDE: OpClass.IMAD,
    OpClass.MOVE: OpClass.INT32,
    OpClass.CONVERT: OpClass.SFU,
    OpClass.PACK: OpClass.CONVERT,
    OpClass.SFU: OpClass.FP32,
    OpClass.SHUFFLE: OpClass.MOVE,
    OpClass.VOTE: OpClass.INT32,
    OpClass.MATCH: OpClass.VOTE,
    OpClass.REDUX: OpClass.VOTE,
    OpClass.SPECIAL_REGISTER: OpClass.MOVE,
    OpClass.SPECIAL_MOVE: OpClass.SPECIAL_REGISTER,
    OpClass.UNIFORM: OpClass.INT32,
    OpClass.HMMA: OpClass.FP16,
    OpClass.IMMA: OpClass.HMMA,
    OpClass.GMMA: OpClass.HMMA,
    OpClass.DMMA: OpClass.FP64,
}
"""A computing class that no unit names runs as this one. Every chain ends at FP32, which each
GPU must have. The other classes (memory, branches, barriers ...) need no unit: they take an issue
slot and go where they belong."""


def _chain(op: OpClass) -> list[str]:
    return [op.name, *(_chain(FALLBACK[op]) if op in FALLBACK else [])]


_CHAINS = [_chain(op) for op in OpClass]  # names are looked up slowly in an enumeration


class Operation(NamedTuple):
    """How one GPU executes one operation class."""

    unit: int  # index into sm.units, or NO_UNIT
    latency: int  # cycles until a dependent instruction may issue
    interval: int  # cycles between two starts on the same unit
    instances: int  # units of the kind, in each scope, that execute it


_NOWHERE = Operation(NO_UNIT, 1, 1, 0)


def operations(gpu: GPU) -> tuple[Operation, ...]:
    """One :class:`Operation` for each :class:`OpClass`, indexed by its value."""
    named = _named(gpu)
    return tuple([_first(named, names) for names in _CHAINS])


def opcodes(gpu: GPU) -> dict[str, Operation]:
    """The operations that units name by opcode, which go before those of their classes."""
    return {name: o for name, o in _named(gpu).items() if name not in OpClass.__members__}


def _named(gpu: GPU) -> dict[str, Operation]:
    return {
        operation: Operation(
            index,
            latency,
            interval(unit, operation, gpu.sm.warp_size),
            instances(unit, operation),
        )
        for index, unit in enumerate(gpu.sm.units)
        for operation, latency in unit.operations.items()
    }


def by_opcode(table: dict[str, Value], opcode: str) -> Value | None:
    """The entry for an opcode: the longest name that it begins with, ``_`` for each dot."""
    if not table:  # most GPUs have few such tables, and a kernel has many opcodes
        return None
    parts = opcode.replace(".", "_").split("_")
    names = ("_".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((table[name] for name in names if name in table), None)


def interval(unit: ExecutionUnit, operation: str, warp_size: int) -> int:
    """Cycles between two starts of an instruction of a whole warp on one such unit."""
    return unit.intervals.get(operation, -(-warp_size // unit.lanes))


def instances(unit: ExecutionUnit, operation: str) -> int:
    """Units of the kind, in each scope, that execute an operation."""
    return unit.instances.get(operation, unit.count)


def threads_per_cycle(gpu: GPU, operation: str) -> float:
    """Threads of an operation class that the whole GPU can start in a core cycle."""
    for unit in gpu.sm.units:
        if operation in unit.operations:
            owners = gpu.sm.subcores if unit.scope == "subcore" else 1
            units = gpu.sm.count * owners * instances(unit, operation)
            warp_size = gpu.sm.warp_size
            return units * warp_size / interval(unit, operation, warp_size)
    return 0.0


def _first(named: dict[str, Operation], names: list[str]) -> Operation:
    return next((named[name] for name in names if name in named), _NOWHERE)
