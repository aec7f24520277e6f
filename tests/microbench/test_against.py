import pytest

from lockstep.microbench import against
from lockstep.microbench.table import TableRow


def row(name, value, parameters="p"):
    return TableRow(name, parameters, value, "cycles")


def test_rows_are_paired_by_name_and_parameters():
    ours = [row("lat.lds32", 104), row("lat.lds32", 1, "q"), row("lat.lds64", 120)]
    measured = [row("lat.lds32", 100), row("lat.lds64", 100), row("lat.lds128", 5)]
    found = against.compare(ours, measured)
    assert [round(p.error, 2) for p in found.pairs] == [0.04, 0.2]
    assert found.alone == [ours[1]]
    assert found.left_out == {"not run": 1}
    of_shared, of_all = found.shares()
    assert (of_shared.group, of_shared.count) == ("shared", 2)
    assert (of_all.nearer, of_all.near) == (1, 1)


@pytest.mark.parametrize(
    ("name", "parameters"), [("copy.h2d_pinned", "bytes=4096"), ("sync.nanosleep", "ns=20")]
)
def test_what_no_model_can_have_is_no_error(name, parameters):
    one = row(name, 1, parameters)
    found = against.compare([one], [row(name, 100, parameters)])
    assert not found.pairs
    assert found.left_out == {against.unmodelled(one): 1}


def test_the_measured_table_ships():
    rows = against.reference("h100-sxm")
    assert len(rows) == 1981
    assert len({r.name for r in rows}) == 271
