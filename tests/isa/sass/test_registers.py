"""Register names and their unified numbers."""

import pytest

from lockstep.errors import LockstepError
from lockstep.isa import instruction as isa
from lockstep.isa.sass import register_number
from lockstep.isa.sass.registers import last_register


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("R0", 0), ("R254", 254), ("P0", isa.PREDICATES), ("P6", isa.PREDICATES + 6),
        ("UR0", isa.UNIFORM_REGISTERS), ("UR62", isa.UNIFORM_REGISTERS + 62),
        ("UP0", isa.UNIFORM_PREDICATES), ("UP6", isa.UNIFORM_PREDICATES + 6),
    ],
)  # fmt: skip
def test_every_file_has_its_range(name, number):
    assert register_number(name) == number


@pytest.mark.parametrize("name", ["RZ", "R255", "PT", "P7", "URZ", "UR63", "UR255", "UPT", "UP7"])
def test_zero_and_true_registers_have_no_number(name):
    assert register_number(name) is None


@pytest.mark.parametrize("name", ["R256", "R-1", "UR64", "P8", "UP8", "B0", "", "R", "r1", "R1 "])
def test_other_names_are_refused(name):
    with pytest.raises(LockstepError, match="no register"):
        register_number(name)


def test_ranges_end_before_the_zero_register_of_their_file():
    assert last_register(10) == 254
    assert last_register(isa.UNIFORM_REGISTERS) == isa.UNIFORM_REGISTERS + 62
    assert last_register(isa.PREDICATES) == isa.PREDICATES
