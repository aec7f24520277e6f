"""Which cases of the suite are simulated for which measured rows, and that their rows come back."""

import pytest

from lockstep.gpus import library
from lockstep.microbench.simulate import target_of
from lockstep.microbench.suite import all_benchmarks
from lockstep.tuning.rows import Row
from lockstep.tuning.simulation import chosen, simulated


@pytest.fixture(scope="module")
def gpu():
    return library.gpu("H100_SXM")


def parameters(gpu, *measured):
    rows = [Row(name, text, 1.0, "cycles") for name, text in measured]
    picked = chosen(all_benchmarks(target_of(gpu)), rows)
    return [row.parameters for b in picked for case in b.cases for row in case.rows]


def test_cases_are_those_with_the_same_parameters(gpu):
    one = ("lat.lds32", "stride_bytes=8 conflict=2")
    assert parameters(gpu, one) == ["stride_bytes=8 conflict=2"]
    assert parameters(gpu, one, ("lat.lds64", "stride_bytes=16")) == [
        "stride_bytes=8 conflict=2",
        "stride_bytes=16",
    ]


def test_all_cases_are_run_where_none_has_the_same(gpu):
    assert len(parameters(gpu, ("lat.lds32", "of another size"))) == 7
    assert parameters(gpu, ("no.such", "warps=1")) == []


def test_simulated_rows_are_those_that_were_asked_for(gpu):
    said = []
    slow = library.replace(gpu, **{"shared.latency": 40})
    rows = simulated(slow, [Row("lat.lds32", "stride_bytes=4 conflict=1", 1.0, "")], said.append)
    assert [row.label for row in rows] == ["lat.lds32, stride_bytes=4 conflict=1"]
    assert rows.named("lat.lds32")[0].value == pytest.approx(40, abs=0.5)
    assert said == []
