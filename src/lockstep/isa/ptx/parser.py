"""A PTX module from its text: directives, variables and functions at module scope."""

import re

from lockstep.errors import InputError
from lockstep.isa.ptx.bodies import BodyReader
from lockstep.isa.ptx.declarations import SPACES, read_variables
from lockstep.isa.ptx.expressions import read_count
from lockstep.isa.ptx.headers import HeaderReader
from lockstep.isa.ptx.lexer import DOT, Cursor, shown
from lockstep.isa.ptx.lines import LineTable, read_section
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.scopes import find_labels
from lockstep.isa.ptx.syntax import Function, Module, Position, Symbol, Variable

_LINKAGES = frozenset([".extern", ".visible", ".weak", ".common"])
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_TARGET = re.compile(r"sm_\d+[af]?|compute_\d+[af]?", re.ASCII)
_OPTIONS = frozenset(["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"])


def parse(text: str, name: str = "<ptx>") -> Module:
    """Parse and check a PTX module; ``name`` is its file for messages.

    Raises InputError with line and column at the first thing that is no PTX. Opcodes and their
    modifiers are not checked.
    """
    return _ModuleReader(Cursor(text, name)).read()


class _ModuleReader:
    def __init__(self, cursor: Cursor):
        self._cursor, self._names = cursor, Names()
        self._headers = HeaderReader(cursor, self._names)
        self._lines = LineTable(cursor)
        self._labels = find_labels(cursor)
        cursor.index = 0
        version, target, size = self._read_version(), self._read_target(), self._read_size()
        self._module = Module(cursor.path, version, target, size, files=self._lines.files)

    def read(self) -> Module:
        cursor = self._cursor
        while text := cursor.texts[cursor.index]:
            if text in _LINKAGES:
                cursor.index += 1
                self._declaration(text[1:])
            elif text in self._DIRECTIVES:
                self._DIRECTIVES[text](self)
            elif cursor.kinds[cursor.index] == DOT:
                self._declaration("")
            else:
                raise cursor.expected("a directive, as '.entry' or '.global'")
        return self._module

    def _read_version(self) -> tuple[int, int]:
        cursor = self._cursor
        cursor.expect(".version", "at the start of a module")
        match = _VERSION.fullmatch(cursor.texts[cursor.index])
        if not match:
            raise cursor.expected("a version, as 8.7")
        cursor.index += 1
        return int(match[1]), int(match[2])

    def _read_target(self) -> tuple[str, ...]:
        cursor = self._cursor
        cursor.expect(".target", "after the version")
        words = [self._read_target_word()]
        while cursor.accept(","):
            words.append(self._read_target_word())
        return tuple(words)

    def _read_target_word(self) -> str:
        start, word = self._cursor.index, self._cursor.identifier("a target, as sm_80")
        if word not in _OPTIONS and not _TARGET.fullmatch(word):
            raise self._cursor.expected("a target, as sm_80", start)
        return word

    def _read_size(self) -> int:
        cursor = self._cursor
        if not cursor.accept(".address_size"):
            return 64  # the PTX ISA says 32, but ptxas 13.0 has 64 alone
        start, size = cursor.index, read_count(cursor, "an address size")
        if size not in (32, 64):
            raise cursor.expected("an address size of 32 or 64", start)
        return size

    def _section(self) -> None:
        name, text = read_section(self._cursor)
        sections = self._module.sections
        sections[name] = f"{sections[name]}\n{text}" if name in sections else text

    def _pragma(self) -> None:
        self._module.pragmas += self._headers.read_pragma()

    def _alias(self) -> None:
        cursor = self._cursor
        cursor.index += 1
        alias = self._function_name()
        cursor.expect(",", "after an alias")
        self._module.aliases[alias] = self._function_name()
        cursor.expect(";", "after an alias")

    def _function_name(self) -> str:
        start, name = self._cursor.index, self._cursor.identifier("a function")
        if name not in self._module.functions:
            raise self._cursor.expected("a declared function", start)
        return name

    def _declaration(self, linkage: str) -> None:
        cursor = self._cursor
        text = cursor.texts[cursor.index]
        if text in (".entry", ".func"):
            self._function(linkage)
        elif text in (".reg", ".param"):
            raise cursor.error(f"expected {text!r} inside a function")
        elif text[1:].partition("::")[0] in SPACES:
            for variable in read_variables(cursor, self._names, linkage):
                self._declare(variable)
        else:
            raise cursor.expected("a directive of a module, as '.entry' or '.global'")

    def _declare(self, variable: Variable) -> None:
        before = self._module.variables.get(variable.name)
        if self._names.is_here(variable.name) and not _completes(before, variable):
            raise self._twice(variable.name, variable.position)
        self._names.declare(variable.name, Symbol(variable.name))
        self._names.variables[variable.name] = variable
        if before is None or before.linkage == "extern":
            self._module.variables[variable.name] = variable

    def _twice(self, name: str, place: Position) -> InputError:
        return self._cursor.error_at(place, f"expected a new name, found {shown(name)} again")

    def _function(self, linkage: str) -> None:
        cursor, names = self._cursor, self._names
        names.enter()
        function = self._headers.read(linkage)
        has_body = cursor.texts[cursor.index] == "{"
        self._enter_function(function, has_body)
        if has_body:
            BodyReader(cursor, names, self._lines, self._labels, function).read()
        else:
            cursor.expect(";", "or '{' after the head of a function")
        names.leave()

    def _enter_function(self, function: Function, has_body: bool) -> None:
        """Known from here on, so that its body can call it."""
        function.has_body = has_body
        before = self._module.functions.get(function.name)
        if before is None:
            if self._names.is_outermost(function.name):
                raise self._twice(function.name, function.position)
        else:
            self._check_match(before, function)
        self._names.declare_outermost(function.name, Symbol(function.name))
        if before is None or has_body:
            self._module.functions[function.name] = function

    def _check_match(self, before: Function, function: Function) -> None:
        if before.has_body and function.has_body:
            raise self._twice(function.name, function.position)
        shapes = [(f.is_entry, len(f.returns), len(f.parameters)) for f in (before, function)]
        if shapes[0] != shapes[1]:
            line = before.position.line
            message = f"expected {shown(function.name)} with the parameters declared in line {line}"
            raise self._cursor.error_at(function.position, message)

    _DIRECTIVES = {  # noqa: RUF012
        ".file": lambda self: self._lines.read_file(),
        ".section": _section,
        ".pragma": _pragma,
        ".alias": _alias,
    }


def _completes(before: Variable | None, after: Variable) -> bool:
    """Whether one of two declarations of a variable is external, and they agree otherwise."""
    if before is None or "extern" not in (before.linkage, after.linkage):
        return False
    return (before.space, before.type, before.vector) == (after.space, after.type, after.vector)
