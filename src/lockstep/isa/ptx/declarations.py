"""Declarations of variables, registers and parameters."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from lockstep.isa.ptx.expressions import read_count, read_integer
from lockstep.isa.ptx.initialisers import InitialReader
from lockstep.isa.ptx.lexer import DOT, Cursor
from lockstep.isa.ptx.literals import read_literal
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.syntax import Variable, type_bytes

SPACES = frozenset(["reg", "const", "global", "local", "param", "shared", "sreg", "tex"])
TYPES = frozenset(
    [
        *("b8", "b16", "b32", "b64", "b128", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"),
        *("f16", "f16x2", "f32", "f64", "bf16", "bf16x2", "tf32"),
        *("texref", "samplerref", "surfref"),
        *("e4m3", "e5m2", "e4m3x2", "e5m2x2", "pred"),
    ]
)
_VECTORS = {".v2": 2, ".v4": 4}
_WIDEST = 16  # bytes of a vector (PTX ISA, "Vectors")
_MOST_REGISTERS = 1 << 18  # of one range: what a typing error may cost
_POINTEES = frozenset([".const", ".global", ".local", ".shared"])


class Qualifiers(msgspec.Struct):
    """What stands between a space and the names: shared by all names of a declaration."""

    type: str = ""
    vector: int = 1
    alignment: int = 0
    attributes: tuple[str, ...] = ()


def read_variables(cursor: Cursor, names: Names, linkage: str = "") -> Iterator[Variable]:
    """Go past ``.space ... name, name;``; yields the variables, ranges of registers expanded.

    A variable is to be declared when it is yielded: later ones may name it.
    """
    template = _read_template(cursor, linkage)
    while True:
        place = cursor.position(cursor.index)
        named = replace(template, name=cursor.identifier("a name"), position=place)
        yield from _read_declarator(cursor, names, named)
        if cursor.accept(";"):
            return
        cursor.expect(",", "or ';' in a declaration")


def read_parameter(cursor: Cursor) -> Variable:
    """Go past one parameter of a function: ``.param`` or ``.reg``, type, name or ``_``, extents."""
    if cursor.texts[cursor.index] not in (".param", ".reg"):
        raise cursor.expected("'.param' or '.reg'")
    template, place = _read_template(cursor, ""), cursor.position(cursor.index)
    name = "_" if cursor.accept("_") else cursor.identifier("a name")
    shape = _read_shape(cursor, template)
    return replace(template, name=name, position=place, shape=shape)


def _read_template(cursor: Cursor, linkage: str) -> Variable:
    """What the names of a declaration share: a Variable without a name."""
    place = cursor.position(cursor.index)
    space, bank = _read_space(cursor)
    q = _read_qualifiers(cursor, space)
    if space == "tex":  # PTX ISA, "Texture State Space (deprecated)": a texture reference
        space, q.type = "global", "texref"
    attributes = bank + q.attributes
    return Variable("", space, q.type, place, q.vector, (), q.alignment, (), linkage, attributes)


def _read_space(cursor: Cursor) -> tuple[str, tuple[str, ...]]:
    """The space, and its bank as attributes: ``.const[3]``."""
    space = cursor.texts[cursor.index][1:].partition("::")[0]
    cursor.index += 1
    if space == "sreg":
        raise cursor.error("expected no '.sreg': special registers need no declaration",
                           cursor.index - 1)  # fmt: skip
    if space != "const" or not cursor.accept("["):
        return space, ()
    bank = read_count(cursor, "a bank", 10)  # PTX ISA, "Banked Constant State Space"
    cursor.expect("]", "after a bank")
    return space, ("bank", str(bank))


def _read_qualifiers(cursor: Cursor, space: str) -> Qualifiers:
    qualifiers = Qualifiers()
    while cursor.kinds[cursor.index] == DOT:
        _read_qualifier(cursor, qualifiers)
    if not qualifiers.type:
        raise cursor.expected("a type")
    if qualifiers.type == "pred" and space != "reg":
        raise cursor.error("expected '.reg' for predicates", cursor.index - 1)
    if qualifiers.type == "pred" and qualifiers.vector > 1:
        raise cursor.error("expected no vector of predicates", cursor.index - 1)
    if type_bytes(qualifiers.type) * qualifiers.vector > _WIDEST:
        raise cursor.error(f"expected a vector of at most {_WIDEST} bytes", cursor.index - 1)
    return qualifiers


def _read_qualifier(cursor: Cursor, qualifiers: Qualifiers) -> None:
    text = cursor.texts[cursor.index]
    if text[1:] in TYPES and not qualifiers.type:
        qualifiers.type = text[1:]
    elif text in _VECTORS:
        qualifiers.vector = _VECTORS[text]
    elif text not in _QUALIFIERS:
        raise cursor.expected("a type" if not qualifiers.type else "a name")
    cursor.index += 1
    if text in _QUALIFIERS:
        _QUALIFIERS[text](cursor, qualifiers)


def _read_alignment(cursor: Cursor, qualifiers: Qualifiers) -> None:
    qualifiers.alignment = _alignment(cursor)


def _alignment(cursor: Cursor) -> int:
    start = cursor.index
    alignment = read_count(cursor, "an alignment")
    if alignment & (alignment - 1) or not alignment:
        raise cursor.error(f"expected a power of two as alignment, found {alignment}", start)
    return alignment


def _read_pointee(cursor: Cursor, qualifiers: Qualifiers) -> None:
    words = ["ptr"]
    if cursor.texts[cursor.index] in _POINTEES:
        words.append(cursor.texts[cursor.index][1:])
        cursor.index += 1
    if cursor.accept(".align"):
        words += ["align", str(_alignment(cursor))]
    qualifiers.attributes += tuple(words)


def read_attributes(cursor: Cursor) -> tuple[str, ...]:
    """Go past ``(.managed, .unified(1, 2))`` behind ``.attribute``; returns its words."""
    cursor.expect("(", "after '.attribute'")
    words = []
    while True:
        if cursor.kinds[cursor.index] != DOT:
            raise cursor.expected("an attribute as '.managed'")
        words.append(cursor.texts[cursor.index][1:])
        cursor.index += 1
        if cursor.accept("("):
            words += [str(read_integer(cursor, "a number"))]
            while cursor.accept(","):
                words.append(str(read_integer(cursor, "a number")))
            cursor.expect(")", "after an attribute")
        if cursor.accept(")"):
            return tuple(words)
        cursor.expect(",", "or ')' between attributes")


def _read_attribute(cursor: Cursor, qualifiers: Qualifiers) -> None:
    qualifiers.attributes += read_attributes(cursor)


_QUALIFIERS = {".align": _read_alignment, ".ptr": _read_pointee, ".attribute": _read_attribute}


def _read_declarator(cursor: Cursor, names: Names, variable: Variable) -> Iterator[Variable]:
    """Go past what follows the name of ``variable``: a range, or extents and an initialiser."""
    if cursor.accept("<"):
        yield from _expand(cursor, variable)
        return
    start = cursor.index
    variable = replace(variable, shape=_read_shape(cursor, variable))
    if cursor.accept("="):
        if variable.space not in ("const", "global"):
            message = "expected '.const' or '.global' for an initialised variable"
            raise cursor.error(message, cursor.index - 1)
        variable = InitialReader(cursor, names, variable).read()
    elif 0 in variable.shape and variable.linkage != "extern" and variable.space != "param":
        raise cursor.error("expected '.extern', an initialiser or a number of elements", start)
    yield variable


def _expand(cursor: Cursor, variable: Variable) -> Iterator[Variable]:
    literal = read_literal(cursor.texts[cursor.index])  # no expression: "5>" would begin one
    if not literal or literal[0].bits or literal[0].value > _MOST_REGISTERS:
        raise cursor.expected(f"a number of registers up to {_MOST_REGISTERS}")
    cursor.index += 1
    cursor.expect(">", "after a number of registers")
    v = variable
    for i in range(literal[0].value):
        yield Variable(f"{v.name}{i}", v.space, v.type, v.position, v.vector, (), v.alignment)


def _read_shape(cursor: Cursor, variable: Variable) -> tuple[int, ...]:
    extents: list[int] = []
    while cursor.texts[cursor.index] == "[":
        if variable.space == "reg":
            raise cursor.error("expected no array: registers are no memory")
        cursor.index += 1
        if cursor.texts[cursor.index] == "]" and not extents:
            extents.append(0)
        else:
            extents.append(read_count(cursor, "a number of elements"))
        cursor.expect("]", "after a number of elements")
    return tuple(extents)
