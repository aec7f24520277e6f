import struct
from pathlib import Path

import msgspec
import pytest

from lockstep.isa.sass.binary import Cubin, Line, Relocation, line_at, lines, read_cubin

FLOAT = "_Z5scaleIfEvPT_sd"


@pytest.fixture(scope="module")
def cubin(fixtures):
    path = fixtures / "scale_sm70.cubin"
    return read_cubin(path.read_bytes(), Path(path.name))


def source_line(fixtures, text):
    source = (fixtures / "scale.cu").read_text().splitlines()
    return 1 + next(i for i, line in enumerate(source) if text in line)


def test_instructions_have_the_lines_of_the_source(cubin, fixtures):
    rows = lines(cubin)[FLOAT]
    assert rows[0].offset == 0
    assert {row.file for row in rows} == {"/scale.cu"}
    numbers = [row.line for row in rows]
    assert source_line(fixtures, "tile[threadIdx.x] =") in numbers
    assert source_line(fixtures, "+ counter") in numbers


def test_an_offset_between_rows_belongs_to_the_row_before(cubin):
    rows = lines(cubin)[FLOAT]
    assert line_at(rows, rows[1].offset) == rows[1]
    assert line_at(rows, rows[1].offset - 16) == rows[0]
    assert line_at((), 0) is None


def test_a_program_without_lines_has_none(fixtures):
    path = fixtures / "scale_sm90.cubin"
    assert lines(read_cubin(path.read_bytes(), Path(path.name))) == {}


def test_a_damaged_table_gives_what_is_before_the_damage(cubin):
    whole = cubin.sections[".debug_line"]
    for end in range(0, len(whole), 7):
        cut = msgspec.structs.replace(cubin, sections={".debug_line": whole[:end]})
        rows = lines(cut).get(FLOAT, ())
        assert set(rows) <= set(lines(cubin)[FLOAT])
    for place in range(0, len(whole), 3):
        bad = whole[:place] + b"\xff" + whole[place + 1 :]
        lines(msgspec.structs.replace(cubin, sections={".debug_line": bad}))


def test_of_rows_with_the_same_offset_the_last_one_holds():
    rows = (Line(0, "a", 9), Line(16, "z", 1), Line(16, "a", 2), Line(32, "a", 3))
    assert line_at(rows, 16) == rows[2]


def test_rows_of_inlined_functions_name_their_calls():
    """A table of two rows, the second one inlined at the first, and it again at the second."""
    header = struct.pack("<5B", 1, 1, 0xFB, 14, 10) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])
    header += b"\0" + b"a.cu\0\0\0\0" + b"\0"
    start = b"\0\x09\x02" + bytes(8)
    rows = b"\x01" + b"\0\x03\x90\x01\0" + b"\x02\x10\x03\x04\x01" + b"\0\x03\x90\x02\0\x01"
    content = struct.pack("<HI", 2, len(header)) + header + start + rows + b"\0\x01\x01"
    table = struct.pack("<I", len(content)) + content
    place = table.index(start) + 3
    relocation = Relocation(".debug_line", place, 2, "k")
    cubin = Cubin(80, (), {}, b"", 0, (), (relocation,), {".debug_line": table})
    first, second, third = lines(cubin)["k"]
    assert first == Line(0, "a.cu", 1)
    assert second == Line(16, "a.cu", 5, (("a.cu", 1),))
    assert third == Line(16, "a.cu", 5, (("a.cu", 5), ("a.cu", 1)))
