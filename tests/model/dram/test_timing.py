"""DRAM timing: each constraint holds to the clock, in its scope and no further."""

import numpy as np
import pytest

from lockstep.gpus import library
from lockstep.model.dram import build, standard, timing
from lockstep.model.dram.standard import Command, Scope

pytestmark = pytest.mark.plain

BANKS, GROUPS = 8, 4
HERE, SAME_GROUP, ELSEWHERE = 1, 5, 2  # banks: b belongs to group b % 4
REACHED = {
    Scope.BANK: {HERE},
    Scope.GROUP: {HERE, SAME_GROUP},
    Scope.CHANNEL: {HERE, SAME_GROUP, ELSEWHERE},
}
START = 1000


def dram(name):
    return library.replace(
        library.gpu("QV100"),
        **{
            "dram.standard": name,
            "dram.timing": {},
            "dram.channels": 1,
            "dram.banks": BANKS,
            "dram.bank_groups": GROUPS,
        },
    )


def single_constraints():
    for name in standard.names():
        constraints = standard.resolve(dram(name).dram).constraints
        for number, c in enumerate(constraints):
            yield pytest.param(
                name, number, id=f"{name}-{c.earlier.name}-{c.later.name}-{c.scope.name}-{number}"
            )


def under(name, keep):
    """A channel under those constraints of a standard that ``keep`` chooses."""
    gpu = dram(name)
    full = standard.resolve(gpu.dram)
    c = build.build(gpu, np.zeros(0), np.zeros(1), 0, False, 0)
    chosen = tuple(x for n, x in enumerate(full.constraints) if keep(n, x))
    alone = standard.DramTiming(full.parameters, chosen, full.refresh_per_bank)
    c.spec["delays"] = timing.delays(alone)
    c.spec["activate_window"] = timing.activate_window(alone)
    return c, full.constraints


def give(c, command, bank, tick):
    if command == Command.REFab:
        timing.apply_to_all(c, 0, command, tick)
        return
    timing.apply(c, 0, bank, command, tick)
    if command == Command.ACT:
        timing.limit_activates(c, 0, tick)


def accepts(c, command, bank, tick):
    last = c.spec[0].units - 1
    if command == Command.REFab:
        return c.units[last].ready[command] <= tick
    return timing.earliest(c.units, bank, last, command) <= tick


@pytest.mark.parametrize("name, number", list(single_constraints()))
def test_a_constraint_holds_to_the_clock_in_its_scope_only(name, number):
    c, constraints = under(name, lambda n, _: n == number)
    only = constraints[number]
    for k in range(only.window):
        give(c, only.earlier, HERE, START + k)
    for bank in (HERE, SAME_GROUP, ELSEWHERE):
        if bank in REACHED[only.scope] and only.clocks > 0:
            assert not accepts(c, only.later, bank, START + only.clocks - 1)
        else:
            assert accepts(c, only.later, bank, START)
        assert accepts(c, only.later, bank, START + only.clocks)


@pytest.mark.parametrize("name", standard.names())
def test_of_many_constraints_the_latest_holds(name):
    for earlier in Command:
        c, constraints = under(name, lambda *_: True)
        give(c, earlier, HERE, START)
        for later in Command:
            for bank in (HERE, SAME_GROUP, ELSEWHERE):
                if later == Command.REFab and bank != ELSEWHERE:
                    continue  # it has no bank: only what reaches the channel counts
                delay = max(
                    (
                        x.clocks
                        for x in constraints
                        if (x.earlier, x.later, x.window) == (earlier, later, 1)
                        and bank in REACHED[x.scope]
                    ),
                    default=0,
                )
                assert accepts(c, later, bank, START + delay), (earlier, later, bank)
                assert delay == 0 or not accepts(c, later, bank, START + delay - 1)


def test_the_window_moves_on_with_every_activate():
    c, constraints = under("HBM2", lambda _, x: x.window == 4)
    window = next(x.clocks for x in constraints if x.window == 4)
    for tick in (100, 101, 103, 106):
        give(c, Command.ACT, HERE, tick)
    assert not accepts(c, Command.ACT, ELSEWHERE, 100 + window - 1)
    give(c, Command.ACT, ELSEWHERE, 100 + window)
    assert not accepts(c, Command.ACT, HERE, 101 + window - 1)
    assert accepts(c, Command.ACT, HERE, 101 + window)


def test_one_channel_does_not_hold_up_another():
    gpu = library.replace(dram("HBM2"), **{"dram.channels": 2})
    c = build.build(gpu, np.zeros(0), np.zeros(2), 0, False, 0)
    timing.apply(c, 0, HERE, Command.ACT, START)
    first, last = c.spec[0].units, 2 * c.spec[0].units - 1
    assert timing.earliest(c.units, first + HERE, last, Command.ACT) == 0
