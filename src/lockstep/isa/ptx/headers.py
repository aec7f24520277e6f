"""Heads of functions: parameters, results, directives and prototypes."""

from msgspec.structs import replace

from lockstep.isa.ptx.declarations import read_attributes, read_parameter
from lockstep.isa.ptx.expressions import read_count
from lockstep.isa.ptx.lexer import Cursor, shown
from lockstep.isa.ptx.names import Names
from lockstep.isa.ptx.syntax import Function, Prototype, Register, Symbol, Variable

# How many numbers each takes (PTX ISA, "Performance-Tuning Directives", "Cluster Dimension
# Directives", "Miscellaneous Directives").
_DIRECTIVES = {
    ".maxntid": (1, 3),
    ".reqntid": (1, 3),
    ".minnctapersm": (1, 1),
    ".maxnctapersm": (1, 1),
    ".maxnreg": (1, 1),
    ".maxclusterrank": (1, 1),
    ".reqnctapercluster": (1, 3),
    ".explicitcluster": (0, 0),
    ".blocksareclusters": (0, 0),
    ".noreturn": (0, 0),
    ".abi_preserve": (1, 1),
    ".abi_preserve_control": (1, 1),
}


class HeaderReader:
    """Reads everything of a function but its body."""

    def __init__(self, cursor: Cursor, names: Names):
        self._cursor, self._names = cursor, names

    def read(self, linkage: str) -> Function:
        """Go past ``.entry`` or ``.func`` up to the body or semicolon.

        Parameters are declared in the innermost scope.
        """
        cursor = self._cursor
        is_entry = cursor.texts[cursor.index] == ".entry"
        cursor.index += 1
        function = Function("", is_entry, cursor.position(cursor.index), linkage=linkage)
        self._read_directives(function)
        if not is_entry:
            function.returns = self._read_parameters(function)
            self._read_directives(function)
        function.position = cursor.position(cursor.index)
        function.name = cursor.identifier("the name of a function")
        start = cursor.index + 1
        function.parameters = self._read_parameters(function)
        if is_entry and any(p.space == "reg" for p in function.parameters):
            raise cursor.error("expected '.param' for the parameters of a kernel", start)
        self._read_directives(function)
        return function

    def read_prototype(self, name: str) -> Prototype:
        """Go past ``.callprototype (results) _ (parameters);``."""
        cursor = self._cursor
        cursor.index += 1
        returns = self._read_list()
        if not cursor.accept("_"):
            cursor.identifier("'_' or a name")
        prototype = Prototype(name, returns, self._read_list())
        self._read_directives(Function("", False, cursor.position(cursor.index)))
        cursor.expect(";", "after a prototype")
        return prototype

    def read_pragma(self) -> tuple[str, ...]:
        """Go past ``.pragma "text", "text";``."""
        cursor = self._cursor
        cursor.index += 1
        pragmas = [cursor.string("a pragma")]
        while cursor.accept(","):
            pragmas.append(cursor.string("a pragma"))
        cursor.expect(";", "after a pragma")
        return tuple(pragmas)

    def declare(self, function: Function, variable: Variable) -> Variable:
        """Enter a variable of ``function`` into the innermost scope; returns it as renamed."""
        if variable.name == "_":
            return variable
        if self._names.is_here(variable.name):
            message = f"expected a name that is new in this scope, found {shown(variable.name)}"
            raise self._cursor.error_at(variable.position, message)
        name = self._names.unique(variable.name)
        renamed = variable if name == variable.name else replace(variable, name=name)
        if variable.space == "reg":
            self._names.declare(variable.name, Register(name))
            function.registers[name] = renamed
        else:
            self._names.declare(variable.name, Symbol(name))
            self._names.variables[name] = renamed
            function.variables.append(renamed)
        return renamed

    def _read_parameters(self, function: Function) -> tuple[Variable, ...]:
        known = len(function.variables)
        parameters = tuple([self.declare(function, p) for p in self._read_list()])
        del function.variables[known:]
        return parameters

    def _read_list(self) -> tuple[Variable, ...]:
        cursor = self._cursor
        if not cursor.accept("(") or cursor.accept(")"):
            return ()
        variables = [read_parameter(cursor)]
        while cursor.accept(","):
            variables.append(read_parameter(cursor))
        cursor.expect(")", "after parameters")
        return tuple(variables)

    def _read_directives(self, function: Function) -> None:
        cursor = self._cursor
        while (text := cursor.texts[cursor.index])[:1] == ".":
            if text == ".pragma":
                function.pragmas += self.read_pragma()
            elif text == ".attribute":
                cursor.index += 1
                read_attributes(cursor)
            elif text in _DIRECTIVES:
                cursor.index += 1
                function.directives[text[1:]] = self._read_numbers(*_DIRECTIVES[text])
            else:
                raise cursor.expected("a directive of a function, '{' or ';'")

    def _read_numbers(self, least: int, most: int) -> tuple[int, ...]:
        numbers = [read_count(self._cursor, "a number", (1 << 32) - 1) for _ in range(least)]
        while len(numbers) < most and self._cursor.accept(","):
            numbers.append(read_count(self._cursor, "a number", (1 << 32) - 1))
        return tuple(numbers)
