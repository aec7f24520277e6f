import io
import lzma

import pytest

from lockstep.errors import InputError
from lockstep.microbench import table
from lockstep.microbench.table import TableRow

ROW = TableRow("lat.x", "one word, by 32 lanes", 12.5, "cycles", 'a "note"', "1:2")


def test_what_is_written_is_read_again(tmp_path):
    text = io.StringIO()
    table.write([ROW], text)
    assert text.getvalue().splitlines()[0] == "name,parameters,value,unit,notes,raw,stands_for"
    (tmp_path / "a.csv").write_text(text.getvalue())
    (tmp_path / "a.csv.xz").write_bytes(lzma.compress(text.getvalue().encode()))
    assert table.read(tmp_path / "a.csv") == table.read(tmp_path / "a.csv.xz") == [ROW]


def test_other_columns_and_failed_benchmarks_are_passed_over(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("name,parameters,value,second_run,unit\nERROR,x,,,\nlat.x,,3,4,us\n")
    assert table.read(file) == [TableRow("lat.x", "", 3, "us")]


@pytest.mark.parametrize("text", ["name,value\na,1\n", "name,parameters,value\na,b,c\n"])
def test_what_is_no_table_is_refused_with_its_line(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match="line 2"):
        table.read(tmp_path / "a.csv")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        table.read(tmp_path / "none.csv")
