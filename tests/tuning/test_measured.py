"""How inferences look rows up: units, absent rows, what counts as looked at."""

from pathlib import Path

import pytest

from lockstep.errors import InputError
from lockstep.tuning.measured import Absent, Measured
from lockstep.tuning.rows import Row, Rows


def measured(*rows, **parameters):
    made = tuple(Row(name, text, value, unit, line=7) for name, text, value, unit in rows)
    return Measured(Rows(Path("r.csv"), made), {"clock_mhz": 2000.0} | parameters)


@pytest.mark.parametrize(
    ("value", "given", "wanted", "expected"),
    [
        (3.0, "cycles", "cycles", 3.0),
        (3.0, "clk", "cycles", 3.0),
        (3.0, "cycles/warp-instruction", "cycles", 3.0),
        (3.0, "ns", "cycles", 6.0),
        (3.0, "us", "cycles", 6000.0),
        (3.0, "ms", "us", 3000.0),
        (4.0, "cycles", "ns", 2.0),
        (3.0, "TB/s", "GB/s", 3000.0),
        (5.0, "Mop/s", "Gop/s", 0.005),
        (5.0, "lanes/clk/SM", "lanes/clk/SM", 5.0),
    ],
)
def test_a_value_comes_in_the_unit_that_is_asked_for(value, given, wanted, expected):
    assert measured(("a", "", value, given)).get("a", wanted) == pytest.approx(expected)


@pytest.mark.parametrize(("given", "wanted"), [("furlongs", "cycles"), ("GB/s", "Gop/s")])
def test_another_unit_is_refused_with_its_line(given, wanted):
    with pytest.raises(InputError) as error:
        measured(("a", "b=1", 3.0, given)).get("a", wanted)
    expected = f"r.csv, line 7: a, b=1 is in '{given}'; expected {wanted}: convert the value"
    assert str(error.value).startswith(expected)


def test_what_is_missing_or_not_positive_is_absent():
    m = measured(("a", "b=1", -3.0, "cycles"), ("s", "n=1", 1.0, "cycles"))
    for ask in (
        lambda: m.get("a", b=1),
        lambda: m.get("a", b=2),
        lambda: m.series("s", "n"),
        lambda: m.highest("a", "cycles", lambda row: False),
        lambda: m["sm.count"],
        lambda: m.difference(1.0, 1.0),
    ):
        with pytest.raises(Absent):
            ask()


@pytest.mark.parametrize(("value", "given"), [(1e299, "s"), (1e-299, "cycles")])
def test_what_nothing_can_take_is_absent(value, given):
    with pytest.raises(Absent, match="is no measurement"):
        measured(("a", "", value, given)).get("a")


def test_only_what_is_used_is_quoted():
    m = measured(("s", "n=4", 8.0, "cycles"), ("s", "n=1", 2.0, "cycles"), ("t", "", 1.0, "us"))
    points = m.series("s", "n")
    assert [(p.at, p.value) for p in points] == [(1, 2.0), (4, 8.0)]
    assert m.used == []
    m.use(points[1])
    m.get("t", "us")
    assert [row.label for row in m.used] == ["s, n=4", "t"]
