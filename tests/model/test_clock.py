"""Clock domains: exact, without drift, and both directions agree."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.model import clock
from lockstep.model.clock import CLOCK, NEVER, cycle_of, ratio, ticks

pytestmark = pytest.mark.plain

MHZ = st.integers(1, 40000) | st.floats(1, 40000).map(lambda f: round(f, 3))


def domain(mhz, core_mhz):
    record = as_records(np.zeros(1, CLOCK))
    record[0] = ratio(mhz, core_mhz)
    return record[0]


@pytest.mark.parametrize(
    "mhz, core, expected",
    [(850.0, 1132.0, (425, 566)), (1132.0, 1132.0, (1, 1)), (1593.5, 1000, (3187, 2000))],
)
def test_a_ratio_is_exact_and_in_lowest_terms(mhz, core, expected):
    assert ratio(mhz, core) == expected


@given(MHZ, MHZ)
def test_a_ratio_is_close_and_small_enough_not_to_overflow(mhz, core):
    number, denominator = ratio(mhz, core)
    exact = Fraction(str(mhz)) / Fraction(str(core))
    assert 0 < denominator <= 1_000_000
    assert abs(Fraction(number, denominator) / exact - 1) < Fraction(1, 20)
    assert number * 10**8 < 1 << 63


@given(MHZ, MHZ, st.integers(0, 10**7))
def test_a_tick_happens_in_the_first_cycle_that_has_it(mhz, core, tick):
    d = domain(mhz, core)
    cycle = int(cycle_of(d, tick))
    assert ticks(d, cycle) >= tick
    assert cycle == 0 or ticks(d, cycle - 1) < tick


@given(MHZ, MHZ, st.integers(0, 10**7))
def test_ticks_are_those_of_exact_arithmetic(mhz, core, cycle):
    d = domain(mhz, core)
    assert ticks(d, cycle) == Fraction(cycle * int(d.ticks), int(d.cycles)) // 1


def test_what_never_comes_never_comes():
    for mhz in (850.0, 1132.0, 5000.0):
        assert cycle_of(domain(mhz, 1132.0), NEVER) == NEVER


def test_a_second_of_the_core_is_a_second_of_the_domain():
    assert ticks(domain(877.0, 1380.0), 1_380_000_000) == 877_000_000
    assert clock.cycle_of(domain(877.0, 1380.0), 877_000_000) == 1_380_000_000
