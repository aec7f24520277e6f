"""What of a module cannot be executed, found when it is loaded, without translating anything.

Every instruction is lifted as it is for execution, but onto a builder that emits nothing: the two
cannot disagree. Instructions that differ in nothing that a lift looks at are lifted once.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from lockstep.errors import InputError
from lockstep.execution.lanes.dry import DryBuilder
from lockstep.execution.lanes.types import I32, Value
from lockstep.execution.ptx import instructions  # noqa: F401  (fills the table)
from lockstep.execution.ptx.arity import check_operands
from lockstep.execution.ptx.callgraph import CallGraph
from lockstep.execution.ptx.demands import demand
from lockstep.execution.ptx.graph import Block, refusal_at
from lockstep.execution.ptx.layout import Layout
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import find
from lockstep.execution.ptx.refusals import unsupported
from lockstep.execution.ptx.spelling import respell
from lockstep.execution.ptx.vectors import split_vectors
from lockstep.isa.instruction import WARP_SIZE
from lockstep.isa.ptx.syntax import (
    Function,
    Immediate,
    Instruction,
    Memory,
    Module,
    Negated,
    Operand,
    Pair,
    Position,
    Register,
    Sink,
    Vector,
)

SHOWN = 10  # places of further refusals in a message


def check(module: Module, shared_bytes: int) -> None:
    """Raise :class:`InputError` if anything in a module cannot be executed.

    It is about the first thing in the text, and says where the others are. ``shared_bytes``: that
    a CTA can have.
    """
    found = refusals(module, shared_bytes)
    if not found:
        return
    first, *others = found
    message = first.message
    if others:
        places = [other.where.partition(",")[0] for other in others[:SHOWN]]
        more = ", ..." if len(others) > SHOWN else ""
        message += f" (and {len(others)} more: {', '.join(places)}{more})"
    raise InputError(first.path, first.where, message)


def refusals(module: Module, shared_bytes: int) -> list[InputError]:
    """Why what cannot be executed is refused, in the order of the text; see :func:`check`."""
    found = []
    if module.address_size != 64:
        found.append((Position(1, 1), f"addresses of {module.address_size} bits are not supported"))
    checker = _Checker(module, shared_bytes)
    for function in module.functions.values():
        if function.has_body:
            found += checker.problems(function)
    return [refusal_at(module, *problem) for problem in found]


def check_legal(module: Module) -> None:
    """Raise :class:`InputError` for the first thing that is no PTX, whatever can be executed.

    That is an instruction that the PTX ISA has not, or with too few or too many operands.
    """
    seen = set()
    for function in module.functions.values():
        split_vectors(function)
        respell(function)
        for i in function.instructions:
            if (key := (i.name, len(i.operands))) in seen:
                continue
            seen.add(key)
            if find(i.name) is None and unsupported(i.name) is not None:
                continue
            check_operands(module, function, i)


class _Checker:
    """``known``: what there is against instructions of a shape, "" if nothing."""

    def __init__(self, module: Module, shared_bytes: int):
        self.module, self.calls, self.shared_bytes = module, _DirectCalls(module), shared_bytes
        self.known: dict[tuple, str] = {}

    def problems(self, function: Function) -> Iterator[tuple[Position, str]]:
        """What there is against a function and its instructions, and where."""
        split_vectors(function)
        respell(function)
        self.calls.look_at(function)
        layout = Layout(self.calls)
        if function.is_entry and (problem := self._head(function, layout)):
            yield function.position, f"kernel {function.name}: {problem}"
        lift = _DryLift(self.module, layout, function)
        for place, instruction in enumerate(function.instructions):
            problem = self._problem(lift, instruction, place)
            if problem:
                yield instruction.position, problem

    def _head(self, function: Function, layout: Layout) -> str:
        need = layout.shared_bytes
        if need > self.shared_bytes:
            return f"{need} bytes of static shared memory; a CTA has at most {self.shared_bytes}"
        return demand(function)

    def _problem(self, lift: "_DryLift", i: Instruction, place: int) -> str:
        shapes = tuple([_shape(o, lift.function) for o in i.operands])
        if None in shapes:
            return self._lifted(lift, i, place)
        key = (i.opcode, i.modifiers, i.guard is None, shapes)
        if key not in self.known:
            self.known[key] = self._lifted(lift, i, place)
        return self.known[key]

    def _lifted(self, lift: "_DryLift", i: Instruction, place: int) -> str:
        try:
            entry = check_operands(self.module, lift.function, i)
            lift.open(i, place)
            lift.guard()
            entry.lift(lift, i)
            if entry.resume is not None:
                lift.instruction = replace(i, guard=None)
                entry.resume(lift, lift.instruction)
        except InputError as error:
            return error.message
        return ""


def _shape(operand: Operand, function: Function) -> object:
    """All of an operand that a lift can decide by; None if that is not the operand alone."""
    match operand:
        case Register(name):
            variable = function.registers.get(name)
            return operand if variable is None else variable.type
        case Immediate() | Sink():
            return operand
        case Negated(register):
            return _several("!", (register,), function)
        case Vector(elements):
            return _several("{}", elements, function)
        case Pair(first, second):
            return _several("|", (first, second), function)
        case Memory(Register() as base, offset, extra):
            return _several("[+]" if offset else "[]", (base, *extra), function)
    return None


def _several(kind: str, operands: tuple[Operand, ...], function: Function) -> tuple | None:
    shapes = tuple([_shape(o, function) for o in operands])
    return None if None in shapes else (kind, shapes)


class _DirectCalls(CallGraph):
    """A function and those that it calls itself, for one function of a module after the other.

    Calls that are refused are left out here; their lifts refuse them.
    """

    def __init__(self, module: Module):
        self.module, self.functions, self.recursive = module, [], set()
        self._taken = None

    def look_at(self, function: Function) -> None:
        """Make it the function that the graph is of."""
        called: dict[str, Function] = {}
        for instruction in function.instructions:
            if instruction.opcode == "call":
                try:
                    called |= {f.name: f for f in self.callees(function, instruction)}
                except InputError:
                    continue
        called.pop(function.name, None)
        self.functions = [*called.values(), function]


class _DryLift(Lift):
    """The lift of a function's instructions, one by one, onto a builder that emits nothing."""

    def __init__(self, module: Module, layout: Layout, function: Function):
        super().__init__(module, layout, Block(0, 1, function=function), DryBuilder(WARP_SIZE))
        layout.entries = {called.name: 0 for called in layout.calls.functions}

    def open(self, i: Instruction, place: int) -> None:
        """Begin an instruction, in a block of its own that it may leave for anywhere."""
        self.block = Block(place, place + 1, function=self.function)
        self.block.taken = self.block
        if i.opcode == "brx":
            self.block.more = [self.block]
        self.instruction, self.number = i, place
        self._values.clear()

    def slot(self, function: str, name: str) -> Value:
        """A value of the register's type; there are no slots."""
        known = (function, name) in self.layout.registers
        return self.b.undefined(self.type(name, function) if known else I32)

    def put(self, function: str, name: str, value: Value) -> None:
        """Nothing: there are no slots."""
