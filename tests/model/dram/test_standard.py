"""DRAM standards: all load, defaults and overrides, and what is refused."""

import math

import pytest

from lockstep.errors import SpecError
from lockstep.gpus import library
from lockstep.model.dram import standard
from lockstep.model.dram.standard import Command, Scope


def dram(**changes):
    changes = {f"dram.{name}": value for name, value in changes.items()}
    return library.replace(library.gpu("QV100"), **{"dram.timing": {}} | changes).dram


@pytest.mark.parametrize("name", standard.names())
def test_a_standard_has_all_that_the_controller_needs(name):
    timing = standard.resolve(dram(standard=name))
    needed = "nRCD nRAS nRP nRC nCL nCWL nWR nBL nCCD nCCDL nREFI nRFC nRFCpb nFAW"
    assert all(timing.parameters[p] > 0 for p in needed.split() if p != "nRFCpb")
    pairs = {(c.earlier, c.later, c.scope) for c in timing.constraints}
    a, p, r, w = Command.ACT, Command.PRE, Command.RD, Command.WR
    for pair in ((a, r), (a, w), (a, p), (p, a), (r, p), (w, p), (a, a)):
        assert (*pair, Scope.BANK) in pairs
    for pair in ((r, r), (w, w), (r, w), (w, r), (a, a)):
        assert (*pair, Scope.CHANNEL) in pairs
    assert [c for c in timing.constraints if c.window == 4]
    refresh = Command.REFpb if timing.refresh_per_bank else Command.REFab
    assert {(refresh, a), (p, refresh), (a, refresh)} <= {pair[:2] for pair in pairs}


def test_a_file_is_named_after_its_standard():
    assert [standard.load(name.swapcase())["name"] for name in standard.names()] == list(
        standard.names()
    )


@pytest.mark.parametrize("name", ["DDR99", "../hbm2", "", "hbm2.toml"])
def test_an_unknown_standard_is_refused(name):
    with pytest.raises(SpecError, match=r"dram\.standard is .* expected one of .*GDDR6.*HBM2"):
        standard.load(name)


def test_an_unknown_timing_name_is_refused():
    with pytest.raises(SpecError, match=r"no parameter 'nRCDX'; expected one of .*nRCD"):
        standard.resolve(dram(standard="HBM2", timing={"nRCDX": 3}))


def test_nanoseconds_are_rounded_up_to_clocks():
    defaults = standard.load("HBM2")["nanoseconds"]
    for mhz in (1000.0, 850.0, 1593.0):
        values = standard.resolve(dram(standard="HBM2", clock_mhz=mhz)).parameters
        for name, nanoseconds in defaults.items():
            assert values[name] == math.ceil(round(nanoseconds * mhz / 1000, 6)), name


def test_a_gpus_numbers_come_first_and_reach_what_depends_on_them():
    values = standard.resolve(dram(standard="HBM2", timing={"nRAS": 50, "nRP": 20})).parameters
    assert (values["nRAS"], values["nRP"], values["nRC"]) == (50, 20, 70)
    values = standard.resolve(dram(standard="HBM2", timing={"nRAS": 50, "nRC": 60})).parameters
    assert values["nRC"] == 60


@pytest.mark.parametrize("beats, a_clock, clocks", [(2, 2, 1), (4, 2, 2), (16, 8, 2), (2, 8, 1)])
def test_the_clocks_of_a_burst(beats, a_clock, clocks):
    timing = standard.resolve(
        dram(burst_length=beats, beats_per_clock=a_clock, bus_bytes=32 // beats)
    )
    assert timing.parameters["nBL"] == clocks


def test_without_bank_groups_no_constraint_of_a_group_is_left():
    assert any(c.scope == Scope.GROUP for c in standard.resolve(dram(bank_groups=4)).constraints)
    alone = standard.resolve(dram(bank_groups=1)).constraints
    assert not any(c.scope == Scope.GROUP for c in alone)


def test_refresh_is_of_all_banks_where_a_bank_alone_takes_no_time():
    assert standard.resolve(dram(standard="HBM2")).refresh_per_bank
    assert not standard.resolve(dram(standard="HBM2", timing={"nRFCpb": 0})).refresh_per_bank


@pytest.mark.parametrize(
    "expression, value",
    [("nCL + nBL + 2 - nCWL", 12), ("max(nCL, 3 * nBL, 1)", 12), ("nCWL // 2", 2), (7, 7)],
)
def test_expressions(expression, value):
    assert standard.evaluate(expression, {"nCL": 12, "nBL": 2, "nCWL": 4}) == value


@pytest.mark.parametrize("expression", ["min(1, 2)", "nCL.real", "1.5", "-nCL"])
def test_anything_else_is_no_expression(expression):
    with pytest.raises(ValueError, match="not an expression of DRAM parameters"):
        standard.evaluate(expression, {"nCL": 12})
