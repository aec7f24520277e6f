"""The mode in which a wavefront computes with floats: eight bits that its kernel starts with.

Rounding of f32 in bits 1:0 and of f64 in 3:2, subnormal numbers of f32 in 5:4 and of f64 and f16
in 7:6 (AMD, Southern Islands ISA, 2012, MODE register). AMD's compiler sets 0xC0. Whoever makes
code puts the mode into the builder; without one, it is that.
"""

from dataclasses import dataclass

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.floating import Result
from lockstep.execution.lanes.formats import flush
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import F32, Type, Value
from lockstep.isa.gcn.notes import USUAL_FLOAT_MODE

_ROUNDINGS = (Rounding.NEAREST, Rounding.UP, Rounding.DOWN, Rounding.ZERO)
_KEPT = 3  # operands and results; 1 and 2 are one of both
_SHIFTS = {"f32": (0, 4), "f64": (2, 6)}


@dataclass(frozen=True)
class FloatMode:
    """How results are rounded, and whether f32 may be subnormal; f64 always may."""

    single: Rounding
    double: Rounding
    keeps_singles: bool

    @classmethod
    def of(cls, bits: int) -> "FloatMode":
        """That of a kernel; raises :class:`ValueError` for one that is not executed."""
        if bits >> 8:
            raise ValueError(f"float mode {bits:#x} has more than eight bits")
        fields = {name: [bits >> k & 3 for k in shifts] for name, shifts in _SHIFTS.items()}
        for name, known in (("f32", (0, _KEPT)), ("f64", (_KEPT,))):
            if fields[name][1] not in known:
                high = _SHIFTS[name][1] + 1
                raise ValueError(
                    f"float mode {bits:#04x} has {fields[name][1]} in bits {high}:{high - 1}, "
                    f"subnormal numbers of {name}; expected {' or '.join(map(str, known))}"
                )
        single, double = (_ROUNDINGS[fields[name][0]] for name in _SHIFTS)
        return cls(single, double, fields["f32"][1] == _KEPT)

    def rounding(self, kind: Type) -> Rounding:
        """That of results of a type."""
        return self.single if kind == F32 else self.double


_USUAL = FloatMode.of(USUAL_FLOAT_MODE)


def mode_of(b: LaneBuilder) -> FloatMode:
    """The mode of the kernel that is being made."""
    return b.float_mode or _USUAL


def flush_in_mode(b: LaneBuilder, x: Value) -> Value:
    """An f32 whose subnormal numbers become zeros, unless the mode keeps them."""
    return x if mode_of(b).keeps_singles else flush(b, x)


def result_in_mode(b: LaneBuilder, kind: Type) -> Result:
    """What the mode does to operands and results of a type."""
    mode = mode_of(b)
    return Result(mode.rounding(kind), flush=kind == F32 and not mode.keeps_singles)
