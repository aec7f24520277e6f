"""Operands of instructions, and the operands of ``call``."""

import re

from lockstep.isa.ptx.expressions import DEEPEST, read_constant, read_integer
from lockstep.isa.ptx.lexer import NUMBER, WORD, Cursor
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.syntax import (
    Call,
    Immediate,
    Memory,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Symbol,
    Variable,
    Vector,
)

_COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_ADDRESS_OF = frozenset(["mov", "cvta"])
_SELECTOR = re.compile("b[0-7]{1,4}|h[0-3]{1,2}")  # PTX ISA, "Video Instructions"


class OperandReader:
    """Reads operands at a cursor; names are looked up in ``names``.

    ``registers`` are those of the function, for their vector lengths and types.
    """

    __slots__ = ("_cursor", "_names", "_opcode", "_registers")

    def __init__(self, cursor: Cursor, names: Names, registers: dict[str, Variable]):
        self._cursor, self._names, self._registers = cursor, names, registers
        self._opcode = ""

    def read_all(self, opcode: str) -> tuple[Operand, ...]:
        """Go past the operands of an instruction and its semicolon."""
        cursor, self._opcode = self._cursor, opcode
        texts, index, visible = cursor.texts, cursor.index, self._names.visible
        if texts[index] == ";":
            cursor.index = index + 1
            return ()
        operands = []
        while True:
            after = texts[index + 1]
            known = visible.get(texts[index]) if after == "," or after == ";" else None
            if known is not None:
                index += 1
            else:
                cursor.index = index
                known = self.read()
                index, after = cursor.index, texts[cursor.index]
            operands.append(known)
            index += 1
            if after == ";":
                cursor.index = index
                return tuple(operands)
            if after != ",":
                raise cursor.expected("',' or ';' after an operand", index - 1)

    def read(self, depth: int = 0) -> Operand:
        """Go past one operand within ``depth`` brackets."""
        cursor = self._cursor
        if depth > DEEPEST:
            raise cursor.error(f"expected at most {DEEPEST} nested brackets")
        text = cursor.texts[cursor.index]
        if cursor.kinds[cursor.index] == WORD and text != "WARP_SZ":
            return self._named()
        if text == "[":
            return self._memory(depth)
        if text == "{":
            vector = self._vector(depth)
            return self._pair(vector) if cursor.texts[cursor.index] == "|" else vector
        if text in ("!", "-") and self._is_register(cursor.index + 1):
            return self._inverted(text)
        return self._number(text)

    def guard(self) -> Register | Negated:
        """Go past ``@p`` or ``@!p``."""
        cursor = self._cursor
        cursor.index += 1
        negated = cursor.accept("!")
        start, operand = cursor.index, self._names.visible.get(cursor.texts[cursor.index])
        if operand is None:
            raise self.undeclared(start)
        variable = self._registers.get(getattr(operand, "name", ""))
        if variable is None or variable.type != "pred" or not isinstance(operand, Register):
            raise cursor.expected("a predicate register after '@'")
        cursor.index += 1
        return Negated(operand) if negated else operand

    def read_call(self) -> Call:
        """Go past the operands of ``call`` and its semicolon."""
        cursor = self._cursor
        results = self._list() if cursor.texts[cursor.index] == "(" else ()
        if results or cursor.texts[cursor.index - 1] == ")":
            cursor.expect(",", "after the results of a call")
        start, callee = cursor.index, self.resolve()
        if not isinstance(callee, Symbol | Register):
            raise cursor.expected("a function or register", start)
        arguments: tuple[Operand, ...] = ()
        targets = ""
        if cursor.accept(","):
            arguments, targets = self._call_rest()
        cursor.expect(";", "after a call")
        return Call(results, callee, arguments, targets)

    def resolve(self) -> Operand:
        """Go past a name and return what it stands for; raises InputError if it is undeclared."""
        cursor = self._cursor
        index = cursor.index
        operand = self._names.visible.get(cursor.texts[index])
        if operand is None:
            operand = self._dotted(index)
        cursor.index = index + 1
        return operand

    def undeclared(self, index: int) -> Exception:
        """The error that token ``index`` is not a declared name."""
        text = self._cursor.texts[index]
        if self._cursor.kinds[index] != WORD:
            return self._cursor.expected("an operand", index)
        kind = "register" if text.startswith("%") else "register, variable, function or label"
        return self._cursor.expected(f"a declared {kind}", index)

    def _call_rest(self) -> tuple[tuple[Operand, ...], str]:
        cursor = self._cursor
        arguments: tuple[Operand, ...] = ()
        if cursor.texts[cursor.index] == "(":
            arguments = self._list()
            if not cursor.accept(","):
                return arguments, ""
        start, targets = cursor.index, self.resolve()
        if not isinstance(targets, Symbol):
            raise cursor.expected("the label of a prototype or a list of targets", start)
        return arguments, targets.name

    def _list(self) -> tuple[Operand, ...]:
        cursor = self._cursor
        cursor.index += 1
        operands = []
        if cursor.accept(")"):
            return ()
        while True:
            operands.append(self.read(1))
            if cursor.accept(")"):
                return tuple(operands)
            cursor.expect(",", "or ')' in a list of operands")

    def _named(self) -> Operand:
        cursor = self._cursor
        start, operand = cursor.index, self.resolve()
        after = cursor.texts[cursor.index]
        if after == "|" and isinstance(operand, Register | Sink):
            return self._pair(operand)
        if after in ("+", "-") and isinstance(operand, Symbol):
            return Symbol(operand.name, read_integer(cursor, "an offset in bytes"))
        if after == "[" and isinstance(operand, Symbol):
            return self._element(operand)
        if isinstance(operand, Immediate):
            cursor.index = start
            return read_constant(cursor)
        return operand

    def _pair(self, first: Operand) -> Pair:
        self._cursor.index += 1
        second = self.resolve()
        if not isinstance(second, Register | Sink):
            raise self._cursor.expected("a register after '|'", self._cursor.index - 1)
        return Pair(first, second)

    def _element(self, array: Symbol) -> Memory | Symbol:
        """``a[3]``: the memory of an element, or its address where the opcode takes that."""
        cursor, variable = self._cursor, self._names.variables.get(array.name)
        if variable is None or not variable.shape:
            raise cursor.expected("an array before '['", cursor.index - 1)
        cursor.index += 1
        if self._is_register(cursor.index):  # deprecated, and no address that one operand can say
            raise cursor.expected("a constant index")
        offset = read_integer(cursor, "a constant index") * variable.element_bytes
        cursor.expect("]", "after an index")
        if self._opcode in _ADDRESS_OF:
            return Symbol(array.name, offset)
        return Memory(array, offset)

    def _dotted(self, index: int) -> Operand:
        name, _, suffix = self._cursor.texts[index].partition(".")
        register = self._names.visible.get(name) if suffix else None
        if register is None:
            raise self.undeclared(index)
        variable = self._registers.get(getattr(register, "name", ""))
        if variable is None or not isinstance(register, Register):
            raise self._cursor.expected("a register before '.'", index)
        component = _COMPONENTS.get(suffix, 4)
        if component < variable.vector > 1:
            return Register(register.name, component)
        if variable.vector == 1 and _SELECTOR.fullmatch(suffix):
            return Part(register, suffix)
        choices = "'.x' to '.w'" if variable.vector > 1 else "'.b0' to '.h1'"
        width = f" of {variable.vector} elements" if variable.vector > 1 else ""
        raise self._cursor.expected(f"{choices} within the register{width}", index)

    def _is_register(self, index: int) -> bool:
        name = self._cursor.texts[index].partition(".")[0]
        return isinstance(self._names.visible.get(name), Register)

    def _inverted(self, sign: str) -> Operand:
        cursor = self._cursor
        cursor.index += 1
        operand = self.resolve()
        if sign == "!":
            if not isinstance(operand, Register):
                raise cursor.expected("a predicate after '!'", cursor.index - 1)
            return Negated(operand)
        if isinstance(operand, Part):
            return Part(operand.register, operand.selector, True)
        assert isinstance(operand, Register), "the caller has looked"
        return Part(operand, "", True)

    def _number(self, text: str) -> Operand:
        cursor = self._cursor
        start = cursor.index
        constant = read_constant(cursor)
        if cursor.index == start + 1 and cursor.kinds[start] == NUMBER:
            self._names.visible[text] = constant
        return constant

    def _vector(self, depth: int) -> Vector:
        cursor = self._cursor
        cursor.index += 1
        texts, visible, elements = cursor.texts, self._names.visible, []
        while True:
            index = cursor.index
            known = visible.get(texts[index]) if texts[index + 1] in (",", "}") else None
            if known is None:
                known = self.read(depth + 1)
            else:
                cursor.index = index + 1
            elements.append(known)
            if cursor.accept("}"):
                return Vector(tuple(elements))
            cursor.expect(",", "or '}' in a vector")

    def _memory(self, depth: int) -> Memory:
        cursor = self._cursor
        cursor.index += 1
        if cursor.kinds[cursor.index] == WORD and cursor.texts[cursor.index] != "WARP_SZ":
            base, offset = self._base()
        else:
            base, offset = read_constant(cursor), 0
        extra = []
        while not cursor.accept("]"):
            cursor.expect(",", "or ']' in an address")
            extra.append(self.read(depth + 1))
        return Memory(base, offset, tuple(extra))

    def _base(self) -> tuple[Operand, int]:
        cursor = self._cursor
        start, base = cursor.index, self.resolve()
        if not isinstance(base, Register | Symbol):
            raise cursor.expected("a register, variable or number as address", start)
        sign = cursor.texts[cursor.index]
        if sign not in ("+", "-"):
            return base, 0
        return base, read_integer(cursor, "an offset in bytes")
