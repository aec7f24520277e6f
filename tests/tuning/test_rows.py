"""The reader of microbenchmark tables: what is read, what is said, what is refused."""

import lzma

import pytest

from lockstep.errors import InputError
from lockstep.tuning.rows import Row, read_rows

TABLE = """\
name,parameters,value,second_run,unit,notes,raw
lat.iadd3,warps=1 ilp=1,4.125,4.125,cycles,IADD3,1:2
thr.ldmatrix,x4 warps=8,4.05,4.05,cycles/warp-instruction,,
bw.l2,bits=128 read bytes=16777216 passes=20,7511,7312,GB/s,"a, b",
thr.atom_global,"one word, blocks=132 threads=1024",1.367,1.367,Gop/s,,
"""
HEAD = "name,parameters,value,unit,notes,raw\n"


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "rows.csv"
        path.write_text(text)
        return read_rows(path)

    return read


def refused(read, text):
    with pytest.raises(InputError) as error:
        read(text)
    assert "\n" not in str(error.value)
    return str(error.value).partition("rows.csv, ")[2]


def test_rows_are_found_by_name_words_and_numbers(read):
    rows = read(TABLE)
    assert [row.name for row in rows] == ["lat.iadd3", "thr.ldmatrix", "bw.l2", "thr.atom_global"]
    assert rows.select("lat.iadd3", warps=1)[0].value == 4.125
    assert rows.select("lat.iadd3", warps=2) == []
    assert rows.select("thr.ldmatrix", "x4")[0].keys == {"warps": 8}
    assert rows.select("thr.ldmatrix", "x2") == []
    assert rows.select("bw.l2", "read", bits=128)[0].notes == "a, b"
    assert rows.select("thr.atom_global", "one word", blocks=132)[0].line == 5


def test_a_second_run_and_compression_change_nothing(read, tmp_path):
    plain = HEAD + "lat.iadd3,warps=1,4,cycles,,\n"
    packed = tmp_path / "rows.csv.xz"
    packed.write_bytes(lzma.compress(plain.encode()))
    assert read(plain).rows == read_rows(packed).rows
    assert read(plain).rows == (Row("lat.iadd3", "warps=1", 4.0, "cycles", "", 2),)


def test_programs_that_failed_and_values_of_nothing_are_remarked(read):
    rows = read(HEAD + "ERROR,sync exit 3,,,boom,\ncopy.d2d,,inf,GB/s,,\na,b=1,2,cycles,,\n")
    assert [row.name for row in rows] == ["a"]
    assert "line 2: a program failed, its rows are absent: sync exit 3" in rows.remarks[0]
    assert "line 3: copy.d2d has no value (inf)" in rows.remarks[1]


def test_a_row_that_is_there_twice_counts_once_unless_it_disagrees(read):
    rows = read(HEAD + "a,b=1,2.0,cycles,,\nother,,1,us,,\na,b=1,2.1,cycles,,\n")
    assert rows.named("a")[0].value == pytest.approx(2.05)
    assert "a, b=1 is there 2 times, lines 2, 4" in rows.remarks[0]
    message = refused(read, HEAD + "a,b=1,2.0,cycles,,\na,b=1,3.0,cycles,,\n")
    assert (
        message == "line 3: a, b=1: 3 cycles disagrees with line 2, 2 cycles; delete the wrong one"
    )
    assert "disagrees" in refused(read, HEAD + "a,,2,cycles,,\na,,2,ns,,\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,value\na,1\n", "line 1: expected the columns name, parameters, value, unit; "),
        (HEAD + "a,b,x7,cycles,,\n", "line 2: a: the value 'x7' is no number; measure it again"),
        (HEAD + ",b,7,cycles,,\n", "line 2: a row without a name; delete the line"),
        (HEAD + "a,b,7\n", "line 2: 3 cells where the head has 6"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(read, text, message):
    assert refused(read, text).startswith(message)


def test_a_table_without_measurements_is_refused(read):
    with pytest.raises(InputError, match="has no measurement"):
        read(HEAD)
    with pytest.raises(InputError, match="is empty"):
        read("")
