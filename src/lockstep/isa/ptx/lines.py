"""Line information: ``.file``, ``.loc``, and the strings of the ``.debug_str`` section."""

from collections.abc import Iterator

from lockstep.isa.ptx.expressions import read_count
from lockstep.isa.ptx.lexer import DOT, NUMBER, STRING, WORD, Cursor
from lockstep.isa.ptx.syntax import SourceLine


class LineTable:
    """What ``.loc`` directives refer to, found before parsing, as it stands at the end of a module.

    ``files`` maps a number to a path.
    """

    def __init__(self, cursor: Cursor):
        self._cursor = cursor
        self.files = dict(self._read_files())
        self._strings: dict[str, bytes] | None = None
        self._seen: dict[tuple[int, int, int], SourceLine] = {}

    def _read_files(self) -> Iterator[tuple[int, str]]:
        texts, kinds = self._cursor.texts, self._cursor.kinds
        for index in [i for i, text in enumerate(texts) if text == ".file"]:
            if kinds[index + 1] == NUMBER and kinds[index + 2] == STRING:
                yield self._read_file(index)

    def _read_file(self, index: int) -> tuple[int, str]:
        self._cursor.index = index
        return self.read_file()

    def read_file(self) -> tuple[int, str]:
        """Go past ``.file number "path"``, with or without time stamp and size."""
        cursor = self._cursor
        cursor.index += 1
        number = read_count(cursor, "the number of a file")
        path = cursor.string("the path of a file")
        while cursor.accept(","):
            read_count(cursor, "a time stamp or size")
        return number, path

    def read_location(self) -> SourceLine:
        """Go past ``.loc`` and a place, ``function_name`` and ``inlined_at`` if it has them.

        An ``inlined_at`` means the latest ``.loc`` of that place, which may be inlined in turn.
        """
        cursor = self._cursor
        cursor.index += 1
        place, function, outer = self._read_place(), "", None
        while cursor.accept(","):
            attribute = cursor.texts[cursor.index]
            cursor.index += 1
            if attribute == "function_name":
                function = self._read_function()
            elif attribute == "inlined_at":
                outer = self._known(self._read_place())
            else:
                raise cursor.expected("'function_name' or 'inlined_at'", cursor.index - 1)
        number, line, column = place
        location = SourceLine(self.files.get(number, ""), line, column, function, outer)
        self._seen[place] = location
        return location

    def _known(self, place: tuple[int, int, int]) -> SourceLine:
        number, line, column = place
        return self._seen.get(place) or SourceLine(self.files.get(number, ""), line, column)

    def _read_place(self) -> tuple[int, int, int]:
        cursor = self._cursor
        number = read_count(cursor, "the number of a file")
        return number, read_count(cursor, "a line"), read_count(cursor, "a column")

    def _read_function(self) -> str:
        cursor = self._cursor
        start, label = cursor.index, cursor.identifier("the label of a function's name")
        offset = read_count(cursor, "an offset") if cursor.texts[cursor.index] == "+" else 0
        if self._strings is None:
            self._strings = dict(_debug_strings(cursor))
        if label not in self._strings:
            raise cursor.expected("a label of section .debug_str", start)
        return self._strings[label][offset:].decode("latin-1")


def _debug_strings(cursor: Cursor) -> Iterator[tuple[str, bytes]]:
    """Labels of ``.debug_str``, each with the string that ends at the next zero."""
    texts = cursor.texts
    for index in [i for i, text in enumerate(texts) if text == ".debug_str"]:
        if texts[index - 1] == ".section" and texts[index + 1] == "{":
            content, labels = _read_bytes(cursor, index + 2)
            for label, offset in labels.items():
                end = content.find(0, offset)
                yield label, content[offset : end if end >= 0 else None]


def _read_bytes(cursor: Cursor, index: int) -> tuple[bytes, dict[str, int]]:
    content, labels = bytearray(), {}
    while cursor.texts[index] not in ("}", ""):
        text, kind = cursor.texts[index], cursor.kinds[index]
        if kind == WORD:
            labels[text] = len(content)
        elif kind == NUMBER and text.isdecimal() and len(text) <= 3:
            content.append(int(text) & 0xFF)
        index += 1
    return bytes(content), labels


def read_section(cursor: Cursor) -> tuple[str, str]:
    """Go past ``.section name { ... }``; returns its name and the text between the braces."""
    cursor.index += 1
    start = cursor.index
    while cursor.kinds[cursor.index] == DOT or cursor.kinds[cursor.index] == WORD:
        cursor.index += 1
    name = "".join(cursor.texts[start : cursor.index])
    if not name:
        raise cursor.expected("the name of a section")
    opened = cursor.index
    cursor.expect("{", "after the name of a section")
    try:
        cursor.index = cursor.texts.index("}", opened) + 1
    except ValueError:
        raise cursor.error("this section is not terminated", opened) from None
    text = cursor.source[cursor.offsets[opened] + 1 : cursor.offsets[cursor.index - 1]]
    return name, text.strip()
