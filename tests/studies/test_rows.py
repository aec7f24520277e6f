"""Rows, kept in a file."""

import math

import pytest

from lockstep.errors import InputError
from lockstep.studies.rows import FACTS, StudyRow, read_rows, write_rows

ROW = StudyRow(
    "s", "small", "vecadd", 1000, "old", "QV100", "sm.count=4 l1.carveouts=1,2", "abc", {}
)


def with_counters(**counters):
    return StudyRow(*(getattr(ROW, name) for name in ROW.__slots__[:-1]), counters)


def test_rows_come_back_as_they_were(tmp_path):
    rows = [with_counters(cycles=1234, hits=12.345678901234567), with_counters(cycles=5)]
    write_rows(tmp_path / "r.csv", rows)
    first, second = read_rows(tmp_path / "r.csv")
    assert first == rows[0]
    assert second.counters["cycles"] == 5 and math.isnan(second.counters["hits"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", "no table of a study"),
        ("", "is empty"),
        (f"{','.join(FACTS)},cycles\ns,l,p,x,v,g,c,k,1\n", "items 'x'"),
    ],
)  # fmt: skip
def test_another_table_is_refused(tmp_path, text, problem):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_rows(tmp_path / "r.csv")
