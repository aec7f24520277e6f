import pytest

from lockstep.isa.sass.encoding.specification import SLOT, Modifier, bits_of, modifier, operand


def test_bits_are_listed_from_the_least_significant():
    assert bits_of("73-75,80") == (73, 74, 75, 80)
    assert bits_of("*,86") == (SLOT, 86)


def test_an_operand_in_parts():
    spec = operand("-|A|.half@*,86? if RELU")
    assert (spec.signs, spec.kind, spec.parts) == ("-|", "A", (("half", (SLOT, 86)),))
    assert (spec.condition, spec.unless) == ("RELU", False)


def test_absence_is_at_the_zero_register_or_a_given_value():
    assert operand("R@16").absent is None
    assert operand("R@16?").absent == 255
    assert operand("P@81?").absent == 7
    assert operand("imm@72-75?15").absent == 15


def test_modifiers_that_are_always_there_have_no_bits():
    assert modifier("round@78-79") == Modifier("round", (78, 79))
    assert modifier("S32.SAT@always") == Modifier("S32.SAT", ())


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="cannot read"):
        operand("-|A|@@")
