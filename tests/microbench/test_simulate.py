"""Parameters of a modelled GPU are read back from the suite's rows."""

from dataclasses import replace

import pytest

from lockstep.api import gpu
from lockstep.microbench.simulate import simulate, target_of
from lockstep.microbench.suite import all_benchmarks


def measured(name, *changes, board="H100_SXM", parameters=None):
    """Rows of a benchmark by parameters, on a GPU with changes; or one value."""
    board = gpu(board, changes)
    chosen = [b for b in all_benchmarks(target_of(board)) if b.name == name]
    values = {row.parameters: row.value for row in simulate(board, chosen)}
    return values if parameters is None else values[parameters]


@pytest.mark.parametrize(("latency", "passes"), [(23, 2), (31, 3)])
def test_shared_memory_is_as_planted(latency, passes):
    changes = f"shared.latency={latency}", f"shared.pass_latency={passes}"
    rows = measured("lat.lds32", *changes)
    for ways in (1, 2, 8, 32):
        expected = latency + passes * (ways - 1)
        assert rows[f"stride_bytes={4 * ways} conflict={ways}"] == pytest.approx(expected, abs=0.3)


@pytest.mark.long
@pytest.mark.parametrize(("latency", "far"), [(276, 0), (301, 0), (276, 40)])
def test_a_chain_past_the_l1_takes_the_latency_of_the_l2(latency, far):
    value = measured(
        "lat.chase_cg", f"l2.latency={latency}", f"l2.far_latency={far}",
        parameters="footprint=65536 stride=128 sequential",
    )  # fmt: skip
    half = far / 2  # of the lines are on the other side, about
    assert value == pytest.approx(latency + 1 + half, abs=1 + 0.1 * far)


def test_a_row_does_not_depend_on_what_else_was_chosen():
    board = gpu("H100_SXM")
    names = ("lat.iadd3", "lat.lds64")
    chosen = [b for b in all_benchmarks(target_of(board)) if b.name in names]
    together = [row for row in simulate(board, chosen) if row.name == "lat.lds64"]
    assert together == list(simulate(board, [b for b in chosen if b.name == "lat.lds64"]))


@pytest.mark.long
def test_a_row_does_not_depend_on_the_cases_before_it():
    board = gpu("H100_SXM")
    (one,) = (b for b in all_benchmarks(target_of(board)) if b.name == "mlp.dram")
    last = replace(one, cases=one.cases[-1:])
    assert list(simulate(board, [one]))[-1] == list(simulate(board, [last]))[-1]


def test_what_fails_is_said_and_the_rest_goes_on():
    board = gpu("H100_SXM")
    (one,) = (b for b in all_benchmarks(target_of(board)) if b.name == "lat.lds64")
    (launch,) = one.cases[0].launches
    wrong = replace(one.cases[0], launches=(replace(launch, kernel="shared.absent"),))
    failed = []
    rows = list(simulate(board, [replace(one, cases=(wrong, *one.cases[1:]))], fail=failed.append))
    assert len(rows) == len(one.cases) - 1
    assert failed[0].startswith("lat.lds64|stride_bytes=8: failed: ")


def test_what_an_architecture_lacks_is_left_out_with_a_line():
    said = []
    board = gpu("QV100")
    chosen = [b for b in all_benchmarks(target_of(board)) if b.name == "lat.redux_add"]
    assert list(simulate(board, chosen, said.append)) == []
    assert said == ["lat.redux_add: left out: sm_70 has no such instructions"]


def test_the_code_of_volta_runs_too():
    assert measured("lat.ffma", board="QV100")["warps=1 ilp=1"] == pytest.approx(4, abs=0.5)
