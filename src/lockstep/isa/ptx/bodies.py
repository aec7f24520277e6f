"""The body of a function: scopes, labels, declarations, directives and instructions."""

from lockstep.isa.ptx.declarations import SPACES, read_variables
from lockstep.isa.ptx.headers import HeaderReader
from lockstep.isa.ptx.lexer import DOT, WORD, Cursor
from lockstep.isa.ptx.lines import LineTable
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.operands import OperandReader
from lockstep.isa.ptx.syntax import (
    Call,
    Function,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    SourceLine,
    Symbol,
    Vector,
)

_WIDTHS = {"v2": 2, "v4": 4, "v8": 8}


class BodyReader:
    """Reads the statements between the braces of ``function``."""

    def __init__(
        self,
        cursor: Cursor,
        names: Names,
        lines: LineTable,
        labels: dict[int, list[int]],
        function: Function,
    ):
        self._cursor, self._names, self._lines, self._labels = cursor, names, lines, labels
        self._function = function
        self._operands = OperandReader(cursor, names, function.registers)
        self._headers = HeaderReader(cursor, names)
        self._source: SourceLine | None = None
        self._opened: list[int] = []
        self._opcodes: dict[str, tuple[str, tuple[str, ...], int]] = {}

    def read(self) -> None:
        """Go past the body, braces included; its outermost scope is that of the parameters."""
        cursor = self._cursor
        kinds, texts = cursor.kinds, cursor.texts
        self._open()
        while self._opened:
            index = cursor.index
            if kinds[index] == WORD:
                if texts[index + 1] == ":":
                    self._label()
                else:
                    self._instruction()
            elif kinds[index] == DOT:
                self._directive(texts[index])
            else:
                self._mark(texts[index])

    def _mark(self, text: str) -> None:
        if text == "@":
            self._instruction()
        elif text == "{":
            self._names.enter()
            self._open()
        elif text == "}":
            self._leave()
        elif not text:
            message = "expected '}' before the end of the text, to match this '{'"
            raise self._cursor.error(message, self._opened[-1])
        else:
            raise self._cursor.expected("an instruction, directive, label, '{' or '}'")

    def _open(self) -> None:
        opened = self._cursor.index
        self._cursor.index += 1
        self._opened.append(opened)
        for index in self._labels.get(opened, ()):
            name = self._cursor.texts[index]
            if self._names.is_here(name):
                raise self._cursor.expected("a label that is new in this scope", index)
            self._names.declare(name, Symbol(self._names.unique(name)))

    def _leave(self) -> None:
        self._cursor.index += 1
        self._opened.pop()
        if self._opened:
            self._names.leave()

    def _label(self) -> None:
        cursor = self._cursor
        index = cursor.index
        text = cursor.texts[index]
        if index not in self._labels.get(self._opened[-1], ()):
            raise cursor.expected("a statement", index + 1)
        cursor.identifier("a label")
        label = self._names.visible[text]
        if not isinstance(label, Symbol):
            raise cursor.expected("a label", index)
        name = label.name
        cursor.index += 1
        table = self._TABLES.get(cursor.texts[cursor.index])
        if table:
            table(self, name)
        else:
            self._function.labels[name] = len(self._function.instructions)

    def _targets(self, name: str) -> None:
        cursor = self._cursor
        cursor.index += 1
        targets = [self._target()]
        while cursor.accept(","):
            targets.append(self._target())
        cursor.expect(";", "after a list of targets")
        self._function.tables[name] = tuple(targets)

    def _target(self) -> str:
        start, target = self._cursor.index, self._operands.resolve()
        if not isinstance(target, Symbol):
            raise self._cursor.expected("a label or function", start)
        return target.name

    def _prototype(self, name: str) -> None:
        self._function.prototypes[name] = self._headers.read_prototype(name)

    _TABLES = {  # noqa: RUF012
        ".branchtargets": _targets,
        ".calltargets": _targets,
        ".callprototype": _prototype,
    }

    def _directive(self, text: str) -> None:
        if text[1:].partition("::")[0] in SPACES:
            self._declare()
        elif text == ".loc":
            self._source = self._lines.read_location()
        elif text == ".pragma":
            self._function.pragmas += self._headers.read_pragma()
        elif text in self._TABLES:
            raise self._cursor.error(f"expected a label before {text!r}")
        else:
            raise self._cursor.expected("a directive of a function, as '.reg'")

    def _declare(self) -> None:
        for variable in read_variables(self._cursor, self._names):
            self._headers.declare(self._function, variable)

    def _instruction(self) -> None:
        cursor, guard = self._cursor, None
        start = cursor.index
        if cursor.texts[start] == "@":
            guard = self._operands.guard()
        text = cursor.texts[cursor.index]
        opcode, modifiers, width = self._opcodes.get(text) or self._opcode(text)
        cursor.index += 1
        if cursor.kinds[cursor.index] == DOT:
            modifiers += self._detached_modifiers()
        if opcode == "call":
            operands: tuple[Operand, ...] | tuple[Call] = (self._operands.read_call(),)
        else:
            first = cursor.index
            operands = self._operands.read_all(opcode)
            if width:
                self._check_width(operands, width, first)
        position = cursor.position(start)
        instruction = Instruction(opcode, modifiers, operands, position, guard, self._source)
        self._function.instructions.append(instruction)

    def _opcode(self, text: str) -> tuple[str, tuple[str, ...], int]:
        cursor = self._cursor
        opcode, *modifiers = text.split(".")
        if cursor.kinds[cursor.index] != WORD or not opcode.isalnum():
            raise cursor.expected("an instruction")
        width = next((_WIDTHS[m] for m in modifiers if m in _WIDTHS), 0)
        self._opcodes[text] = opcode, tuple(modifiers), width
        return self._opcodes[text]

    def _detached_modifiers(self) -> tuple[str, ...]:
        """Modifiers that white space parts from the opcode."""
        cursor, modifiers = self._cursor, []
        while cursor.kinds[cursor.index] == DOT:
            modifiers.append(cursor.texts[cursor.index][1:])
            cursor.index += 1
        return tuple(modifiers)

    def _check_width(self, operands: tuple[Operand, ...], width: int, index: int) -> None:
        """The first vector is what ``.v2`` and ``.v4`` speak of; others are coordinates."""
        found = next((n for n in map(self._elements, operands) if n > 1), width)
        if found != width:
            message = f"expected a vector of {width} elements, found one of {found}"
            raise self._cursor.error(message, index)

    def _elements(self, operand: Operand) -> int:
        if isinstance(operand, Pair):
            return self._elements(operand.first)
        if isinstance(operand, Vector):
            return len(operand.elements)
        if isinstance(operand, Negated) or not isinstance(operand, Register):
            return 1
        variable = self._function.registers.get(operand.name)
        return variable.vector if variable and operand.component < 0 else 1
