"""Initialisers of variables: numbers, addresses, nested braces, properties of references."""

import math

from msgspec.structs import replace

from lockstep.isa.ptx.expressions import read_constant, read_integer
from lockstep.isa.ptx.lexer import NUMBER, WORD, Cursor
from lockstep.isa.ptx.literals import read_literal
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.syntax import Immediate, Symbol, Variable

_REFERENCES = frozenset(["texref", "samplerref", "surfref"])
_MOST_ELEMENTS = 1 << 22  # what filling up with zeros may cost
_MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))
_ZERO = Immediate(0)

Value = Immediate | Symbol


class InitialReader:
    """Reads what follows the ``=`` behind ``variable``."""

    def __init__(self, cursor: Cursor, names: Names, variable: Variable):
        self._cursor, self._names, self._variable = cursor, names, variable

    def read(self) -> Variable:
        """Go past the initialiser; returns the variable with it, an open extent filled in."""
        variable = self._variable
        if variable.type in _REFERENCES and not variable.shape:
            return replace(variable, initial=tuple(self._properties()))
        shape = variable.shape + ((variable.vector,) if variable.vector > 1 else ())
        if not shape:
            return replace(variable, initial=(self._value(),))
        values = self._row(shape)
        if shape[0]:
            return replace(variable, initial=tuple(values))
        row = math.prod(shape[1:])
        extents = (len(values) // row if row else 0, *variable.shape[1:])
        return replace(variable, shape=extents, initial=tuple(values))

    def _row(self, shape: tuple[int, ...]) -> list[Value]:
        """``{...}`` of an array, filled up to its extent unless that is 0, for open."""
        cursor, inner = self._cursor, shape[1:]
        start = cursor.index
        cursor.expect("{", "before the values of an array or vector")
        values: list[Value] = []
        while not cursor.accept("}"):
            if values:
                cursor.expect(",", "or '}' in an initialiser")
            values += self._row(inner) if inner else [self._value()]
        size = math.prod(shape)
        if max(size, len(values)) > _MOST_ELEMENTS:
            raise cursor.error(f"expected at most {_MOST_ELEMENTS} initialised elements", start)
        if shape[0] and len(values) > size:
            raise cursor.error(f"expected at most {size} values, found {len(values)}", start)
        return values + [_ZERO] * (size - len(values))

    def _value(self) -> Value:
        cursor = self._cursor
        if cursor.kinds[cursor.index] == NUMBER and cursor.texts[cursor.index + 1] == "(":
            return self._masked()
        if cursor.kinds[cursor.index] == WORD and cursor.texts[cursor.index] != "WARP_SZ":
            return self._address()
        return self._number()

    def _number(self) -> Immediate:
        start, number = self._cursor.index, read_constant(self._cursor)
        kind = self._variable.type
        if kind in ("f32", "f64") and not number.bits:
            raise self._cursor.expected(f"a floating-point number for type {kind}", start)
        if kind[0] in "su" and number.bits:
            raise self._cursor.expected(f"an integer for type {kind}", start)
        return number

    def _masked(self) -> Symbol:
        """``0xFF00(symbol)``: a byte of an address (PTX ISA, "Initializers")."""
        cursor = self._cursor
        literal = read_literal(cursor.texts[cursor.index])
        mask = literal[0].value if literal else 0
        if mask not in _MASKS:
            raise cursor.expected("0xFF, 0xFF00 or another byte's mask")
        cursor.index += 2
        symbol = self._address()
        cursor.expect(")", "after a masked address")
        return replace(symbol, mask=mask)

    def _address(self) -> Symbol:
        cursor = self._cursor
        generic = cursor.texts[cursor.index] == "generic" and cursor.texts[cursor.index + 1] == "("
        if generic:
            cursor.index += 2
        symbol = self._names.visible.get(cursor.texts[cursor.index])
        if not isinstance(symbol, Symbol):
            raise cursor.expected("a number or a declared variable or function")
        cursor.index += 1
        if generic:
            cursor.expect(")", "after a generic address")
        return Symbol(symbol.name, self._offset(), generic)

    def _offset(self) -> int:
        if self._cursor.texts[self._cursor.index] not in ("+", "-"):
            return 0
        return read_integer(self._cursor, "an offset in bytes")

    def _properties(self) -> list[Value]:
        """``{ width = 16, addr_mode_0 = wrap }``: property and value in turn."""
        cursor = self._cursor
        cursor.expect("{", "before the properties of a reference")
        values: list[Value] = []
        while not cursor.accept("}"):
            if values:
                cursor.expect(",", "or '}' between properties")
            values.append(Symbol(cursor.identifier("a property")))
            cursor.expect("=", "after a property")
            if cursor.kinds[cursor.index] == WORD:
                values.append(Symbol(cursor.identifier("a value")))
            else:
                values.append(Immediate(read_integer(cursor, "a value")))
        return values
