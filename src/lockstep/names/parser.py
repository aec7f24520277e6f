"""Mangled names with what ``itanium_demangler`` leaves out: local names, lambdas, expressions.

Its parser asks a cursor for what comes next. This one, before such a thing, takes it itself and
answers with a substitution that stands for it. "Itanium C++ ABI", mangling, has the grammar.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import itanium_demangler as library

_PLANTED = 36**6  # numbers of substitutions that no name has
_LAMBDA, _UNNAMED = "{{lambda({})#{}}}", "{{unnamed type#{}}}"
_UNARY = {"ad": "&", "de": "*", "ng": "-", "nt": "!", "co": "~", "ps": "+"}
_CASTS = ("cv", "sc", "cc", "rc", "dc")
_ASKS = {"st": "sizeof", "sz": "sizeof", "at": "alignof", "az": "alignof", "sZ": "sizeof..."}
_BINARY = {
    key: text
    for key, text in library._operators.items()
    if key not in _UNARY and not text.startswith(("new", "delete")) and key not in ("qu", "cl")
}


def parse(name: str) -> Any:
    """The syntax tree of a name; None, or an exception, where it is none that is known."""
    tree = library._parse_mangled_name(_NameCursor(name))
    return None if tree is None else library._expand_arg_packs(tree)


class ExpressionNode(NamedTuple):
    """Texts and nodes, one behind the other."""

    kind: str
    value: tuple[Any, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.value))

    def left(self) -> str:
        """What is before a name of this type."""
        return str(self)

    def right(self) -> str:
        """What is behind it."""
        return ""

    def map(self, change: Callable[[Any], Any]) -> "ExpressionNode":
        """The same with other nodes."""
        parts = tuple(part if isinstance(part, str) else change(part) for part in self.value)
        return self._replace(value=parts)


class _Planted:
    """In the place of a match: the next thing is a substitution."""

    def group(self, name: str) -> str | None:
        return "S" if name == "substitution" else None


class _NameCursor(library._Cursor):
    """The parser's cursor."""

    def __init__(self, raw: str):
        super().__init__(raw)
        self._planted: list[Any] = []
        self._bare: list[Any] = []  # what no substitution can stand for

    def match(self, pattern: re.Pattern) -> Any:
        """What the parser looks for, or a substitution where it would give up."""
        if pattern is library._NAME_RE:
            for begin, take in _TAKEN.items():
                if self._raw.startswith(begin, self._pos):
                    self._pos += len(begin)
                    self._planted.append(_known(take(self)))
                    return _Planted()
        if pattern is library._TYPE_RE and self._raw.startswith(("X", "DT", "Dt"), self._pos):
            return None  # it is asked for as a name next
        return super().match(pattern)

    def advance_until(self, delimiter: str) -> Any:
        """Up to a delimiter; the number of what was planted."""
        if delimiter == "_" and self._planted:
            return _base36(_PLANTED + len(self._planted) - 1)
        return super().advance_until(delimiter)

    def resolve_subst(self, number: int) -> Any:
        """What a substitution stands for."""
        if self._planted and number > _PLANTED:
            return self._planted.pop()
        return super().resolve_subst(number)

    def add_subst(self, node: Any) -> None:
        """Keep what a later substitution may stand for."""
        if not any(node is one for one in self._bare):
            super().add_subst(node)

    def peek(self, text: str) -> bool:
        """Whether a text comes next."""
        return self._raw.startswith(text, self._pos)

    def bare(self, node: Any) -> Any:
        """A node for which no substitution stands."""
        self._bare.append(node)
        return node


def _base36(number: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[number] if number < 36 else _base36(number // 36) + digits[number % 36]


def _known(node: Any) -> Any:
    if node is None:
        raise ValueError("a part of the name is not known")
    return node


def _name(text: str) -> Any:
    return library.Node("name", text)


def _until_end(cursor: _NameCursor, take: Callable[[_NameCursor], Any]) -> list[Any]:
    found = []
    while not cursor.accept("E"):
        if cursor.at_end():
            raise ValueError("the name ends too early")
        found.append(_known(take(cursor)))
    return found


def _local(cursor: _NameCursor) -> Any:
    """Z function E entity: what is in a function."""
    function = _known(library._parse_name(cursor))
    if not cursor.accept("E"):
        parts = function.value if function.kind == "qual_name" else ()
        if parts and parts[-1].kind == "tpl_args":
            _known(library._parse_type(cursor))  # what it returns
        types = tuple(_until_end(cursor, library._parse_type))
        function = library.FuncNode("func", function, types, None)
        if parts:
            function = library._expand_template_args(function)
    if cursor.accept("s"):
        return library.Node("qual_name", (function, _name("{string}")))
    if cursor.accept("d"):  # in a default argument
        cursor.advance_until("_")
    entity = _known(library._parse_name(cursor))
    if cursor.match(re.compile(r"__\d+_|_\d")) is None:
        pass  # the first one of its name
    parts = entity.value if entity.kind == "qual_name" else (entity,)
    return library.Node("qual_name", (function, *parts))


def _number(cursor: _NameCursor) -> int:
    text = _known(cursor.advance_until("_"))
    return int(text) + 2 if text else 1


def _lambda(cursor: _NameCursor) -> Any:
    types = _until_end(cursor, library._parse_type)
    shown = "" if types == [library.Node("builtin", "void")] else ", ".join(map(str, types))
    return _name(_LAMBDA.format(shown, _number(cursor)))


def _unnamed(cursor: _NameCursor) -> Any:
    return _name(_UNNAMED.format(_number(cursor)))


def _whole_expression(cursor: _NameCursor) -> Any:
    """X expression E."""
    node = _expression(cursor)
    if not cursor.accept("E"):
        raise ValueError("an expression goes on")
    return cursor.bare(node)


def _decltype(cursor: _NameCursor) -> Any:
    node = ExpressionNode("text", ("decltype(", _expression(cursor), ")"))
    if not cursor.accept("E"):
        raise ValueError("an expression goes on")
    return node


def _joined(nodes: list[Any], between: str = ", ") -> list[Any]:
    return [part for node in nodes for part in (between, node)][1:]


def _expression(cursor: _NameCursor) -> Any:
    if cursor.peek("L"):
        return _known(library._parse_expr_primary(cursor))
    if cursor.peek("T") or cursor.peek("N") or cursor.peek("S"):
        return _known(library._parse_type(cursor))
    code = _known(cursor.advance(2))
    take = next((take for codes, take in _EXPRESSIONS.items() if code in codes), None)
    if take is None:  # a function
        cursor._pos -= 2
        return _known(library._parse_name(cursor))
    return ExpressionNode("text", tuple(take(cursor, code)))


def _unary(cursor: _NameCursor, code: str) -> list[Any]:
    return [_UNARY[code], "(", _expression(cursor), ")"]


def _binary(cursor: _NameCursor, code: str) -> list[Any]:
    return ["(", _expression(cursor), f"){_BINARY[code]}(", _expression(cursor), ")"]


def _cast(cursor: _NameCursor, code: str) -> list[Any]:
    kind = _known(library._parse_type(cursor))
    several = cursor.accept("_")
    inner = _until_end(cursor, _expression) if several else [_expression(cursor)]
    return ["(", kind, ")(", *_joined(inner), ")"]


def _asked(cursor: _NameCursor, code: str) -> list[Any]:
    take = library._parse_type if code in ("st", "at", "sZ") else _expression
    return [_ASKS[code], "(", _known(take(cursor)), ")"]


def _scoped(cursor: _NameCursor, code: str) -> list[Any]:
    return [_known(library._parse_type(cursor)), "::", _known(library._parse_name(cursor))]


def _called(cursor: _NameCursor, code: str) -> list[Any]:
    function, *arguments = _until_end(cursor, _expression)
    return [function, "(", *_joined(arguments), ")"]


def _braced(cursor: _NameCursor, code: str) -> list[Any]:
    kind = [_known(library._parse_type(cursor))] if code == "tl" else []
    return [*kind, "{", *_joined(_until_end(cursor, _expression)), "}"]


def _chosen(cursor: _NameCursor, code: str) -> list[Any]:
    condition, one, other = (_expression(cursor) for _ in range(3))
    return ["(", condition, ")?(", one, "):(", other, ")"]


def _parameter(cursor: _NameCursor, code: str) -> list[Any]:
    _known(cursor.advance_until("_"))
    return ["{parm}"]


def _expanded(cursor: _NameCursor, code: str) -> list[Any]:
    return [_expression(cursor), "..."]


_EXPRESSIONS: dict[Any, Callable[[_NameCursor, str], list[Any]]] = {
    tuple(_UNARY): _unary,
    tuple(_BINARY): _binary,
    _CASTS: _cast,
    tuple(_ASKS): _asked,
    ("sr",): _scoped,
    ("cl",): _called,
    ("tl", "il"): _braced,
    ("qu",): _chosen,
    ("fp",): _parameter,
    ("sp",): _expanded,
}
_TAKEN = {
    "Z": _local,
    "Ul": _lambda,
    "Ut": _unnamed,
    "X": _whole_expression,
    "DT": _decltype,
    "Dt": _decltype,
}
"""What a thing begins with, and what takes the rest of it."""
