"""Modules of code over lanes, and the routines that they share."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from lockstep.execution.checks.kinds import Check
from lockstep.execution.programs import kept, native
from lockstep.execution.programs.program import WORD_GRANULE, Objects
from lockstep.isa.instruction import WARP_SIZES

_LOGIC = ("and", "or", "xor", "fneg")


class LaneModule(ir.Module):
    """Functions that are compiled together, of warps of ``lanes`` lanes.

    Their code looks for mistakes (``checks``), for races in granules of 2 ** ``granule`` bytes.
    """

    def __init__(self, lanes: int, checks: Check = Check.NOTHING, granule: int = WORD_GRANULE):
        super().__init__()
        if lanes not in WARP_SIZES:
            raise ValueError(f"warps of {lanes} lanes; expected one of {WARP_SIZES}")
        self.triple = ""
        self.lanes = lanes
        self.checks, self.granule = checks, granule
        self._routines: list[str] = []

    def declared(self, name: str, kind: ir.FunctionType) -> ir.Function:
        """A function by name, declared if it is not there yet."""
        function = self.globals.get(name)
        return ir.Function(self, kind, name) if function is None else function

    def routine(
        self, name: str, kind: ir.FunctionType, emit: Callable[[ir.Function], None]
    ) -> ir.Function:
        """A function that all modules share, compiled once: for what is too long to repeat.

        ``emit(function)`` gives it its body, in a module of its own. ``name`` must tell apart all
        that the body depends on besides ``kind``, and what the module looks for.
        """
        symbol = f"lanes{self.lanes}.{name}"
        if self.checks:
            symbol += f".{int(self.checks)}.{self.granule}"
        known = self.globals.get(symbol)
        if known is not None:
            return known
        kept.routine(symbol, lambda: self._make(symbol, kind, emit))
        self._routines.append(symbol)
        return ir.Function(self, kind, symbol)

    def _make(self, symbol: str, kind: ir.FunctionType, emit: Callable) -> Objects:
        module = LaneModule(self.lanes, self.checks, self.granule)
        emit(ir.Function(module, kind, symbol))
        return module.compiled()

    def compiled(self, soon: bool = False) -> Objects:
        """Its object code (see :func:`native.assemble`); the bodies of its functions are gone."""
        _separate_loads(self)
        text = str(self)
        _dissolve(self)
        return Objects(native.assemble(text, soon), tuple(self._routines))


def _dissolve(module: ir.Module) -> None:
    """Free instructions now: they and their blocks know each other, and are many.

    To find that nobody needs them took garbage collection a twentieth of the time to translate.
    """
    for function in module.functions:
        for block in function.blocks:
            block.instructions.clear()
            block.terminator = None


def _separate_loads(module: ir.Module) -> None:
    """Keep vectors that logic combines from being memory operands: such loads are nontemporal.

    LLVM 22.1 gives a VPTERNLOG that has a memory operand and a mask the wrong truth table. A select
    between x and x with a bit of a loaded y, as at the end of ``fmodf``, had bits of neither.
    """
    one = module.add_metadata([ir.Constant(ir.IntType(32), 1)])
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.opname in _LOGIC:
                    for operand in instruction.operands:
                        _separate(operand, one)


def _separate(value: ir.Value, one: Any) -> None:
    while isinstance(value, ir.CastInstr) and value.opname == "bitcast":
        value = value.operands[0]
    if isinstance(value, ir.LoadInstr) and isinstance(value.type, ir.VectorType):
        value.set_metadata("nontemporal", one)
