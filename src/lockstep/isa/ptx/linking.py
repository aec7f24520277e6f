"""Modules that lie one after the other in a text, as one: what is external in one, another has.

Each begins with its ``.version``. Names without linkage are a module's own: where another module
has the same name, they get the module's number behind an apostrophe, which no name of PTX has.
"""

import re
from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from lockstep.errors import InputError
from lockstep.isa.ptx.parser import parse
from lockstep.isa.ptx.syntax import Function, Module, Symbol, Variable

_BEGIN = re.compile(r"^[ \t]*\.version\b", re.MULTILINE)
_MANY = ("weak", "common")  # linkages of what several modules may define: the first one counts


def read(text: str, name: str = "<ptx>") -> Module:
    """The module of a PTX text, or what the modules in it are together.

    ``name`` is its file for messages. Raises InputError with line and column at the first thing
    that is no PTX, and where a second module defines what another one has.
    """
    begins = [match.start() for match in _BEGIN.finditer(text)][1:]
    if not begins:
        return parse(text, name)
    ends = [*begins, len(text)]
    # Empty lines in the place of what is before: so lines are those of the text.
    parts = [
        parse("\n" * text.count("\n", 0, begin) + text[begin:end], name)
        for begin, end in zip([0, *begins], ends)
    ]
    return _link(parts)


def _link(parts: list[Module]) -> Module:
    newest = max(parts, key=lambda part: part.version)
    whole = Module(newest.name, newest.version, newest.target, newest.address_size)
    there = Counter(name for part in parts for name in {*part.variables, *part.functions})
    for number, part in enumerate(parts, 1):
        if part.address_size != whole.address_size:
            message = f"modules of {part.address_size} and {whole.address_size} bits together"
            raise InputError(part.name, "", message)
        defined: dict[str, Variable | Function] = {**part.variables, **part.functions}
        own = (name for name, item in defined.items() if not item.linkage)
        names = {name: f"{name}'{number}" for name in own if there[name] > 1}
        for variable in part.variables.values():
            _define(whole, whole.variables, _renamed(variable, names))
        for function in part.functions.values():
            _rename(function, names)
            _define(whole, whole.functions, function)
        aliases = part.aliases.items()
        whole.aliases |= {names.get(a, a): names.get(body, body) for a, body in aliases}
        whole.pragmas += part.pragmas
    return whole


def _define(whole: Module, names: dict[str, Any], item: Variable | Function) -> None:
    """Take a variable or a function of another module, unless what is there counts."""
    before = names.get(item.name)
    if before is None or not _is_definition(before):
        names[item.name] = item
    elif _is_definition(item) and item.linkage not in _MANY:
        if before.linkage not in _MANY:
            at, first = item.position, before.position.line
            message = f"{item.name} is defined in line {first}, too, in another module"
            raise InputError(whole.name, f"line {at.line}, column {at.column}", message)
        names[item.name] = item


def _is_definition(item: Variable | Function) -> bool:
    return item.has_body if isinstance(item, Function) else item.linkage != "extern"


def _rename(function: Function, names: dict[str, str]) -> None:
    if names:
        function.name = names.get(function.name, function.name)
        function.instructions = [_renamed(i, names) for i in function.instructions]
        function.variables = [_renamed(v, names) for v in function.variables]
        tables = function.tables.items()
        function.tables = {k: tuple(names.get(n, n) for n in table) for k, table in tables}


def _renamed(node: Any, names: dict[str, str]) -> Any:
    """A node of the tree with other names for what they name."""
    if isinstance(node, tuple):
        return tuple(_renamed(element, names) for element in node)
    if not names or not isinstance(node, msgspec.Struct):
        return node
    changed = {}
    for field in node.__struct_fields__:
        value = getattr(node, field)
        if field == "name" and isinstance(node, Symbol | Variable):
            changed["name"] = names.get(value, value)
        elif isinstance(value, tuple | msgspec.Struct):
            changed[field] = _renamed(value, names)
    return replace(node, **changed)
