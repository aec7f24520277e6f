"""Modules of code over lanes, and the routines that they share."""

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir

from lockstep.execution.checks.kinds import Check
from lockstep.execution.programs import assemblers, kept
from lockstep.execution.programs.program import WORD_GRANULE, ObjectFile, Objects
from lockstep.isa.instruction import WARP_SIZES

PIECE = 1500  # instructions of LLVM that are assembled together: 0.05 s
_LOGIC = ("and", "or", "xor", "fneg")


class LaneModule(ir.Module):
    """Functions that are compiled together, of warps of ``lanes`` lanes.

    Their code looks for mistakes (``checks``), for races in granules of 2 ** ``granule`` bytes.
    """

    def __init__(
        self,
        lanes: int,
        checks: Check = Check.NOTHING,
        granule: int = WORD_GRANULE,
        soon: bool = False,
    ):
        """``soon``: see :func:`native.assemble`."""
        super().__init__()
        if lanes not in WARP_SIZES:
            raise ValueError(f"warps of {lanes} lanes; expected one of {WARP_SIZES}")
        self.triple = ""
        self.lanes = lanes
        self.checks, self.granule = checks, granule
        self.soon = soon
        self._routines: list[str] = []
        self._complete: list[ir.Function] = []  # yet to be assembled
        self._instructions = 0  # of these
        self._jobs: list[tuple[assemblers.Assembly, tuple[str, ...]]] = []

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
        function = ir.Function(module, kind, symbol)
        emit(function)
        module.complete(function)
        return module.compiled()

    def complete(self, function: ir.Function) -> None:
        """A function is complete. Its body is gone some time after."""
        self._complete.append(function)
        self._instructions += sum(len(block.instructions) for block in function.blocks)
        if self._instructions >= PIECE:
            self._hand_over()

    def compiled(self) -> Objects:
        """The object code of all functions that were completed; no more come."""
        if self._complete or not self._jobs:
            self._hand_over()
        code = assemblers.results([job for job, _ in self._jobs])
        files = [ObjectFile(one, names) for one, (_, names) in zip(code, self._jobs, strict=True)]
        return Objects(tuple(files), tuple(self._routines))

    def _hand_over(self) -> None:
        """Let the functions that are complete be assembled."""
        _separate_loads(self, self._complete)
        text = self._text(self._complete)
        _dissolve(self._complete)
        names = tuple([function.name for function in self._complete])
        self._jobs.append((assemblers.submit(text, self.soon), names))
        self._complete, self._instructions = [], 0

    def _text(self, functions: list[ir.Function]) -> str:
        """A module of some of the functions, and of all that is declared."""
        declared = [each for each in self.global_values if not getattr(each, "blocks", None)]
        lines = [f'target triple = "{self.triple}"', *map(str, declared), *map(str, functions)]
        return "\n".join([*lines, *map(str, self.metadata)])


def _dissolve(functions: Iterable[ir.Function]) -> None:
    """Free instructions now: they and their blocks know each other, and are many.

    To find that nobody needs them took garbage collection a twentieth of the time to translate.
    """
    for function in functions:
        for block in function.blocks:
            block.instructions.clear()
            block.terminator = None


def _separate_loads(module: ir.Module, functions: Iterable[ir.Function]) -> None:
    """Keep vectors that logic combines from being memory operands: such loads are nontemporal.

    LLVM 22.1 gives a VPTERNLOG that has a memory operand and a mask the wrong truth table. A select
    between x and x with a bit of a loaded y, as at the end of ``fmodf``, had bits of neither.
    """
    one = module.add_metadata([ir.Constant(ir.IntType(32), 1)])
    for function in functions:
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
