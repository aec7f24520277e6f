"""Fits, on a machine whose rows are formulas of its parameters."""

from pathlib import Path

import pytest

from lockstep.gpus import library
from lockstep.tuning import fit as fitting
from lockstep.tuning.fit import fit, in_common
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.tuner import infer

BASE = "H100_SXM"


def machine(gpu, wanted=()):
    """Rows with what a loop adds, and with parameters that act on each other's rows."""
    front = gpu.sm.front_end
    taken = 1.125 * front.redirect + 2
    half = 100.9 + 2.2 * front.divergence + 0.3 * front.redirect
    values = {
        "branch.taken": taken,
        "branch.body_alone": 100.9,
        "branch.half_lanes": half,
        "lat.store_membar_gl": max(gpu.sm.fence_round_trip, 300) + 42.5,
    }
    rows = [Row(name, "warps=1", value, "cycles", line=1) for name, value in values.items()]
    names = {row.name for row in wanted}
    return Rows(Path("twin"), tuple(row for row in rows if not names or row.name in names))


def tuned_on(gpu, simulate=machine, rounds=6, say=lambda text: None):
    rows = machine(gpu)
    tuned = infer(rows, library.loaded(BASE))
    fit(tuned, rows, simulate, rounds, say)
    return tuned


def changed(**parameters):
    return library.replace(library.gpu(BASE), **parameters)


@pytest.mark.parametrize("redirect", [0, 9, 40])
@pytest.mark.parametrize("divergence", [1, 7, 33])
def test_parameters_that_act_on_each_others_rows_are_found(redirect, divergence):
    wanted = {"sm.front_end.redirect": redirect, "sm.front_end.divergence": divergence}
    tuned = tuned_on(changed(**wanted))
    assert {path: tuned.parameters[path] for path in wanted} == wanted


def test_simulations_are_few_and_only_of_the_rows_that_are_needed():
    asked = []

    def counting(gpu, wanted):
        asked.append({row.name for row in wanted})
        return machine(gpu, wanted)

    said = []
    tuned_on(changed(**{"sm.fence_round_trip": 777}), counting, say=said.append)
    assert len(asked) == len(said) <= 3
    assert "lat.lds32" not in set().union(*asked)


def test_where_a_parameter_has_no_effect_the_best_value_is_taken():
    tuned = tuned_on(changed(**{"sm.fence_round_trip": 0}))  # a fence takes 300 at least
    assert tuned.parameters["sm.fence_round_trip"] in range(0, 301)
    assert tuned.found["sm.fence_round_trip"].inference.kind == "fitted"


def test_what_cannot_be_simulated_is_the_bases():
    tuned = tuned_on(
        changed(**{"sm.front_end.redirect": 40}), lambda gpu, rows: Rows(Path("x"), ())
    )
    base = library.gpu(BASE).sm.front_end.redirect
    assert tuned.parameters["sm.front_end.redirect"] == base
    assert tuned.absent["sm.front_end.redirect"] == (
        "not in simulation: no row branch.taken, warps=1"
    )


def test_without_rounds_nothing_is_fitted():
    tuned = tuned_on(changed(**{"sm.front_end.redirect": 40}), rounds=0)
    assert tuned.absent["sm.front_end.redirect"] == "no simulation"


def test_rows_are_compared_with_those_of_the_same_parameters():
    measured = Rows(Path("m"), tuple(Row("a", f"n={n}", n, "cycles") for n in (1, 2, 3)))
    have = Rows(Path("s"), tuple(Row("a", f"n={n}", n, "cycles") for n in (2, 3, 9)))
    ours, theirs = in_common(measured, have, ["a"])
    assert [r.value for r in ours] == [r.value for r in theirs] == [2, 3]
    other = Rows(Path("s"), (Row("a", "n=9", 9, "cycles"),))
    ours, theirs = in_common(measured, other, ["a"])
    assert len(ours.rows) == 3 and len(theirs.rows) == 1


def test_a_slope_that_is_out_of_reason_is_not_believed():
    tuned = infer(machine(library.gpu(BASE)), library.loaded(BASE))
    search = fitting.Search(tuned.statistics["sm.front_end.redirect"], whole=True)
    search.tries = [fitting.Try(10, 5.0), fitting.Try(15, 4.9)]
    assert search.slope() == 1.0
    search.tries = [fitting.Try(10, 5.0), fitting.Try(15, -5.0)]
    assert search.slope() == 2.0
