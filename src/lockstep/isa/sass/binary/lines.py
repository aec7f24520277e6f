"""Line tables: from addresses in machine code to source lines (DWARF 2 ``.debug_line``).

Programs compiled with ``-lineinfo`` or ``-G`` have one. Its addresses are filled in by relocations,
which name the function that a sequence of rows belongs to. An opcode of NVIDIA's own says that the
next rows are of a function that was inlined, and which row of the sequence is its call (seen in
what nvcc 13 makes of inlined calls).
"""

import bisect
from collections.abc import Iterator

import msgspec

from lockstep.isa.sass.binary.cubin import Cubin

_SECTION = ".debug_line"
_ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _FIXED_ADVANCE = 2, 3, 4, 9
_COPY, _CONST_ADD = 1, 8
_END, _SET_ADDRESS, _INLINED = 1, 2, 0x90


class Line(msgspec.Struct, frozen=True):
    """From this byte offset in its function on, code is for that line of that file.

    ``calls`` are the files and lines where it was inlined, innermost first.
    """

    offset: int
    file: str
    line: int
    calls: tuple[tuple[str, int], ...] = ()


class _NumberReader:
    """Numbers of a byte string, one after the other; IndexError at its end."""

    def __init__(self, data: bytes, place: int, end: int):
        self.data, self.place, self.end = data, place, end

    def integer(self, size: int, signed: bool = False) -> int:
        if self.place + size > self.end:
            raise IndexError
        value = int.from_bytes(self.data[self.place : self.place + size], "little", signed=signed)
        self.place += size
        return value

    def leb(self, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.integer(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 63:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        stop = self.data.find(b"\0", self.place, self.end)
        if stop < 0:
            raise IndexError
        value = self.data[self.place : stop].decode(errors="replace")
        self.place = stop + 1
        return value


class _Header(msgspec.Struct):
    unit: int
    base: int
    span: int
    lengths: list[int]
    files: list[str]


def lines(cubin: Cubin) -> dict[str, tuple[Line, ...]]:
    """The rows of each function, in the order of their offsets; empty without a line table.

    Of rows with the same offset the last one holds. A damaged table gives the rows before the
    damage.
    """
    data = cubin.sections.get(_SECTION, b"")
    owners = {r.offset: r.symbol for r in cubin.relocations if r.section == _SECTION}
    found: dict[str, list[Line]] = {}
    try:
        for name, row in _rows(data, owners):
            found.setdefault(name, []).append(row)
    except IndexError:
        pass
    return {name: tuple(sorted(rows, key=lambda r: r.offset)) for name, rows in found.items()}


def line_at(rows: tuple[Line, ...], offset: int) -> Line | None:
    """The row that an instruction belongs to, or None before the first."""
    place = bisect.bisect_right(rows, offset, key=lambda row: row.offset)
    return rows[place - 1] if place else None


def _rows(data: bytes, owners: dict[int, str]) -> Iterator[tuple[str, Line]]:
    place = 0
    while place + 4 <= len(data):
        reader = _NumberReader(data, place, len(data))
        end = min(len(data), place + 4 + reader.integer(4))
        reader.end = end
        yield from _program(reader, _header(reader), owners)
        place = end


def _header(reader: _NumberReader) -> _Header:
    reader.integer(2)  # version
    length = reader.integer(4)
    start = reader.place + length
    unit, _, base, span, opcodes = (reader.integer(1, i == 2) for i in range(5))
    lengths = [reader.integer(1) for _ in range(opcodes - 1)]
    folders = [""]
    while folder := reader.text():
        folders.append(folder)
    files = [""]
    while name := reader.text():
        number, _, _ = reader.leb(), reader.leb(), reader.leb()
        folder = folders[number] if number < len(folders) else ""
        files.append(f"{folder.rstrip('/')}/{name}" if folder else name)
    reader.place = start
    return _Header(unit, base, max(span, 1), lengths, files)


def _program(
    reader: _NumberReader, header: _Header, owners: dict[int, str]
) -> Iterator[tuple[str, Line]]:
    owner, address, file, line, call = "", 0, 1, 1, 0
    rows: list[Line] = []  # of this sequence
    while reader.place < reader.end:
        opcode = reader.integer(1)
        emits = opcode == _COPY
        if opcode > len(header.lengths):
            step = opcode - len(header.lengths) - 1
            address += step // header.span * header.unit
            line += header.base + step % header.span
            emits = True
        elif opcode == 0:
            length = reader.leb()
            after = reader.place + length
            kind = reader.integer(1)
            if kind == _SET_ADDRESS:
                owner = owners.get(reader.place, "")
                address = reader.integer(min(8, max(0, length - 1)))
            elif kind == _END:
                owner, address, file, line, call, rows = "", 0, 1, 1, 0, []
            elif kind == _INLINED:
                call = reader.leb()
            reader.place = after
        elif opcode == _ADVANCE_PC:
            address += reader.leb() * header.unit
        elif opcode == _ADVANCE_LINE:
            line += reader.leb(signed=True)
        elif opcode == _SET_FILE:
            file = reader.leb()
        elif opcode == _CONST_ADD:
            address += (255 - len(header.lengths) - 1) // header.span * header.unit
        elif opcode == _FIXED_ADVANCE:
            address += reader.integer(2)
        elif not emits:
            for _ in range(header.lengths[opcode - 1]):
                reader.leb()
        if emits:
            name = header.files[file] if 0 < file < len(header.files) else ""
            rows.append(Line(address, name, line, _calls(rows, call)))
            if owner:
                yield owner, rows[-1]


def _calls(rows: list[Line], call: int) -> tuple[tuple[str, int], ...]:
    """Where the function of the next row was inlined: at a row, counted from 1, 0 = nowhere."""
    if not 0 < call <= len(rows):
        return ()
    row = rows[call - 1]
    return ((row.file, row.line), *row.calls)
