"""Tokens of PTX text, and the cursor that the parsers share.

One compiled expression splits the whole text, comments and white space included, into three
parallel lists. An opcode with its modifiers (``ld.global.v4.f32``) and a register with its
component (``%tid.x``) are one token each.
"""

import re
from bisect import bisect_right

from lockstep.errors import InputError
from lockstep.isa.ptx.syntax import Position

WORD, NUMBER, DOT, STRING, SIGN, END, UNTERMINATED, BAD = range(1, 9)

_SKIPPED = r"""(?:\s++
    | //[^\n]*+
    | /\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/
    | \#[ ]\d[^\n]*+  # the line markers of a C preprocessor
    | @@DWARF[^\n]*+  # debug information before PTX 2.0
)*+"""
_TOKEN = re.compile(
    _SKIPPED
    + r"""(?:
      ((?:[A-Za-z_$]|%[\w$])[\w$]*+(?:(?:\.|::)\w++)*+)
    | (\d++\.\d*+(?:[eE][+-]?\d++)?+|\d++[eE][+-]\d++|\.\d++(?:[eE][+-]?\d++)?+(?!\w)|\d\w*+)
    | (\.\w++(?:::\w++)*+)
    | ("(?:[^"\\\n]|\\[^\n])*+")
    | (<<|>>|<=|>=|==|!=|&&|\|\||(?!/\*)[-+*/%&|^~!?:;,(){}\[\]<>=@])
    | (\Z)
    | (/\*|")
    | (.)
    )""",
    re.ASCII | re.VERBOSE | re.DOTALL,
)
_IDENTIFIER = re.compile(r"(?:[A-Za-z]|[_$%][\w$])[\w$]*", re.ASCII)
_LOOKAHEAD = 3  # tokens after the end, so that a glance ahead needs no check


class Cursor:
    """The tokens of a module and a place among them.

    ``kinds``, ``texts`` and ``offsets`` are parallel; ``index`` is the next token. The last tokens
    are of kind END with an empty text.
    """

    __slots__ = ("_line_starts", "index", "kinds", "offsets", "path", "source", "texts")

    def __init__(self, source: str, path: str):
        """Split ``source``; raises InputError at a character that begins no token."""
        self.source, self.path, self.index = source.rstrip("\0"), path, 0
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", source))]
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.offsets: list[int] = []
        for match in _TOKEN.finditer(self.source):
            kind = match.lastindex
            assert kind is not None, "every token is a group"
            self.kinds.append(kind)
            self.texts.append(match[kind])
            self.offsets.append(match.start(kind))
        self._check()
        self.kinds += [END] * _LOOKAHEAD
        self.texts += [""] * _LOOKAHEAD
        self.offsets += [len(self.source)] * _LOOKAHEAD

    def _check(self) -> None:
        for index, kind in enumerate(self.kinds):
            if kind == UNTERMINATED:
                opened = "comment" if self.texts[index] == "/*" else "string"
                raise self.error(f"this {opened} is not terminated", index)
            if kind == BAD:
                raise self.error(f"expected PTX, found {self.texts[index]!a}", index)

    def position(self, index: int) -> Position:
        """Where token ``index`` begins."""
        offset = self.offsets[index]
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def error(self, message: str, index: int | None = None) -> InputError:
        """The error ``message`` at token ``index`` (default: the next one), for raising."""
        return self.error_at(self.position(self.index if index is None else index), message)

    def error_at(self, place: Position, message: str) -> InputError:
        """The error ``message`` at ``place``, for raising."""
        return InputError(self.path, f"line {place.line}, column {place.column}", message)

    def expected(self, what: str, index: int | None = None) -> InputError:
        """The error that ``what`` should be at token ``index`` (default: the next one)."""
        text = self.texts[self.index if index is None else index]
        return self.error(f"expected {what}, found {shown(text)}", index)

    def accept(self, text: str) -> bool:
        """Go past the next token if it is ``text``; says whether it was."""
        if self.texts[self.index] != text:
            return False
        self.index += 1
        return True

    def expect(self, text: str, context: str) -> None:
        """Go past the next token, which must be ``text``; ``context`` as in "after a label"."""
        if self.texts[self.index] != text:
            raise self.expected(f"{text!r} {context}")
        self.index += 1

    def identifier(self, what: str) -> str:
        """Go past a name without dots; ``what`` it names is for the message."""
        text = self.texts[self.index]
        if self.kinds[self.index] != WORD or not _IDENTIFIER.fullmatch(text):
            raise self.expected(what)
        self.index += 1
        return text

    def string(self, what: str) -> str:
        """Go past a string literal; returns what stands between the quotes."""
        if self.kinds[self.index] != STRING:
            raise self.expected(f'{what} in ""')
        self.index += 1
        inner = self.texts[self.index - 1][1:-1]
        return inner.replace('\\"', '"').replace("\\\\", "\\")


def shown(text: str) -> str:
    """A token as messages show it: quoted, and cut if it is long."""
    if not text:
        return "the end of the text"
    return repr(text if len(text) <= 40 else text[:37] + "...")
