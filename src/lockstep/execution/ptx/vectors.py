"""Vector registers (``.reg .v4 .f32 v;``): each of their elements is a register by itself."""

from msgspec.structs import replace

from lockstep.isa.ptx.syntax import (
    Call,
    Function,
    Memory,
    Operand,
    Pair,
    Register,
    Variable,
    Vector,
)

_ELEMENTS = "xyzw"


def split_vectors(function: Function) -> None:
    """Put the elements of a function's vector registers in the place of these."""
    vectors = {name: v for name, v in function.registers.items() if v.vector > 1}
    if not vectors:
        return
    for name, variable in vectors.items():
        del function.registers[name]
        for element in _ELEMENTS[: variable.vector]:
            own = f"{name}.{element}"
            function.registers[own] = replace(variable, name=own, vector=1)
    for number, i in enumerate(function.instructions):
        operands = tuple([_split(operand, vectors) for operand in i.operands])
        if operands != i.operands:
            function.instructions[number] = replace(i, operands=operands)


def _split(operand: Operand | Call, vectors: dict[str, Variable]) -> Operand | Call:
    match operand:
        case Register(name, component) if name in vectors:
            count = vectors[name].vector
            elements = [Register(f"{name}.{e}") for e in _ELEMENTS[:count]]
            return elements[component] if component >= 0 else Vector(tuple(elements))
        case Vector(elements):
            return Vector(tuple([_split(e, vectors) for e in elements]))
        case Pair(first, second):
            return Pair(_split(first, vectors), _split(second, vectors))
        case Memory(base, offset, extra):
            rest = tuple([_split(e, vectors) for e in extra])
            return Memory(_split(base, vectors), offset, rest)
        case Call(results=results, arguments=arguments):
            lists = [tuple([_split(o, vectors) for o in part]) for part in (results, arguments)]
            return replace(operand, results=lists[0], arguments=lists[1])
    return operand
